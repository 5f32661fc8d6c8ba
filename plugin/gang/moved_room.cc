#include "plugin/gang/moved_room.h"

#include <algorithm>

namespace gangway::gang {

using model::Cluster;
using model::GangId;
using model::MovedGang;
using model::Task;
using model::TaskId;

MovedRoom::MovedRoom(Overlay& overlay, Scratch& scratch, absl::Time now) : overlay_(overlay), scratch_(scratch) {
  const Cluster& cluster = overlay.cluster();
  for (const MovedGang& moved : cluster.moved()) {
    if (moved.until <= now || moved.gang >= cluster.gang_slots() || cluster.gang(moved.gang).uid != moved.uid) continue;
    const std::vector<TaskId>& tasks = cluster.gang(moved.gang).tasks;
    const auto holds = [&](const std::string& uid) {
      return !uid.empty() && std::any_of(tasks.begin(), tasks.end(), [&](TaskId id) {
        return cluster.task(id).uid == uid && cluster.task(id).holds_room();
      });
    };
    for (const MovedGang::Pod& pod : moved.pods) {
      const model::Row row = cluster.FindNode(pod.node);
      if (row == model::kNone || !cluster.present(row) || holds(pod.made)) continue;
      kept_.push_back({moved.gang, row, pod.shape, !holds(pod.uid), !pod.made.empty()});
      Hold(kept_.back(), 1);
    }
    until_ = std::min(until_, moved.until);
  }
}

int MovedRoom::PodsOf(GangId gang) const {
  return static_cast<int>(
      std::count_if(kept_.begin(), kept_.end(), [gang](const Kept& kept) { return kept.gang == gang; }));
}

void MovedRoom::Hold(const Kept& kept, int times) {
  const model::QueueId queue = kept.of_queue ? overlay_.cluster().gang(kept.gang).queue : model::kNone;
  overlay_.Hold(kept.row, kept.shape, queue, times);
  scratch_.RowTouched(kept.row);
}

void MovedRoom::Keep(GangId gang, int times) {
  for (const Kept& kept : kept_) {
    if (kept.gang == gang && kept.made) Hold(kept, times);
  }
}

}  // namespace gangway::gang
