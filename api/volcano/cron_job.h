// batch.volcano.sh/v1alpha1 CronJob: a Job that is made again and again (Volcano: pkg/controllers/cronjob).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/meta.h"
#include "api/volcano/job.h"

namespace gangway::api::volcano {

inline constexpr std::string_view kConcurrencyPolicies = "Allow,Forbid,Replace";

// What the metadata of a template may say.
struct TemplateMetadata {
  std::string name, ns;
  std::map<std::string, std::string> labels, annotations;
  std::vector<std::string> finalizers;
  static constexpr std::string_view kName = "TemplateMetadata";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&TemplateMetadata::annotations>("annotations", "of every job"),
                      MakeField<&TemplateMetadata::finalizers>("finalizers", "stored only"),
                      MakeField<&TemplateMetadata::labels>("labels", "of every job"),
                      MakeField<&TemplateMetadata::name>("name", "stored only"),
                      MakeField<&TemplateMetadata::ns>("namespace", "stored only"));
  }
};
struct CronJobTemplate {
  TemplateMetadata metadata;
  JobSpec spec;
  static constexpr std::string_view kName = "CronJobTemplate";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&CronJobTemplate::metadata>("metadata", "labels and annotations of every job"),
                      MakeField<&CronJobTemplate::spec>("spec", "the spec of every job"));
  }
};

struct CronJobSpec {
  std::string schedule;
  std::optional<std::string> time_zone;
  std::optional<std::int64_t> starting_deadline_seconds;
  std::string concurrency_policy;
  std::optional<bool> suspend;
  CronJobTemplate job_template;
  std::optional<std::int32_t> successful_jobs_history_limit, failed_jobs_history_limit;
  static constexpr std::string_view kName = "CronJobSpec";
  static constexpr auto Fields() {
    return MakeFields(
        MakeField<&CronJobSpec::schedule>(
            "schedule", "when a job starts: minute hour day-of-month month day-of-week, or @hourly and the like")
            .Required(),
        MakeField<&CronJobSpec::time_zone>("timeZone", "the zone of the schedule, such as Asia/Shanghai; absent: UTC"),
        MakeField<&CronJobSpec::starting_deadline_seconds>(
            "startingDeadlineSeconds", "a start that is later than this is left out; absent: none is")
            .Minimum(0),
        MakeField<&CronJobSpec::concurrency_policy>(
            "concurrencyPolicy",
            "while the last job runs, Allow: the next starts beside it; Forbid: it waits; Replace: it takes its place")
            .Default("Allow")
            .OneOf(kConcurrencyPolicies),
        MakeField<&CronJobSpec::suspend>("suspend", "true: no more jobs start; those that run go on").Default(0),
        MakeField<&CronJobSpec::job_template>("jobTemplate", "the job").Required(),
        MakeField<&CronJobSpec::successful_jobs_history_limit>("successfulJobsHistoryLimit",
                                                               "how many Completed jobs stay")
            .Default(3)
            .Minimum(0),
        MakeField<&CronJobSpec::failed_jobs_history_limit>("failedJobsHistoryLimit", "how many Failed jobs stay")
            .Default(1)
            .Minimum(0));
  }
};
struct CronJobStatus {
  std::vector<ObjectReference> active;
  Time last_schedule_time, last_successful_time;
  static constexpr std::string_view kName = "CronJobStatus";
  static constexpr auto Fields() {
    return MakeFields(
        MakeField<&CronJobStatus::active>("active", "jobs that have not ended; without a uid: one that is being made"),
        MakeField<&CronJobStatus::last_schedule_time>("lastScheduleTime", "the time of the last job that was started"),
        MakeField<&CronJobStatus::last_successful_time>("lastSuccessfulTime", "when a job was Completed last"));
  }
};
struct CronJob {
  std::string api_version, kind;
  ObjectMeta metadata;
  CronJobSpec spec;
  CronJobStatus status;
  static constexpr std::string_view kName = "CronJob";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&CronJob::api_version>("apiVersion", ""), MakeField<&CronJob::kind>("kind", ""),
                      MakeField<&CronJob::metadata>("metadata", ""),
                      MakeField<&CronJob::spec>("spec", "what is wanted"),
                      MakeField<&CronJob::status>("status", "what is"));
  }
};

}  // namespace gangway::api::volcano

extern template struct gangway::api::internal::TypeFor<gangway::api::volcano::CronJob>;
