#include "plugin/scheduler/queue_metrics.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "plugin/gang/admit.h"
#include "plugin/gang/shares.h"

namespace gangway::scheduler {

using model::Dim;
using model::QueueId;

void QueueMetrics::Say(OfQueue& of, const std::string& queue, absl::string_view what, double value) {
  const auto [it, fresh] = of.gauges.try_emplace({std::string(what), model::kNone});
  if (fresh)
    it->second = metrics_->AddGauge(absl::StrCat("volcano_queue_", what), absl::StrCat("A queue's ", what),
                                    {{"queue_name", queue}});
  it->second.Set(value);
}

void QueueMetrics::Say(OfQueue& of, const std::string& queue, absl::string_view what, Dim dim,
                       absl::string_view resource, std::int64_t amount) {
  const auto [it, fresh] = of.gauges.try_emplace({std::string(what), dim});
  if (fresh) {
    const bool scalar = dim != model::kCpu && dim != model::kMemory;
    const absl::string_view unit = scalar ? "scalar_resources" : dim == model::kCpu ? "milli_cpu" : "memory_bytes";
    MetricLabels labels = {{"queue_name", queue}};
    if (scalar) labels.emplace_back("resource", std::string(resource));
    it->second = metrics_->AddGauge(absl::StrCat("volcano_queue_", what, "_", unit),
                                    absl::StrCat("Of a queue what is ", what), labels);
  }
  const bool whole = dim == model::kCpu || dim == model::kMemory || dim == model::kPods;
  it->second.Set(static_cast<double>(amount) * (whole ? 1 : 1000));
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
      if (total == 0 && held == 0 && shares.Asked(id, dim) == 0 && inqueue == 0) continue;
      const absl::string_view resource = cluster.dims().Name(dim);
      const std::int64_t capability = queue.Limit(dim);
      Say(of, queue.name, "allocated", dim, resource, held);
      Say(of, queue.name, "request", dim, resource, shares.Asked(id, dim));
      Say(of, queue.name, "inqueue", dim, resource, inqueue);
      Say(of, queue.name, "deserved", dim, resource, deserved);
      if (capability != model::kUnlimited) Say(of, queue.name, "capacity", dim, resource, capability);
      Say(of, queue.name, "real_capacity", dim, resource, tree.Limit(id, dim));
      if (dim == model::kPods) continue;
      overused = overused && deserved <= held;
      const double part = deserved > 0 ? static_cast<double>(held) / static_cast<double>(deserved) : held > 0 ? 1 : 0;
      share = std::max(share, part);
    }
    Say(of, queue.name, "share", share);
    Say(of, queue.name, "weight", queue.weight);
    Say(of, queue.name, "overused", overused ? 1 : 0);
  }
  for (auto& [name, of] : queues_) {
    if (of.there) continue;
    for (auto& [what, gauge] : of.gauges) gauge.Set(0);
  }
}

}  // namespace gangway::scheduler
