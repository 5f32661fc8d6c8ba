#include "plugin/lifecycle/queue/reconcile_queue.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/json.h"
#include "api/resource.h"
#include "kube/plan/writes.h"

namespace gangway::lifecycle {
namespace {

using api::volcano::Command;
using api::volcano::Queue;
using api::volcano::QueueStatus;
using kube::EventNote;

enum class QueueAction { kSync, kOpen, kClose };

bool IsClosed(const std::string& state) { return state == "Closing" || state == "Closed"; }

// Spec 7.1, n PodGroups in the queue; an empty state is Open.
std::string NextState(const std::string& state, QueueAction action, std::int32_t n) {
  const std::string closing = n == 0 ? "Closed" : "Closing";
  switch (action) {
    case QueueAction::kOpen:
      return "Open";
    case QueueAction::kClose:
      return state == "Closed" ? state : closing;
    case QueueAction::kSync:
      break;
  }
  if (state.empty() || state == "Open") return "Open";
  if (state == "Closing") return closing;
  return state == "Closed" ? state : "Unknown";
}

bool SameCounts(const QueueStatus& a, const QueueStatus& b) {
  return a.state == b.state && a.unknown == b.unknown && a.pending == b.pending && a.running == b.running &&
         a.inqueue == b.inqueue && a.completed == b.completed;
}

kube::Write Patch(const Queue& queue, std::string subresource, std::string body) {
  return kube::ChangeOf(api::kQueues, queue.metadata, std::move(body), std::move(subresource));
}

// Only what is ours: the rest of the status is the scheduler's. A zero is written out, so that a count that went away
// is seen. Volcano's own type takes no status without `allocated`; nothing is taken from what is there.
kube::Write StatusWrite(const Queue& queue, const QueueStatus& status) {
  std::string body;
  api::JsonWriter json(body);
  json.BeginObject().Key("status").BeginObject();
  const bool same_state = status.state == queue.status.state;
  if (!same_state) json.Field("state", status.state);
  json.Field("unknown", status.unknown)
      .Field("pending", status.pending)
      .Field("running", status.running)
      .Field("inqueue", status.inqueue)
      .Field("completed", status.completed);
  if (status.allocated.empty()) json.Key("allocated").BeginObject().EndObject();
  json.EndObject().EndObject();
  kube::Write write = Patch(queue, "status", std::move(body));
  // Counts are of any version: nobody else writes them, and the scheduler makes a version with each pod that it places.
  if (same_state) write.resource_version.clear();
  return write;
}

// The oldest that is not on its way out.
const Command* NextCommand(const QueueView& seen) {
  for (const Command* command : seen.commands) {
    if (!command->metadata.deleting()) return command;
  }
  return nullptr;
}

bool Marked(const Queue& queue) {
  auto it = queue.metadata.annotations.find(std::string(kClosedByParentKey));
  return it != queue.metadata.annotations.end() && it->second == "true";
}

struct Order {
  QueueAction action = QueueAction::kSync;
  std::string refused;  // why the command is not carried out
  bool by_parent = false;
};

Order OrderOf(const QueueView& seen, const Command* command) {
  const Queue& queue = *seen.queue;
  const bool under_closed = seen.parent != nullptr && IsClosed(seen.parent->status.state);
  Order order;
  if (command != nullptr) {
    if (command->action == "OpenQueue") {
      order.action = QueueAction::kOpen;
      if (under_closed) {
        order.refused = absl::StrCat("the queue is not opened while its parent ", seen.parent->metadata.name, " is ",
                                     seen.parent->status.state, "; open that first");
      }
    } else if (command->action == "CloseQueue") {
      order.action = QueueAction::kClose;
      if (queue.metadata.name == "root") order.refused = "the root queue cannot be closed";
    } else if (command->action != "SyncQueue") {
      order.refused = absl::StrCat(command->action, " is nothing that a queue does; OpenQueue and CloseQueue are");
    }
    if (!order.refused.empty()) order.action = QueueAction::kSync;
  }
  if (order.action != QueueAction::kSync) return order;
  if (under_closed && !IsClosed(queue.status.state)) {
    order.action = QueueAction::kClose;
    order.by_parent = true;
  } else if (!under_closed && Marked(queue) && IsClosed(queue.status.state)) {
    order.action = QueueAction::kOpen;
  }
  return order;
}

// What is written on the queue itself; "" when nothing.
std::string OwnBody(const Queue& queue, std::optional<bool> mark) {
  const bool orphan = queue.spec.parent.empty() && queue.metadata.name != "root";
  if (!orphan && !mark.has_value()) return "";
  std::string body;
  api::JsonWriter json(body);
  json.BeginObject();
  if (mark.has_value()) {
    json.Key("metadata")
        .BeginObject()
        .Key("annotations")
        .BeginObject()
        .Field(kClosedByParentKey, *mark ? "true" : "false")
        .EndObject()
        .EndObject();
  }
  if (orphan) json.Key("spec").BeginObject().Field("parent", "root").EndObject();
  json.EndObject();
  return body;
}

QueueStatus WantedStatus(const QueueView& seen, QueueAction action) {
  QueueStatus to = seen.queue->status;
  to.state = NextState(to.state, action, seen.groups.total);
  to.pending = seen.groups.pending;
  to.inqueue = seen.groups.inqueue;
  to.running = seen.groups.running;
  to.unknown = seen.groups.unknown;
  to.completed = seen.groups.completed;
  return to;
}

void EndCommand(const Queue& queue, const Command& command, const Order& order, const std::string& state,
                kube::Plan& plan) {
  plan.stages.push_back({kube::DeletionOf(api::kCommands, command.metadata)});
  const api::ObjectReference regarding = kube::ReferenceTo(api::kQueues, queue.metadata);
  if (!order.refused.empty()) {
    plan.events.push_back({EventNote::Type::kWarning, "CommandIgnored", order.refused, regarding});
  } else {
    plan.events.push_back({EventNote::Type::kNormal, std::string(command.action),
                           absl::StrCat(command.action, ": the queue is ", state), regarding});
  }
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

absl::string_view ParentOf(const Queue& queue) {
  if (queue.metadata.name == "root") return "";
  return queue.spec.parent.empty() ? absl::string_view("root") : absl::string_view(queue.spec.parent);
}

kube::Plan ReconcileQueue(const QueueView& seen) {
  kube::Plan plan;
  const Queue& queue = *seen.queue;
  if (queue.metadata.deleting()) return plan;
  const Command* command = NextCommand(seen);
  const Order order = OrderOf(seen, command);
  // The mark stands before the state that it explains is written, and goes after the one that ends it.
  if (order.by_parent && !Marked(queue)) {
    plan.stages.push_back({Patch(queue, "", OwnBody(queue, true))});
    return plan;
  }
  const QueueStatus to = WantedStatus(seen, order.action);
  if (!SameCounts(queue.status, to)) {
    plan.stages.push_back({StatusWrite(queue, to)});
  } else {
    const std::optional<bool> mark = Marked(queue) && !IsClosed(to.state) ? std::optional(false) : std::nullopt;
    if (std::string body = OwnBody(queue, mark); !body.empty())
      plan.stages.push_back({Patch(queue, "", std::move(body))});
  }
  if (command != nullptr) EndCommand(queue, *command, order, to.state, plan);
  return plan;
}

}  // namespace gangway::lifecycle
