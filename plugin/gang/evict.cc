#include "plugin/gang/evict.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "plugin/gang/admit.h"
#include "plugin/gang/minimum.h"
#include "plugin/gang/needs.h"
#include "plugin/gang/order.h"
#include "plugin/gang/place.h"
#include "plugin/gang/usable.h"

namespace gangway::gang {

using model::Dim;
using model::Gang;
using model::GangId;
using model::QueueId;
using model::Resources;
using model::Row;
using model::Task;
using model::TaskId;
using model::TaskStatus;

namespace {

// Looked at one by one when several gangs would have to go.
constexpr int kSingleGangs = 16;
// As a part of the cluster: less is rounding.
constexpr double kLeastGain = 1e-9;

bool AsksForNothing(const Resources& request) {
  for (Dim dim = 0; dim < request.size(); ++dim) {
    if (request[dim] > 0 && dim != model::kPods) return false;
  }
  return true;
}

Policy WithoutSurplus(Policy policy) {
  policy.place_surplus = false;
  return policy;
}

}  // namespace

Eviction::Eviction(Overlay& overlay, Scratch& scratch, const Policy& policy, absl::Time now)
    : overlay_(overlay),
      cluster_(overlay.cluster()),
      scratch_(scratch),
      policy_(policy),
      trial_policy_(WithoutSurplus(policy)),
      now_(now),
      budget_(policy.evict_budget) {}

const Shares& Eviction::shares() {
  if (shares_ == nullptr) shares_ = std::make_unique<Shares>(cluster_, overlay_.tree(), policy_.sharing);
  return *shares_;
}

// ---- who wants, and who may go

std::optional<Eviction::Wanted> Eviction::WantedBy(const Gang& gang) {
  const Usable usable = FindUsable(overlay_, gang);
  if (WhyTooFew(cluster_, gang, usable).has_value()) return std::nullopt;
  const Needs needs = FindNeeds(cluster_, gang, usable);
  if (needs.reason.has_value() || needs.all.empty()) return std::nullopt;
  Wanted wanted;
  wanted.preempts = cluster_.Preempts(gang);
  wanted.count = static_cast<int>(needs.all.size());
  for (const std::size_t i : needs.all) {
    const Task& task = cluster_.task(usable.tasks[i]);
    const Resources& request = cluster_.shape(task.shape).request;
    wanted.preempts = wanted.preempts && task.preempts;
    wanted.asks_for_nothing = wanted.asks_for_nothing && AsksForNothing(request);
    wanted.sum.Add(request);
  }
  for (const TaskId id : usable.tasks) {
    const model::ShapeId shape = cluster_.task(id).shape;
    const auto it = std::find_if(wanted.by_shape.begin(), wanted.by_shape.end(),
                                 [&](const auto& entry) { return entry.first == shape; });
    if (it == wanted.by_shape.end()) {
      wanted.by_shape.emplace_back(shape, 1);
    } else {
      ++it->second;
    }
  }
  return wanted;
}

// Also those that are going.
void Eviction::FindHolders() {
  if (std::exchange(found_holders_, true)) return;
  for (GangId id = 0; id < cluster_.gang_slots(); ++id) {
    const Gang& gang = cluster_.gang(id);
    if (gang.binding_releasing > 0 || gang.evicted > 0) {
      for (const TaskId task_id : gang.tasks) {
        const Task& task = cluster_.task(task_id);
        if (!task.holds_room() || !task.goes() || !cluster_.present(task.row)) continue;
        const absl::Time given_up = task.grace_ends + policy_.victims_take;
        if (task.status == TaskStatus::kReleasing && given_up <= now_) continue;
        if (task.status == TaskStatus::kReleasing) look_again_ = std::min(look_again_, given_up);
        going_.push_back(task_id);
        for (const model::BudgetFacts* const budget : cluster_.BudgetsOf(task_id)) ++used_[budget];
      }
    }
    const int bound = gang.Count(TaskStatus::kBound) + gang.Count(TaskStatus::kRunning);
    const int binding = gang.Count(TaskStatus::kBinding);
    if (bound + binding == 0 || gang.queue == model::kNone || !gang.is_ours() || !gang.evictable) continue;
    if (binding > 0) {
      being_bound_.push_back(id);
      continue;
    }
    const std::int32_t priority = cluster_.PriorityOf(gang);
    holders_[gang.queue].push_back({id, true, gang.leaving > 0, 0, priority, gang.created});
    const auto [lowest, first] = lowest_.emplace(gang.queue, priority);
    lowest->second = std::min(lowest->second, priority);
  }
}

const std::vector<Eviction::Candidate>& Eviction::HoldersIn(QueueId queue) {
  static const auto& none = *new std::vector<Candidate>();
  FindHolders();
  const auto it = holders_.find(queue);
  return it == holders_.end() ? none : it->second;
}

// Goes after the other: who is in the middle of an eviction goes first, then members, then by priority, then youth.
bool Eviction::Later(const Candidate& a, const Candidate& b) const {
  if (a.leaving != b.leaving) return b.leaving;
  if (a.whole != b.whole) return a.whole;
  if (a.queue_priority != b.queue_priority) return a.queue_priority > b.queue_priority;
  if (a.priority != b.priority) return a.priority > b.priority;
  if (a.created != b.created) return a.created < b.created;
  const Gang& x = cluster_.gang(a.gang);
  const Gang& y = cluster_.gang(b.gang);
  return std::tie(x.kind, x.ns, x.name) < std::tie(y.kind, y.ns, y.name);
}

void Eviction::AddCandidate(Candidate candidate, std::vector<Candidate>& candidates) const {
  const Gang& gang = cluster_.gang(candidate.gang);
  candidates.push_back(candidate);
  if (gang.ready() <= gang.min_member) return;
  candidate.whole = false;
  candidates.push_back(candidate);
}

std::vector<Eviction::Candidate> Eviction::LowerInQueue(GangId id) {
  std::vector<Candidate> candidates;
  const std::int32_t priority = cluster_.PriorityOf(cluster_.gang(id));
  for (const Candidate& candidate : HoldersIn(cluster_.gang(id).queue)) {
    if (candidate.priority < priority && candidate.gang != id) AddCandidate(candidate, candidates);
  }
  return candidates;
}

std::vector<Eviction::Candidate> Eviction::InOtherQueues(GangId id, const Resources& wanted) {
  FindHolders();
  std::vector<Candidate> candidates;
  const QueueId own = cluster_.gang(id).queue;
  for (const auto& [queue, holders] : holders_) {
    if (queue == own) continue;
    const auto [ours, theirs] = BranchesOf(own, queue);
    if (!IsReclaimable(queue, theirs) || !IsEntitled(wanted, ours) || !IsOver(theirs, wanted)) continue;
    for (Candidate candidate : holders) {
      candidate.queue_priority = cluster_.queue(queue).priority;
      AddCandidate(candidate, candidates);
    }
  }
  return candidates;
}

absl::Duration Eviction::MinRuntimeOf(QueueId queue) const {
  for (const QueueId level : overlay_.tree().path(queue)) {
    const std::optional<absl::Duration>& said = cluster_.queue(level).min_runtime;
    if (said.has_value()) return *said;
  }
  return absl::ZeroDuration();
}

// It runs, or is about to, and nobody decided that it goes.
bool Eviction::CanGo(const Task& task) const {
  return (task.status == TaskStatus::kBound || task.status == TaskStatus::kRunning) && !task.evicted &&
         !evicted_.contains(&task);
}

bool Eviction::MayGo(const Task& task, absl::Duration min_runtime) {
  if (!CanGo(task) || !task.ours || !task.evictable || !cluster_.present(task.row)) return false;
  const absl::Time from = std::max(task.protected_until, task.started + min_runtime);
  if (from > now_) look_again_ = std::min(look_again_, from);
  return from <= now_;
}

// Whether all of them may go beside those that go already. volcano: plugins/pdb
bool Eviction::WithinBudgets(const std::vector<TaskId>& tasks) const {
  std::map<const model::BudgetFacts*, int> more;
  for (const TaskId task : tasks) {
    for (const model::BudgetFacts* const budget : cluster_.BudgetsOf(task)) ++more[budget];
  }
  return std::all_of(more.begin(), more.end(), [&](const auto& entry) {
    const auto used = used_.find(entry.first);
    return entry.second + (used == used_.end() ? 0 : used->second) <= entry.first->allowed;
  });
}

// What of a gang is beyond its minimum, the last in order first: pods, or sub-groups. Without budgets.
std::vector<Eviction::Bundle> Eviction::Surplus(GangId id, bool asks_for_nothing) {
  const Gang& gang = cluster_.gang(id);
  std::vector<Bundle> bundles;
  const auto stays = [this](const Task& task) { return IsReady(task) && !task.evicted && !evicted_.contains(&task); };
  auto beyond = static_cast<int>(std::count_if(gang.tasks.begin(), gang.tasks.end(),
                                               [&](TaskId task) { return stays(cluster_.task(task)); })) -
                gang.min_member;
  if (beyond <= 0 || !HasMinimum(cluster_, gang, stays)) return bundles;
  std::map<int, int> by_role;
  const bool roles_count = RolesCount(gang);
  if (roles_count) by_role = CountByRole(cluster_, gang, stays);
  std::map<std::pair<int, int>, std::vector<TaskId>> parts;
  std::vector<TaskId> tasks = gang.tasks;
  std::erase_if(tasks, [&](TaskId task) { return !CanGo(cluster_.task(task)); });
  SortTasks(cluster_, tasks);
  const absl::Duration min_runtime = MinRuntimeOf(gang.queue);
  const auto allowed = [&](TaskId task) {
    return MayGo(cluster_.task(task), min_runtime) &&
           (!asks_for_nothing || AsksForNothing(cluster_.shape(cluster_.task(task).shape).request));
  };
  const auto least_of = [&](int role) {
    const auto it = std::find_if(gang.min_task_member.begin(), gang.min_task_member.end(),
                                 [role](const auto& minimum) { return minimum.first == role; });
    return roles_count && it != gang.min_task_member.end() ? it->second : 0;
  };
  std::map<int, int> whole_left;  // sub-groups, by role
  for (const model::SubGroups& policy : gang.sub_groups)
    whole_left[policy.role] = WholeSubGroups(cluster_, gang, policy, stays);
  for (const TaskId task : tasks) {
    if (SubGroupsOf(gang, cluster_.task(task)) != nullptr)
      parts[{cluster_.task(task).role, cluster_.task(task).partition}].push_back(task);
  }
  std::set<std::pair<int, int>> seen;
  for (auto it = tasks.rbegin(); it != tasks.rend() && beyond > 0; ++it) {
    const Task& task = cluster_.task(*it);
    const model::SubGroups* const policy = SubGroupsOf(gang, task);
    std::vector<TaskId> unit = {*it};
    if (policy != nullptr) {
      if (!seen.insert({task.role, task.partition}).second) continue;
      unit = parts[{task.role, task.partition}];
    }
    const int size = static_cast<int>(unit.size());
    const bool was_whole = policy != nullptr && size >= policy->size;
    if (size > beyond || !std::all_of(unit.begin(), unit.end(), allowed)) continue;
    if (roles_count && by_role[task.role] - size < least_of(task.role)) continue;
    if (was_whole && whole_left[task.role] - 1 < policy->min_groups) continue;
    beyond -= size;
    by_role[task.role] -= size;
    if (was_whole) --whole_left[task.role];
    bundles.push_back({id, false, std::move(unit), 0});
  }
  return bundles;
}

// All of a gang that is left; nullopt: some of it may not go. Without budgets.
std::optional<Eviction::Bundle> Eviction::Whole(GangId id, bool asks_for_nothing) {
  const Gang& gang = cluster_.gang(id);
  const absl::Duration min_runtime = MinRuntimeOf(gang.queue);
  Bundle bundle{id, true, {}, 0};
  for (const TaskId task_id : gang.tasks) {
    const Task& task = cluster_.task(task_id);
    if (!CanGo(task)) continue;
    if (!MayGo(task, min_runtime)) return std::nullopt;
    if (asks_for_nothing && !AsksForNothing(cluster_.shape(task.shape).request)) return std::nullopt;
    bundle.tasks.push_back(task_id);
  }
  if (bundle.tasks.empty()) return std::nullopt;
  SortTasks(cluster_, bundle.tasks);
  return bundle;
}

// ---- between queues

// As the children of the queue that is above both. Who is above the other is so with its own gangs.
std::pair<Eviction::Branch, Eviction::Branch> Eviction::BranchesOf(QueueId a, QueueId b) const {
  const std::vector<QueueId>& x = overlay_.tree().path(a);
  const std::vector<QueueId>& y = overlay_.tree().path(b);
  std::size_t same = 0;
  while (same < x.size() && same < y.size() && x[x.size() - 1 - same] == y[y.size() - 1 - same]) ++same;
  const auto branch = [same](const std::vector<QueueId>& path) {
    return same == path.size() ? Branch{path.front(), true} : Branch{path[path.size() - 1 - same], false};
  };
  return {branch(x), branch(y)};
}

std::int64_t Eviction::HeldBy(const Branch& branch, Dim dim) const {
  return branch.own ? cluster_.queue(branch.queue).held[dim] + overlay_.taken_from(branch.queue)[dim]
                    : overlay_.tree().held(branch.queue)[dim] + overlay_.taken_below(branch.queue)[dim];
}

std::int64_t Eviction::DeservedBy(const Branch& branch, Dim dim) {
  return branch.own ? shares().OwnDeserved(branch.queue, dim) : shares().Deserved(branch.queue, dim);
}

// With what is wanted it stays within what it deserves of something that is wanted. volcano: plugins/capacity,
// PreemptiveFn
bool Eviction::IsEntitled(const Resources& wanted, const Branch& branch) {
  for (Dim dim = 0; dim < wanted.size(); ++dim) {
    if (wanted[dim] > 0 && dim != model::kPods && HeldBy(branch, dim) + wanted[dim] <= DeservedBy(branch, dim))
      return true;
  }
  return false;
}

bool Eviction::IsOver(const Branch& branch, const Resources& wanted) {
  for (Dim dim = 0; dim < wanted.size(); ++dim) {
    if (wanted[dim] > 0 && dim != model::kPods && HeldBy(branch, dim) > DeservedBy(branch, dim)) return true;
  }
  return false;
}

bool Eviction::IsReclaimable(QueueId queue, const Branch& branch) const {
  for (const QueueId level : overlay_.tree().path(queue)) {
    if (!cluster_.queue(level).reclaimable) return false;
    if (level == branch.queue) break;
  }
  return true;
}

// By how much of the cluster it lacks more of what it deserves when it holds so much more or, with -1, less: summed
// over all that is shared.
double Eviction::ShortageBy(const Branch& branch, const Resources& amounts, int times) {
  double sum = 0;
  for (Dim dim = 0; dim < amounts.size(); ++dim) {
    const std::int64_t total = cluster_.total()[dim];
    if (amounts[dim] == 0 || dim == model::kPods || total <= 0) continue;
    const std::int64_t held = HeldBy(branch, dim), deserved = DeservedBy(branch, dim);
    const auto lack = [&](std::int64_t holds) { return std::max<std::int64_t>(deserved - holds, 0); };
    sum += static_cast<double>(lack(held + times * amounts[dim]) - lack(held)) / static_cast<double>(total);
  }
  return sum;
}

// What its branch would lack more of what it deserves, as a part of the cluster; nullopt: it may not go.
std::optional<double> Eviction::LossBy(const Wanted& wanted, const Bundle& bundle) {
  Resources sum;
  for (const TaskId task : bundle.tasks) sum.Add(cluster_.shape(cluster_.task(task).shape).request);
  const QueueId queue = cluster_.gang(bundle.gang).queue;
  const auto [ours, theirs] = BranchesOf(cluster_.gang(wanted.gang).queue, queue);
  Resources relevant;  // of what is wanted
  for (Dim dim = 0; dim < sum.size(); ++dim) {
    if (wanted.sum[dim] > 0) relevant.Set(dim, sum[dim]);
  }
  if (!IsOver(theirs, relevant)) return std::nullopt;
  for (const QueueId level : overlay_.tree().path(queue)) {
    for (Dim dim = 0; dim < sum.size(); ++dim) {
      const std::int64_t left = HeldBy({level, false}, dim) - sum[dim];
      if (sum[dim] > 0 && dim != model::kPods && left < shares().Kept(level, dim)) return std::nullopt;
    }
    if (level == theirs.queue) break;
  }
  const double loss = ShortageBy(theirs, sum, -1);
  double all = loss;
  for (const Bundle& other : chosen_) all += other.loss;
  if (all >= -ShortageBy(ours, wanted.sum, 1) - kLeastGain) return std::nullopt;
  return loss;
}

// ---- trials

void Eviction::Take(TaskId task) {
  overlay_.Release(task);
  scratch_.RowTouched(cluster_.task(task).row);
}

void Eviction::GiveBack(TaskId task) {
  overlay_.Restore(task);
  scratch_.RowTouched(cluster_.task(task).row);
}

void Eviction::Take(const std::vector<TaskId>& tasks) {
  budget_ -= static_cast<int>(tasks.size());
  for (const TaskId task : tasks) {
    Take(task);
    for (const model::BudgetFacts* const budget : cluster_.BudgetsOf(task)) ++used_[budget];
  }
}

void Eviction::GiveBack(const std::vector<TaskId>& tasks) {
  for (const TaskId task : tasks) {
    GiveBack(task);
    for (const model::BudgetFacts* const budget : cluster_.BudgetsOf(task)) --used_[budget];
  }
}

void Eviction::GiveBackAll() {
  for (const Bundle& bundle : chosen_) GiveBack(bundle.tasks);
  chosen_.clear();
}

void Eviction::Rewind() {
  for (const Row row : overlay_.Rewind()) scratch_.RowTouched(row);
}

// What is quick to see: as many of its pods as its minimum have a place each.
bool Eviction::CouldFit(const Wanted& wanted) {
  std::int64_t places = 0;
  for (const auto& [shape, count] : wanted.by_shape)
    places += std::min<std::int64_t>(scratch_.Fit(overlay_, shape).copies(), count);
  return places >= wanted.count;
}

// Places its minimum; what was placed before was rewound.
bool Eviction::Try(const Wanted& wanted) {
  if (!CouldFit(wanted) || (reclaims_ && SomeComeBack(wanted))) return false;
  GangPlacement placement(overlay_, scratch_, trial_policy_, wanted.gang, /*tells=*/false);
  if (!placement.PlaceMinimum()) return false;
  model::Decision decision;
  placement.Finish(decision);
  placements_ = std::move(decision.placements);
  return true;
}

// A gang that would go for another queue's sake while one of lower priority in its own queue stays, that holds some of
// all that is taken from it, would evict that one, and their queue would take back what was taken from it.
bool Eviction::SomeComeBack(const Wanted& wanted) {
  std::map<std::pair<QueueId, std::int32_t>, Resources> going;
  for (const Bundle& bundle : chosen_) {
    if (!bundle.whole) continue;
    const Gang& gang = cluster_.gang(bundle.gang);
    going[{gang.queue, cluster_.PriorityOf(gang)}].Add(gang.held);
  }
  for (const Bundle& bundle : chosen_) {
    if (!bundle.whole) continue;
    const Gang& gang = cluster_.gang(bundle.gang);
    Resources lower = HeldByLower(bundle.gang);
    for (auto it = going.lower_bound({gang.queue, std::numeric_limits<std::int32_t>::min()});
         it != going.end() && it->first < std::pair(gang.queue, cluster_.PriorityOf(gang)); ++it)
      lower.Subtract(it->second);
    for (const GangId other : placed_) {
      const Gang& beside = cluster_.gang(other);
      if (beside.queue == gang.queue && cluster_.PriorityOf(beside) < cluster_.PriorityOf(gang)) lower.Add(beside.asks);
    }
    for (const GangId other : stay_) {
      const Gang& stays = cluster_.gang(other);
      if (stays.queue == gang.queue && cluster_.PriorityOf(stays) < cluster_.PriorityOf(gang))
        lower.Subtract(stays.held);
    }
    bool some = !lower.zero();
    for (Dim dim = 0; dim < gang.held.size(); ++dim)
      some = some && (gang.held[dim] == 0 || wanted.sum[dim] == 0 || lower[dim] > 0);
    if (some) return true;
  }
  return false;
}

// The next one in order is taken away, if it may be. False: there is none.
bool Eviction::TakeNext(const Wanted& wanted, std::vector<Candidate>& heap) {
  if (heap.empty() || budget_ <= 0) return false;
  const auto later = [this](const Candidate& a, const Candidate& b) { return Later(a, b); };
  std::pop_heap(heap.begin(), heap.end(), later);
  const Candidate next = heap.back();
  heap.pop_back();
  const auto take = [&](Bundle bundle) {
    if (!WithinBudgets(bundle.tasks)) return false;
    if (reclaims_) {
      const std::optional<double> loss = LossBy(wanted, bundle);
      if (!loss.has_value()) return false;
      bundle.loss = *loss;
    }
    Take(bundle.tasks);
    chosen_.push_back(std::move(bundle));
    return true;
  };
  if (!next.whole) {
    for (Bundle& bundle : Surplus(next.gang, wanted.asks_for_nothing)) take(std::move(bundle));
    return true;
  }
  std::optional<Bundle> whole = Whole(next.gang, wanted.asks_for_nothing);
  if (!whole.has_value() || !WithinBudgets(whole->tasks)) {
    stay_.push_back(next.gang);
    return true;
  }
  // Members that were taken away alone go with the others. Most have none: then nothing is moved.
  std::vector<Bundle> members;
  const auto of_it = [&](const Bundle& bundle) { return bundle.gang == next.gang; };
  if (std::any_of(chosen_.begin(), chosen_.end(), of_it)) {
    std::copy_if(chosen_.begin(), chosen_.end(), std::back_inserter(members), of_it);
    std::erase_if(chosen_, of_it);
  }
  for (const Bundle& bundle : members) GiveBack(bundle.tasks);
  if (take(*std::move(whole))) return true;
  for (Bundle& bundle : members) {
    Take(bundle.tasks);
    chosen_.push_back(std::move(bundle));
  }
  return true;
}

bool Eviction::Search(const Wanted& wanted, const std::vector<Candidate>& candidates, bool reclaims) {
  if (candidates.empty()) return false;
  reclaims_ = reclaims;
  const auto later = [this](const Candidate& a, const Candidate& b) { return Later(a, b); };
  std::vector<Candidate> heap = candidates;
  std::make_heap(heap.begin(), heap.end(), later);
  for (std::size_t wish = 1;; wish = 2 * chosen_.size() + 1) {
    while (chosen_.size() < wish && TakeNext(wanted, heap)) {
    }
    if (!chosen_.empty() && Try(wanted)) break;
    if (!heap.empty() && budget_ > 0) continue;
    GiveBackAll();
    return false;
  }
  Spare(wanted);
  PreferOneGang(wanted, candidates);
  return true;
}

// Those that nothing was placed on the nodes of.
void Eviction::SpareUnused(const Wanted& wanted) {
  std::vector<Bundle> used, unused;
  std::set<Row> rows;
  for (const model::Placement& placement : placements_) rows.insert(placement.row);
  for (const Bundle& bundle : chosen_) {
    const bool touches = std::any_of(bundle.tasks.begin(), bundle.tasks.end(),
                                     [&](TaskId task) { return rows.contains(cluster_.task(task).row); });
    (touches ? used : unused).push_back(bundle);
  }
  if (unused.empty()) return;
  Rewind();
  const std::vector<Bundle> before = std::exchange(chosen_, std::move(used));
  for (const Bundle& bundle : unused) GiveBack(bundle.tasks);
  if (Try(wanted)) return;
  for (const Bundle& bundle : unused) Take(bundle.tasks);
  chosen_ = before;
  GW_CHECK(Try(wanted));
}

// Whoever need not go stays: the last in order first.
void Eviction::Spare(const Wanted& wanted) {
  SpareUnused(wanted);
  for (std::size_t i = chosen_.size(); i-- > 0;) {
    Rewind();
    const std::vector<Bundle> before = chosen_;
    const Bundle bundle = before[i];
    GiveBack(bundle.tasks);
    chosen_.erase(chosen_.begin() + static_cast<std::ptrdiff_t>(i));
    if (Try(wanted)) continue;
    std::vector<Bundle> members;
    if (bundle.whole) members = Surplus(bundle.gang, wanted.asks_for_nothing);
    for (const Bundle& member : members) Take(member.tasks);
    chosen_.insert(chosen_.begin() + static_cast<std::ptrdiff_t>(i), members.begin(), members.end());
    if (!members.empty() && Try(wanted)) {
      i += members.size();
      continue;
    }
    for (const Bundle& member : members) GiveBack(member.tasks);
    Take(bundle.tasks);
    chosen_ = before;
  }
  Rewind();
  GW_CHECK(Try(wanted));
}

// Where several gangs would go, one alone may do, of a priority that is no higher.
void Eviction::PreferOneGang(const Wanted& wanted, const std::vector<Candidate>& candidates) {
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
      if (dim != model::kPods && wanted.sum[dim] > 0 && held[dim] < freed[dim] / 2) return false;
    }
    return true;
  };
  std::vector<Candidate> large;
  std::copy_if(candidates.begin(), candidates.end(), std::back_inserter(large), [&](const Candidate& candidate) {
    return candidate.whole && candidate.priority <= highest && holds_much(cluster_.gang(candidate.gang).held);
  });
  const auto later = [this](const Candidate& a, const Candidate& b) { return Later(a, b); };
  std::make_heap(large.begin(), large.end(), later);
  const std::vector<Bundle> before = chosen_;
  for (int tries = 0; tries < kSingleGangs && !large.empty() && budget_ > 0; ++tries) {
    Rewind();
    GiveBackAll();
    if (TakeNext(wanted, large) && !chosen_.empty() && Try(wanted)) return Spare(wanted);
  }
  Rewind();
  GiveBackAll();
  for (const Bundle& bundle : before) Take(bundle.tasks);
  chosen_ = before;
  GW_CHECK(Try(wanted));
}

// ---- what is decided

// What is quick to see: somebody in its queue has a lower priority; or its queue, or one above, lacks something of what
// it deserves while others hold something.
bool Eviction::MayEvict(const Gang& gang) {
  if (!policy_.choose_victims || (!policy_.preempt && !policy_.reclaim) || !cluster_.Preempts(gang)) return false;
  FindHolders();
  const auto own = lowest_.find(gang.queue);
  if (policy_.preempt && own != lowest_.end() && own->second < cluster_.PriorityOf(gang)) return true;
  if (!policy_.reclaim || holders_.size() <= (holders_.contains(gang.queue) ? 1u : 0u)) return false;
  const auto lacks = [&](const Branch& branch) {
    for (Dim dim = 0; dim < cluster_.dims().count(); ++dim) {
      if (dim != model::kPods && HeldBy(branch, dim) < DeservedBy(branch, dim)) return true;
    }
    return false;
  };
  const std::vector<QueueId>& path = overlay_.tree().path(gang.queue);
  return lacks({gang.queue, true}) ||
         std::any_of(path.begin(), path.end(), [&](QueueId level) { return lacks({level, false}); });
}

bool Eviction::MakeRoom(GangId id, model::Decision& decision) {
  const Gang& gang = cluster_.gang(id);
  const bool waits_for_it = gang.nominated > 0;
  if (!gang.held_back.empty()) return false;
  const bool may_evict = MayEvict(gang);
  if (!may_evict && !waits_for_it) return false;
  std::vector<Candidate> lower, others;
  std::optional<Wanted> wanted = WantedBy(gang);
  if (wanted.has_value()) {
    wanted->gang = id;
    if (may_evict && policy_.preempt && wanted->preempts) lower = LowerInQueue(id);
    if (may_evict && policy_.reclaim && wanted->preempts) others = InOtherQueues(id, wanted->sum);
  }
  bool found = false;
  model::EvictFor action = model::EvictFor::kNobody;
  if (wanted.has_value() && (waits_for_it || !lower.empty() || !others.empty())) {
    FindHolders();
    overlay_.Mark();
    for (const TaskId task : going_) Take(task);
    found = !going_.empty() && Try(*wanted);
    if (!found && (found = Search(*wanted, lower, false))) action = model::EvictFor::kPriority;
    if (!found && (found = Search(*wanted, others, true))) action = model::EvictFor::kShare;
    overlay_.Unmark();
    for (const Bundle& bundle : chosen_) {
      for (const TaskId task : bundle.tasks) GiveBack(task);
    }
    for (const TaskId task : going_) GiveBack(task);
  }
  decision.look_again = look_again_;
  if (found) {
    Tell(*wanted, action, decision);
  } else if (waits_for_it && policy_.choose_victims) {
    decision.nominations.emplace();
  }
  chosen_.clear();
  placements_.clear();
  stay_.clear();
  reclaims_ = false;
  return found;
}

void Eviction::Tell(const Wanted& wanted, model::EvictFor action, model::Decision& decision) {
  const Gang& gang = cluster_.gang(wanted.gang);
  for (const Bundle& bundle : chosen_) {
    decision.evicted.insert(decision.evicted.end(), bundle.tasks.begin(), bundle.tasks.end());
  }
  std::sort(decision.evicted.begin(), decision.evicted.end(), [&](TaskId a, TaskId b) {
    return std::tie(cluster_.task(a).ns, cluster_.task(a).name) < std::tie(cluster_.task(b).ns, cluster_.task(b).name);
  });
  decision.evict_for = action;
  going_.insert(going_.end(), decision.evicted.begin(), decision.evicted.end());
  for (const TaskId task : decision.evicted) evicted_.insert(&cluster_.task(task));
  std::set<Row> rows;
  for (const model::Placement& placement : placements_) rows.insert(placement.row);
  // By name, with what is known of them to others.
  std::map<std::string, int> ending;
  int pods = 0;
  for (const TaskId id : going_) {
    const Task& task = cluster_.task(id);
    const bool chosen = std::find(decision.evicted.begin(), decision.evicted.end(), id) != decision.evicted.end();
    if (!chosen && !rows.contains(task.row)) continue;
    ++pods;
    const Gang& other = cluster_.gang(task.gang);
    ++ending[absl::StrCat(other.ns, "/", other.name)];
  }
  decision.nominations = placements_;
  const bool same = std::all_of(placements_.begin(), placements_.end(), [&](const model::Placement& placement) {
    return cluster_.task(placement.task).nominated != model::kNone;
  });
  if (same && decision.evicted.empty()) decision.nominations.reset();
  model::Reason reason = ReasonOf(model::Reason::Kind::kRoomAwaited, gang);
  reason.ending = pods;
  reason.size = static_cast<int>(ending.size());
  if (!ending.empty()) reason.subject = ending.begin()->first;
  decision.reason = std::move(reason);
  decision.short_of_minimum = true;
  placed_.push_back(wanted.gang);
}

const Resources& Eviction::HeldByLower(GangId id) {
  static const Resources& none = *new Resources();
  const Gang& gang = cluster_.gang(id);
  if (!policy_.preempt || !cluster_.Preempts(gang)) return none;
  const std::int32_t priority = cluster_.PriorityOf(gang);
  const auto [it, fresh] = lower_held_.try_emplace({gang.queue, priority});
  if (fresh) {
    for (const Candidate& candidate : HoldersIn(gang.queue)) {
      if (candidate.priority < priority) it->second.Add(cluster_.gang(candidate.gang).held);
    }
    for (const GangId other : being_bound_) {
      const Gang& bound = cluster_.gang(other);
      if (bound.queue == gang.queue && cluster_.PriorityOf(bound) < priority) it->second.Add(bound.held);
    }
  }
  return it->second;
}

}  // namespace gangway::gang
