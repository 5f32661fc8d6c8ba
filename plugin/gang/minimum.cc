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

const model::SubGroups* SubGroupsOf(const Gang& gang, const Task& task) {
  if (task.partition == model::kNone) return nullptr;
  for (const model::SubGroups& policy : gang.sub_groups) {
    if (policy.role == task.role) return &policy;
  }
  return nullptr;
}

std::map<std::pair<int, int>, int> CountByPartition(const Cluster& cluster, const Gang& gang, Counts counts) {
  std::map<std::pair<int, int>, int> by_partition;
  if (gang.sub_groups.empty()) return by_partition;
  for (const TaskId id : gang.tasks) {
    const Task& task = cluster.task(id);
    if (SubGroupsOf(gang, task) != nullptr && counts(task)) ++by_partition[{task.role, task.partition}];
  }
  return by_partition;
}

int WholeSubGroups(const Cluster& cluster, const Gang& gang, const model::SubGroups& policy, Counts counts) {
  int whole = 0;
  for (const auto& [key, count] : CountByPartition(cluster, gang, counts))
    whole += key.first == policy.role && count >= policy.size ? 1 : 0;
  return whole;
}

bool HasMinimum(const Cluster& cluster, const Gang& gang, Counts counts) {
  const auto counted =
      std::count_if(gang.tasks.begin(), gang.tasks.end(), [&](TaskId id) { return counts(cluster.task(id)); });
  if (counted < gang.min_member) return false;
  for (const model::SubGroups& policy : gang.sub_groups) {
    if (WholeSubGroups(cluster, gang, policy, counts) < policy.min_groups) return false;
  }
  if (!RolesCount(gang)) return true;
  std::map<int, int> by_role = CountByRole(cluster, gang, counts);
  return std::all_of(gang.min_task_member.begin(), gang.min_task_member.end(),
                     [&](const auto& minimum) { return by_role[minimum.first] >= minimum.second; });
}

}  // namespace gangway::gang
