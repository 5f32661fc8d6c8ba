#include "plugin/extender/session/job_counts.h"

#include <algorithm>

namespace gangway::extender {
namespace {

constexpr std::int64_t kMostOfARole = std::int64_t{1} << 40;  // so that sums of what anybody sends are numbers

bool HasRoom(WireStatus status) {
  switch (status) {
    case WireStatus::kAllocated:
    case WireStatus::kBinding:
    case WireStatus::kBound:
    case WireStatus::kRunning:
    case WireStatus::kSucceeded:
      return true;
    case WireStatus::kPending:
    case WireStatus::kPipelined:
    case WireStatus::kReleasing:
    case WireStatus::kFailed:
    case WireStatus::kUnknown:
      return false;
  }
  return false;
}

// A pod that asks for nothing is given a node after all others.
bool Counts(const JobCounts::Task& task) {
  return HasRoom(task.status) || (task.status == WireStatus::kPending && task.best_effort);
}

}  // namespace

bool HasItsMinimum(const JobCounts& counts) {
  std::int64_t ready = 0, of_roles = 0;
  std::map<std::string, std::int64_t> by_role, by_sub_job, ready_sub_jobs;
  for (const JobCounts::Task& task : counts.tasks) {
    if (!Counts(task)) continue;
    ++ready;
    ++by_role[task.role];
    if (const auto of = counts.sub_job_of_task.find(task.uid); of != counts.sub_job_of_task.end())
      ++by_sub_job[of->second];
  }
  if (ready < counts.min_available) return false;
  for (const auto& [role, least] : counts.min_by_role) of_roles += std::clamp(least, -kMostOfARole, kMostOfARole);
  if (counts.min_available >= of_roles) {
    for (const auto& [role, least] : counts.min_by_role) {
      if (by_role[role] < least) return false;
    }
  }
  for (const auto& [name, sub_job] : counts.sub_jobs)
    ready_sub_jobs[sub_job.group] += by_sub_job[name] >= sub_job.min_available ? 1 : 0;
  for (const auto& [group, least] : counts.min_sub_jobs) {
    if (ready_sub_jobs[group] < least) return false;
  }
  return true;
}

}  // namespace gangway::extender
