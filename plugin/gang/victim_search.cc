#include "plugin/gang/victim_search.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <set>
#include <utility>

#include "base/check.h"

namespace gangway::gang {

using model::Dim;
using model::Gang;
using model::GangId;
using model::Resources;
using model::Row;
using model::TaskId;

namespace {

// Looked at one by one when several gangs would have to go.
constexpr int kSingleGangs = 16;
// Taken first, one after the other, when what may go in order is not enough.
constexpr std::size_t kFirstGangs = 8;

}  // namespace

// What was placed before was rewound.
bool VictimSearch::Try() {
  if (!trial_.CouldFit(preemptor_)) return false;
  had_places_ = true;
  if (between_ != nullptr && between_->reclaim.SomeComeBack(preemptor_, chosen_, stay_, between_->placed, holders_))
    return false;
  return trial_.Place(preemptor_);
}

void VictimSearch::TakeAll(std::vector<Bundle> bundles) {
  for (const Bundle& bundle : bundles) trial_.TakeAway(bundle, victims_);
  chosen_ = std::move(bundles);
}

void VictimSearch::GiveBackAll() {
  for (const Bundle& bundle : chosen_) trial_.GiveBack(bundle, victims_);
  chosen_.clear();
  std::erase_if(stay_, [this](GangId gang) { return MayGo(gang); });  // others had used up its budget
}

bool VictimSearch::MayGo(GangId gang) {
  const std::optional<Bundle>& whole = victims_.Whole(gang, preemptor_.asks_for_nothing);
  return whole.has_value() && victims_.WithinBudgets(whole->tasks);
}

// Beside those that are chosen.
Reclaim::Loss VictimSearch::LossBy(const Bundle& bundle) {
  const Reclaim::Loss loss = between_->reclaim.LossBy(preemptor_, bundle, chosen_);
  if (!loss.allowed) refused_up_to_ = std::min(refused_up_to_, loss.refused_up_to);
  return loss;
}

bool VictimSearch::TakeIfAllowed(const Bundle& bundle) {
  if (!victims_.WithinBudgets(bundle.tasks)) return false;
  double loss = 0;
  if (between_ != nullptr) {
    const Reclaim::Loss by_it = LossBy(bundle);
    if (!by_it.allowed) return false;
    loss = by_it.lack;
  }
  trial_.TakeAway(bundle, victims_);
  chosen_.push_back(bundle);
  chosen_.back().loss = loss;
  return true;
}

// The next one in order is taken away, if it may be. False: there is none.
bool VictimSearch::TakeNext(std::vector<Candidate>& heap) {
  if (heap.empty() || !trial_.may_go_on()) return false;
  std::pop_heap(heap.begin(), heap.end(), GoesLater(cluster_));
  const Candidate next = heap.back();
  heap.pop_back();
  if (!next.whole) {
    for (const Bundle& bundle : victims_.Surplus(next.gang, preemptor_.asks_for_nothing)) TakeIfAllowed(bundle);
    return true;
  }
  const bool goes = TakeWhole(next.gang).has_value();
  if (!goes && between_ != nullptr && !stay_.contains(next.gang)) refused_.push_back(next.gang);
  return true;
}

std::optional<std::vector<Bundle>> VictimSearch::TakeWhole(GangId gang) {
  if (!MayGo(gang)) {
    stay_.insert(gang);
    return std::nullopt;
  }
  // Members that were taken away alone go with the others. Most have none: then nothing is moved.
  std::vector<Bundle> members;
  const auto of_it = [&](const Bundle& bundle) { return bundle.gang == gang; };
  if (std::any_of(chosen_.begin(), chosen_.end(), of_it)) {
    std::copy_if(chosen_.begin(), chosen_.end(), std::back_inserter(members), of_it);
    std::erase_if(chosen_, of_it);
  }
  for (const Bundle& bundle : members) trial_.GiveBack(bundle, victims_);
  if (TakeIfAllowed(*victims_.Whole(gang, preemptor_.asks_for_nothing))) {
    stay_.erase(gang);  // others that used up its budget have been given back
    return members;
  }
  for (Bundle& bundle : members) {
    trial_.TakeAway(bundle, victims_);
    chosen_.push_back(std::move(bundle));
  }
  return std::nullopt;
}

// Else nobody is taken away, but where amounts alone would do.
bool VictimSearch::FindInOrder(absl::Span<const Candidate> candidates) {
  std::vector<Candidate> heap(candidates.begin(), candidates.end());
  std::make_heap(heap.begin(), heap.end(), GoesLater(cluster_));
  for (std::size_t wish = 1;; wish = 2 * chosen_.size() + 1) {
    while (chosen_.size() < wish && TakeNext(heap)) {
    }
    if (!chosen_.empty() && Try()) return true;
    if (heap.empty() || !trial_.may_go_on()) return false;
  }
}

// What is free with those that are chosen is as much as is wanted, wherever it lies.
bool VictimSearch::AmountsSuffice() const {
  const Resources& wanted = preemptor_.sum;
  for (Dim dim = 0; dim < wanted.size(); ++dim) {
    std::int64_t missing = wanted[dim];
    for (Row row = 0; row < cluster_.rows() && missing > 0; ++row)
      missing -= std::max<std::int64_t>(between_->overlay.free(row, dim), 0);
    if (missing > 0) return false;
  }
  return true;
}

// It, or all of its gang.
bool VictimSearch::IsChosen(const Bundle& bundle) const {
  return std::any_of(chosen_.begin(), chosen_.end(), [&](const Bundle& other) {
    return other.gang == bundle.gang && (other.whole || other.tasks == bundle.tasks);
  });
}

// Of the nodes that its pods hold room on, each once.
std::vector<Row> VictimSearch::RowsOf(GangId gang) const {
  std::vector<Row> rows;
  for (const TaskId id : cluster_.gang(gang).tasks) {
    const model::Task& task = cluster_.task(id);
    if (task.holds_room() && cluster_.present(task.row)) rows.push_back(task.row);
  }
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

// Gangs of the node go, in order, up to the last with which more pods have a place; if none makes one, none goes.
bool VictimSearch::TakeOfNode(absl::Span<const Candidate> candidates, Row row) {
  struct Step {
    Bundle taken;
    std::vector<Bundle> members;  // that were chosen before and go with it
  };
  std::vector<Step> in_vain;
  const std::int64_t before = Places();
  std::int64_t most = before;
  for (const Candidate& candidate : candidates) {
    if (candidate.whole) {
      std::optional<std::vector<Bundle>> members = TakeWhole(candidate.gang);
      if (members.has_value()) in_vain.push_back({chosen_.back(), *std::move(members)});
    } else {
      for (const Bundle& bundle : victims_.Surplus(candidate.gang, preemptor_.asks_for_nothing)) {
        const bool here = std::any_of(bundle.tasks.begin(), bundle.tasks.end(),
                                      [&](TaskId task) { return cluster_.task(task).row == row; });
        if (here && !IsChosen(bundle) && TakeIfAllowed(bundle)) in_vain.push_back({chosen_.back(), {}});
      }
    }
    if (Places() == most) continue;
    most = Places();
    in_vain.clear();
    if (most >= preemptor_.count) break;
  }
  for (auto step = in_vain.rbegin(); step != in_vain.rend(); ++step) {
    trial_.GiveBack(step->taken, victims_);
    std::erase_if(chosen_, [&](const Bundle& bundle) { return bundle.tasks == step->taken.tasks; });
    for (Bundle& member : step->members) {
      trial_.TakeAway(member, victims_);
      chosen_.push_back(std::move(member));
    }
  }
  return most > before;
}

// Nodes of the lowest priorities first, of these those of the fewest gangs, then as their gangs are in order. Who would
// come back is asked of all at the end.
bool VictimSearch::FindNodeByNode(absl::Span<const Candidate> candidates) {
  std::vector<Candidate> in_order(candidates.begin(), candidates.end());
  std::sort(in_order.begin(), in_order.end(),
            [this](const Candidate& a, const Candidate& b) { return GoesLater(cluster_)(b, a); });
  struct OnNode {
    Row row = model::kNone;
    std::int32_t highest = std::numeric_limits<std::int32_t>::min();
    std::vector<Candidate> candidates;
  };
  std::vector<OnNode> nodes;
  std::vector<int> node_of(static_cast<std::size_t>(cluster_.rows()), -1);
  for (const Candidate& candidate : in_order) {
    for (const Row row : RowsOf(candidate.gang)) {
      int& index = node_of[static_cast<std::size_t>(row)];
      if (index < 0) {
        index = static_cast<int>(nodes.size());
        nodes.emplace_back().row = row;
      }
      OnNode& node = nodes[static_cast<std::size_t>(index)];
      node.highest = std::max(node.highest, candidate.priority);
      node.candidates.push_back(candidate);
    }
  }
  std::stable_sort(nodes.begin(), nodes.end(), [](const OnNode& a, const OnNode& b) {
    return std::pair(a.highest, a.candidates.size()) < std::pair(b.highest, b.candidates.size());
  });
  for (const OnNode& node : nodes) {
    if (!trial_.may_go_on()) return false;
    if (TakeOfNode(node.candidates, node.row) && Places() >= preemptor_.count && Try()) return true;
  }
  return false;
}

// Of what is wanted.
double VictimSearch::PartOf(const Resources& amounts) const {
  double sum = 0;
  for (Dim dim = 0; dim < amounts.size(); ++dim) {
    const std::int64_t wanted = dim == model::kPods ? 0 : preemptor_.sum[dim];
    if (wanted > 0) sum += static_cast<double>(amounts[dim]) / static_cast<double>(wanted);
  }
  return sum;
}

// Those that come first in order may use up what their queue may lose, and another, which would do, may not go any
// more. The largest first; none where all are as large.
std::vector<GangId> VictimSearch::RefusedForOthers() const {
  if (chosen_.empty()) return {};
  std::vector<std::pair<double, GangId>> refused;
  const double part_of_chosen = PartOf(chosen_.front().amounts);
  const bool all_alike = std::all_of(chosen_.begin(), chosen_.end(), [&](const Bundle& bundle) {
    return bundle.tasks.size() == 1 && PartOf(bundle.amounts) == part_of_chosen;
  });
  for (const GangId gang : refused_) {
    const double part = PartOf(cluster_.gang(gang).held);
    if (!all_alike || cluster_.gang(gang).tasks.size() != 1 || part != part_of_chosen) refused.emplace_back(part, gang);
  }
  std::stable_sort(refused.begin(), refused.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  if (refused.size() > kFirstGangs) refused.resize(kFirstGangs);
  std::vector<GangId> gangs;
  for (const auto& [part, gang] : refused) gangs.push_back(gang);
  return gangs;
}

// Each of them goes first, and then the others in order.
bool VictimSearch::FindWithOneFirst(const std::vector<GangId>& first, absl::Span<const Candidate> candidates) {
  for (const GangId gang : first) {
    if (!trial_.may_go_on()) return false;
    GiveBackAll();
    if (!TakeWhole(gang).has_value()) continue;
    std::vector<Candidate> others;
    std::copy_if(candidates.begin(), candidates.end(), std::back_inserter(others),
                 [&](const Candidate& other) { return other.gang != gang; });
    if (FindInOrder(others)) return true;
  }
  return false;
}

bool VictimSearch::Find(absl::Span<const Candidate> candidates) {
  if (candidates.empty()) return false;
  bool found = FindInOrder(candidates);
  if (!found) {
    const bool lie_apart = between_ != nullptr && Places() < preemptor_.count && AmountsSuffice();
    const std::vector<GangId> first = RefusedForOthers();
    GiveBackAll();
    found = (lie_apart && FindNodeByNode(candidates)) || FindWithOneFirst(first, candidates);
  }
  if (!found) {
    GiveBackAll();
    return false;
  }
  const bool of_several_levels = between_ != nullptr && between_->reclaim.OfSeveralLevels(preemptor_, chosen_);
  Spare();
  PreferOneGang(candidates);
  if (of_several_levels && !StillAllowed()) {
    GiveBackAll();
    return false;
  }
  if (between_ == nullptr || !between_->preempt || !OthersWouldTakeIt()) return true;
  GiveBackAll();
  return false;
}

// Whether a gang of higher priority that waits in its queue could have what is made free, and to lose this much is not
// worth what their queue would win then: that one would evict this one, and what was taken would be taken back.
bool VictimSearch::OthersWouldTakeIt() {
  const Gang& gang = cluster_.gang(preemptor_.gang);
  trial_.Rewind();
  for (const GangId id : cluster_.waiting()) {
    const Gang& other = cluster_.gang(id);
    if (other.queue != gang.queue || cluster_.PriorityOf(other) <= cluster_.PriorityOf(gang) ||
        !cluster_.Preempts(other))
      continue;
    const std::optional<Preemptor> wants = FindPreemptor(between_->overlay, id);
    if (!wants.has_value() || !wants->preempts) continue;
    if (!between_->reclaim.WorthIt(preemptor_, *wants, chosen_) && CouldTakeIt(*wants)) return true;
  }
  GW_CHECK(Try());
  return false;
}

bool VictimSearch::CouldTakeIt(const Preemptor& other) {
  if (other.gang == between_->has_nodes) return true;  // what is kept for it counts as taken here
  std::vector<TaskId> lower;
  for (const Candidate& candidate : holders_.LowerInQueue(other.gang)) {
    if (!candidate.whole) continue;
    const std::optional<Bundle>& whole = victims_.Whole(candidate.gang, false);
    if (whole.has_value()) lower.insert(lower.end(), whole->tasks.begin(), whole->tasks.end());
  }
  trial_.TakeAway(lower);
  const bool fits = trial_.CouldFit(other);
  trial_.GiveBack(lower);
  return fits;
}

// Those that nothing was placed on the nodes of.
void VictimSearch::SpareUnused() {
  std::vector<Bundle> used, unused;
  std::set<Row> rows;
  for (const model::Placement& placement : trial_.placements()) rows.insert(placement.row);
  for (const Bundle& bundle : chosen_) {
    const bool touches = std::any_of(bundle.tasks.begin(), bundle.tasks.end(),
                                     [&](TaskId task) { return rows.contains(cluster_.task(task).row); });
    (touches ? used : unused).push_back(bundle);
  }
  if (unused.empty()) return;
  trial_.Rewind();
  const std::vector<Bundle> before = std::exchange(chosen_, std::move(used));
  for (const Bundle& bundle : unused) trial_.GiveBack(bundle, victims_);
  if (Try()) return;
  for (const Bundle& bundle : unused) trial_.TakeAway(bundle, victims_);
  chosen_ = before;
  GW_CHECK(Try());
}

// Whoever need not go stays: the last in order first.
void VictimSearch::Spare() {
  SpareUnused();
  for (std::size_t i = chosen_.size(); i-- > 0;) {
    trial_.Rewind();
    const auto at = [&](std::size_t index) { return chosen_.begin() + static_cast<std::ptrdiff_t>(index); };
    Bundle bundle = std::move(chosen_[i]);
    trial_.GiveBack(bundle, victims_);
    chosen_.erase(at(i));
    if (Try()) continue;
    std::vector<Bundle> members;
    if (bundle.whole) members = victims_.Surplus(bundle.gang, preemptor_.asks_for_nothing);
    for (const Bundle& member : members) trial_.TakeAway(member, victims_);
    chosen_.insert(at(i), members.begin(), members.end());
    if (!members.empty() && Try()) {
      i += members.size();
      continue;
    }
    for (const Bundle& member : members) trial_.GiveBack(member, victims_);
    trial_.TakeAway(bundle, victims_);
    chosen_.erase(at(i), at(i + members.size()));
    chosen_.insert(at(i), std::move(bundle));
  }
  trial_.Rewind();
  GW_CHECK(Try());
}

// Without those that were spared: one of them may have been what made the loss of another worth it.
bool VictimSearch::StillAllowed() {
  trial_.Rewind();
  const std::vector<Bundle> chosen = std::exchange(chosen_, {});
  for (const Bundle& bundle : chosen) trial_.GiveBack(bundle, victims_);
  for (const Bundle& bundle : chosen) {
    if (!TakeIfAllowed(bundle)) return false;
  }
  GW_CHECK(Try());
  return true;
}

// Where several gangs would go, one alone may do, of a priority that is no higher.
void VictimSearch::PreferOneGang(absl::Span<const Candidate> candidates) {
  std::set<GangId> gangs;
  Resources freed;
  std::int32_t highest = std::numeric_limits<std::int32_t>::min();
  for (const Bundle& bundle : chosen_) {
    if (bundle.whole) gangs.insert(bundle.gang);
    if (bundle.whole) highest = std::max(highest, cluster_.PriorityOf(cluster_.gang(bundle.gang)));
    for (const TaskId task : bundle.tasks) freed.Add(cluster_.shape(cluster_.task(task).shape).request);
  }
  if (gangs.size() < 2) return;
  const auto holds_much = [&](const Resources& held) {
    for (Dim dim = 0; dim < freed.size(); ++dim) {
      if (dim != model::kPods && preemptor_.sum[dim] > 0 && held[dim] < freed[dim] / 2) return false;
    }
    return true;
  };
  if (!holds_much(holders_.most_held())) return;
  std::vector<Candidate> large;
  std::copy_if(candidates.begin(), candidates.end(), std::back_inserter(large), [&](const Candidate& candidate) {
    return candidate.whole && candidate.priority <= highest && holds_much(cluster_.gang(candidate.gang).held);
  });
  if (large.empty()) return;
  std::make_heap(large.begin(), large.end(), GoesLater(cluster_));
  const std::vector<Bundle> before = chosen_;
  const std::set<GangId> stayed = stay_;
  for (int tries = 0; tries < kSingleGangs && !large.empty() && trial_.may_go_on(); ++tries) {
    trial_.Rewind();
    GiveBackAll();
    if (TakeNext(large) && !chosen_.empty() && Try()) return Spare();
  }
  trial_.Rewind();
  GiveBackAll();
  TakeAll(before);
  stay_ = stayed;
  GW_CHECK(Try());
}

}  // namespace gangway::gang
