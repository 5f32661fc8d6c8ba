#include "plugin/gang/room_of_others.h"

#include <algorithm>
#include <set>
#include <string>

namespace gangway::gang {

RoomOfOthers::RoomOfOthers(Overlay& overlay, Scratch& scratch) : overlay_(overlay), scratch_(scratch) {
  const model::Cluster& cluster = overlay.cluster();
  for (const model::TaskId id : cluster.nominated_by_others()) {
    const model::Task& task = cluster.task(id);
    const model::Row row = cluster.FindNode(cluster.names().Text(task.nominated));
    if (row == model::kNone || !cluster.present(row)) continue;
    kept_.push_back({task.priority, row, task.shape, id});
    Hold(kept_.back(), 1);
  }
  std::stable_sort(kept_.begin(), kept_.end(), [](const Kept& a, const Kept& b) { return a.priority < b.priority; });
}

bool RoomOfOthers::KeepFrom(std::int32_t priority) {
  const auto first =
      std::find_if(kept_.begin(), kept_.end(), [priority](const Kept& kept) { return kept.priority >= priority; });
  return LetGo(static_cast<std::size_t>(first - kept_.begin()));
}

RoomOfOthers::InTheWay RoomOfOthers::KeptFrom(model::ShapeId shape, std::int32_t priority) const {
  const model::Cluster& cluster = overlay_.cluster();
  const model::Resources& request = cluster.shape(shape).request;
  InTheWay found;
  std::set<model::Row> rows;
  const auto key = [&](model::TaskId id) { return model::KeyOf(cluster.task(id).ns, cluster.task(id).name); };
  for (const Kept& kept : kept_) {
    bool room = kept.priority >= priority;
    for (model::Dim dim = 0; dim < request.size() && room; ++dim)
      room = request[dim] == 0 || request[dim] <= cluster.free(kept.row, dim);
    if (!room) continue;
    rows.insert(kept.row);
    if (found.first == model::kNone || key(kept.task) < key(found.first)) found.first = kept.task;
  }
  found.nodes = static_cast<int>(rows.size());
  return found;
}

bool RoomOfOthers::LetGo(std::size_t first) {
  if (first == let_go_) return false;
  for (; let_go_ < first; ++let_go_) Hold(kept_[let_go_], -1);
  for (; let_go_ > first; --let_go_) Hold(kept_[let_go_ - 1], 1);
  return true;
}

void RoomOfOthers::Hold(const Kept& kept, int times) {
  overlay_.Nominate(kept.row, kept.shape, times);
  scratch_.RowTouched(kept.row);
}

}  // namespace gangway::gang
