#include "plugin/gang/reservation.h"

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>

#include "plugin/gang/constraint/asks.h"

namespace gangway::gang {

using model::Cluster;
using model::Dim;
using model::Gang;
using model::GangId;
using model::KeptNodes;
using model::Resources;
using model::Row;
using model::Shape;
using model::Task;
using model::TaskId;

namespace {

// From the decision to the start of a pod, and from its end to the room.
constexpr absl::Duration kBesideRunning = absl::Minutes(1);

// Who is there beyond its time may run on for ever.
absl::Time EndOfTask(const Task& task, absl::Time now) {
  const model::Departure& known = task.departure();
  if (const absl::Time ends = known.ends; ends != absl::InfiniteFuture())
    return ends + kBesideRunning < now ? absl::InfiniteFuture() : ends;
  return known.lasts == absl::InfiniteDuration() ? absl::InfiniteFuture() : now + known.lasts + kBesideRunning;
}

// With what is known of runs before it, until it has taken longer than any of them.
absl::Time ExpectedEnd(const Task& task, const Gang& gang, absl::Time known, absl::Time now) {
  const bool begins = task.status == model::TaskStatus::kBinding;
  if (gang.past_runs.runs == 0 || (!begins && task.started == absl::InfinitePast())) return known;
  const absl::Time began = begins ? now : absl::Time(task.started);
  const absl::Time expected = began + gang.past_runs.longest;
  return expected + kBesideRunning < now ? known : std::min(expected, known);
}

// What of one node goes to the gang.
struct PartOfRow {
  KeptNodes::Spot spot;
  Resources freed;
  std::vector<TaskId> ended;
  absl::Time start = absl::InfinitePast(), expected = absl::InfinitePast();
};

// So many copies more after so many pods more end, the last of them then, as is expected.
struct StepOnRow {
  Row row = model::kNone;
  int copies = 0, ends = 0;
  absl::Time expected = absl::InfinitePast();
};

// Looks for the nodes of one gang in one area.
class RoomSearch {
 public:
  RoomSearch(const Overlay& overlay, const PodsThatEnd& pods, GangId gang)
      : overlay_(overlay), cluster_(overlay.cluster()), pods_(pods), gang_(gang) {}

  bool Add(model::ShapeId shape, int count, const Area& area) {
    const constraint::Asks& asks = overlay_.AsksOf(shape);
    std::vector<StepOnRow> steps;
    const auto look = [&](Row row) {
      if (!cluster_.present(row)) return;
      if (const StepOnRow step = BestStep(row, asks, count); step.copies > 0) steps.push_back(step);
    };
    if (area.rows() != nullptr) {
      std::for_each(area.rows()->begin(), area.rows()->end(), look);
    } else {
      for (Row row = 0; row < cluster_.rows(); ++row) look(row);
    }
    // A heap, the most copies for each pod that ends on top.
    const auto worse = [&](const StepOnRow& a, const StepOnRow& b) {
      const std::int64_t x = std::int64_t{a.copies} * b.ends, y = std::int64_t{b.copies} * a.ends;
      if (x != y) return x < y;
      if (a.ends != b.ends) return a.ends > b.ends;  // both are 0 where one is
      if (a.expected != b.expected) return a.expected > b.expected;
      return cluster_.node_name(a.row) > cluster_.node_name(b.row);
    };
    std::make_heap(steps.begin(), steps.end(), worse);
    while (count > 0 && !steps.empty()) {
      std::pop_heap(steps.begin(), steps.end(), worse);
      const StepOnRow step = steps.back();
      steps.pop_back();
      count -= Take(step.row, asks, std::min(step.copies, count));
      if (count == 0) break;
      const StepOnRow next = BestStep(step.row, asks, count);
      if (next.copies == 0) continue;
      steps.push_back(next);
      std::push_heap(steps.begin(), steps.end(), worse);
    }
    return count == 0;
  }

  // The same nodes as before, after those pods there have ended that end first. False: there they will not have that
  // room.
  bool AddAgain(const KeptNodes& before) {
    return std::all_of(before.spots.begin(), before.spots.end(), [&](const KeptNodes::Spot& spot) {
      if (!cluster_.present(spot.row)) return false;
      const auto lacks = [&](const Resources& freed) {
        for (Dim dim = 0; dim < spot.amounts.size(); ++dim) {
          if (spot.amounts[dim] > 0 && Room(spot.row, dim, nullptr) + freed[dim] < spot.amounts[dim]) return true;
        }
        return false;
      };
      PartOfRow& part = parts_[spot.row];
      if (!EndWhoIsBeside(spot, part)) return false;
      Resources freed = part.freed;
      std::vector<PodsThatEnd::Pod> pods = InOrder(spot.row, spot.amounts, &part);
      std::stable_sort(pods.begin(), pods.end(), [](const auto& a, const auto& b) { return a.end < b.end; });
      std::size_t ended = 0;
      for (; ended < pods.size() && lacks(freed); ++ended) freed.Add(RequestOf(spot.row, pods[ended]));
      if (lacks(freed)) return false;
      pods.resize(ended);
      for (const PodsThatEnd::Pod& pod : pods) {  // but for those whose end is not needed
        freed.Subtract(RequestOf(spot.row, pod));
        if (!lacks(freed)) continue;
        freed.Add(RequestOf(spot.row, pod));
        End(spot.row, pod, part);
      }
      part.spot = spot;
      return true;
    });
  }

  KeptNodes Found(absl::Time now) const {
    KeptNodes found;
    found.start = found.expected = now;
    for (const auto& [row, part] : parts_) {
      found.spots.push_back(part.spot);
      found.ends += static_cast<int>(part.ended.size());
      found.start = std::max(found.start, part.start);
      found.expected = std::max(found.expected, part.expected);
    }
    std::sort(found.spots.begin(), found.spots.end(),
              [&](const auto& a, const auto& b) { return cluster_.node_name(a.row) < cluster_.node_name(b.row); });
    return found;
  }

 private:
  std::int64_t Room(Row row, Dim dim, const PartOfRow* part) const {
    const std::int64_t room = overlay_.free(row, dim) + pods_.Ending(row)[dim];
    return part == nullptr ? room : room + part->freed[dim] - part->spot.amounts[dim];
  }

  const Resources& RequestOf(Row row, const PodsThatEnd::Pod& pod) const {
    return pod.task == model::kNone ? *overlay_.TakenOn(row) : cluster_.shape(cluster_.task(pod.task).shape).request;
  }

  void End(Row row, const PodsThatEnd::Pod& pod, PartOfRow& part) const {
    part.freed.Add(RequestOf(row, pod));
    part.ended.push_back(pod.task);
    part.start = std::max(part.start, pod.end);
    part.expected = std::max(part.expected, pod.expected);
  }

  // Whoever came by what the spot has beside amounts meanwhile must end, too. False: one that does not end here has it.
  bool EndWhoIsBeside(const KeptNodes::Spot& spot, PartOfRow& part) const {
    std::vector<const Shape*> gone = pods_.EndingShapes(spot.row);
    for (const PodsThatEnd::Pod& pod : pods_.On(spot.row)) {
      const Shape& shape = cluster_.shape(cluster_.task(pod.task).shape);
      if (cluster_.task(pod.task).gang == gang_ || !overlay_.TakesBesideRoom(shape, spot)) continue;
      gone.push_back(&shape);
      End(spot.row, pod, part);
    }
    return overlay_.FreeBesideRoom(spot, gone);
  }

  const PartOfRow* PartOn(Row row) const {
    const auto it = parts_.find(row);
    return it == parts_.end() ? nullptr : &it->second;
  }

  int Copies(Row row, const Shape& shape, const PartOfRow* part, const Resources& freed, int most) const {
    std::int64_t copies = most;
    for (Dim dim = 0; dim < shape.request.size() && copies > 0; ++dim) {
      if (shape.request[dim] > 0) copies = std::min(copies, (Room(row, dim, part) + freed[dim]) / shape.request[dim]);
    }
    return static_cast<int>(std::max<std::int64_t>(copies, 0));
  }

  // Pods of others that have not ended here, those first that give most of what is asked, of equals those that end
  // first.
  std::vector<PodsThatEnd::Pod> InOrder(Row row, const Resources& asked, const PartOfRow* part) const {
    struct Entry {
      double gives = 0;
      PodsThatEnd::Pod pod;
    };
    std::vector<Entry> entries;
    std::vector<PodsThatEnd::Pod> there = pods_.On(row);
    // Whoever was placed in this call ends some time, too.
    if (overlay_.TakenOn(row) != nullptr)
      there.push_back({model::kNone, absl::InfiniteFuture(), absl::InfiniteFuture()});
    for (const PodsThatEnd::Pod& pod : there) {
      if (pod.task != model::kNone && cluster_.task(pod.task).gang == gang_) continue;
      if (part != nullptr && std::find(part->ended.begin(), part->ended.end(), pod.task) != part->ended.end()) continue;
      const Resources& request = RequestOf(row, pod);
      Entry entry{0, pod};
      for (Dim dim = 0; dim < asked.size(); ++dim) {
        // Only what is scarce on the row counts.
        if (asked[dim] == 0 || Room(row, dim, part) >= asked[dim]) continue;
        entry.gives += static_cast<double>(request[dim]) / static_cast<double>(asked[dim]);
      }
      entries.push_back(entry);
    }
    std::sort(entries.begin(), entries.end(), [&](const Entry& a, const Entry& b) {
      if (a.gives != b.gives) return a.gives > b.gives;
      if (a.pod.end != b.pod.end) return a.pod.end < b.pod.end;
      if (a.pod.expected != b.pod.expected) return a.pod.expected < b.pod.expected;
      if (a.pod.task == model::kNone || b.pod.task == model::kNone) return a.pod.task != model::kNone;
      const Task& x = cluster_.task(a.pod.task);
      const Task& y = cluster_.task(b.pod.task);
      return std::tie(x.ns, x.name) < std::tie(y.ns, y.name);
    });
    std::vector<PodsThatEnd::Pod> pods;
    for (const Entry& entry : entries) pods.push_back(entry.pod);
    return pods;
  }

  // Without copies: nothing that ends there makes room for one more.
  StepOnRow BestStep(Row row, const constraint::Asks& asks, int wanted) const {
    const Shape& shape = asks.shape();
    const PartOfRow* const part = PartOn(row);
    const bool taken = part != nullptr && overlay_.TakesBesideRoom(shape, part->spot);
    const int most = taken ? 0 : std::min(wanted, asks.BesideRoom(row).copies);
    StepOnRow best{row, 0, 0};
    absl::Time expected = absl::InfinitePast();
    if (most <= 0) return best;
    Resources freed;
    if ((best.copies = Copies(row, shape, part, freed, most)) > 0) return best;
    for (Dim dim = 0; dim < shape.request.size(); ++dim) {
      if (shape.request[dim] > cluster_.allocatable(row, dim)) return best;
    }
    int ends = 0;
    for (const PodsThatEnd::Pod& pod : InOrder(row, shape.request, part)) {
      freed.Add(RequestOf(row, pod));
      ++ends;
      expected = std::max(expected, pod.expected);
      const int copies = Copies(row, shape, part, freed, most);
      if (std::int64_t{copies} * std::max(best.ends, 1) > std::int64_t{best.copies} * ends)
        best = {row, copies, ends, expected};
      if (copies == most) break;
    }
    return best;
  }

  // Ends as many pods as so many copies need.
  int Take(Row row, const constraint::Asks& asks, int copies) {
    const Shape& shape = asks.shape();
    PartOfRow& part = parts_[row];
    const std::vector<PodsThatEnd::Pod> pods = InOrder(row, shape.request, &part);
    for (auto pod = pods.begin(); pod != pods.end() && Copies(row, shape, &part, {}, copies) < copies; ++pod)
      End(row, *pod, part);
    part.spot.row = row;
    part.spot.amounts.Add(shape.request, copies);
    overlay_.AddBesideRoom(shape, copies, part.spot);
    return copies;
  }

  const Overlay& overlay_;
  const Cluster& cluster_;
  const PodsThatEnd& pods_;
  const GangId gang_;
  absl::flat_hash_map<Row, PartOfRow> parts_;
};

}  // namespace

PodsThatEnd::PodsThatEnd(const Cluster& cluster, absl::Time now) {
  for (GangId id = 0; id < cluster.gang_slots(); ++id) {
    const Gang& gang = cluster.gang(id);
    for (const TaskId task_id : gang.tasks) {
      const Task& task = cluster.task(task_id);
      if (!task.holds_room()) continue;
      if (task.goes()) {
        const Shape& shape = cluster.shape(task.shape);
        ending_[task.row].Add(shape.request);
        ending_shapes_[task.row].push_back(&shape);
      } else {
        pods_[task.row].push_back(EndOfPod(cluster, task_id, now));
      }
    }
  }
}

const std::vector<PodsThatEnd::Pod>& PodsThatEnd::On(Row row) const {
  static const auto& none = *new std::vector<Pod>();
  const auto it = pods_.find(row);
  return it == pods_.end() ? none : it->second;
}

const Resources& PodsThatEnd::Ending(Row row) const {
  static const Resources& none = *new Resources();
  const auto it = ending_.find(row);
  return it == ending_.end() ? none : it->second;
}

const std::vector<const Shape*>& PodsThatEnd::EndingShapes(Row row) const {
  static const auto& none = *new std::vector<const Shape*>();
  const auto it = ending_shapes_.find(row);
  return it == ending_shapes_.end() ? none : it->second;
}

namespace {

bool AddAll(RoomSearch& search, const std::vector<std::pair<model::ShapeId, int>>& by_shape, const Area& area) {
  return std::all_of(by_shape.begin(), by_shape.end(),
                     [&](const auto& each) { return search.Add(each.first, each.second, area); });
}

// The part's area in which the fewest pods more must end. False: there is none.
bool AddPart(std::optional<RoomSearch>& search, const Wanted::Part& part, const Area& within, absl::Time now) {
  std::optional<RoomSearch> best;
  int ends = 0;
  for (const Area& area : part.areas) {
    if (within.rows() != nullptr && !within.Contains(area)) continue;
    RoomSearch trial = *search;
    if (!AddAll(trial, part.by_shape, area)) continue;
    const int its_ends = trial.Found(now).ends;
    if (best.has_value() && its_ends >= ends) continue;
    ends = its_ends;
    best.emplace(std::move(trial));
  }
  if (!best.has_value()) return false;
  search.emplace(*std::move(best));
  return true;
}

}  // namespace

std::optional<KeptNodes> FindRoomToCome(const Overlay& overlay, const PodsThatEnd& pods, GangId gang,
                                        const Wanted& wanted, const KeptNodes* before, absl::Time now) {
  std::optional<KeptNodes> best;
  if (RoomSearch again(overlay, pods, gang); before != nullptr && again.AddAgain(*before)) best = again.Found(now);
  for (const Area& area : wanted.areas) {
    std::optional<RoomSearch> search(std::in_place, overlay, pods, gang);
    const bool found = std::all_of(wanted.parts.begin(), wanted.parts.end(),
                                   [&](const Wanted::Part& part) { return AddPart(search, part, area, now); }) &&
                       AddAll(*search, wanted.by_shape, area);
    if (!found) continue;
    KeptNodes room = search->Found(now);
    // Nodes are not given up for others where the wait may be longer.
    const bool later = before != nullptr && best.has_value() && room.start > best->start;
    if (!best.has_value() || (room.ends < best->ends && !later)) best = std::move(room);
  }
  return best;
}

void HeldRoom::Hold(GangId gang, KeptNodes nodes) {
  gang_ = gang;
  nodes_ = std::move(nodes);
  Take();
}

void HeldRoom::Release() {
  Give();
  gang_ = model::kNone;
  nodes_ = {};
}

bool HeldRoom::CouldTake(const Resources& request) const {
  for (std::size_t i = 0; i < taken_.size(); ++i) {
    const Row row = nodes_.spots[i].row;
    bool all = overlay_.cluster().present(row), held = false;
    for (Dim dim = 0; dim < request.size() && all; ++dim) {
      if (request[dim] == 0) continue;
      all = overlay_.free(row, dim) + taken_[i][dim] >= request[dim];
      held = held || overlay_.free(row, dim) < request[dim];
    }
    if (all && held) return true;
  }
  return false;
}

void HeldRoom::Take() {
  for (const KeptNodes::Spot& spot : nodes_.spots) {
    Resources& taken = taken_.emplace_back();
    if (!overlay_.cluster().present(spot.row)) continue;
    for (Dim dim = 0; dim < spot.amounts.size(); ++dim) {
      const std::int64_t free = std::max<std::int64_t>(overlay_.free(spot.row, dim), 0);
      taken.Set(dim, std::min(spot.amounts[dim], free));
    }
    overlay_.KeepRoom(spot.row, taken, 1);
    overlay_.KeepBesideRoom(spot, 1);
    scratch_.RowTouched(spot.row);
  }
}

void HeldRoom::Give() {
  for (std::size_t i = 0; i < taken_.size(); ++i) {
    const Row row = nodes_.spots[i].row;
    if (!overlay_.cluster().present(row)) continue;
    overlay_.KeepRoom(row, taken_[i], -1);
    overlay_.KeepBesideRoom(nodes_.spots[i], -1);
    scratch_.RowTouched(row);
  }
  taken_.clear();
}

PodsThatEnd::Pod EndOfPod(const Cluster& cluster, TaskId id, absl::Time now) {
  const Task& task = cluster.task(id);
  const absl::Time end = EndOfTask(task, now);
  return {id, end, ExpectedEnd(task, cluster.gang(task.gang), end, now)};
}

absl::Time EndOf(const Cluster& cluster, GangId id_of_gang, absl::Time now) {
  const Gang& gang = cluster.gang(id_of_gang);
  absl::Time end = now;
  if (static_cast<int>(gang.tasks.size()) < gang.min_member) end += gang.lasts + kBesideRunning;
  for (const TaskId id : gang.tasks) {
    const Task& task = cluster.task(id);
    if (task.asks_for_room()) end = std::max(end, EndOfTask(task, now));
    if (end == absl::InfiniteFuture()) break;
  }
  return end;
}

}  // namespace gangway::gang
