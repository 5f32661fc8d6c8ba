#include "cmd/vcctl/queue_list.h"

#include "absl/container/btree_map.h"
#include "absl/strings/str_format.h"
#include "base/printable.h"
#include "plugin/lifecycle/queue/reconcile_queue.h"

namespace gangway::cmd {

using api::volcano::PodGroup;
using api::volcano::Queue;

std::string QueueListText(absl::Span<const Queue> queues, absl::Span<const PodGroup> groups) {
  if (queues.empty()) return "No resources found\n";
  absl::btree_map<std::string, lifecycle::PodGroupCounts> counts;
  for (const PodGroup& group : groups)
    counts[group.spec.queue.empty() ? "default" : group.spec.queue].Add(group.status.phase);
  std::string out = absl::StrFormat("%-25s%-8s%-8s%-8s%-8s%-8s%-8s\n", "Name", "Weight", "State", "Inqueue", "Pending",
                                    "Running", "Unknown");
  for (const Queue& queue : queues) {
    const lifecycle::PodGroupCounts& count = counts[queue.metadata.name];
    absl::StrAppendFormat(&out, "%-25s%-8d%-8s%-8d%-8d%-8d%-8d\n", OneLine(queue.metadata.name), queue.spec.weight,
                          OneLine(queue.status.state), count.inqueue, count.pending, count.running, count.unknown);
  }
  return out;
}

}  // namespace gangway::cmd
