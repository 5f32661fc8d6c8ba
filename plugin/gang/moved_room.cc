#include "plugin/gang/moved_room.h"

#include <algorithm>
#include <optional>
#include <utility>

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
      if (row == model::kNone || !cluster.present(row) || holds(pod.made) || pod.shape == model::kNone) continue;
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

namespace {

// nullopt: they stay where they are, or all have their place.
std::optional<MovedGang> FindMoved(const Cluster& cluster, GangId id, absl::Duration patience, absl::Time now) {
  const model::Gang& gang = cluster.gang(id);
  MovedGang moved{id, gang.uid.text(), {}, absl::InfiniteFuture()};
  bool begun = false, some_there = false, all_placed = true;
  for (const model::GangFacts::MovedPod& pod : *gang.moved_pods) {
    MovedGang::Pod& kept = moved.pods.emplace_back();
    kept.name = pod.name;
    kept.uid = pod.uid;
    kept.node = pod.node;
    const TaskId at = cluster.FindTask(gang.ns, pod.name);
    const Task* const task = at == model::kNone || cluster.task(at).gang != id ? nullptr : &cluster.task(at);
    if (task != nullptr) kept.shape = task->shape;
    if (task == nullptr || task->uid != pod.uid) {
      begun = true;
      all_placed = all_placed && task != nullptr && task->holds_room();
      if (task != nullptr && (!task->asks_for_room() || task->nominated != model::kNone)) kept.made = task->uid.text();
      continue;
    }
    some_there = true;
    all_placed = false;
    if (task->status == model::TaskStatus::kReleasing) {
      begun = true;
    } else if (!task->leaving) {
      return std::nullopt;
    }
  }
  if (!begun || all_placed || (!some_there && now >= gang.moved + patience)) return std::nullopt;
  return moved;
}

}  // namespace

void RecallMoved(absl::Duration patience, absl::Time now, Cluster& cluster) {
  std::vector<MovedGang> all = cluster.moved();
  const std::size_t known = all.size();
  for (GangId id = 0; id < cluster.gang_slots(); ++id) {
    const model::Gang& gang = cluster.gang(id);
    if (!gang.known || !gang.moved_pods.has_value()) continue;
    if (std::any_of(all.begin(), all.end(), [id](const MovedGang& each) { return each.gang == id; })) continue;
    if (std::optional<MovedGang> moved = FindMoved(cluster, id, patience, now)) all.push_back(*std::move(moved));
  }
  if (all.size() > known) cluster.SetMoved(std::move(all));
}

}  // namespace gangway::gang
