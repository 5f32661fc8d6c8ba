#include "plugin/gang/nominated_room.h"

#include "plugin/gang/lost_member.h"

namespace gangway::gang {

void NominatedRoom::Keep(model::GangId gang) {
  if (kept_.insert(gang).second) Hold(gang, 1);
}

void NominatedRoom::Give(model::GangId gang) {
  if (kept_.erase(gang) > 0) Hold(gang, -1);
}

void NominatedRoom::Hold(model::GangId gang, int times) {
  const model::Cluster& cluster = overlay_.cluster();
  for (const model::TaskId id : cluster.gang(gang).tasks) {
    const model::Task& task = cluster.task(id);
    if (task.status != model::TaskStatus::kPending || task.nominated == model::kNone || !task.ours) continue;
    Hold(cluster.FindNode(cluster.names().Text(task.nominated)), task.shape, model::kNone, times);
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

}  // namespace gangway::gang
