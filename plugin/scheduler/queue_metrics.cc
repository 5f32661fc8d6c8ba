#include "plugin/scheduler/queue_metrics.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "plugin/gang/admit.h"
#include "plugin/gang/shares.h"

namespace gangway::scheduler {

using model::Dim;
using model::QueueId;

namespace {

constexpr char kAllocated[] = "allocated", kCapacity[] = "capacity";

}  // namespace

void QueueMetrics::Say(OfQueue& of, const std::string& queue, absl::string_view what, absl::string_view help,
                       double value) {
  const auto [it, fresh] = of.gauges.try_emplace({std::string(what), model::kNone});
  if (fresh) it->second = metrics_->AddGauge(absl::StrCat("volcano_queue_", what), help, {{"queue_name", queue}});
  it->second.Set(value);
}

void QueueMetrics::Say(OfQueue& of, const std::string& queue, absl::string_view what, absl::string_view help, Dim dim,
                       absl::string_view resource, std::int64_t amount) {
  const auto [it, fresh] = of.gauges.try_emplace({std::string(what), dim});
  const bool scalar = dim != model::kCpu && dim != model::kMemory;
  if (fresh) {
    const absl::string_view unit = scalar ? "scalar_resources" : dim == model::kCpu ? "milli_cpu" : "memory_bytes";
    const absl::string_view in = scalar               ? "pods in units, everything else times 1,000"
                                 : dim == model::kCpu ? "in thousandths of a CPU"
                                                      : "in bytes";
    MetricLabels labels = {{"queue_name", queue}};
    if (scalar) labels.emplace_back("resource", std::string(resource));
    it->second =
        metrics_->AddGauge(absl::StrCat("volcano_queue_", what, "_", unit), absl::StrCat(help, ", ", in), labels);
  }
  it->second.Set(amount == model::kUnlimited
                     ? std::numeric_limits<double>::infinity()
                     : static_cast<double>(amount) * (scalar && dim != model::kPods ? 1000 : 1));
}

// volcano: plugins/capacity, inqueue
std::vector<model::Resources> QueueMetrics::LetIn(const model::Cluster& cluster, const gang::QueueTree& tree) {
  std::vector<model::Resources> let_in(static_cast<std::size_t>(cluster.queue_slots()));
  for (model::GangId id = 0; id < cluster.gang_slots(); ++id) {
    const model::Gang& gang = cluster.gang(id);
    if (!gang.known || !gang.admitted || gang.phase == model::GangPhase::kCompleted || gang.queue == model::kNone)
      continue;
    const model::Resources missing = gang::Admission::Missing(gang);
    for (const QueueId level : tree.path(gang.queue)) let_in[static_cast<std::size_t>(level)].Add(missing, 1);
  }
  return let_in;
}

void QueueMetrics::Set(const model::Cluster& cluster, gang::Sharing sharing) {
  if (metrics_ == nullptr) return;
  const gang::QueueTree tree(cluster);
  const gang::Shares shares(cluster, tree, sharing);
  const std::vector<model::Resources> let_in = LetIn(cluster, tree);
  for (auto& [name, of] : queues_) of.there = false;
  for (QueueId id = 0; id < cluster.queue_slots(); ++id) {
    const model::Queue& queue = cluster.queue(id);
    if (!queue.known) continue;
    OfQueue& of = queues_[queue.name];
    of.there = true;
    double share = 0;
    bool overused = true;  // volcano: plugins/proportion, OverusedFn
    for (Dim dim = 0; dim < cluster.dims().count(); ++dim) {
      const std::int64_t total = cluster.total()[dim], held = shares.Held(id, dim), deserved = shares.Deserved(id, dim);
      const std::int64_t inqueue = let_in[static_cast<std::size_t>(id)][dim];
      if (total == 0 && held == 0 && shares.Asked(id, dim) == 0 && inqueue == 0 && !of.Says(kAllocated, dim)) continue;
      const absl::string_view resource = cluster.dims().Name(dim);
      const std::int64_t capability = queue.Limit(dim);
      const auto say = [&](absl::string_view what, absl::string_view help, std::int64_t amount) {
        Say(of, queue.name, what, help, dim, resource, amount);
      };
      say(kAllocated, "What pods of a queue hold", held);
      say("request", "What a queue holds and waits for, as far as it may hold it", shares.Asked(id, dim));
      say("inqueue", "What gangs of a queue were let in for and have not been given yet", inqueue);
      say("deserved", "What a queue deserves while others wait", deserved);
      if (capability != model::kUnlimited || of.Says(kCapacity, dim))
        say(kCapacity, "The capability that a queue says", capability);
      say("real_capacity", "The most that a queue may hold, beside what is guaranteed to others", tree.Limit(id, dim));
      if (dim == model::kPods) continue;
      overused = overused && deserved <= held;
      const double part = deserved > 0 ? static_cast<double>(held) / static_cast<double>(deserved) : held > 0 ? 1 : 0;
      share = std::max(share, part);
    }
    Say(of, queue.name, "share", "The largest part that a queue holds of what it deserves, of all resources", share);
    Say(of, queue.name, "weight", "A queue's weight", queue.weight);
    Say(of, queue.name, "overused", "1 while a queue holds all that it deserves", overused ? 1 : 0);
  }
  for (auto& [name, of] : queues_) {
    if (of.there) continue;
    for (auto& [what, gauge] : of.gauges) gauge.Set(0);
  }
}

}  // namespace gangway::scheduler
