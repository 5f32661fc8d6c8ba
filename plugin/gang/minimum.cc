#include "plugin/gang/minimum.h"

#include <algorithm>

namespace gangway::gang {

using model::Cluster;
using model::Gang;
using model::Task;
using model::TaskId;
using model::TaskStatus;

bool IsReady(const Task& task) { return task.status == TaskStatus::kBinding || IsBoundOrDone(task); }

bool IsBoundOrDone(const Task& task) {
  return task.status == TaskStatus::kBound || task.status == TaskStatus::kRunning ||
         task.status == TaskStatus::kSucceeded;
}

bool IsScheduled(const Task& task) {
  return IsBoundOrDone(task) || task.status == TaskStatus::kFailed ||
         (task.status == TaskStatus::kReleasing && task.row != model::kNone);
}

bool RolesCount(const Gang& gang) {
  int sum = 0;
  for (const auto& [role, count] : gang.min_task_member) sum += count;
  return gang.min_member >= sum;
}

std::map<int, int> CountByRole(const Cluster& cluster, const Gang& gang, Counts counts) {
  std::map<int, int> by_role;
  for (const TaskId id : gang.tasks) {
    if (counts(cluster.task(id))) ++by_role[cluster.task(id).role];
  }
  return by_role;
}

const model::SubGroupFacts* SubGroupsOf(const Gang& gang, const Task& task) {
  return task.sub_groups == model::kNone ? nullptr : &gang.sub_groups[static_cast<std::size_t>(task.sub_groups)];
}

std::map<std::pair<int, int>, int> CountByPartition(const Cluster& cluster, const Gang& gang, Counts counts) {
  std::map<std::pair<int, int>, int> by_partition;
  if (gang.sub_groups.empty()) return by_partition;
  for (const TaskId id : gang.tasks) {
    const Task& task = cluster.task(id);
    if (task.sub_groups != model::kNone && counts(task)) ++by_partition[{task.sub_groups, task.partition}];
  }
  return by_partition;
}

int WholeSubGroups(const Cluster& cluster, const Gang& gang, int policy, Counts counts) {
  const int size = gang.sub_groups[static_cast<std::size_t>(policy)].size;
  int whole = 0;
  for (const auto& [key, count] : CountByPartition(cluster, gang, counts))
    whole += key.first == policy && count >= size ? 1 : 0;
  return whole;
}

bool HasMinimum(const Cluster& cluster, const Gang& gang, Counts counts) {
  const auto counted =
      std::count_if(gang.tasks.begin(), gang.tasks.end(), [&](TaskId id) { return counts(cluster.task(id)); });
  if (counted < gang.min_member) return false;
  for (std::size_t policy = 0; policy < gang.sub_groups.size(); ++policy) {
    const int least = gang.sub_groups[policy].min_groups;
    if (least > 0 && WholeSubGroups(cluster, gang, static_cast<int>(policy), counts) < least) return false;
  }
  if (!RolesCount(gang)) return true;
  std::map<int, int> by_role = CountByRole(cluster, gang, counts);
  return std::all_of(gang.min_task_member.begin(), gang.min_task_member.end(),
                     [&](const auto& minimum) { return by_role[minimum.first] >= minimum.second; });
}

bool GoesAsAWhole(const Cluster& cluster, const Gang& gang) {
  if (gang.evicted == 0) return false;
  const bool some_go = std::any_of(gang.tasks.begin(), gang.tasks.end(), [&](TaskId id) {
    const Task& task = cluster.task(id);
    return task.evicted && task.holds_room() && IsReady(task);
  });
  return some_go && !HasMinimum(cluster, gang, [](const Task& task) { return IsReady(task) && !task.evicted; });
}

}  // namespace gangway::gang
