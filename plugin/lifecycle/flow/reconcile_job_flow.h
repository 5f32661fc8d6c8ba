// Jobs that run one after the other: JobFlow, and the JobTemplates its jobs are made from (Volcano:
// pkg/controllers/jobflow).
//
// The job of a flow is called "<jobflow>-<flow>", so that it is never made twice. A job that was Completed counts for
// good, also when it is gone (by its TTL): the JobFlow's status remembers it. A failed job stops the flow; who deletes
// that job has it made again.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "api/volcano/flow.h"
#include "kube/plan/plan.h"

namespace gangway::lifecycle {

// Labels and annotations of such jobs: "<namespace>.<name>".
inline constexpr absl::string_view kByTemplateKey = "volcano.sh/createdByJobTemplate";
inline constexpr absl::string_view kByFlowKey = "volcano.sh/createdByJobFlow";

std::string FlowJobName(const api::volcano::JobFlow& flow, absl::string_view name);

// The flows; of two that have one name, which admission refuses, the first.
std::vector<const api::volcano::Flow*> StepsOf(const api::volcano::JobFlow& flow);
// Whether the flow controls the job.
bool MadeBy(const api::volcano::JobFlow& flow, const api::volcano::Job& job);

struct JobFlowView {
  const api::volcano::JobFlow* flow = nullptr;           // never null
  std::map<std::string, const api::volcano::Job*> jobs;  // by name: those that have the name of a flow's job
  std::map<std::string, const api::volcano::JobTemplate*> templates;  // by name: those that flows name
};
// Pure: the jobs whose turn it is, then the status; with jobRetainPolicy delete the end of all jobs once it is Succeed.
kube::Plan ReconcileJobFlow(const JobFlowView& seen);

// What stands in a JobFlow's status, given what is.
api::volcano::JobFlowStatus FlowStatusOf(const JobFlowView& seen);

// The job of a flow, ready to be created, with every default. InvalidArgument: the patch does not fit.
absl::StatusOr<api::volcano::Job> FlowJobOf(const api::volcano::JobFlow& flow, const api::volcano::Flow& step,
                                            const api::volcano::JobTemplate& from);

// Pure: the status of a JobTemplate. `jobs`: names of those made from it, sorted.
kube::Plan ReconcileJobTemplate(const api::volcano::JobTemplate& of, const std::vector<std::string>& jobs);

}  // namespace gangway::lifecycle
