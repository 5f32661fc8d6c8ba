// Keeps the state of every Queue and the count of its PodGroups, and makes the queues that every cluster has. Used on
// its loop.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "api/volcano/scheduling.h"
#include "kube/runtime/component.h"
#include "plugin/lifecycle/queue/reconcile_queue.h"

namespace gangway::controller {

class QueueController final : public kube::Component {
 public:
  using CommandPtr = std::shared_ptr<const api::volcano::Command>;

  QueueController(kube::Informers& informers, kube::ComponentOptions options);

 private:
  void OnQueue(const std::string& name, const api::volcano::Queue* before, const api::volcano::Queue* after);
  void OnPodGroup(const api::volcano::PodGroup* before, const api::volcano::PodGroup* after);
  void OnCommand(const CommandPtr& before, const CommandPtr& after);

  struct Group {
    std::string queue, phase;
    friend bool operator==(const Group&, const Group&) = default;
  };
  void Wake() override;
  kube::Plan Decide(const std::string& name, absl::Time now) const;
  kube::Plan WithoutQueue(const std::string& name, absl::Time now) const;
  void Count(const Group& group, int how_many);
  void Measure(const std::string& queue, const lifecycle::PodGroupCounts& counts);

  kube::Informer<api::volcano::Queue>& queues_;
  absl::flat_hash_map<std::string, lifecycle::PodGroupCounts> counts_;
  absl::btree_map<std::string, std::map<std::string, CommandPtr>> commands_;  // by queue, then by age and name
  absl::btree_map<std::string, absl::btree_set<std::string>> children_;       // by parent
  absl::btree_set<std::string> changed_;  // queues whose counts are to be written soon
  Loop::TimerId timer_ = 0;
  kube::Driver& driver_;
};

}  // namespace gangway::controller
