#include "plugin/gang/nominated_room.h"

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
    if (task.status != model::TaskStatus::kPending || task.nominated == model::kNone) continue;
    const model::Row row = cluster.FindNode(cluster.names().Text(task.nominated));
    if (row == model::kNone || !cluster.present(row)) continue;
    overlay_.Hold(row, task.shape, model::kNone, times);
    scratch_.RowTouched(row);
  }
}

}  // namespace gangway::gang
