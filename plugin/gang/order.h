// Who goes first. All orders are total: the same cluster gives the same order, whatever the order of events was.
#pragma once

#include <vector>

#include "plugin/gang/overlay.h"
#include "plugin/gang/policy.h"
#include "plugin/model/cluster.h"

namespace gangway::gang {

// The gangs grouped by queue, each queue's by priority (higher first), then deadline where the policy has them, then
// arrival (creation time, then namespace and name).
struct QueueLine {
  model::QueueId queue = model::kNone;
  std::vector<model::GangId> gangs;
  std::size_t next = 0;
  bool done() const { return next == gangs.size(); }
};
std::vector<QueueLine> LineUp(const model::Cluster& cluster, const Policy& policy,
                              const std::vector<model::GangId>& gangs);

// The queue to serve next, or nullptr when all are done: spec.priority (higher first), then share (lower first), then
// creation time and name. A queue's share is the largest fraction of the cluster's total, over all resources, that it
// holds per weight.
QueueLine* NextQueue(const Overlay& overlay, std::vector<QueueLine>& lines);

// A gang's tasks in the order in which they are placed: priority (higher first), number in the task, creation time,
// name.
void SortTasks(const model::Cluster& cluster, std::vector<model::TaskId>& tasks);

}  // namespace gangway::gang
