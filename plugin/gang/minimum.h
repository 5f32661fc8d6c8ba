// What a gang needs to begin: as many tasks as its minimum, and of each role and of whole sub-groups as many as theirs.
#pragma once

#include <map>
#include <utility>

#include "absl/functional/function_ref.h"
#include "plugin/model/cluster.h"

namespace gangway::gang {

// Which tasks count.
using Counts = absl::FunctionRef<bool(const model::Task&)>;
// volcano: api/job_info.go, ReadyTaskNum
bool IsReady(const model::Task& task);
// The same, without bindings that may still be refused.
bool IsBoundOrDone(const model::Task& task);
// The same with what has failed since, or is ending.
bool IsScheduled(const model::Task& task);

// Of the gang, of its sub-groups and of each role.
bool HasMinimum(const model::Cluster& cluster, const model::Gang& gang, Counts counts = IsReady);

// Pods of it that are there were told to go, and those that stay are no minimum.
bool GoesAsAWhole(const model::Cluster& cluster, const model::Gang& gang);

// The minima of the tasks are not looked at when the gang's own is smaller than their sum. volcano: api/job_info.go,
// CheckTaskReady
bool RolesCount(const model::Gang& gang);
std::map<int, int> CountByRole(const model::Cluster& cluster, const model::Gang& gang, Counts counts = IsReady);

// nullptr: the task belongs to none.
const model::SubGroupFacts* SubGroupsOf(const model::Gang& gang, const model::Task& task);
// By policy and partition, of tasks that belong to a sub-group.
std::map<std::pair<int, int>, int> CountByPartition(const model::Cluster& cluster, const model::Gang& gang,
                                                    Counts counts = IsReady);
// Of the policy of that number.
int WholeSubGroups(const model::Cluster& cluster, const model::Gang& gang, int policy, Counts counts = IsReady);

}  // namespace gangway::gang
