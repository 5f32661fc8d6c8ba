// A translated job for a cluster that has none of Volcano's types: Jobs of Kubernetes' own, an Indexed one for each
// task, with a PodGroup of Kubernetes' own (KEP-4671) that all of their pods name, and a headless Service.
//
//   Job <job>-<task>   pod i has the host name <job>-<task>-<i>, which it has in Volcano's Job too (KEP-2214), so that
//                      everything that is written from names stays as it is
//   PodGroup <job>     minCount: what the Job's minAvailable is
//   Service <job>      the names resolve, also of pods that are not ready
//
// What becomes of pods that end is each Job's own affair: no Job knows of another, and none restarts or ends another
// (docs/translate.md says what that means for each policy).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/volcano/job.h"
#include "translator/convert/codes.h"
#include "translator/convert/companions.h"
#include "translator/convert/translate.h"

namespace gangway::convert {

// On all of a job's objects and pods.
inline constexpr char kJobNameLabel[] = "paddle.gangway.io/job-name";

// What a Volcano Job has no place for.
struct KubernetesWishes {
  std::string scheduler = {};                         // who places the pods; "": the cluster's own scheduler
  std::string completing_task = {};                   // as in Lineup
  std::optional<std::int64_t> deadline_seconds = {};  // of each Job
  bool suspend = false;                               // they are made suspended
  bool network_policy = false;                        // nobody but the job's pods reaches them
  // Where the user wrote what is told of: of the job as a whole, its queue, its minAvailable, and each task.
  std::string field = "spec", queue_field = "spec.schedulingPolicy.queue",
              min_available_field = "spec.schedulingPolicy.minAvailable";
  std::vector<std::string> task_fields = {};
};

struct KubernetesObjects {
  std::vector<Companion> objects;  // in the order to apply; the PodGroup first, since pods wait for theirs
  Findings findings;               // W-NOT-IN-JOBS: what of the Job Jobs cannot say
};

// `job`: whose templates were made for an Indexed Job (TemplateFacts::indexed_job). Pure.
KubernetesObjects MakeKubernetesObjects(const api::volcano::Job& job, const KubernetesWishes& wishes);

// The name of a task's Job.
std::string IndexedJobName(absl::string_view job, absl::string_view task);

// Findings and steps that were written with Volcano in mind.
void SayForKubernetes(Findings& findings);
std::vector<Step> StepsForKubernetes(const std::vector<Step>& steps, const api::volcano::Job& job);

}  // namespace gangway::convert
