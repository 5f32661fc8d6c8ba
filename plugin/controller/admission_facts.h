// What admission asks about queues and namespaces, handed over from the loop that watches them to the threads that
// answer.
//
// Thread-safe. A look-up copies what it returns, so nobody waits for longer than that.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "api/volcano/admission.h"
#include "api/volcano/scheduling.h"
#include "base/mutex.h"

namespace gangway::controller {

class AdmissionFacts {
 public:
  // What became of it; null: it is gone.
  void SetQueue(const std::string& name, const api::volcano::Queue* queue);
  // The queue that the namespace gives to PodGroups; nullopt: the namespace is gone.
  void SetNamespace(const std::string& ns, std::optional<std::string> queue);
  // Everything that there is has been told once.
  void SetComplete();

  bool complete() const;
  std::optional<api::volcano::QueueFacts> Queue(absl::string_view name) const;
  std::string NamespaceQueue(absl::string_view ns) const;  // "": none

 private:
  mutable Mutex mu_;
  bool complete_ ABSL_GUARDED_BY(mu_) = false;
  std::map<std::string, api::volcano::QueueFacts, std::less<>> queues_ ABSL_GUARDED_BY(mu_);  // without children
  std::map<std::string, std::set<std::string>, std::less<>> children_
      ABSL_GUARDED_BY(mu_);  // by parent, which need not be there
  std::map<std::string, std::string, std::less<>> namespace_queues_ ABSL_GUARDED_BY(mu_);
};

}  // namespace gangway::controller
