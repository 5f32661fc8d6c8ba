// The pods of a Job in the places the spec has for them.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "plugin/lifecycle/job/job_view.h"
#include "plugin/lifecycle/job/record.h"

namespace gangway::lifecycle {

// One place: task and index. At most one pod has the name.
struct Slot {
  const JobPod* pod = nullptr;
  bool foreign = false;  // the name is held by a pod of a deleted Job of the same name
  bool leaving = false;  // ours, and being deleted or about to be: known when it is decided what goes (job_outcome.h)
};

struct TaskPods {
  const api::volcano::TaskSpec* spec = nullptr;
  std::string prefix;  // of the names: "<job>-<task>-"
  std::vector<Slot> slots;
  std::string PodName(std::int32_t index) const;
};

// Pods that the spec has no place for: after a scale-down, or of a task that is no more.
struct UnwantedPod {
  const std::string* name = nullptr;
  const JobPod* pod = nullptr;
};

struct Roster {
  std::vector<TaskPods> tasks;
  std::vector<UnwantedPod> unwanted;
  std::deque<JobPod> corrected;  // what slots point at instead of the view's
};

// More pods than this a Job may not ask for.
inline constexpr std::int64_t kMaxPodsPerJob = 100'000;

// Borrows from the view. The Job asks for at most kMaxPodsPerJob.
Roster MakeRoster(const JobView& seen);

// A pod tells the Job's version it was made for by an annotation, and anybody may edit that. Where it does not read, or
// tells of a version yet to come, the record is believed: a pod that was counted for this version is one of it.
void BelieveRecord(const Record& record, std::int32_t version, Roster& roster);

}  // namespace gangway::lifecycle
