#include "plugin/gang/victims.h"

#include <algorithm>
#include <set>
#include <utility>

#include "plugin/gang/lost_member.h"
#include "plugin/gang/minimum.h"
#include "plugin/gang/order.h"
#include "plugin/gang/preemptor.h"

namespace gangway::gang {

using model::Gang;
using model::GangId;
using model::Resources;
using model::Task;
using model::TaskId;
using model::TaskStatus;

namespace {

Resources AmountsOf(const model::Cluster& cluster, const std::vector<TaskId>& tasks) {
  Resources sum;
  for (const TaskId task : tasks) sum.Add(cluster.shape(cluster.task(task).shape).request);
  return sum;
}

}  // namespace

absl::Duration MinRuntimeOf(const model::Cluster& cluster, const QueueTree& tree, model::QueueId queue) {
  for (const model::QueueId level : tree.path(queue)) {
    const std::optional<absl::Duration>& said = cluster.queue(level).min_runtime;
    if (said.has_value()) return *said;
  }
  return absl::ZeroDuration();
}

// Who needs to have run for no time may go, whatever a node whose clock is ahead of ours says of its start.
absl::Time MayGoFrom(const Task& task, absl::Duration min_runtime) {
  const absl::Time ran = min_runtime > absl::ZeroDuration() ? task.started + min_runtime : absl::InfinitePast();
  return std::max<absl::Time>(task.departure().protected_until, ran);
}

bool Victims::Stays(const Task& task) const { return IsReady(task) && !task.evicted && !evicted_.contains(&task); }

// It runs, or is about to, and nobody decided that it goes.
bool Victims::CanGo(const Task& task) const {
  return (task.status == TaskStatus::kBound || task.status == TaskStatus::kRunning) && !task.evicted &&
         !evicted_.contains(&task);
}

bool Victims::IsEvictable(const Task& task) const {
  // Who says that it runs may not say where.
  return CanGo(task) && task.ours && task.evictable && task.row != model::kNone && cluster_.present(task.row);
}

bool Victims::MayGo(const Task& task, absl::Duration min_runtime) {
  if (!IsEvictable(task)) return false;
  const absl::Time from = MayGoFrom(task, min_runtime);
  if (from > now_) look_again_ = std::min(look_again_, from);
  return from <= now_;
}

bool Victims::WithinBudgets(const std::vector<TaskId>& tasks) const {
  if (!cluster_.has_budgets()) return true;
  std::map<const model::BudgetFacts*, int> more;
  for (const TaskId task : tasks) {
    for (const model::BudgetFacts* const budget : cluster_.BudgetsOf(task)) ++more[budget];
  }
  return std::all_of(more.begin(), more.end(), [&](const auto& entry) {
    const auto used = used_.find(entry.first);
    return entry.second + (used == used_.end() ? 0 : used->second) <= entry.first->allowed;
  });
}

void Victims::Count(const std::vector<TaskId>& tasks, int times) {
  if (!cluster_.has_budgets()) return;
  for (const TaskId task : tasks) {
    for (const model::BudgetFacts* const budget : cluster_.BudgetsOf(task)) used_[budget] += times;
  }
}

void Victims::Evict(const std::vector<TaskId>& tasks) {
  for (const TaskId task : tasks) {
    evicted_.insert(&cluster_.task(task));
    for (const bool asks_for_nothing : {false, true}) whole_.erase({cluster_.task(task).gang, asks_for_nothing});
  }
}

std::vector<Bundle> Victims::Surplus(GangId id, bool asks_for_nothing) {
  const Gang& gang = cluster_.gang(id);
  std::vector<Bundle> bundles;
  const auto stays = [this](const Task& task) { return Stays(task); };
  auto beyond = static_cast<int>(std::count_if(gang.tasks.begin(), gang.tasks.end(),
                                               [&](TaskId task) { return Stays(cluster_.task(task)); })) -
                gang.min_member;
  if (beyond <= 0 || !HasMinimum(cluster_, gang, stays)) return bundles;
  std::map<int, int> by_role;
  const bool roles_count = RolesCount(gang);
  if (roles_count) by_role = CountByRole(cluster_, gang, stays);
  std::map<std::pair<int, int>, std::vector<TaskId>> parts;
  std::vector<TaskId> tasks = gang.tasks;
  std::erase_if(tasks, [&](TaskId task) { return !CanGo(cluster_.task(task)); });
  SortTasks(cluster_, tasks);
  const absl::Duration min_runtime = MinRuntimeOf(cluster_, tree_, gang.queue);
  const auto allowed = [&](TaskId task) {
    return MayGo(cluster_.task(task), min_runtime) &&
           (!asks_for_nothing || AsksForNothing(cluster_.shape(cluster_.task(task).shape).request));
  };
  const auto least_of = [&](int role) {
    const auto it = std::find_if(gang.min_task_member.begin(), gang.min_task_member.end(),
                                 [role](const auto& minimum) { return minimum.first == role; });
    return roles_count && it != gang.min_task_member.end() ? it->second : 0;
  };
  std::vector<int> whole_left;  // sub-groups, by policy
  for (int policy = 0; policy < static_cast<int>(gang.sub_groups.size()); ++policy)
    whole_left.push_back(WholeSubGroups(cluster_, gang, policy, stays));
  for (const TaskId task : tasks) {
    if (cluster_.task(task).sub_groups != model::kNone)
      parts[{cluster_.task(task).sub_groups, cluster_.task(task).partition}].push_back(task);
  }
  std::set<std::pair<int, int>> seen;
  for (auto it = tasks.rbegin(); it != tasks.rend() && beyond > 0; ++it) {
    const Task& task = cluster_.task(*it);
    const model::SubGroupFacts* const policy = SubGroupsOf(gang, task);
    std::vector<TaskId> unit = {*it};
    if (policy != nullptr) {
      if (!seen.insert({task.sub_groups, task.partition}).second) continue;
      unit = parts[{task.sub_groups, task.partition}];
    }
    const int size = static_cast<int>(unit.size());
    const bool was_whole = policy != nullptr && size >= policy->size;
    if (size > beyond || !std::all_of(unit.begin(), unit.end(), allowed)) continue;
    std::map<int, int> roles;  // of the unit
    for (const TaskId each : unit) ++roles[cluster_.task(each).role];
    const auto spares = [&](const auto& entry) { return by_role[entry.first] - entry.second >= least_of(entry.first); };
    if (roles_count && !std::all_of(roles.begin(), roles.end(), spares)) continue;
    if (was_whole && whole_left[static_cast<std::size_t>(task.sub_groups)] - 1 < policy->min_groups) continue;
    beyond -= size;
    for (const auto& [role, count] : roles) by_role[role] -= count;
    if (was_whole) --whole_left[static_cast<std::size_t>(task.sub_groups)];
    Resources amounts = AmountsOf(cluster_, unit);
    bundles.push_back({id, false, std::move(unit), std::move(amounts), 0});
  }
  return bundles;
}

const std::optional<Bundle>& Victims::Whole(GangId id, bool asks_for_nothing) {
  const auto known = whole_.find({id, asks_for_nothing});
  if (known != whole_.end()) return known->second;
  return whole_.emplace(std::pair(id, asks_for_nothing), FindWhole(id, asks_for_nothing)).first->second;
}

std::optional<Bundle> Victims::FindWhole(GangId id, bool asks_for_nothing) {
  const Gang& gang = cluster_.gang(id);
  if (IsInGrace(cluster_, tree_, policy_, gang, now_)) {
    look_again_ = std::min(look_again_, GraceEnds(cluster_, tree_, policy_, gang));
    return std::nullopt;
  }
  const absl::Duration min_runtime = MinRuntimeOf(cluster_, tree_, gang.queue);
  Bundle bundle{id, true, {}, {}, 0};
  for (const TaskId task_id : gang.tasks) {
    const Task& task = cluster_.task(task_id);
    if (!CanGo(task)) continue;
    if (!MayGo(task, min_runtime)) return std::nullopt;
    if (asks_for_nothing && !AsksForNothing(cluster_.shape(task.shape).request)) return std::nullopt;
    bundle.tasks.push_back(task_id);
  }
  if (bundle.tasks.empty()) return std::nullopt;
  SortTasks(cluster_, bundle.tasks);
  bundle.amounts = AmountsOf(cluster_, bundle.tasks);
  return bundle;
}

}  // namespace gangway::gang
