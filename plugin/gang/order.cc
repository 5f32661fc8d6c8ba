#include "plugin/gang/order.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

namespace gangway::gang {

using model::Cluster;
using model::Dim;
using model::Gang;
using model::GangId;
using model::Queue;
using model::QueueId;
using model::Task;
using model::TaskId;

namespace {

__extension__ using Int128 = __int128;

// held / (total * weight), as a fraction that compares exactly.
struct Share {
  Int128 numerator = 0, denominator = 1;
  friend bool operator<(const Share& a, const Share& b) {
    return a.numerator * b.denominator < b.numerator * a.denominator;
  }
};

// In parts of 2^32, rounded down: the products then fit 128 bits.
Share ShareOf(const Overlay& overlay, QueueId id) {
  const Queue& queue = overlay.cluster().queue(id);
  const model::Resources& taken = overlay.taken_from(id);
  const model::Resources& total = overlay.cluster().total();
  Share share;
  for (Dim dim = 0; dim < total.size(); ++dim) {
    if (total[dim] <= 0) continue;
    const Int128 held = Int128{queue.held[dim]} + taken[dim];
    const Share of_dim{(held << 32) / total[dim], queue.weight};
    if (share < of_dim) share = of_dim;
  }
  return share;
}

// volcano: plugins/sla, JobOrderFn
absl::Time DeadlineOf(const Gang& gang, const Policy& policy) {
  const std::optional<absl::Duration> wait = gang.waiting_time.has_value() ? gang.waiting_time : policy.waiting_time;
  return policy.by_deadline && wait.has_value() ? gang.created + *wait : absl::InfiniteFuture();
}

}  // namespace

std::vector<QueueLine> LineUp(const Cluster& cluster, const Policy& policy, const std::vector<GangId>& gangs) {
  struct Entry {
    std::int32_t priority;
    absl::Time deadline;
    GangId id;
  };
  std::map<std::string, std::vector<Entry>> by_queue;  // by name: ids depend on the order of events
  std::map<std::string, QueueId> ids;
  for (const GangId id : gangs) {
    const Gang& gang = cluster.gang(id);
    const std::string& name = cluster.queue(gang.queue).name;
    by_queue[name].push_back({cluster.PriorityOf(gang), DeadlineOf(gang, policy), id});
    ids[name] = gang.queue;
  }
  std::vector<QueueLine> lines;
  for (auto& [name, entries] : by_queue) {
    std::sort(entries.begin(), entries.end(), [&](const Entry& a, const Entry& b) {
      const Gang& x = cluster.gang(a.id);
      const Gang& y = cluster.gang(b.id);
      return std::tie(b.priority, a.deadline, x.created, x.ns, x.name) <
             std::tie(a.priority, b.deadline, y.created, y.ns, y.name);
    });
    QueueLine line;
    line.queue = ids[name];
    for (const Entry& entry : entries) line.gangs.push_back(entry.id);
    lines.push_back(std::move(line));
  }
  return lines;
}

QueueLine* NextQueue(const Overlay& overlay, std::vector<QueueLine>& lines) {
  QueueLine* best = nullptr;
  Share best_share;
  for (QueueLine& line : lines) {
    if (line.done()) continue;
    const Queue& queue = overlay.cluster().queue(line.queue);
    const Share share = ShareOf(overlay, line.queue);
    bool better = best == nullptr;
    if (!better) {
      const Queue& other = overlay.cluster().queue(best->queue);
      if (queue.priority != other.priority) {
        better = queue.priority > other.priority;
      } else if (share < best_share || best_share < share) {
        better = share < best_share;
      } else {
        better = std::tie(queue.created, queue.name) < std::tie(other.created, other.name);
      }
    }
    if (better) {
      best = &line;
      best_share = share;
    }
  }
  return best;
}

void SortTasks(const Cluster& cluster, std::vector<TaskId>& tasks) {
  std::sort(tasks.begin(), tasks.end(), [&](TaskId a, TaskId b) {
    const Task& x = cluster.task(a);
    const Task& y = cluster.task(b);
    return std::tie(y.priority, x.index, x.created, x.name) < std::tie(x.priority, y.index, y.created, y.name);
  });
}

}  // namespace gangway::gang
