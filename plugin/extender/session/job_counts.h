// Whether a job has what it needs to start, counted from what its scheduler says of it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "plugin/extender/session/decode_task.h"

namespace gangway::extender {

struct JobCounts {
  struct Task {
    std::string uid, role;
    WireStatus status = WireStatus::kPending;
    bool best_effort = false;  // it asks for nothing
  };
  struct SubJob {
    std::string group;  // of its policy
    std::int64_t min_available = 0;
  };
  std::string job;  // "namespace/podgroup"
  std::int64_t min_available = 0;
  std::map<std::string, std::int64_t> min_by_role;   // minTaskMember
  std::map<std::string, std::int64_t> min_sub_jobs;  // ready ones, by group
  std::map<std::string, SubJob> sub_jobs;
  absl::flat_hash_map<std::string, std::string> sub_job_of_task;  // by UID
  std::vector<Task> tasks;
};

// volcano: plugins/gang, JobReadyFn; api/job_info.go, ReadyTaskNum, CheckTaskReady, CheckSubJobReady
bool HasItsMinimum(const JobCounts& counts);

}  // namespace gangway::extender
