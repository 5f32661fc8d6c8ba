// What becomes of a Paddle job when its pods end, fail or are evicted: Volcano's policies by mode and target (spec: paddle 6.6).
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/volcano/job.h"
#include "translator/convert/annotations.h"
#include "translator/convert/options.h"

namespace gangway::convert {

// A task as far as its policies depend on it.
struct PolicyTask {
  std::string name;
  std::int32_t replicas = 0;
  std::string restart_policy;  // of its pods: "Never" or "OnFailure"
  bool serves = false;         // it is still needed while the completing task ends: servers, heter trainers
};

struct TaskPolicies {
  std::vector<api::volcano::LifecyclePolicy> policies;
  std::int32_t max_retry = 3;
};

struct JobPolicies {
  std::vector<api::volcano::LifecyclePolicy> policies;  // of the job
  std::int32_t max_retry = 4;
  std::vector<TaskPolicies> tasks;                      // of the tasks, in their order
  Findings findings;                                    // W-GRACE, W-RETRY, E-VOLCANO-OLD, I-RESTART
};

// `completing_task` as in Lineup. Pure.
JobPolicies PoliciesFor(const std::vector<PolicyTask>& tasks, absl::string_view completing_task, bool elastic, const Annotations& annotations,
                        const TranslateOptions& options);

}  // namespace gangway::convert
