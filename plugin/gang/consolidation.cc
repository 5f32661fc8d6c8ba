#include "plugin/gang/consolidation.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "plugin/gang/constraint/asks.h"

namespace gangway::gang {

using model::Dim;
using model::Gang;
using model::Resources;
using model::Row;
using model::Task;
using model::TaskId;

namespace {

// After so many trials in which one of those that would be moved found no room, it is given up.
constexpr int kTrials = 8;
// Looked at one by one when several gangs would be moved.
constexpr std::size_t kSingleMovers = 16;

}  // namespace

bool IsInTheSum(const Overlay& overlay, const Preemptor& preemptor) {
  const model::Cluster& cluster = overlay.cluster();
  for (Dim dim = 0; dim < preemptor.sum.size(); ++dim) {
    const std::int64_t free = cluster.total()[dim] - cluster.used()[dim] - overlay.taken()[dim];
    if (preemptor.sum[dim] > 0 && free < preemptor.sum[dim]) return false;
  }
  return true;
}

bool IsMovedFor(const model::Cluster& cluster, const Candidate& candidate, std::int32_t priority) {
  const Gang& gang = cluster.gang(candidate.gang);
  return gang.movable > 0 && candidate.priority <= priority && !candidate.leaving && gang.held_back.empty();
}

bool IsMovedWith(const model::Cluster& cluster, const Bundle& whole) {
  const Gang& gang = cluster.gang(whole.gang);
  const int on_nodes = gang.Count(model::TaskStatus::kBound) + gang.Count(model::TaskStatus::kRunning);
  return gang.binding_releasing == 0 && static_cast<int>(whole.tasks.size()) == on_nodes &&
         std::all_of(whole.tasks.begin(), whole.tasks.end(), [&](TaskId task) { return cluster.task(task).movable; });
}

std::vector<Bundle> Consolidation::moved() const {
  std::vector<Bundle> bundles;
  for (const std::size_t mover : chosen_) bundles.push_back(movers_[mover].bundle);
  return bundles;
}

std::vector<Candidate> Consolidation::MayMove(const Holders& holders, const Policy& policy, absl::Time now) {
  std::vector<Candidate> may_move;
  const std::int32_t priority = cluster_.PriorityOf(cluster_.gang(preemptor_.gang));
  for (const auto& [queue, gangs] : holders.by_queue()) {
    for (const Candidate& candidate : gangs) {
      const Gang& gang = cluster_.gang(candidate.gang);
      if (!IsMovedFor(cluster_, candidate, priority)) continue;
      const absl::Time from = gang.moved + policy.moves_again_after;
      if (from > now) {
        look_again_ = std::min(look_again_, from);
        continue;
      }
      const std::optional<Bundle>& whole = victims_.Whole(candidate.gang, preemptor_.asks_for_nothing);
      if (!whole.has_value() || !IsMovedWith(cluster_, *whole)) continue;
      may_move.push_back(candidate);
    }
  }
  return may_move;
}

void Consolidation::FindMovers(const std::vector<Candidate>& may_move) {
  for (const Candidate& candidate : may_move)
    movers_.push_back({*victims_.Whole(candidate.gang, preemptor_.asks_for_nothing), candidate.priority,
                       candidate.started, candidate.created});
  std::sort(movers_.begin(), movers_.end(), [&](const Mover& a, const Mover& b) {
    const Gang& x = cluster_.gang(a.bundle.gang);
    const Gang& y = cluster_.gang(b.bundle.gang);
    return std::forward_as_tuple(a.bundle.tasks.size(), a.priority, b.started, b.created, x.ns, x.name, x.kind) <
           std::forward_as_tuple(b.bundle.tasks.size(), b.priority, a.started, a.created, y.ns, y.name, y.kind);
  });
  for (std::size_t mover = 0; mover < movers_.size(); ++mover) {
    for (const TaskId task : movers_[mover].bundle.tasks) {
      std::vector<std::size_t>& there = on_row_[cluster_.task(task).row];
      if (there.empty() || there.back() != mover) there.push_back(mover);
    }
  }
}

void Consolidation::Take(std::size_t mover) {
  trial_.TakeAway(movers_[mover].bundle, victims_);
  chosen_.push_back(mover);
}

void Consolidation::GiveBackAll() {
  for (const std::size_t mover : chosen_) trial_.GiveBack(movers_[mover].bundle, victims_);
  chosen_.clear();
}

// The row's movers, those that rather go first, as long as each of them lets more pods in for each that goes.
Consolidation::Step Consolidation::StepOn(Row row, model::ShapeId id) const {
  const model::Shape& shape = cluster_.shape(id);
  Step best, step;
  const auto beside_room = std::int64_t{overlay_.AsksOf(id).BesideRoom(row).copies};
  Resources freed;
  const auto copies = [&] {
    std::int64_t most = beside_room;
    for (Dim dim = 0; dim < shape.request.size() && most > 0; ++dim) {
      if (shape.request[dim] > 0)
        most = std::min(most, std::max<std::int64_t>(overlay_.free(row, dim) + freed[dim], 0) / shape.request[dim]);
    }
    return most;
  };
  const std::int64_t before = copies();
  for (const std::size_t mover : on_row_.at(row)) {
    const Bundle& bundle = movers_[mover].bundle;
    if (movers_[mover].stays || std::find(chosen_.begin(), chosen_.end(), mover) != chosen_.end() ||
        !victims_.WithinBudgets(bundle.tasks))
      continue;
    for (const TaskId task : bundle.tasks) {
      if (cluster_.task(task).row == row) freed.Add(cluster_.shape(cluster_.task(task).shape).request);
    }
    step.movers.push_back(mover);
    step.pods += static_cast<std::int64_t>(bundle.tasks.size());
    step.copies = copies() - before;
    if (step.copies * std::max<std::int64_t>(best.pods, 1) > best.copies * step.pods) best = step;
  }
  return best;
}

// Of all rows.
Consolidation::Step Consolidation::BestStep(model::ShapeId shape, const Area& area) const {
  Step best;
  Row best_row = model::kNone;
  const auto look = [&](Row row) {
    if (!cluster_.present(row) || !on_row_.contains(row)) return;
    Step step = StepOn(row, shape);
    if (step.copies == 0) return;
    const std::int64_t more = step.copies * best.pods, less = best.copies * step.pods;
    const bool better =
        more != less ? more > less : std::tie(step.pods, step.movers) < std::tie(best.pods, best.movers);
    if (best_row != model::kNone && !better) return;
    best = std::move(step);
    best_row = row;
  };
  if (area.rows() != nullptr) {
    std::for_each(area.rows()->begin(), area.rows()->end(), look);
  } else {
    for (Row row = 0; row < cluster_.rows(); ++row) look(row);
  }
  return best;
}

// Takes away more until the gang alone is placed. False: it never is.
bool Consolidation::Gather(const Area& area) {
  while (true) {
    if (!chosen_.empty() && trial_.CouldFit(preemptor_) && trial_.Place(preemptor_)) {
      trial_.Rewind();
      return true;
    }
    if (!trial_.may_go_on()) return false;
    Step step;
    for (const bool lacking : {true, false}) {
      for (const auto& [shape, count] : wanted_.by_shape) {
        if (lacking && trial_.Copies(shape, area) >= count) continue;
        step = BestStep(shape, area);
        if (!step.movers.empty()) break;
      }
      if (!step.movers.empty()) break;
    }
    if (step.movers.empty()) return false;
    for (const std::size_t mover : step.movers) {
      if (victims_.WithinBudgets(movers_[mover].bundle.tasks)) Take(mover);
    }
  }
}

// The gang is placed, and then everyone that is moved, the largest first. False: nothing is, and who found no room is
// known to stay.
bool Consolidation::Try() {
  moves_.clear();
  if (!trial_.CouldFit(preemptor_) || !trial_.Place(preemptor_)) return false;
  std::vector<std::size_t> in_order = chosen_;
  std::sort(in_order.begin(), in_order.end(), std::greater<>());
  for (const std::size_t mover : in_order) {
    const std::optional<std::vector<model::Placement>> again = trial_.PlaceAgain(movers_[mover].bundle);
    if (!again.has_value()) {
      trial_.Rewind();
      movers_[mover].stays = true;
      return false;
    }
    moves_.insert(moves_.end(), again->begin(), again->end());
  }
  return true;
}

// Whoever need not go stays: the last that was chosen first. All are placed.
std::size_t Consolidation::Spare() {
  for (std::size_t i = chosen_.size(); chosen_.size() > 1 && i-- > 0;) {
    trial_.Rewind();
    const std::size_t mover = chosen_[i];
    trial_.GiveBack(movers_[mover].bundle, victims_);
    chosen_.erase(chosen_.begin() + static_cast<std::ptrdiff_t>(i));
    if (Try()) continue;
    trial_.TakeAway(movers_[mover].bundle, victims_);
    chosen_.insert(chosen_.begin() + static_cast<std::ptrdiff_t>(i), mover);
    GW_CHECK(Try());
  }
  return chosen_.size();
}

// Where several would be moved, one alone may do.
void Consolidation::PreferOne() {
  const std::vector<std::size_t> before = chosen_;
  std::size_t tries = 0;
  for (std::size_t mover = 0; mover < movers_.size() && tries < kSingleMovers && trial_.may_go_on(); ++mover) {
    if (movers_[mover].stays || std::find(before.begin(), before.end(), mover) != before.end()) continue;
    ++tries;
    trial_.Rewind();
    GiveBackAll();
    if (!victims_.WithinBudgets(movers_[mover].bundle.tasks)) continue;
    Take(mover);
    if (Try()) return;
  }
  if (chosen_ == before) return;
  trial_.Rewind();
  GiveBackAll();
  for (const std::size_t mover : before) Take(mover);
  GW_CHECK(Try());
}

bool Consolidation::FindIn(const Area& area) {
  for (int trial = 0; trial < kTrials && Gather(area); ++trial) {
    if (Try()) return true;
    GiveBackAll();
  }
  GiveBackAll();
  return false;
}

bool Consolidation::Find(const Holders& holders, const Policy& policy, absl::Time now) {
  const std::vector<Candidate> may_move = MayMove(holders, policy, now);
  if (may_move.empty() || !IsInTheSum(overlay_, preemptor_)) return false;
  FindMovers(may_move);
  if (!std::any_of(wanted_.areas.begin(), wanted_.areas.end(), [&](const Area& area) { return FindIn(area); }))
    return false;
  if (Spare() > 1) PreferOne();
  return true;
}

}  // namespace gangway::gang
