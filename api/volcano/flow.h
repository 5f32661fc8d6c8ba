// flow.volcano.sh/v1alpha1 JobFlow and JobTemplate (Volcano: pkg/controllers/jobflow).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/meta.h"
#include "api/volcano/job.h"

namespace gangway::api::volcano {

struct HttpHeader {
  std::string name, value;
  static constexpr std::string_view kName = "HTTPHeader";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&HttpHeader::name>("name", "").Required(),
                      MakeField<&HttpHeader::value>("value", "").Required());
  }
};
struct HttpProbe {
  std::string task_name, path;
  std::int32_t port = 0;
  std::optional<HttpHeader> header;
  static constexpr std::string_view kName = "HttpGet";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&HttpProbe::task_name>("taskName", "whose pods are asked").MaxLength(253),
                      MakeField<&HttpProbe::path>("path", "what they are asked for"),
                      MakeField<&HttpProbe::port>("port", "where").Minimum(0).Maximum(65535),
                      MakeField<&HttpProbe::header>("httpHeader", "sent along"));
  }
};
struct TcpProbe {
  std::string task_name;
  std::int32_t port = 0;
  static constexpr std::string_view kName = "TcpSocket";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&TcpProbe::task_name>("taskName", "whose pods are asked").MaxLength(253),
                      MakeField<&TcpProbe::port>("port", "where").Required().Minimum(0).Maximum(65535));
  }
};
struct TaskProbe {
  std::string task_name, phase;
  static constexpr std::string_view kName = "TaskStatus";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&TaskProbe::task_name>("taskName", "the task").MaxLength(253),
                      MakeField<&TaskProbe::phase>("phase", "what its pods must have reached"));
  }
};
// Stored, and carried out by neither Volcano nor Gangway: an event says so when the flow's job is made.
struct FlowProbe {
  std::vector<HttpProbe> http;
  std::vector<TcpProbe> tcp;
  std::vector<TaskProbe> tasks;
  bool empty() const { return http.empty() && tcp.empty() && tasks.empty(); }
  static constexpr std::string_view kName = "Probe";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&FlowProbe::http>("httpGetList", "what must answer over HTTP"),
                      MakeField<&FlowProbe::tcp>("tcpSocketList", "what must take connections"),
                      MakeField<&FlowProbe::tasks>("taskStatusList", "tasks that must have come so far"));
  }
};
struct FlowDependsOn {
  std::vector<std::string> targets;
  std::optional<FlowProbe> probe;
  static constexpr std::string_view kName = "FlowDependsOn";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&FlowDependsOn::targets>("targets", "flows whose jobs must be Completed first"),
                      MakeField<&FlowDependsOn::probe>("probe", "not carried out"));
  }
};
struct FlowPatch {
  Document job_spec;  // kept as it was written: a schema with defaults would make a patch of things nobody wrote
  static constexpr std::string_view kName = "Patch";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&FlowPatch::job_spec>(
        "jobSpec", "merged into the template's spec; tasks by their name, other lists whole"));
  }
};
struct Flow {
  std::string name;
  std::optional<FlowDependsOn> depends_on;
  std::optional<FlowPatch> patch;
  static constexpr std::string_view kName = "Flow";
  static constexpr auto Fields() {
    return MakeFields(
        MakeField<&Flow::name>("name", "of a JobTemplate; the job is called <jobflow>-<name>").Required().MinLength(1),
        MakeField<&Flow::depends_on>("dependsOn", "what must have happened first"),
        MakeField<&Flow::patch>("patch", "how the job differs from the template"));
  }
};
struct JobFlowSpec {
  std::vector<Flow> flows;
  std::string job_retain_policy;
  static constexpr std::string_view kName = "JobFlowSpec";
  static constexpr auto Fields() {
    return MakeFields(
        MakeField<&JobFlowSpec::flows>("flows", "the jobs and their order"),
        MakeField<&JobFlowSpec::job_retain_policy>("jobRetainPolicy", "delete: the jobs go when all are Completed")
            .OneOf("retain,delete"));
  }
};

struct FlowJobHistory {
  Time start, end;
  std::string state;
  friend bool operator==(const FlowJobHistory&, const FlowJobHistory&) = default;
  static constexpr std::string_view kName = "JobRunningHistory";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&FlowJobHistory::start>("startTimestamp", "when the phase was entered"),
                      MakeField<&FlowJobHistory::end>("endTimestamp", "when the next one was"),
                      MakeField<&FlowJobHistory::state>("state", "a phase"));
  }
};
struct FlowJobStatus {
  std::string name, state;
  Time start, end;
  std::int32_t restart_count = 0;
  std::vector<FlowJobHistory> histories;
  friend bool operator==(const FlowJobStatus&, const FlowJobStatus&) = default;
  static constexpr std::string_view kName = "FlowJobStatus";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&FlowJobStatus::name>("name", "of the job"),
                      MakeField<&FlowJobStatus::state>("state", "its phase"),
                      MakeField<&FlowJobStatus::start>("startTimestamp", "when it was made"),
                      MakeField<&FlowJobStatus::end>("endTimestamp", "when it ended"),
                      MakeField<&FlowJobStatus::restart_count>("restartCount", "its retries"),
                      MakeField<&FlowJobStatus::histories>("runningHistories", "the phases it was in"));
  }
};
struct FlowCondition {
  std::string phase;
  Time create_time;
  std::string running_duration;
  std::map<std::string, TaskState> task_status_count;
  friend bool operator==(const FlowCondition&, const FlowCondition&) = default;
  static constexpr std::string_view kName = "FlowCondition";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&FlowCondition::phase>("phase", "of the job"),
                      MakeField<&FlowCondition::create_time>("createTime", "of the job"),
                      MakeField<&FlowCondition::running_duration>("runningDuration", "a duration"),
                      MakeField<&FlowCondition::task_status_count>("taskStatusCount", "pods by task and phase"));
  }
};
struct FlowState {
  std::string phase;
  friend bool operator==(const FlowState&, const FlowState&) = default;
  static constexpr std::string_view kName = "FlowState";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&FlowState::phase>("phase", "Pending Running Succeed Failed Terminating"));
  }
};
struct JobFlowStatus {
  std::vector<std::string> pending_jobs, running_jobs, failed_jobs, completed_jobs, terminated_jobs, unknown_jobs;
  std::vector<FlowJobStatus> job_status_list;
  std::map<std::string, FlowCondition> conditions;
  FlowState state;
  friend bool operator==(const JobFlowStatus&, const JobFlowStatus&) = default;
  static constexpr std::string_view kName = "JobFlowStatus";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&JobFlowStatus::pending_jobs>("pendingJobs", "jobs"),
                      MakeField<&JobFlowStatus::running_jobs>("runningJobs", "jobs"),
                      MakeField<&JobFlowStatus::failed_jobs>("failedJobs", "jobs"),
                      MakeField<&JobFlowStatus::completed_jobs>("completedJobs", "jobs"),
                      MakeField<&JobFlowStatus::terminated_jobs>("terminatedJobs", "jobs"),
                      MakeField<&JobFlowStatus::unknown_jobs>("unKnowJobs", "jobs in any other phase"),
                      MakeField<&JobFlowStatus::job_status_list>("jobStatusList", "the same, in detail"),
                      MakeField<&JobFlowStatus::conditions>("conditions", "pods by job"),
                      MakeField<&JobFlowStatus::state>("state", "the phase"));
  }
};
struct JobFlow {
  std::string api_version, kind;
  ObjectMeta metadata;
  JobFlowSpec spec;
  JobFlowStatus status;
  static constexpr std::string_view kName = "JobFlow";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&JobFlow::api_version>("apiVersion", ""), MakeField<&JobFlow::kind>("kind", ""),
                      MakeField<&JobFlow::metadata>("metadata", ""),
                      MakeField<&JobFlow::spec>("spec", "what is wanted"),
                      MakeField<&JobFlow::status>("status", "what is"));
  }
};

struct JobTemplateStatus {
  std::vector<std::string> job_depends_on_list;
  static constexpr std::string_view kName = "JobTemplateStatus";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&JobTemplateStatus::job_depends_on_list>("jobDependsOnList", "jobs made from it"));
  }
};
struct JobTemplate {
  std::string api_version, kind;
  ObjectMeta metadata;
  JobSpec spec;
  JobTemplateStatus status;
  static constexpr std::string_view kName = "JobTemplate";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&JobTemplate::api_version>("apiVersion", ""), MakeField<&JobTemplate::kind>("kind", ""),
                      MakeField<&JobTemplate::metadata>("metadata", ""),
                      MakeField<&JobTemplate::spec>("spec", "of the jobs made from it"),
                      MakeField<&JobTemplate::status>("status", "what is"));
  }
};

}  // namespace gangway::api::volcano

extern template struct gangway::api::internal::TypeFor<gangway::api::volcano::JobFlow>;
extern template struct gangway::api::internal::TypeFor<gangway::api::volcano::JobTemplate>;
