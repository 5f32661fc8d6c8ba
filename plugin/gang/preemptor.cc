#include "plugin/gang/preemptor.h"

#include <algorithm>

#include "plugin/gang/constraint/asks.h"
#include "plugin/gang/needs.h"
#include "plugin/gang/usable.h"

namespace gangway::gang {

using model::Dim;
using model::Resources;
using model::Task;
using model::TaskId;

bool AsksForNothing(const Resources& request) {
  for (Dim dim = 0; dim < request.size(); ++dim) {
    if (request[dim] > 0 && dim != model::kPods) return false;
  }
  return true;
}

std::optional<Preemptor> FindPreemptor(Overlay& overlay, model::GangId id) {
  const model::Cluster& cluster = overlay.cluster();
  const model::Gang& gang = cluster.gang(id);
  const Usable usable = FindUsable(overlay, gang);
  if (WhyTooFew(cluster, gang, usable).has_value()) return std::nullopt;
  const Needs needs = FindNeeds(cluster, gang, usable);
  if (needs.reason.has_value() || needs.all.empty()) return std::nullopt;
  Preemptor preemptor;
  preemptor.gang = id;
  preemptor.preempts = cluster.Preempts(gang);
  preemptor.count = static_cast<int>(needs.all.size());
  for (const std::size_t i : needs.all) {
    const Task& task = cluster.task(usable.tasks[i]);
    const Resources& request = cluster.shape(task.shape).request;
    preemptor.preempts = preemptor.preempts && task.preempts;
    preemptor.asks_for_nothing = preemptor.asks_for_nothing && AsksForNothing(request);
    preemptor.sum.Add(request);
  }
  for (const TaskId task : usable.tasks) {
    const model::ShapeId shape = cluster.task(task).shape;
    const auto it = std::find_if(preemptor.by_shape.begin(), preemptor.by_shape.end(),
                                 [&](const auto& entry) { return entry.first == shape; });
    if (it == preemptor.by_shape.end()) {
      preemptor.by_shape.emplace_back(shape, 1);
      preemptor.more_fit_less = preemptor.more_fit_less && overlay.AsksOf(shape).more_fit_less();
    } else {
      ++it->second;
    }
  }
  return preemptor;
}

std::optional<Preemptor> PreemptorOf(const Overlay& overlay, model::GangId id, const AlikeMinimum& needs) {
  const model::Cluster& cluster = overlay.cluster();
  const model::Gang& gang = cluster.gang(id);
  int pending = 0, preempting = 0;
  for (const TaskId task : gang.tasks) {
    if (cluster.task(task).status != model::TaskStatus::kPending) continue;
    ++pending;
    preempting += cluster.task(task).preempts ? 1 : 0;
  }
  if (preempting > 0 && preempting < pending) return std::nullopt;
  const Resources& request = cluster.shape(needs.shape).request;
  Preemptor preemptor;
  preemptor.gang = id;
  preemptor.asks_for_nothing = AsksForNothing(request);
  preemptor.sum.Add(request, needs.count);
  preemptor.count = needs.count;
  preemptor.by_shape = {{needs.shape, pending}};
  preemptor.more_fit_less = overlay.AsksOf(needs.shape).more_fit_less();
  preemptor.preempts = cluster.Preempts(gang) && preempting > 0;
  return preemptor;
}

}  // namespace gangway::gang
