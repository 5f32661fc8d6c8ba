#include "plugin/gang/alike_minimum.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
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

namespace {

// As QueueFull (admit.h) says it, with no word about why.
bool QueueHasRoom(const Overlay& overlay, const Gang& gang, const AlikeMinimum& needs) {
  const QueueTree& tree = overlay.tree();
  if (!tree.limits()) return true;
  const model::Resources& request = overlay.cluster().shape(needs.shape).request;
  const std::vector<model::QueueId>& path = tree.path(gang.queue);
  return std::all_of(path.begin(), path.end(), [&](model::QueueId level) {
    for (model::Dim dim = 0; dim < request.size(); ++dim) {
      if (request[dim] <= 0 || dim == model::kPods) continue;
      const std::int64_t limit = tree.PlaceLimit(level, dim);
      const std::int64_t in_use = tree.held(level)[dim] + overlay.taken_below(level)[dim] + overlay.claimed(level)[dim];
      if (limit != model::kUnlimited && in_use + needs.count * request[dim] > limit) return false;
    }
    return true;
  });
}

}  // namespace

std::optional<AlikeMinimum> FindAlikeMinimum(const Overlay& overlay, const Gang& gang) {
  const Cluster& cluster = overlay.cluster();
  if (gang.nominated > 0 || !gang.held_back.empty() || !gang.min_task_member.empty() || !gang.sub_groups.empty() ||
      gang.topology.has_value())
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
      overlay.AsksOf(needs.shape).blocks() || !QueueHasRoom(overlay, gang, needs))
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
