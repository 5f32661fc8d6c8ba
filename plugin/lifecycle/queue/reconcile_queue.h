// A Queue: its state, how many PodGroups it has in which phase, and its place below other queues (Volcano:
// pkg/controllers/queue).
//
// A queue below one that is closed is closed with it: it is marked with annotation volcano.sh/closed-by-parent, then
// closed, and so are the queues below it. Marked queues open again when their parent does. Each queue looks at its
// parent only, so nothing is lost wherever the controller is stopped.
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

inline constexpr absl::string_view kClosedByParentKey = "volcano.sh/closed-by-parent";

// The queue above; "" above root.
absl::string_view ParentOf(const api::volcano::Queue& queue);

struct QueueView {
  const api::volcano::Queue* queue = nullptr;   // never null
  const api::volcano::Queue* parent = nullptr;  // null: it has none, or there is none of the name
  PodGroupCounts groups;
  std::vector<const api::volcano::Command*> commands;  // for this queue, oldest first
};

// Pure. One command at a time; it is deleted after the state that it asked for is written.
kube::Plan ReconcileQueue(const QueueView& seen);

}  // namespace gangway::lifecycle
