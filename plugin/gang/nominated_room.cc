#include "plugin/gang/nominated_room.h"

#include <algorithm>

#include "plugin/gang/lost_member.h"

namespace gangway::gang {

void NominatedRoom::CountOn(const std::vector<model::TaskId>& ending) {
  const model::Cluster& cluster = overlay_.cluster();
  for (const model::TaskId id : ending) {
    const model::Task& task = cluster.task(id);
    ends_on_[task.row].ending.Add(cluster.shape(task.shape).request);
  }
}

void NominatedRoom::Keep(model::GangId gang, bool awaited) {
  if (kept_.emplace(gang, awaited).second) Hold(gang, awaited, 1);
}

void NominatedRoom::Give(model::GangId gang) {
  const auto kept = kept_.extract(gang);
  if (!kept.empty()) Hold(gang, kept.mapped(), -1);
}

void NominatedRoom::Hold(model::GangId gang, bool awaited, int times) {
  const model::Cluster& cluster = overlay_.cluster();
  for (const model::TaskId id : cluster.gang(gang).tasks) {
    const model::Task& task = cluster.task(id);
    if (task.status != model::TaskStatus::kPending || task.nominated == model::kNone || !task.ours) continue;
    const model::Row row = cluster.FindNode(cluster.names().Text(task.nominated));
    Hold(row, task.shape, model::kNone, times);
    const auto ends = awaited ? ends_on_.find(row) : ends_on_.end();
    if (ends == ends_on_.end()) continue;
    ends->second.awaited.Add(cluster.shape(task.shape).request, times);
    Cover(row, ends->second);
  }
  if (!HasLostMember(cluster, cluster.gang(gang))) return;
  for (const model::LostRoom* const room : RoomLeftTo(cluster, gang))
    Hold(cluster.FindNode(room->node), room->shape, cluster.gang(gang).queue, times);
}

void NominatedRoom::Hold(model::Row row, model::ShapeId shape, model::QueueId queue, int times) {
  if (row == model::kNone || !overlay_.cluster().present(row)) return;
  overlay_.Hold(row, shape, queue, times);
  scratch_.RowTouched(row);
}

void NominatedRoom::KeepAll(bool all) {
  for (const auto& [row, on] : ends_on_) Cover(row, on.covered, all ? -1 : 1);
}

void NominatedRoom::Cover(model::Row row, OnRow& on) {
  Cover(row, on.covered, -1);
  for (model::Dim dim = 0; dim < std::max(on.awaited.size(), on.covered.size()); ++dim)
    on.covered.Set(dim, std::min(on.awaited[dim], on.ending[dim]));
  Cover(row, on.covered, 1);
}

void NominatedRoom::Cover(model::Row row, const model::Resources& covered, int times) {
  if (covered.zero()) return;
  overlay_.KeepRoom(row, covered, -times);
  scratch_.RowTouched(row);
}

}  // namespace gangway::gang
