// The pods of a Job in the places the spec has for them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plugin/lifecycle/job_view.h"

namespace gangway::lifecycle {

// One place: task and index. At most one pod has the name.
struct Slot {
  const PodFacts* pod = nullptr;
  bool foreign = false;  // the name is held by a pod of a deleted Job of the same name
};

struct TaskPods {
  const api::volcano::TaskSpec* spec = nullptr;
  std::string prefix;  // of the names: "<job>-<task>-"
  std::vector<Slot> slots;
  std::string PodName(std::int32_t index) const;
};

// Pods that the spec has no place for: after a scale-down.
struct UnwantedPod {
  const std::string* name = nullptr;
  const PodFacts* pod = nullptr;
};

struct Roster {
  std::vector<TaskPods> tasks;
  std::vector<UnwantedPod> unwanted;
};

// More pods than this a Job may not ask for.
inline constexpr std::int64_t kMaxPodsPerJob = 100'000;

// Borrows from the view. The Job asks for at most kMaxPodsPerJob.
Roster MakeRoster(const JobView& seen);

}  // namespace gangway::lifecycle
