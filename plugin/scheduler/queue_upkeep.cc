#include "plugin/scheduler/queue_upkeep.h"

#include <algorithm>
#include <utility>

#include "api/json.h"
#include "api/volcano/own_queues.h"
#include "plugin/scheduler/queue_status.h"

namespace gangway::scheduler {

void QueueUpkeep::Reckon() { allocated_ = AllocatedByQueue(cluster_); }

api::ResourceList QueueUpkeep::Wanted(const std::string& name) const {
  const auto it = allocated_.find(name);
  return it != allocated_.end() ? it->second : AllocatedList({}, cluster_.dims());
}

bool QueueUpkeep::Lags(const api::volcano::Queue& queue) const {
  return queue.status.allocated != Wanted(queue.metadata.name);
}

kube::Plan QueueUpkeep::PlanFor(const std::string& name, const api::volcano::Queue* queue) const {
  kube::Plan plan;
  kube::Write write;
  write.resource = &api::kQueues;
  write.name = name;
  if (queue == nullptr) {
    const auto& own = api::volcano::kOwnQueues;
    if (std::find(own.begin(), own.end(), name) == own.end() || there_.contains(name)) return plan;
    write.body = api::Encode(api::volcano::OwnQueue(name));
  } else {
    if (!writes_statuses_ || queue->metadata.deleting()) return plan;
    write.body = AllocatedPatch(queue->status.allocated, Wanted(name));
    if (write.body.empty()) return plan;
    write.verb = kube::Verb::kMergePatch;
    write.subresource = "status";
    // Of any version: nobody else writes `allocated`, and whoever counts the queue's PodGroups makes a version each
    // time.
    write.uid = queue->metadata.uid;
  }
  plan.stages.push_back({std::move(write)});
  return plan;
}

}  // namespace gangway::scheduler
