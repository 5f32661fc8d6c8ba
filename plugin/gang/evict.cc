#include "plugin/gang/evict.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "plugin/gang/admit.h"
#include "plugin/gang/consolidation.h"
#include "plugin/gang/preemptor.h"
#include "plugin/gang/victim_search.h"

namespace gangway::gang {

using model::EvictFor;
using model::Gang;
using model::GangId;
using model::Task;
using model::TaskId;
using model::TaskStatus;

namespace {

// Gangs that come later in order have nobody moved for them in one call.
constexpr int kConsolidations = 32;

}  // namespace

Eviction::Eviction(Overlay& overlay, Scratch& scratch, const Policy& policy, absl::Time now)
    : overlay_(overlay),
      cluster_(overlay.cluster()),
      policy_(policy),
      now_(now),
      victims_(cluster_, overlay.tree(), policy, now),
      reclaim_(overlay, policy, now),
      trial_(overlay, scratch, policy),
      searches_again_(scratch.searches_again()),
      in_vain_(cluster_),
      consolidations_(kConsolidations) {}

Holders& Eviction::holders() {
  if (!holders_.has_value()) {
    holders_.emplace(cluster_, overlay_.tree(), policy_, now_);
    victims_.Count(holders_->going(), 1);
  }
  return *holders_;
}

void Eviction::Placed(GangId gang) {
  placed_.push_back(gang);
  in_vain_.RoomTaken();
}

void Eviction::KeptNodes(GangId gang) {
  has_nodes_ = gang;
  in_vain_.RoomTaken();
}

bool Eviction::KnownInVain(EvictFor what_for, const Preemptor& preemptor) const {
  return !searches_again_ && in_vain_.Knows(what_for, preemptor);
}

bool Eviction::KnownInVainBetweenQueues(const Preemptor& preemptor, int levels) {
  return !searches_again_ && in_vain_.KnowsBetweenQueues(preemptor, levels, reclaim_.MostGain(preemptor.sum));
}

// What ended for want of budget says nothing of others.
void Eviction::NoteInVain(EvictFor what_for, const Preemptor& preemptor) {
  if (trial_.may_go_on()) in_vain_.Note(what_for, preemptor);
}

// What is quick to see: somebody may be moved; somebody in its queue has a lower priority; or its queue, or one above,
// lacks something of what it deserves while others hold something.
bool Eviction::MayEvict(const Gang& gang) {
  if (!policy_.choose_victims || !cluster_.Preempts(gang)) return false;
  if (policy_.consolidate && holders().AnyMovable()) return true;
  if (policy_.preempt && holders().AnyLowerInQueue(gang)) return true;
  return policy_.reclaim && holders().AnyInOtherQueues(gang.queue) && reclaim_.LacksSomething(gang.queue);
}

std::optional<Eviction::Found> Eviction::SearchInQueue(const Preemptor& preemptor,
                                                       const std::vector<Candidate>& candidates) {
  if (candidates.empty()) return std::nullopt;
  VictimSearch search(cluster_, preemptor, trial_, victims_, holders(), nullptr);
  if (search.Find(candidates)) return Found{EvictFor::kPriority, search.chosen(), {}};
  NoteInVain(EvictFor::kPriority, preemptor);
  return std::nullopt;
}

std::optional<Eviction::Found> Eviction::SearchBetweenQueues(const Preemptor& preemptor,
                                                             absl::Span<const Candidate> candidates, int levels) {
  if (candidates.empty()) return std::nullopt;
  const BetweenQueues between{overlay_, reclaim_, placed_, has_nodes_, policy_.preempt};
  VictimSearch search(cluster_, preemptor, trial_, victims_, holders(), &between);
  if (search.Find(candidates)) return Found{EvictFor::kShare, search.chosen(), {}};
  if (trial_.may_go_on()) in_vain_.NoteBetweenQueues(preemptor, levels, search.lacks_places_up_to());
  return std::nullopt;
}

// Where room was made for it before, when those who go from there have gone. So it is most of the time until they have,
// and then the others who go are not looked at: they change nothing of it.
bool Eviction::FindsItsRoom(const Preemptor& preemptor) {
  const Gang& gang = cluster_.gang(preemptor.gang);
  if (gang.topology.has_value() || !gang.sub_groups.empty()) return false;
  absl::flat_hash_set<model::Row> rows;
  for (const TaskId id : gang.tasks) {
    const Task& task = cluster_.task(id);
    if (task.status != TaskStatus::kPending || task.nominated == model::kNone) continue;
    const constraint::Asks& asks = overlay_.AsksOf(task.shape);
    if (asks.changes_beyond() || asks.blocks()) return false;
    const model::Row row = cluster_.FindNode(cluster_.names().Text(task.nominated));
    if (row == model::kNone) return false;
    rows.insert(row);
  }
  std::vector<TaskId> going;
  for (const TaskId task : holders().going()) {
    if (rows.contains(cluster_.task(task).row)) going.push_back(task);
  }
  if (going.empty()) return false;
  overlay_.Mark();
  trial_.TakeAway(going);
  const bool found = trial_.Place(preemptor) && IsNominated(trial_.placements());
  if (!found) trial_.Rewind();
  overlay_.Unmark();
  trial_.GiveBack(going);
  return found;
}

bool Eviction::IsNominated(const std::vector<model::Placement>& placements) const {
  return std::all_of(placements.begin(), placements.end(), [&](const model::Placement& placement) {
    const int node = cluster_.task(placement.task).nominated;
    return node != model::kNone && cluster_.FindNode(cluster_.names().Text(node)) == placement.row;
  });
}

// On pods that go anyhow.
std::optional<Eviction::Found> Eviction::CountOnEnding(const Preemptor& preemptor) {
  if (holders().going().empty() || KnownInVain(EvictFor::kNobody, preemptor)) return std::nullopt;
  if (trial_.CouldFit(preemptor) && trial_.Place(preemptor)) return Found{};
  NoteInVain(EvictFor::kNobody, preemptor);
  return std::nullopt;
}

std::optional<Eviction::Found> Eviction::Consolidate(const Preemptor& preemptor, const GangPlacement& placement) {
  if (consolidations_ <= 0) return std::nullopt;
  const std::optional<Wanted> wanted = placement.wanted();
  if (!wanted.has_value() || !wanted->parts.empty()) return std::nullopt;
  --consolidations_;
  Consolidation consolidation(overlay_, preemptor, *wanted, trial_, victims_);
  const bool found = consolidation.Find(holders(), policy_, now_);
  look_again_ = std::min(look_again_, consolidation.look_again());
  if (!found) NoteInVain(EvictFor::kRoom, preemptor);
  if (!found) return std::nullopt;
  return Found{EvictFor::kRoom, consolidation.moved(), consolidation.moves()};
}

Eviction::Ways Eviction::WaysFor(const Preemptor& preemptor, bool may_evict, int levels) {
  const bool evicts = may_evict && preemptor.preempts;
  return {evicts && policy_.consolidate && holders().AnyMovable() && !KnownInVain(EvictFor::kRoom, preemptor),
          evicts && policy_.preempt && holders().AnyLowerInQueue(cluster_.gang(preemptor.gang)) &&
              !KnownInVain(EvictFor::kPriority, preemptor),
          levels > 0 && !KnownInVainBetweenQueues(preemptor, levels)};
}

std::optional<Eviction::Found> Eviction::FindRoom(const Preemptor& preemptor, const GangPlacement& placement,
                                                  bool may_evict, int levels) {
  const bool waits_for_it = cluster_.gang(preemptor.gang).nominated > 0;
  const Ways ways = WaysFor(preemptor, may_evict, levels);
  const bool moves = ways.moves;
  std::vector<Candidate> lower;
  absl::Span<const Candidate> others;
  if (ways.lower) lower = holders().LowerInQueue(preemptor.gang);
  if (ways.others) {
    others = reclaim_.Candidates(preemptor, holders());
    if (others.empty())
      in_vain_.NoteBetweenQueues(preemptor, levels, /*lacks_places_up_to=*/std::numeric_limits<double>::infinity());
  }
  if (!waits_for_it && !moves && lower.empty() && others.empty()) return std::nullopt;
  tried_ = true;
  if (waits_for_it && FindsItsRoom(preemptor)) return Found{};
  const std::vector<TaskId>& going = holders().going();
  overlay_.Mark();
  trial_.TakeAway(going);
  std::optional<Found> found = CountOnEnding(preemptor);
  if (!found.has_value() && moves) found = Consolidate(preemptor, placement);
  if (!found.has_value()) found = SearchInQueue(preemptor, lower);
  if (!found.has_value()) found = SearchBetweenQueues(preemptor, others, levels);
  overlay_.Unmark();
  if (found.has_value()) {
    for (const Bundle& bundle : found->chosen) trial_.GiveBack(bundle.tasks);
  }
  trial_.GiveBack(going);
  return found;
}

int Eviction::EntitledLevels(const Preemptor& preemptor, bool may_evict) {
  if (!may_evict || !preemptor.preempts || !policy_.reclaim) return 0;
  return reclaim_.EntitledLevels(cluster_.gang(preemptor.gang).queue, preemptor.sum);
}

void Eviction::NoteEntitled(int levels, Preemptor& preemptor, model::Decision& decision) {
  decision.entitled_since =
      levels > 0 ? std::min(cluster_.gang(preemptor.gang).entitled_since, now_) : absl::InfiniteFuture();
  const absl::Time patient_from = decision.entitled_since + policy_.reclaim_after;
  preemptor.patient = patient_from <= now_;
  if (levels > 0 && !preemptor.patient) look_again_ = std::min(look_again_, patient_from);
  if (levels > 0) preemptor.spares = reclaim_.WentFor(preemptor.gang);
}

void Eviction::GoesOnBeingEntitled(const Gang& gang, model::Decision& decision) const {
  if (!policy_.choose_victims) decision.entitled_since = gang.entitled_since;
}

bool Eviction::MakeRoom(const GangPlacement& placement, model::Decision& decision) {
  const GangId id = placement.gang();
  const Gang& gang = cluster_.gang(id);
  const bool waits_for_it = gang.nominated > 0;
  if (!gang.held_back.empty()) return false;
  const bool may_evict = MayEvict(gang);
  GoesOnBeingEntitled(gang, decision);
  if (!may_evict && !waits_for_it) return false;
  std::optional<Preemptor> preemptor = FindPreemptor(overlay_, id);
  std::optional<Found> found;
  if (preemptor.has_value()) {
    const int levels = EntitledLevels(*preemptor, may_evict);
    if (policy_.choose_victims) NoteEntitled(levels, *preemptor, decision);
    if (room_of_going_ != nullptr) room_of_going_->KeepAll(true);
    found = FindRoom(*preemptor, placement, may_evict, levels);
    if (room_of_going_ != nullptr) room_of_going_->KeepAll(false);
  }
  if (holders_.has_value()) decision.look_again = LookAgain();
  if (found.has_value()) {
    Tell(id, *std::move(found), decision);
    for (const auto& [shape, count] : preemptor->by_shape) {
      const constraint::Asks& asks = overlay_.AsksOf(shape);
      if (asks.changes_beyond()) settled_.emplace_back(&asks, id);
    }
    return true;
  }
  if (waits_for_it && policy_.choose_victims) decision.nominations.emplace();
  return false;
}

absl::Time Eviction::LookAgain() const {
  return std::min({holders_->look_again(), victims_.look_again(), reclaim_.look_again(), look_again_});
}

bool Eviction::WaitsInVain(GangId id, const AlikeMinimum& needs, model::Decision& decision) {
  std::optional<Preemptor> preemptor = PreemptorOf(overlay_, id, needs);
  if (!preemptor.has_value()) return false;
  const int levels = EntitledLevels(*preemptor, /*may_evict=*/true);
  NoteEntitled(levels, *preemptor, decision);
  const Ways ways = WaysFor(*preemptor, /*may_evict=*/true, levels);
  if (ways.moves || ways.lower || ways.others) return false;
  decision.look_again = LookAgain();
  return true;
}

// nullptr: not now, or never.
const Bundle* Eviction::WholeOfLost(GangId id) {
  holders();  // they use budgets
  tried_ = true;
  const std::optional<Bundle>& whole = victims_.Whole(id, false);
  const bool may = whole.has_value() && cluster_.gang(id).evictable && victims_.WithinBudgets(whole->tasks);
  return may ? &*whole : nullptr;
}

void Eviction::EvictLost(GangId id, model::Decision& decision) {
  if (!policy_.choose_victims) {
    decision.look_again = std::min(decision.look_again, now_);
    return;
  }
  const Bundle* const whole = WholeOfLost(id);
  decision.look_again = std::min(decision.look_again, victims_.look_again());
  if (whole == nullptr) return;
  decision.evicted = whole->tasks;
  SortByName(decision.evicted);
  decision.evict_for = EvictFor::kLost;
  holders().Go(decision.evicted);
  victims_.Count(decision.evicted, 1);
  victims_.Evict(decision.evicted);
}

GangId Eviction::EvictOneOfLost(const std::vector<GangId>& gangs,
                                absl::FunctionRef<model::Decision&(GangId)> decision) {
  if (gangs.size() < 2 || !policy_.preempt) return model::kNone;
  if (!policy_.choose_victims) {
    decision(gangs.front()).look_again = std::min(decision(gangs.front()).look_again, now_);
    return model::kNone;
  }
  if (!holders().going().empty()) return model::kNone;  // they may be enough
  for (std::size_t first = 0; first < gangs.size(); ++first) {
    const std::optional<Preemptor> preemptor = FindPreemptor(overlay_, gangs[first]);
    if (!preemptor.has_value() || !preemptor->preempts) continue;
    for (std::size_t last = gangs.size(); last-- > first + 1 && trial_.may_go_on();) {
      const Bundle* const whole = WholeOfLost(gangs[last]);
      decision(gangs[last]).look_again = std::min(decision(gangs[last]).look_again, victims_.look_again());
      if (whole == nullptr) continue;
      const Bundle bundle = *whole;
      overlay_.Mark();
      trial_.TakeAway(bundle, victims_);
      const bool fits = trial_.CouldFit(*preemptor) && trial_.Place(*preemptor);
      overlay_.Unmark();
      trial_.GiveBack(bundle.tasks);
      if (fits) {
        Tell(gangs[first], Found{EvictFor::kLost, {bundle}, {}}, decision(gangs[first]));
        return gangs[first];
      }
      victims_.Count(bundle.tasks, -1);
    }
  }
  return model::kNone;
}

void Eviction::SortByName(std::vector<TaskId>& tasks) const {
  std::sort(tasks.begin(), tasks.end(), [&](TaskId a, TaskId b) {
    return std::tie(cluster_.task(a).ns, cluster_.task(a).name) < std::tie(cluster_.task(b).ns, cluster_.task(b).name);
  });
}

GangId Eviction::UnsettledBy(GangId id) const {
  if (settled_.empty()) return model::kNone;
  model::ShapeId before = model::kNone;
  for (const TaskId task : cluster_.gang(id).tasks) {
    const model::ShapeId shape = cluster_.task(task).shape;
    if (cluster_.task(task).status != TaskStatus::kPending || shape == before) continue;
    before = shape;
    for (const auto& [asks, gang] : settled_) {
      if (gang != id && asks->UnsettledBy(cluster_.shape(shape))) return gang;
    }
  }
  return model::kNone;
}

GangId Eviction::GoesFor(GangId id) const {
  const auto goes = goes_for_.find(id);
  return goes == goes_for_.end() ? model::kNone : goes->second;
}

void Eviction::Tell(GangId id, Found found, model::Decision& decision) {
  for (const Bundle& bundle : found.chosen) {
    decision.evicted.insert(decision.evicted.end(), bundle.tasks.begin(), bundle.tasks.end());
    if (bundle.whole) goes_for_.emplace(bundle.gang, id);
  }
  SortByName(decision.evicted);
  decision.evict_for = found.what_for;
  decision.moves = std::move(found.moves);
  holders().Go(decision.evicted);
  victims_.Evict(decision.evicted);
  decision.nominations = trial_.placements();
  if (decision.evicted.empty() && IsNominated(*decision.nominations)) decision.nominations.reset();
  decision.reason = WhyItWaits(cluster_.gang(id), decision.evicted);
  decision.short_of_minimum = true;
  placed_.push_back(id);
  in_vain_.RoomFreed();
}

// For those who are evicted for it, and who end on its nodes; by name, with what is known of them to others.
model::Reason Eviction::WhyItWaits(const Gang& gang, const std::vector<TaskId>& evicted) const {
  absl::flat_hash_set<model::Row> rows;
  for (const model::Placement& placement : trial_.placements()) rows.insert(placement.row);
  const absl::flat_hash_set<TaskId> chosen(evicted.begin(), evicted.end());
  absl::btree_set<std::pair<absl::string_view, absl::string_view>> ending;
  int pods = 0;
  for (const TaskId id : holders_->going()) {
    const Task& task = cluster_.task(id);
    if (!chosen.contains(id) && !rows.contains(task.row)) continue;
    ++pods;
    const Gang& other = cluster_.gang(task.gang);
    ending.emplace(other.ns, other.name);
  }
  model::Reason reason = ReasonOf(model::Reason::Kind::kRoomAwaited, gang);
  reason.ending = pods;
  reason.size = static_cast<int>(ending.size());
  if (!ending.empty()) reason.subject = Words::Name(model::KeyOf(ending.begin()->first, ending.begin()->second));
  return reason;
}

}  // namespace gangway::gang
