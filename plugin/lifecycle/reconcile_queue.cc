#include "plugin/lifecycle/reconcile_queue.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "api/json.h"
#include "api/resource.h"

namespace gangway::lifecycle {
namespace {

using api::volcano::Queue;
using api::volcano::QueueStatus;
using kube::EventNote;

enum class QueueAction { kSync, kOpen, kClose };

// Spec 7.1, n PodGroups in the queue; an empty state is Open.
std::string NextState(const std::string& state, QueueAction action, std::int32_t n) {
  const std::string closing = n == 0 ? "Closed" : "Closing";
  switch (action) {
    case QueueAction::kOpen: return "Open";
    case QueueAction::kClose: return state == "Closed" ? state : closing;
    case QueueAction::kSync: break;
  }
  if (state == "Closing") return closing;
  return state == "Closed" || state == "Unknown" ? state : "Open";
}

bool SameCounts(const QueueStatus& a, const QueueStatus& b) {
  return a.state == b.state && a.unknown == b.unknown && a.pending == b.pending && a.running == b.running &&
         a.inqueue == b.inqueue && a.completed == b.completed;
}

// Only what is ours: the rest of the status is the scheduler's. A zero is written out, so that a count that went away is seen.
std::string StatusBody(const QueueStatus& status) {
  std::string body;
  api::JsonWriter(body).BeginObject().Key("status").BeginObject().Field("state", status.state)
      .Field("unknown", status.unknown).Field("pending", status.pending).Field("running", status.running)
      .Field("inqueue", status.inqueue).Field("completed", status.completed).EndObject().EndObject();
  return body;
}

kube::Write Patch(const Queue& queue, std::string subresource, std::string body) {
  kube::Write write;
  write.verb = kube::Verb::kMergePatch;
  write.resource = &api::kQueues;
  write.subresource = std::move(subresource);
  write.name = queue.metadata.name;
  write.body = std::move(body);
  write.uid = queue.metadata.uid;
  write.resource_version = queue.metadata.resource_version;
  return write;
}

QueueAction ActionOf(const api::volcano::Command& command) {
  if (command.action == "OpenQueue") return QueueAction::kOpen;
  return command.action == "CloseQueue" ? QueueAction::kClose : QueueAction::kSync;
}

}  // namespace

void PodGroupCounts::Add(const std::string& phase, std::int32_t how_many) {
  total += how_many;
  std::int32_t& count = phase == "Inqueue"     ? inqueue
                        : phase == "Running"   ? running
                        : phase == "Unknown"   ? unknown
                        : phase == "Completed" ? completed
                                               : pending;
  count += how_many;
}

kube::Plan ReconcileQueue(const QueueView& seen) {
  kube::Plan plan;
  const Queue& queue = *seen.queue;
  if (queue.metadata.deleting()) return plan;
  const api::volcano::Command* command = nullptr;
  for (const api::volcano::Command* waiting : seen.commands) {
    if (!waiting->metadata.deleting()) {
      command = waiting;
      break;
    }
  }
  QueueAction action = command == nullptr ? QueueAction::kSync : ActionOf(*command);
  const bool refused = action == QueueAction::kClose && queue.metadata.name == "root";
  if (refused) action = QueueAction::kSync;

  QueueStatus to = queue.status;
  to.state = NextState(queue.status.state, action, seen.groups.total);
  to.pending = seen.groups.pending;
  to.inqueue = seen.groups.inqueue;
  to.running = seen.groups.running;
  to.unknown = seen.groups.unknown;
  to.completed = seen.groups.completed;
  if (!SameCounts(queue.status, to)) plan.stages.push_back({Patch(queue, "status", StatusBody(to))});
  if (command == nullptr) return plan;

  kube::Write remove;
  remove.verb = kube::Verb::kDelete;
  remove.resource = &api::kCommands;
  remove.ns = command->metadata.ns;
  remove.name = command->metadata.name;
  remove.uid = command->metadata.uid;
  plan.stages.push_back({std::move(remove)});
  const api::ObjectReference regarding{api::kQueues.ApiVersion(), std::string(api::kQueues.kind), {}, queue.metadata.name,
                                       queue.metadata.uid, queue.metadata.resource_version, {}};
  if (refused) {
    plan.events.push_back({EventNote::Type::kWarning, "CommandIgnored", "the root queue cannot be closed", regarding});
  } else {
    plan.events.push_back({EventNote::Type::kNormal, std::string(command->action),
                           absl::StrCat(command->action, ": the queue is ", to.state), regarding});
  }
  return plan;
}

Queue RootQueue() {
  Queue queue;
  queue.api_version = api::kQueues.ApiVersion();
  queue.kind = std::string(api::kQueues.kind);
  queue.metadata.name = "root";
  queue.spec.weight = 1;
  queue.spec.reclaimable = false;
  return queue;
}

Queue DefaultQueue() {
  Queue queue = RootQueue();
  queue.metadata.name = "default";
  queue.spec.reclaimable = true;
  queue.spec.parent = "root";
  return queue;
}

}  // namespace gangway::lifecycle
