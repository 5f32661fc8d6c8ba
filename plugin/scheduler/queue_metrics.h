// What queues hold, ask for, were let in for, deserve and may have, as Volcano's own metrics say it (volcano:
// pkg/scheduler/metrics/queue.go): cpu in thousandths, memory in bytes, pods in units, everything else times 1,000. A
// queue that is gone says 0, and so does each of a resource that is gone; a capability that was taken away is +Inf.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "base/metrics.h"
#include "plugin/gang/policy.h"
#include "plugin/gang/queue_tree.h"
#include "plugin/model/cluster.h"

namespace gangway::scheduler {

// Without CountIn it counts nothing. The metrics must outlive it.
class QueueMetrics {
 public:
  void CountIn(Metrics& metrics) { metrics_ = &metrics; }
  // As the cluster is now.
  void Set(const model::Cluster& cluster, gang::Sharing sharing);

 private:
  struct OfQueue {
    std::map<std::pair<std::string, model::Dim>, Gauge> gauges;  // by what is said; of the queue itself kNone
    bool there = false;

    bool Says(absl::string_view what, model::Dim dim) const { return gauges.contains({std::string(what), dim}); }
  };
  // What gangs that were let in have not been given yet, by queue, with those below it.
  static std::vector<model::Resources> LetIn(const model::Cluster& cluster, const gang::QueueTree& tree);
  void Say(OfQueue& of, const std::string& queue, absl::string_view what, absl::string_view help, double value);
  void Say(OfQueue& of, const std::string& queue, absl::string_view what, absl::string_view help, model::Dim dim,
           absl::string_view resource, std::int64_t amount);

  Metrics* metrics_ = nullptr;
  std::map<std::string, OfQueue> queues_;
};

}  // namespace gangway::scheduler
