// The parts of admission.h: rules about decoded objects. Each appends what is wrong.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/field_error.h"
#include "api/field_walk.h"
#include "api/volcano/admission.h"
#include "api/volcano/cron_job.h"
#include "api/volcano/flow.h"
#include "api/volcano/job.h"
#include "api/volcano/scheduling.h"
#include "boost/json/fwd.hpp"

namespace gangway::api::volcano {

inline void AddError(FieldErrors& errors, FieldError::Type type, absl::string_view field, absl::string_view value,
                     absl::string_view rule, absl::string_view fix = {}) {
  AddFieldError(errors, type, field, value, rule, fix);
}
inline void AddInvalid(FieldErrors& errors, absl::string_view field, absl::string_view value, absl::string_view rule,
                       absl::string_view fix = {}) {
  AddFieldError(errors, FieldError::Type::kInvalid, field, value, rule, fix);
}

extern const Admission kJobAdmission, kPodGroupAdmission, kQueueAdmission, kJobFlowAdmission, kJobTemplateAdmission,
    kCronJobAdmission;

// Durations that Go could not read (timeout, runningEstimate).
void CheckDurations(const JobSpec& spec, FieldErrors& errors);
// 1.6 to 1.8. `object` is the document of `job`; its templates are judged there.
void CheckJobCreate(const Job& job, const boost::json::value& object, const QueueLookup& queues, FieldErrors& errors);
// 1.10
void CheckJobUpdate(const Job& before, const Job& after, FieldErrors& errors);

void CheckPolicies(const std::vector<LifecyclePolicy>& policies, const std::string& path, FieldErrors& errors);
void CheckVolumes(const std::vector<VolumeSpec>& volumes, FieldErrors& errors);
// The plugins are known, and what they need of the tasks is there.
void CheckPlugins(const JobSpec& spec, FieldErrors& errors);
// dependsOn names other tasks, each once, and never in a circle.
void CheckDependencies(const std::vector<TaskSpec>& tasks, FieldErrors& errors);
void CheckPartition(const TaskSpec& task, const std::string& path, FieldErrors& errors);
void CheckTopology(const NetworkTopologySpec& topology, const std::string& path, FieldErrors& errors);

// 5.3
void CheckPodGroupCreate(const PodGroup& group, const QueueLookup& queues, FieldErrors& errors);
// 7.1
void CheckQueueWrite(const Queue* before, const Queue& after, const QueueLookup& queues, FieldErrors& errors);
void CheckQueueDelete(absl::string_view name, const QueueLookup& queues, FieldErrors& errors);

// 7.4
void CheckFlows(const JobFlowSpec& spec, FieldErrors& errors);
void CheckCronJob(const CronJob& cron, FieldErrors& errors);

}  // namespace gangway::api::volcano
