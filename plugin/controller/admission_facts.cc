#include "plugin/controller/admission_facts.h"

#include <utility>

#include "api/volcano/defaults.h"
#include "base/strings.h"

namespace gangway::controller {
namespace {

using api::volcano::QueueFacts;

// Whose child a queue is; "": nobody's.
std::string ParentOf(const std::string& name, const QueueFacts& facts) {
  return !facts.parent.empty() || View(api::volcano::kRootQueue) == name ? facts.parent
                                                                         : std::string(api::volcano::kRootQueue);
}

}  // namespace

void AdmissionFacts::SetQueue(const std::string& name, const api::volcano::Queue* queue) {
  QueueFacts facts;
  if (queue != nullptr) {
    facts.state = queue->status.state;
    facts.parent = queue->spec.parent;
    const auto pods = queue->status.allocated.find("pods");
    if (pods != queue->status.allocated.end()) facts.allocated_pods = pods->second.Units().value_or(0);
  }
  MutexLock lock(mu_);
  if (const auto known = queues_.find(name); known != queues_.end()) {
    if (const auto siblings = children_.find(ParentOf(name, known->second)); siblings != children_.end()) {
      siblings->second.erase(name);
      if (siblings->second.empty()) children_.erase(siblings);
    }
    queues_.erase(known);
  }
  if (queue == nullptr) return;
  if (std::string parent = ParentOf(name, facts); !parent.empty()) children_[std::move(parent)].insert(name);
  queues_.emplace(name, std::move(facts));
}

void AdmissionFacts::SetNamespace(const std::string& ns, std::optional<std::string> queue) {
  MutexLock lock(mu_);
  if (!queue.has_value()) {
    namespace_queues_.erase(ns);
  } else {
    namespace_queues_.insert_or_assign(ns, *std::move(queue));
  }
}

void AdmissionFacts::SetComplete() {
  MutexLock lock(mu_);
  complete_ = true;
}

bool AdmissionFacts::complete() const {
  MutexLock lock(mu_);
  return complete_;
}

std::optional<QueueFacts> AdmissionFacts::Queue(absl::string_view name) const {
  MutexLock lock(mu_);
  const auto found = queues_.find(StdView(name));
  if (found == queues_.end()) return std::nullopt;
  QueueFacts facts = found->second;
  if (const auto children = children_.find(StdView(name)); children != children_.end()) {
    facts.children.assign(children->second.begin(), children->second.end());
  }
  return facts;
}

std::string AdmissionFacts::NamespaceQueue(absl::string_view ns) const {
  MutexLock lock(mu_);
  const auto found = namespace_queues_.find(StdView(ns));
  return found == namespace_queues_.end() ? std::string() : found->second;
}

}  // namespace gangway::controller
