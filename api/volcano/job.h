// batch.volcano.sh/v1alpha1 Job (Volcano: apis batch/v1alpha1).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/meta.h"

namespace gangway::api::volcano {

inline constexpr std::string_view kPolicyEvents =
    "*,PodPending,PodRunning,PodFailed,PodEvicted,Unknown,TaskCompleted,OutOfSync,CommandIssued,JobUpdated,TaskFailed";

struct LifecyclePolicy {
  std::string action, event;
  std::vector<std::string> events;
  std::optional<std::int32_t> exit_code;
  std::string timeout;  // a Go duration; "" = at once
  static constexpr std::string_view kName = "LifecyclePolicy";
  static constexpr auto Fields() {
    return MakeFields(
        MakeField<&LifecyclePolicy::action>("action", "what to do: RestartJob, CompleteJob, AbortJob, ..."),
        MakeField<&LifecyclePolicy::event>("event", "the event that triggers it").OneOf(kPolicyEvents),
        MakeField<&LifecyclePolicy::events>("events", "any of these events triggers it").OneOf(kPolicyEvents),
        MakeField<&LifecyclePolicy::exit_code>("exitCode", "a failed pod's exit code that triggers it; not 0"),
        MakeField<&LifecyclePolicy::timeout>("timeout", "how long to wait before acting"));
  }
};

struct NetworkTopologySpec {
  std::string mode;
  std::optional<std::int32_t> highest_tier_allowed;
  std::string highest_tier_name;
  bool hard() const { return mode != "soft"; }
  static constexpr std::string_view kName = "NetworkTopologySpec";
  static constexpr auto Fields() {
    return MakeFields(
        MakeField<&NetworkTopologySpec::mode>("mode", "hard: within the tier or not at all; soft: preferred")
            .Default("hard")
            .OneOf("hard,soft"),
        MakeField<&NetworkTopologySpec::highest_tier_allowed>("highestTierAllowed", "the widest tier, by number")
            .Minimum(0),
        MakeField<&NetworkTopologySpec::highest_tier_name>("highestTierName", "the widest tier, by name")
            .MaxLength(253));
  }
};

struct PartitionPolicySpec {
  std::int32_t total_partitions = 0, partition_size = 0, min_partitions = 0;
  std::optional<NetworkTopologySpec> network_topology;
  static constexpr std::string_view kName = "PartitionPolicySpec";
  static constexpr auto Fields() {
    return MakeFields(
        MakeField<&PartitionPolicySpec::total_partitions>("totalPartitions", "how many partitions")
            .Required()
            .Minimum(1),
        MakeField<&PartitionPolicySpec::partition_size>("partitionSize", "pods in each").Required().Minimum(1),
        MakeField<&PartitionPolicySpec::min_partitions>("minPartitions", "how many must be placed")
            .Default(0)
            .Minimum(0),
        MakeField<&PartitionPolicySpec::network_topology>("networkTopology", "where one partition may lie"));
  }
};

struct DependsOn {
  std::vector<std::string> name;
  std::string iteration;
  static constexpr std::string_view kName = "DependsOn";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&DependsOn::name>("name", "tasks that must be ready first"),
                      MakeField<&DependsOn::iteration>("iteration", "any: one of them is enough"));
  }
};

struct TaskSpec {
  std::string name;
  std::int32_t replicas = 0;
  std::optional<std::int32_t> min_available;
  Document pod_template;  // core/v1 PodTemplateSpec, kept as it was written
  std::vector<LifecyclePolicy> policies;
  std::string topology_policy;
  std::int32_t max_retry = 0;
  std::optional<DependsOn> depends_on;
  std::optional<PartitionPolicySpec> partition_policy;
  static constexpr std::string_view kName = "TaskSpec";
  static constexpr auto Fields() {
    return MakeFields(
        MakeField<&TaskSpec::name>("name", "DNS label; pods are called <job>-<name>-<index>")
            .MaxLength(63)
            .Pattern("dns1123label"),
        MakeField<&TaskSpec::replicas>("replicas", "how many pods").Minimum(0),
        MakeField<&TaskSpec::min_available>("minAvailable", "how many of them the gang needs; absent: all").Minimum(0),
        MakeField<&TaskSpec::pod_template>("template", "a core/v1 pod template"),
        MakeField<&TaskSpec::policies>("policies", "what to do on which event; before the job's"),
        MakeField<&TaskSpec::topology_policy>("topologyPolicy", "NUMA policy")
            .OneOf("none,best-effort,restricted,single-numa-node"),
        MakeField<&TaskSpec::max_retry>("maxRetry", "container restarts before TaskFailed").Minimum(0),
        MakeField<&TaskSpec::depends_on>("dependsOn", "tasks that must be ready first"),
        MakeField<&TaskSpec::partition_policy>("partitionPolicy", "the task in equal parts"));
  }
};

struct VolumeSpec {
  std::string mount_path, volume_claim_name;
  Document volume_claim;
  static constexpr std::string_view kName = "VolumeSpec";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&VolumeSpec::mount_path>("mountPath", "where containers see it; no ':'")
                          .Required()
                          .MinLength(1)
                          .Pattern(kNoColon),
                      MakeField<&VolumeSpec::volume_claim_name>("volumeClaimName", "an existing claim").MaxLength(253),
                      MakeField<&VolumeSpec::volume_claim>("volumeClaim", "a claim to create"));
  }
};

struct JobSpec {
  std::string scheduler_name;
  std::int32_t min_available = 0;
  std::vector<VolumeSpec> volumes;
  std::vector<TaskSpec> tasks;
  std::vector<LifecyclePolicy> policies;
  std::map<std::string, std::vector<std::string>> plugins;
  std::string running_estimate, queue;
  std::int32_t max_retry = 0;
  std::optional<std::int32_t> ttl_seconds_after_finished;
  std::string priority_class_name;
  std::optional<std::int32_t> min_success;
  std::optional<NetworkTopologySpec> network_topology;
  static constexpr std::string_view kName = "JobSpec";
  static constexpr auto Fields() {
    return MakeFields(
        MakeField<&JobSpec::scheduler_name>("schedulerName", "who places the pods").MaxLength(63),
        MakeField<&JobSpec::min_available>("minAvailable", "members of the gang; absent: the sum of the tasks'")
            .Minimum(0),
        MakeField<&JobSpec::volumes>("volumes", "claims mounted into every container"),
        MakeField<&JobSpec::tasks>("tasks", "the job's groups of equal pods").MinItems(1),
        MakeField<&JobSpec::policies>("policies", "what to do on which event"),
        MakeField<&JobSpec::plugins>("plugins", "job plugins by name, each with its flags"),
        MakeField<&JobSpec::running_estimate>("runningEstimate", "a duration; stored only"),
        MakeField<&JobSpec::queue>("queue", "the queue").Default("default").MaxLength(253).Pattern("dns1123subdomain"),
        MakeField<&JobSpec::max_retry>("maxRetry", "restarts before the job has Failed").Default(3).Minimum(0),
        MakeField<&JobSpec::ttl_seconds_after_finished>("ttlSecondsAfterFinished", "how long a finished job stays")
            .Minimum(0),
        MakeField<&JobSpec::priority_class_name>("priorityClassName", "the priority class")
            .MaxLength(253)
            .Pattern("dns1123subdomain"),
        MakeField<&JobSpec::min_success>("minSuccess", "successes after which the job is Completed").Minimum(1),
        MakeField<&JobSpec::network_topology>("networkTopology", "where the gang may lie"));
  }
};

struct JobState {
  std::string phase, reason, message;
  Time last_transition_time;
  static constexpr std::string_view kName = "JobState";
  static constexpr auto Fields() {
    return MakeFields(
        MakeField<&JobState::phase>(
            "phase", "Pending Running Restarting Aborting Aborted Completing Completed Terminating Terminated Failed"),
        MakeField<&JobState::reason>("reason", "one word"), MakeField<&JobState::message>("message", "a sentence"),
        MakeField<&JobState::last_transition_time>("lastTransitionTime", "when the phase was entered"));
  }
};
struct JobCondition {
  std::string status;  // a phase
  Time last_transition_time;
  static constexpr std::string_view kName = "JobCondition";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&JobCondition::status>("status", "a phase the job was in").Required(),
                      MakeField<&JobCondition::last_transition_time>("lastTransitionTime", "when it was entered last"));
  }
};
struct TaskState {
  std::map<std::string, std::int32_t> phase;
  friend bool operator==(const TaskState&, const TaskState&) = default;
  static constexpr std::string_view kName = "TaskState";
  static constexpr auto Fields() { return MakeFields(MakeField<&TaskState::phase>("phase", "pods by phase")); }
};
struct JobStatus {
  JobState state;
  std::int32_t min_available = 0, pending = 0, running = 0, succeeded = 0, failed = 0, terminating = 0, unknown = 0;
  std::map<std::string, TaskState> task_status_count;
  std::int32_t version = 0, retry_count = 0;
  std::string running_duration;
  std::map<std::string, std::string> controlled_resources;
  std::vector<JobCondition> conditions;
  static constexpr std::string_view kName = "JobStatus";
  static constexpr auto Fields() {
    return MakeFields(
        MakeField<&JobStatus::state>("state", "the phase"),
        MakeField<&JobStatus::min_available>("minAvailable", "members of the gang"),
        MakeField<&JobStatus::task_status_count>("taskStatusCount", "pods by task and phase"),
        MakeField<&JobStatus::pending>("pending", "pods"), MakeField<&JobStatus::running>("running", "pods"),
        MakeField<&JobStatus::succeeded>("succeeded", "pods"), MakeField<&JobStatus::failed>("failed", "pods"),
        MakeField<&JobStatus::terminating>("terminating", "pods"), MakeField<&JobStatus::unknown>("unknown", "pods"),
        MakeField<&JobStatus::version>("version", "counts kills of the whole job"),
        MakeField<&JobStatus::retry_count>("retryCount", "counts restarts"),
        MakeField<&JobStatus::running_duration>("runningDuration", "a duration"),
        MakeField<&JobStatus::controlled_resources>("controlledResources", "what plugins made, and records of ours"),
        MakeField<&JobStatus::conditions>("conditions", "the phases the job was in"));
  }
};

struct Job {
  std::string api_version, kind;
  ObjectMeta metadata;
  JobSpec spec;
  JobStatus status;
  static constexpr std::string_view kName = "Job";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&Job::api_version>("apiVersion", ""), MakeField<&Job::kind>("kind", ""),
                      MakeField<&Job::metadata>("metadata", ""), MakeField<&Job::spec>("spec", "what is wanted"),
                      MakeField<&Job::status>("status", "what is"));
  }
};

}  // namespace gangway::api::volcano

extern template struct gangway::api::internal::TypeFor<gangway::api::volcano::Job>;
