// Which queue each namespace gives to PodGroups that ask for none: its annotation kQueueNameAnnotation
// (api/volcano/defaults.h). And whether Istio puts sidecars into its pods. Used on its loop.
#pragma once

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/core/objects.h"
#include "kube/runtime/informers.h"

namespace gangway::controller {

class NamespaceQueues {
 public:
  using Namespaces = kube::Informer<api::core::PartialObject>;
  // What the API server does not let us read counts as having no queue.
  static kube::Selection Selected() { return {.unless_forbidden = true}; }

  // Of the informer of all that is Selected().
  explicit NamespaceQueues(const Namespaces& namespaces) : namespaces_(namespaces) {}

  static std::string QueueOf(const api::core::PartialObject& ns);  // "": it gives none
  // "": it has none, or is not known.
  std::string Of(absl::string_view ns) const;
  bool InjectsSidecars(absl::string_view ns) const;
  // When whoever needs the answer for an object made at `created` should ask again; nullopt: the answer is as good as
  // it gets.
  std::optional<absl::Time> LookAgain(absl::string_view ns, absl::Time created, absl::Time now) const;

 private:
  const Namespaces& namespaces_;
};

}  // namespace gangway::controller
