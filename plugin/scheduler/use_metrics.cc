#include "plugin/scheduler/use_metrics.h"

#include <algorithm>

namespace gangway::scheduler {

using model::Dim;

namespace {

void Add(const model::Resources& from, int dims, std::map<Dim, std::int64_t>& into) {
  for (Dim dim = 0; dim < dims; ++dim) {
    if (from[dim] != 0) into[dim] += from[dim];
  }
}

}  // namespace

// Who has one keeps it.
const std::string& UseMetrics::LabelOf(const std::string& ns) {
  const auto known = namespaces_.find(ns);
  if (known != namespaces_.end()) return known->first;
  const bool room = namespaces_.size() < kMostNamespaces;
  return namespaces_.try_emplace(room ? ns : std::string(kOthers)).first->first;
}

void UseMetrics::Say(Gauges& gauges, const char* name, const char* help, const std::string& ns, Dim dim,
                     const model::Cluster& cluster, std::int64_t amount) {
  const auto [it, fresh] = gauges.try_emplace({ns, dim});
  if (fresh) {
    MetricLabels labels;
    if (!ns.empty()) labels.emplace_back("namespace", ns);
    labels.emplace_back("resource", std::string(cluster.dims().Name(dim)));
    it->second = metrics_->AddGauge(name, help, labels);
  }
  it->second.Set(static_cast<double>(amount) / (dim == model::kCpu ? 1000 : 1));
}

void UseMetrics::Set(const model::Cluster& cluster) {
  if (metrics_ == nullptr) return;
  const int dims = std::min(cluster.dims().count(), kMostResources);
  for (auto& [ns, amounts] : namespaces_) {  // what is 0 now is said, too
    for (auto* each : {&amounts.held, &amounts.waiting}) {
      for (auto& [dim, amount] : *each) amount = 0;
    }
  }
  for (model::GangId id = 0; id < cluster.gang_slots(); ++id) {
    const model::Gang& gang = cluster.gang(id);
    const bool waits = (cluster.waiting().contains(id) || cluster.awaiting_pods().contains(id)) && gang.is_ours();
    const bool holds = !gang.held.zero();
    if (!waits && !holds) continue;
    Amounts& of = namespaces_[LabelOf(gang.ns)];
    Add(gang.held, dims, of.held);
    // Its pods may not be made yet.
    if (waits) Add(gang.tasks.empty() ? gang.min_resources : gang.asks, dims, of.waiting);
  }
  for (const auto& [ns, amounts] : namespaces_) {
    for (const auto& [dim, amount] : amounts.held)
      Say(held_, "gangway_namespace_held_resources", "What gangs of a namespace hold on nodes", ns, dim, cluster,
          amount);
    for (const auto& [dim, amount] : amounts.waiting)
      Say(waiting_, "gangway_namespace_waiting_resources", "What gangs of a namespace wait for", ns, dim, cluster,
          amount);
  }
  for (Dim dim = 0; dim < dims; ++dim) {
    const std::int64_t total = cluster.total()[dim];
    if (total == 0 && idle_.find({"", dim}) == idle_.end()) continue;
    Say(idle_, "gangway_idle_resources", "What the nodes have and no pod holds", "", dim, cluster,
        std::max<std::int64_t>(0, total - cluster.used()[dim]));
  }
}

}  // namespace gangway::scheduler
