#include "plugin/gang/lost_member.h"

#include <algorithm>
#include <optional>

#include "plugin/gang/minimum.h"

namespace gangway::gang {

using model::Cluster;
using model::Gang;
using model::GangId;
using model::GangPhase;
using model::LostRoom;
using model::Task;
using model::TaskId;
using model::TaskStatus;

namespace {

std::optional<absl::Duration> WrittenGrace(const Cluster& cluster, const QueueTree& tree, const Gang& gang) {
  if (gang.queue == model::kNone) return std::nullopt;
  for (const model::QueueId level : tree.path(gang.queue)) {
    const std::optional<absl::Duration>& said = cluster.queue(level).lost_member_grace;
    if (said.has_value()) return said;
  }
  return std::nullopt;
}

bool IsReadyOrFailed(const Task& task) { return IsReady(task) || task.status == TaskStatus::kFailed; }

}  // namespace

bool HasLostMember(const Cluster& cluster, const Gang& gang) {
  // What begins anew, or has not begun, waits in another phase.
  const bool ran = gang.phase == GangPhase::kRunning || gang.phase == GangPhase::kUnknown;
  if (!ran || gang.kind != model::GangKind::kVolcano || !gang.is_ours()) return false;
  if (gang.Count(TaskStatus::kBound) + gang.Count(TaskStatus::kRunning) == 0) return false;
  if (gang.evicted > 0) return false;  // it goes
  return !HasMinimum(cluster, gang, IsReadyOrFailed);
}

bool IsInGrace(const Cluster& cluster, const QueueTree& tree, const Policy& policy, const Gang& gang, absl::Time now) {
  return gang.leaving == 0 && HasLostMember(cluster, gang) && GraceEnds(cluster, tree, policy, gang) > now;
}

absl::Time GraceEnds(const Cluster& cluster, const QueueTree& tree, const Policy& policy, const Gang& gang) {
  if (gang.short_since == absl::InfiniteFuture()) return absl::InfiniteFuture();
  return gang.short_since + WrittenGrace(cluster, tree, gang).value_or(policy.lost_member_grace);
}

std::vector<const LostRoom*> RoomLeftTo(const Cluster& cluster, GangId id) {
  std::vector<const LostRoom*> rooms;
  const Gang& gang = cluster.gang(id);
  for (const LostRoom& room : cluster.lost_room()) {
    if (static_cast<int>(rooms.size()) >= gang.min_member - gang.ready()) break;
    if (room.gang != id || gang.uid != room.uid) continue;
    const TaskId again = cluster.FindTask(gang.ns, room.pod);
    if (again == model::kNone || !cluster.task(again).holds_room()) rooms.push_back(&room);
  }
  return rooms;
}

bool GoesAfterGrace(const Cluster& cluster, const QueueTree& tree, const Gang& gang) {
  return WrittenGrace(cluster, tree, gang).has_value();
}

}  // namespace gangway::gang
