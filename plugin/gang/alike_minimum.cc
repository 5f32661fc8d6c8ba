#include "plugin/gang/alike_minimum.h"

#include <cstddef>
#include <numeric>
#include <utility>

#include "plugin/gang/area.h"
#include "plugin/gang/assignment.h"
#include "plugin/gang/constraint/asks.h"
#include "plugin/gang/order.h"
#include "plugin/gang/usable.h"

namespace gangway::gang {

using model::Cluster;
using model::Gang;
using model::Task;
using model::TaskId;
using model::TaskStatus;

std::optional<AlikeMinimum> FindAlikeMinimum(const Overlay& overlay, const Gang& gang) {
  const Cluster& cluster = overlay.cluster();
  if (gang.nominated > 0 || !gang.held_back.empty() || !gang.min_task_member.empty() || !gang.sub_groups.empty() ||
      gang.topology.has_value() || overlay.tree().limits())
    return std::nullopt;
  AlikeMinimum needs{model::kNone, gang.min_member - gang.ready()};
  if (needs.count <= 0 || WhyNotTried(cluster, gang).has_value()) return std::nullopt;
  for (const TaskId id : gang.tasks) {
    const Task& task = cluster.task(id);
    if (task.status != TaskStatus::kPending) continue;
    if (!task.ours || task.gated || (needs.shape != model::kNone && task.shape != needs.shape)) return std::nullopt;
    needs.shape = task.shape;
  }
  if (needs.shape == model::kNone || !cluster.shape(needs.shape).not_modelled.empty() ||
      overlay.AsksOf(needs.shape).blocks())
    return std::nullopt;
  return needs;
}

NoRoom WhyNoRoomForAlike(Overlay& overlay, Scratch& scratch, const Gang& gang, const AlikeMinimum& needs) {
  Usable usable;
  usable.tasks.reserve(gang.tasks.size());
  for (const TaskId id : gang.tasks) {
    if (overlay.cluster().task(id).status == TaskStatus::kPending) usable.tasks.push_back(id);
  }
  SortTasks(overlay.cluster(), usable.tasks);
  Assignment tasks(overlay, scratch, gang);
  tasks.Use(std::move(usable));
  TaskGroup group{needs.shape, std::vector<std::size_t>(static_cast<std::size_t>(needs.count))};
  std::iota(group.tasks.begin(), group.tasks.end(), std::size_t{0});
  return WhyNoRoom(tasks, Area(), {std::move(group)});
}

}  // namespace gangway::gang
