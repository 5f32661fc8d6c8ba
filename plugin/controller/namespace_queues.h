// Which queue each namespace gives to PodGroups that ask for none: its annotation kQueueNameAnnotation (api/volcano/defaults.h). And whether
// Istio puts sidecars into its pods.
// Used on its loop.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/core/objects.h"
#include "kube/runtime/cache.h"

namespace gangway::controller {

class NamespaceQueues {
 public:
  // `namespaces`: only these are read, each by its name, for which rights on these names are enough; empty: all. What the API server
  // does not let us read counts as having no queue.
  NamespaceQueues(Loop& loop, kube::Client& client, Metrics* metrics, const std::vector<std::string>& namespaces);

  // `on_queue`, when given, is told what became of each namespace: its queue, "" for none; nullopt: it is gone.
  void Start(const std::function<void()>& on_synced, const std::function<void(const std::string& ns, std::optional<std::string> queue)>& on_queue = nullptr);
  void SetOnDecodeError(const std::function<void(const api::ObjectReference&, const absl::Status&)>& on_error);
  bool synced() const;
  // As of a Cache.
  std::string problem() const;
  std::size_t size() const { return queues_.size(); }

  // "": it has none, or is not known.
  std::string Of(absl::string_view ns) const;
  bool InjectsSidecars(absl::string_view ns) const { return injecting_.contains(ns); }
  // When whoever needs the answer for an object made at `created` should ask again; nullopt: the answer is as good as it gets.
  std::optional<absl::Time> LookAgain(absl::string_view ns, absl::Time created, absl::Time now) const;

 private:
  using Namespaces = kube::Cache<api::core::PartialObject>;

  absl::btree_map<std::string, std::unique_ptr<Namespaces>> caches_;  // by namespace; "": of all
  absl::btree_map<std::string, std::string> queues_;                  // of every namespace there is
  absl::btree_set<std::string> injecting_;
};

}  // namespace gangway::controller
