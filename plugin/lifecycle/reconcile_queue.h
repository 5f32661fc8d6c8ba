// The status of a Queue: its state and how many PodGroups it has in which phase (spec: volcano-job 7.1).
#pragma once

#include <vector>

#include "api/volcano/scheduling.h"
#include "kube/plan/plan.h"

namespace gangway::lifecycle {

struct PodGroupCounts {
  std::int32_t pending = 0, inqueue = 0, running = 0, unknown = 0, completed = 0;
  std::int32_t total = 0;
  // An empty phase is Pending in the making; it counts as Pending.
  void Add(const std::string& phase, std::int32_t how_many = 1);
};

struct QueueView {
  const api::volcano::Queue* queue = nullptr;             // never null
  PodGroupCounts groups;
  std::vector<const api::volcano::Command*> commands;     // for this queue, oldest first
};

// Pure. One command at a time; it is deleted after the state that it asked for is written. Children are not closed with it.
kube::Plan ReconcileQueue(const QueueView& seen);

// The queues every cluster has: `root`, and `default` below it. Ready to be created.
api::volcano::Queue RootQueue();
api::volcano::Queue DefaultQueue();

}  // namespace gangway::lifecycle
