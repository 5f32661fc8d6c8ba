// What becomes of a Paddle job when its pods end, fail or are evicted: Volcano's policies by mode and target
// (docs/paddlejob.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/volcano/job.h"
#include "translator/convert/annotations.h"
#include "translator/convert/options.h"

namespace gangway::convert {

// An eviction restarts the job. Of a task whose pods are not restarted in place, what the program says of itself ends
// the job, while what the cluster did to it restarts the job; of one whose containers are, a container that does not
// stop failing ends the job. The completing task completes it; for kGangway the servers have their grace then, and a
// failed pod is not believed at once: the eviction that was meant comes a little later. An elastic job is never
// restarted as a whole.
//
// Delays are for kGangway alone: Volcano carries a delayed action out and then undoes it. Of what kKubernetes gets,
// Jobs say what they can (kubernetes.h).

// A task as far as its policies depend on it.
struct PolicyTask {
  std::string name;
  std::int32_t replicas = 0;
  std::string restart_policy;  // of its pods: "Never" or "OnFailure"
  bool serves = false;         // it is still needed while the completing task ends: servers, heter trainers
  bool by_exit_code = false;  // kubeflow's restart policy ExitCode, then `restart_policy` is "Never": the codes that it
                              // retries restart the job
  std::optional<std::int32_t> container_restarts = {};  // over the annotation's
};

struct TaskPolicies {
  std::vector<api::volcano::LifecyclePolicy> policies;
  std::int32_t max_retry = 3;
};

struct JobPolicies {
  std::vector<api::volcano::LifecyclePolicy> policies;  // of the job
  std::int32_t max_retry = 4;
  std::vector<TaskPolicies> tasks;  // of the tasks, in their order
  Findings findings;  // arranged: W-GRACE, E-VOLCANO-OLD, E-ELASTIC before Volcano 1.11; W-RETRY and I-RESTART when
                      // explained
};

// `completing_task` as in Lineup. Pure.
JobPolicies PoliciesFor(const std::vector<PolicyTask>& tasks, absl::string_view completing_task, bool elastic,
                        const Annotations& annotations, const TranslateOptions& options);

}  // namespace gangway::convert
