#include "plugin/gang/place.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/gang/admit.h"
#include "plugin/gang/fill.h"
#include "plugin/gang/minimum.h"
#include "plugin/gang/narrowing.h"

namespace gangway::gang {

using model::Cluster;
using model::Reason;
using model::Row;
using model::TaskStatus;

GangPlacement::GangPlacement(Overlay& overlay, Scratch& scratch, const Policy& policy, model::GangId gang, bool tells)
    : policy_(policy),
      tells_(tells),
      id_(gang),
      gang_(overlay.cluster().gang(gang)),
      tasks_(overlay, scratch, gang_),
      units_(tasks_) {}

namespace {

bool HasTopology(const model::Gang& gang) {
  return gang.topology.has_value() ||
         std::any_of(gang.sub_groups.begin(), gang.sub_groups.end(),
                     [](const model::SubGroupFacts& policy) { return policy.topology.has_value(); });
}

}  // namespace

// ---- the minimum

bool GangPlacement::PlaceMinimum() {
  if (!Begin()) return false;
  placed_minimum_ =
      PlaceAsNominated() || (gang_.topology.has_value() ? PlaceWithinHyperNode() : PlaceNeedsOrTell(Area()));
  return Keep();
}

bool GangPlacement::PlaceMinimumAsNominated() {
  placed_minimum_ = Begin() && PlaceAsNominated();
  return Keep();
}

bool GangPlacement::Begin() {
  const Cluster& cluster = tasks_.cluster();
  if ((reason_ = WhyNotTried(cluster, gang_)).has_value()) return false;
  tasks_.Use(FindUsable(tasks_.overlay(), gang_));
  if ((reason_ = WhyTooFew(cluster, gang_, tasks_.usable())).has_value()) return false;
  needs_ = FindNeeds(cluster, gang_, tasks_.usable());
  if ((reason_ = needs_.reason).has_value()) return false;
  tasks_.overlay().Begin();
  return true;
}

bool GangPlacement::Keep() {
  if (!placed_minimum_) return false;
  tasks_.overlay().Keep();
  units_.LookAgain();
  needs_.rest.clear();
  if (rests()) return true;
  for (const Unit& unit : tasks_.usable().units) {
    if (!tasks_.placed(unit)) needs_.rest.push_back(unit);
  }
  return true;
}

bool GangPlacement::PlaceAgain(std::vector<model::TaskId> tasks) {
  Usable usable;
  usable.tasks = std::move(tasks);
  tasks_.Use(std::move(usable));
  needs_ = {};
  needs_.all.resize(tasks_.size());
  std::iota(needs_.all.begin(), needs_.all.end(), std::size_t{0});
  tasks_.overlay().Begin();
  placed_minimum_ = gang_.topology.has_value() ? PlaceWithinHyperNode() : PlaceNeedsOrTell(Area());
  if (placed_minimum_) tasks_.overlay().Keep();
  return placed_minimum_;
}

bool GangPlacement::Packs() const {
  if (!placed_minimum_ && (!reason_.has_value() || reason_->kind != Reason::Kind::kNoRoom)) return false;
  if (gang_.nominated > 0 || HasTopology(gang_) || rests()) return false;
  model::ShapeId seen = model::kNone;  // most are as the one before
  return std::all_of(tasks_.usable().tasks.begin(), tasks_.usable().tasks.end(), [&](model::TaskId task) {
    const model::ShapeId shape = tasks_.cluster().task(task).shape;
    return std::exchange(seen, shape) == shape || !tasks_.AsksOf(shape).minds_pods();
  });
}

std::vector<TaskGroup> GangPlacement::MinimumByShape() const {
  if (!placed_minimum_) return tasks_.GroupByShape(needs_.all);
  std::vector<std::size_t> placed;
  for (std::size_t task = 0; task < tasks_.size(); ++task) {
    if (tasks_.placed(task)) placed.push_back(task);
  }
  return tasks_.GroupByShape(placed);
}

void GangPlacement::PlaceMinimumAt(const std::vector<std::pair<std::size_t, Row>>& rows) {
  if (placed_minimum_) {
    for (const auto& [task, row] : rows) tasks_.Move(task, row);
    units_.LookAgain();
    return;
  }
  tasks_.overlay().Begin();
  for (const auto& [task, row] : rows) tasks_.Put({&task, 1}, row);
  placed_minimum_ = true;
  reason_.reset();
  would_fit_.clear();
  Keep();
}

// What must lie in a HyperNode looks for one anew.
bool GangPlacement::PlaceAsNominated() {
  const Cluster& cluster = tasks_.cluster();
  const auto row_of = [&](std::size_t task) {
    const int node = tasks_[task].nominated;
    return node == model::kNone ? model::kNone : cluster.FindNode(cluster.names().Text(node));
  };
  if (gang_.nominated == 0 || HasTopology(gang_)) return false;
  if (std::any_of(needs_.all.begin(), needs_.all.end(),
                  [&](std::size_t task) { return row_of(task) == model::kNone; }) ||
      tasks_.WhyQueueFull(needs_.all).has_value())
    return false;
  for (const std::size_t task : needs_.all) {
    const Row row = row_of(task);
    if (tasks_.AsksOf(tasks_[task].shape).At(row).copies == 0) {
      tasks_.DropAll();
      return false;
    }
    tasks_.Put({&task, 1}, row);
  }
  return true;
}

// In one HyperNode; or, where that is only preferred, anywhere.
bool GangPlacement::PlaceWithinHyperNode() {
  std::vector<std::size_t> usable(tasks_.size());
  std::iota(usable.begin(), usable.end(), std::size_t{0});
  const model::TopologyFacts& topology = *gang_.topology;
  const std::vector<Row> there = RowsOfGang(tasks_);
  const std::vector<Area> hyper_nodes = HyperNodesToTry(tasks_, topology, there, usable, Area());
  const auto stay_in = [&](const Area& area) {
    bounds_ = {area, topology.required ? WidestAround(hyper_nodes, area) : Area()};
  };
  const std::vector<TaskGroup> groups = tasks_.GroupByShape(usable);
  for (const Area& area : hyper_nodes) {
    std::int64_t copies = 0;
    for (const TaskGroup& group : groups) copies += area.Copies(tasks_.Fit(group.shape));
    if (copies < static_cast<std::int64_t>(needs_.all.size())) continue;
    const int budget = std::max(200, policy_.search_budget / static_cast<int>(hyper_nodes.size()));
    if (PlaceNeeds({area, budget, /*told=*/false})) {
      stay_in(area);
      return true;
    }
    if (reason_.has_value()) return false;  // the queue's, wherever the gang goes
  }
  if (!topology.required) return PlaceNeedsOrTell(Area());
  if (hyper_nodes.empty()) {
    reason_ = NoHyperNode(tasks_.cluster(), gang_, topology, there);
    return false;
  }
  const Area closest = Closest(tasks_, hyper_nodes, tasks_.GroupByShape(needs_.all));
  if (!PlaceNeedsOrTell(closest)) return false;
  stay_in(closest);
  return true;
}

bool GangPlacement::PlaceNeedsOrTell(const Area& area) {
  if (PlaceNeeds({area, policy_.search_budget, tells_})) return true;
  if (reason_.has_value()) return false;
  if (tells_) {
    Tell(WhyNoRoom(tasks_, area, tasks_.GroupByShape(needs_.all)));
  } else {
    reason_ = ReasonOf(Reason::Kind::kNoRoom, gang_);
  }
  return false;
}

bool GangPlacement::PlaceNeeds(const Try& how) {
  units_.LookAgain();  // nothing is placed
  std::optional<Reason> queue_full = tasks_.WhyQueueFull(needs_.all);
  const bool allowed = !queue_full.has_value();
  if (!allowed) reason_ = std::move(queue_full);
  const auto has_topology = [](const model::SubGroupFacts& policy) { return policy.topology.has_value(); };
  if (std::any_of(gang_.sub_groups.begin(), gang_.sub_groups.end(), has_topology))
    return allowed && PlaceNeedsByParts(how);
  return (allowed && Fill(tasks_, how.area, tasks_.GroupByShape(needs_.all), how.search_budget)) || PlaceOthers(how);
}

// What the minimum needs of each sub-group that should lie in one HyperNode, the largest first. `others`: gets the
// rest.
std::vector<std::vector<std::size_t>> GangPlacement::PartsOfNeeds(std::vector<std::size_t>& others) const {
  std::map<std::pair<int, int>, std::size_t> index;
  std::vector<std::vector<std::size_t>> parts;
  for (const std::size_t i : needs_.all) {
    if (TopologyOf(tasks_, i) == nullptr) {
      others.push_back(i);
      continue;
    }
    const auto [it, fresh] = index.emplace(std::pair(tasks_[i].sub_groups, tasks_[i].partition), parts.size());
    if (fresh) parts.emplace_back();
    parts[it->second].push_back(i);
  }
  std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
  return parts;
}

bool GangPlacement::PlaceNeedsByParts(const Try& how) {
  std::vector<std::size_t> others;
  const std::vector<std::vector<std::size_t>> parts = PartsOfNeeds(others);
  for (const std::vector<std::size_t>& part : parts) {
    const model::TopologyFacts& topology = *TopologyOf(tasks_, part.front());
    if (units_.PlacePart(part, topology, {how.area, std::nullopt})) continue;
    if (how.told) Tell(WhyNoRoomForPart(tasks_, how.area, part, topology));
    tasks_.DropAll();
    return false;
  }
  if (others.empty() || FillGreedily(tasks_, how.area, tasks_.GroupByShape(others))) return true;
  tasks_.DropAll();
  if (how.told) Tell(WhyNoRoom(tasks_, how.area, tasks_.GroupByShape(others)));
  return false;
}

// The first tasks in order did not fit together: what no role needs may be any of them.
bool GangPlacement::PlaceOthers(const Try& how) {
  if (needs_.rest.empty() || tasks_.WhyQueueFull(needs_.of_roles).has_value() ||
      !Fill(tasks_, how.area, tasks_.GroupByShape(needs_.of_roles), how.search_budget))
    return false;
  int wanted = gang_.min_member - gang_.ready() - static_cast<int>(needs_.of_roles.size());
  for (const Unit& unit : tasks_.usable().units) {
    if (wanted <= 0) break;
    if (!tasks_.placed(unit) && units_.Place(unit, {how.area, std::nullopt}))
      wanted -= static_cast<int>(unit.tasks.size());
  }
  if (wanted <= 0) return true;
  tasks_.DropAll();
  return false;
}

void GangPlacement::Tell(NoRoom told) {
  reason_ = std::move(told.reason);
  would_fit_ = std::move(told.would_fit);
}

// ---- beyond it

bool GangPlacement::HasRoomForMore() const {
  model::ShapeId full = model::kNone;  // most are as the one before
  return std::any_of(needs_.rest.begin(), needs_.rest.end(), [&](const Unit& unit) {
    return std::all_of(unit.tasks.begin(), unit.tasks.end(), [&](std::size_t task) {
      const model::ShapeId shape = tasks_[task].shape;
      if (shape == full) return false;
      const bool has_room = tasks_.Fit(shape).copies() > 0;
      if (!has_room) full = shape;
      return has_room;
    });
  });
}

bool GangPlacement::PlaceOneMore(const KeptRoom& kept) {
  units_.Leave(kept);
  tasks_.overlay().Begin();
  while (next_rest_ < needs_.rest.size()) {
    if (units_.Place(needs_.rest[next_rest_++], bounds_)) {
      tasks_.overlay().Keep();
      return true;
    }
  }
  tasks_.overlay().Drop();  // no row: parts of units were taken back already
  return false;
}

// ---- what is said

std::optional<Lacking> GangPlacement::lacking() const {
  if (!reason_.has_value()) return std::nullopt;
  switch (reason_->kind) {
    case Reason::Kind::kNoRoom:
    case Reason::Kind::kQueueFull:
      return Lacking::kRoom;
    case Reason::Kind::kBindFailed:
      return Lacking::kTime;
    case Reason::Kind::kTooFewTasks:
    case Reason::Kind::kTooFewOfRole:
    case Reason::Kind::kTooFewSubGroups:
      return Lacking::kPods;
    case Reason::Kind::kRoomAwaited:
    case Reason::Kind::kKeptForMinimum:
    case Reason::Kind::kGated:
    case Reason::Kind::kNotModelled:
    case Reason::Kind::kClaim:
    case Reason::Kind::kNoHyperNode:
    case Reason::Kind::kQueueMissing:
    case Reason::Kind::kQueueClosed:
    case Reason::Kind::kQuotaFull:
    case Reason::Kind::kClusterFull:
      break;
  }
  return std::nullopt;
}

// Those of which the fewest have room first.
std::vector<std::pair<model::ShapeId, int>> GangPlacement::ByShape(const std::vector<std::size_t>& tasks) const {
  std::vector<TaskGroup> groups = tasks_.GroupByShape(tasks);
  std::sort(groups.begin(), groups.end(), [&](const TaskGroup& a, const TaskGroup& b) {
    const auto places = [&](const TaskGroup& group) { return tasks_.Fit(group.shape).copies(); };
    return places(a) != places(b) ? places(a) < places(b)
                                  : tasks_.cluster().shape(a.shape).key < tasks_.cluster().shape(b.shape).key;
  });
  std::vector<std::pair<model::ShapeId, int>> by_shape;
  for (const TaskGroup& group : groups) by_shape.emplace_back(group.shape, static_cast<int>(group.tasks.size()));
  return by_shape;
}

std::optional<Wanted> GangPlacement::wanted() const {
  return reason_.has_value() && reason_->kind == Reason::Kind::kNoRoom ? wanted_of_nodes() : std::nullopt;
}

std::optional<Wanted> GangPlacement::wanted_of_nodes() const {
  if (lacking() != Lacking::kRoom) return std::nullopt;
  Wanted wanted;
  std::vector<std::size_t> anywhere;
  for (const std::vector<std::size_t>& part : PartsOfNeeds(anywhere)) {
    const model::TopologyFacts& topology = *TopologyOf(tasks_, part.front());
    if (!topology.required) {
      anywhere.insert(anywhere.end(), part.begin(), part.end());
      continue;
    }
    const std::vector<Row> there = RowsOfPart(tasks_, part.front());
    wanted.parts.push_back({ByShape(part), HyperNodesToTry(tasks_, topology, there, part, Area())});
    if (wanted.parts.back().areas.empty()) return std::nullopt;
  }
  wanted.by_shape = ByShape(anywhere);
  if (gang_.topology.has_value() && gang_.topology->required) {
    wanted.areas = HyperNodesToTry(tasks_, *gang_.topology, RowsOfGang(tasks_), needs_.all, Area());
  } else {
    wanted.areas.emplace_back();
  }
  return wanted;
}

void GangPlacement::TellWhatItHangsOn(Standstill& standstill, bool beside_kept) const {
  const bool limits = tasks_.overlay().tree().limits();
  if (placed_minimum_) {
    if (!wants_more() || !policy_.place_surplus) return;
    if (HasTopology(gang_) || beside_kept) return standstill.HangsOnAll();
    if (limits) standstill.HangsOnSums();
    for (const Unit& unit : needs_.rest) {
      for (const std::size_t task : unit.tasks) {
        if (tasks_.Fit(tasks_[task].shape).copies() > 0) return standstill.HangsOnAll();
        standstill.HangsOnRoom(tasks_[task].shape, 1, false);
      }
    }
    return;
  }
  if (!reason_.has_value()) return standstill.HangsOnAll();
  switch (reason_->kind) {
    case Reason::Kind::kNoRoom:
      break;
    case Reason::Kind::kQueueFull:
      return standstill.HangsOnSums();
    case Reason::Kind::kRoomAwaited:
    case Reason::Kind::kKeptForMinimum:
    case Reason::Kind::kNoHyperNode:
    case Reason::Kind::kQuotaFull:
    case Reason::Kind::kClusterFull:
      return standstill.HangsOnAll();
    case Reason::Kind::kTooFewTasks:
    case Reason::Kind::kTooFewOfRole:
    case Reason::Kind::kTooFewSubGroups:
    case Reason::Kind::kBindFailed:
    case Reason::Kind::kGated:
    case Reason::Kind::kNotModelled:
    case Reason::Kind::kClaim:
    case Reason::Kind::kQueueMissing:
    case Reason::Kind::kQueueClosed:
      return;  // on what it is
  }
  if (HasTopology(gang_) || gang_.nominated > 0) return standstill.HangsOnAll();
  model::Resources sum;
  bool lacks_room = false;
  const std::vector<TaskGroup> groups = tasks_.GroupByShape(needs_.all);
  for (const TaskGroup& group : groups) {
    const auto count = static_cast<std::int64_t>(group.tasks.size());
    sum.Add(tasks_.cluster().shape(group.shape).request, count);
    if (lacks_room) continue;
    std::int64_t wanted = count;
    if (!needs_.rest.empty()) {  // those of other shapes may be placed instead
      for (std::size_t task = 0; task < tasks_.size(); ++task) wanted -= tasks_[task].shape != group.shape ? 1 : 0;
      wanted += static_cast<std::int64_t>(needs_.all.size()) - count;
    }
    lacks_room = tasks_.Fit(group.shape).copies() < wanted;
    if (lacks_room) standstill.HangsOnRoom(group.shape, wanted, beside_kept);
  }
  if (!lacks_room) return standstill.HangsOnAll();
  standstill.Needs(tasks_.cluster(), gang_, sum);
}

void GangPlacement::Finish(model::Decision& decision) {
  const bool kept_only = placed_minimum_ && rests();
  if (kept_only) reason_ = BindingRefused(gang_);
  if (!placed_minimum_ || kept_only) return FinishWithoutMinimum(decision);
  decision.placements.reserve(tasks_.size());
  for (std::size_t task = 0; task < tasks_.size(); ++task) {
    if (tasks_.placed(task)) decision.placements.push_back({tasks_.id(task), tasks_.row(task)});
  }
  std::vector<std::size_t> left;
  std::optional<Reason> queue_full;  // for the first of them for which it is
  for (const Unit& unit : needs_.rest) {
    if (tasks_.placed(unit)) continue;
    if (!queue_full.has_value()) queue_full = tasks_.WhyQueueFull(unit.tasks);
    left.insert(left.end(), unit.tasks.begin(), unit.tasks.end());
  }
  if (left.empty()) {
    decision.reason = WhyNotAllExist();
  } else if (!policy_.place_surplus) {
    decision.rest_undecided = true;
  } else {
    decision.reason = WhyRestWaits(left, std::move(queue_full));
  }
}

void GangPlacement::FinishWithoutMinimum(model::Decision& decision) {
  decision.reason = std::move(reason_);
  // A reason that stands before any look at nodes may concern a gang that has all it needs.
  decision.short_of_minimum = !HasMinimum(tasks_.cluster(), gang_);
  if (!decision.short_of_minimum && decision.reason.has_value()) {
    decision.reason->missing = gang_.Count(TaskStatus::kPending);
    decision.reason->min_member = gang_.ready() + gang_.Count(TaskStatus::kPending);
  }
  decision.would_fit = std::move(would_fit_);
}

// Everything that may be placed is: what keeps the others from it.
std::optional<Reason> GangPlacement::WhyNotAllExist() const {
  if (static_cast<int>(tasks_.size()) == gang_.Count(TaskStatus::kPending)) return std::nullopt;  // all may
  std::optional<Reason> reason = WhyBlocked(tasks_.cluster(), gang_, tasks_.usable(), gang_.min_member);
  if (reason.has_value() && reason->kind != Reason::Kind::kTooFewSubGroups) {
    const int pending = gang_.Count(TaskStatus::kPending);
    reason->missing = pending - static_cast<int>(tasks_.size());
    reason->min_member = gang_.ready() + pending;
  }
  return reason;
}

Reason GangPlacement::WhyRestWaits(const std::vector<std::size_t>& left, std::optional<Reason> queue_full) {
  const Area& widest = bounds_.beyond.has_value() ? *bounds_.beyond : bounds_.area;
  Reason reason;
  if (units_.kept_for() != model::kNone) {
    const model::Gang& first = tasks_.cluster().gang(units_.kept_for());
    reason = ReasonOf(Reason::Kind::kKeptForMinimum, gang_);
    reason.subject = Words::Name(absl::StrCat(first.ns, "/", first.name));
  } else if (queue_full.has_value()) {
    reason = *std::move(queue_full);
  } else if (const model::TopologyFacts* const topology = TopologyOf(tasks_, left.front()); topology != nullptr) {
    std::vector<std::size_t> part = left;  // the first that is left
    std::erase_if(part, [&](std::size_t task) { return !SamePart(tasks_, left.front(), task); });
    reason = WhyNoRoomForPart(tasks_, widest, part, *topology).reason;
  } else {
    reason = WhyNoRoom(tasks_, widest, tasks_.GroupByShape(left)).reason;
  }
  reason.missing = static_cast<int>(left.size());
  reason.min_member = gang_.ready() + gang_.Count(TaskStatus::kPending);
  reason.existing = reason.min_member - reason.missing;
  return reason;
}

}  // namespace gangway::gang
