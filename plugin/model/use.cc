#include "plugin/model/use.h"

#include <algorithm>
#include <cmath>

namespace gangway::model {
namespace {

// Of the cluster's units those that Kubernetes counts in.
double UnitOf(Dim dim) { return dim == kCpu ? 1000 : 1; }

}  // namespace

std::map<std::string, double> HeldNow(const Cluster& cluster, const Queue& queue) {
  std::map<std::string, double> held;
  for (Dim dim = 0; dim < queue.held.size(); ++dim) {
    if (dim == kPods || queue.held[dim] <= 0) continue;
    held[std::string(cluster.dims().Name(dim))] = static_cast<double>(queue.held[dim]) / UnitOf(dim);
  }
  return held;
}

Use UseAt(const Use& use, const std::map<std::string, double>& held, absl::Duration half_life, absl::Time now) {
  Use then{std::max(use.as_of, now), {}};
  const double kept = std::exp2(-absl::FDivDuration(then.as_of - use.as_of, half_life));
  for (const auto& [name, amount] : use.held) then.held[name] = kept * amount;
  for (const auto& [name, amount] : held) then.held[name] += (1 - kept) * amount;
  return then;
}

std::vector<double> UsedByDim(const Use& use, const Dims& dims) {
  std::vector<double> used(static_cast<std::size_t>(dims.count()));
  for (Dim dim = 0; dim < dims.count(); ++dim) {
    const auto of_dim = use.held.find(std::string(dims.Name(dim)));
    if (of_dim != use.held.end()) used[static_cast<std::size_t>(dim)] = of_dim->second * UnitOf(dim);
  }
  return used;
}

}  // namespace gangway::model
