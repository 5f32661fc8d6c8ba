#include "plugin/gang/alike_minimum.h"

#include <cstddef>
#include <string>
#include <vector>

#include "plugin/gang/admit.h"
#include "plugin/gang/constraint/asks.h"
#include "plugin/gang/order.h"
#include "plugin/gang/usable.h"

namespace gangway::gang {

using model::Cluster;
using model::Gang;
using model::Reason;
using model::RoleReason;
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

NoRoom WhyNoRoomForAlike(const Overlay& overlay, Scratch& scratch, const Gang& gang, const AlikeMinimum& needs) {
  const Cluster& cluster = overlay.cluster();
  std::vector<TaskId> tasks;
  tasks.reserve(gang.tasks.size());
  for (const TaskId id : gang.tasks) {
    if (cluster.task(id).status == TaskStatus::kPending) tasks.push_back(id);
  }
  SortTasks(cluster, tasks);
  const int fitting = static_cast<int>(scratch.Fit(overlay, needs.shape).copies());
  NoRoom told{ReasonOf(Reason::Kind::kNoRoom, gang), {tasks.begin(), tasks.begin() + fitting}};
  told.reason.existing = gang.ready() + fitting;
  told.reason.missing = needs.count - fitting;
  RoleReason& role = told.reason.roles.emplace_back(scratch.FullReason(overlay, needs.shape));
  role.role = std::string(cluster.names().Text(cluster.task(tasks[static_cast<std::size_t>(fitting)]).role));
  role.missing = told.reason.missing;
  return told;
}

}  // namespace gangway::gang
