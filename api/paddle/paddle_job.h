// PaddleJob in the two dialects that users bring: batch.paddlepaddle.org/v1 of paddle-operator and kubeflow.org/v1 of
// the training operator (paddle-operator 0.3.5: api/v1; kubeflow/training-operator 1.9: pkg/apis/kubeflow.org/v1). Same
// kind and plural, different group: messages name the resource in full.
//
// The tables refuse what the originals' schemas refuse, and nothing else: neither has an enum, a pattern or a minimum,
// and objects with misspelt policies or no replicas exist. What a value means, and which is an error, is the
// translator's to say; the texts that mean something stand beside the fields. Pod templates are kept as they were
// written.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/meta.h"
#include "api/paddle_resources.h"

namespace gangway::api::paddle {

inline constexpr std::string_view kCleanPodPolicies = "Always,Never,OnFailure,OnCompletion";
inline constexpr std::string_view kIntranets = "PodIP,Service,Host";

struct SchedulingPolicy {
  std::optional<std::int32_t> min_available;
  std::string queue, priority_class;
  ResourceList min_resources;
  static constexpr std::string_view kName = "SchedulingPolicy";
  static constexpr auto Fields() {
    return MakeFields(
        MakeField<&SchedulingPolicy::min_available>("minAvailable",
                                                    "pods that start together or not at all; absent: all of them"),
        MakeField<&SchedulingPolicy::queue>("queue", "the queue the job waits in"),
        MakeField<&SchedulingPolicy::priority_class>("priorityClass", "the priority class of the gang"),
        MakeField<&SchedulingPolicy::min_resources>("minResources", "what a queue must have free for the job"));
  }
};

// PaddleCloud's.
struct SampleSetRef {
  std::string name, ns, mount_path;
  static constexpr std::string_view kName = "SampleSetRef";
  static constexpr auto Fields() {
    return MakeFields(
        MakeField<&SampleSetRef::name>("name", "of the sample set, and of its volume claim"),
        MakeField<&SampleSetRef::ns>("namespace", "of the sample set; absent: the job's"),
        MakeField<&SampleSetRef::mount_path>("mountPath", "where the workers' first containers see it; no ':'")
            .Required());
  }
};

struct RoleSpec {
  std::int32_t replicas = 0;
  std::optional<std::int32_t> requests, limits;
  Document pod_template;  // core/v1 PodTemplateSpec, kept as it was written
  static constexpr std::string_view kName = "RoleSpec";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&RoleSpec::replicas>("replicas", "how many pods").Required(),
                      MakeField<&RoleSpec::requests>("requests", "of an elastic job: the fewest it runs with"),
                      MakeField<&RoleSpec::limits>("limits", "of an elastic job: the most it runs with"),
                      MakeField<&RoleSpec::pod_template>("template", "a core/v1 pod template"));
  }
};

struct PaddleJobSpec {
  std::string clean_pod_policy;  // kCleanPodPolicies
  std::string clean_policy;      // the guide's misspelling of it; read through CleanPodPolicyOf
  std::optional<SchedulingPolicy> scheduling_policy;
  std::string intranet;  // kIntranets
  std::optional<std::int32_t> with_gloo;
  std::optional<SampleSetRef> sample_set_ref;
  std::optional<RoleSpec> ps, worker, heter;
  std::optional<std::int32_t> elastic;
  static constexpr std::string_view kName = "PaddleJobSpec";
  static constexpr auto Fields() {
    return MakeFields(
        MakeField<&PaddleJobSpec::clean_pod_policy>("cleanPodPolicy",
                                                    "when the pods of a finished job go: Always, Never, OnFailure, "
                                                    "OnCompletion; absent: when it has completed"),
        MakeField<&PaddleJobSpec::clean_policy>("cleanPolicy",
                                                "deprecated: write cleanPodPolicy, which counts where both stand"),
        MakeField<&PaddleJobSpec::scheduling_policy>("schedulingPolicy", "how the job is scheduled as a gang"),
        MakeField<&PaddleJobSpec::intranet>("intranet",
                                            "how pods reach each other: PodIP, Service or Host; absent: PodIP"),
        MakeField<&PaddleJobSpec::with_gloo>("withGloo", "0: no Gloo, 1: among workers, 2: among workers and servers"),
        MakeField<&PaddleJobSpec::sample_set_ref>("sampleSetRef", "data that the workers read"),
        MakeField<&PaddleJobSpec::ps>("ps", "parameter servers"),
        MakeField<&PaddleJobSpec::worker>("worker", "workers"),
        MakeField<&PaddleJobSpec::heter>("heter", "workers on other devices, for the second stage of a model"),
        MakeField<&PaddleJobSpec::elastic>("elastic", "greater than 0: workers may come and go while the job runs"));
  }
};

// cleanPodPolicy, or where it is absent what the guide's `cleanPolicy` says. "" when neither is given.
inline const std::string& CleanPodPolicyOf(const PaddleJobSpec& spec) {
  return spec.clean_pod_policy.empty() ? spec.clean_policy : spec.clean_pod_policy;
}

struct RoleStatus {
  std::int32_t pending = 0, starting = 0, running = 0, failed = 0, succeeded = 0, unknown = 0;
  std::string ready;  // "1/2": running of those wanted
  std::vector<ObjectReference> refs;
  static constexpr std::string_view kName = "RoleStatus";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&RoleStatus::pending>("pending", "pods").KeepZero(),
                      MakeField<&RoleStatus::starting>("starting", "pods").KeepZero(),
                      MakeField<&RoleStatus::running>("running", "pods").KeepZero(),
                      MakeField<&RoleStatus::failed>("failed", "pods").KeepZero(),
                      MakeField<&RoleStatus::succeeded>("succeeded", "pods").KeepZero(),
                      MakeField<&RoleStatus::unknown>("unknown", "pods").KeepZero(),
                      MakeField<&RoleStatus::ready>("ready", "pods that run, of those wanted: 1/2"),
                      MakeField<&RoleStatus::refs>("refs", "the pods"));
  }
};

// metav1.Condition. paddle-operator has none.
struct PaddleJobCondition {
  std::string type, status, reason, message;  // status: True, False or Unknown
  std::int64_t observed_generation = 0;
  Time last_transition_time;
  static constexpr std::string_view kName = "PaddleJobCondition";
  static constexpr auto Fields() {
    return MakeFields(
        MakeField<&PaddleJobCondition::type>("type", "Translated, Scheduled").Required(),
        MakeField<&PaddleJobCondition::status>("status", "True, False or Unknown").Required(),
        MakeField<&PaddleJobCondition::observed_generation>("observedGeneration",
                                                            "the generation of the spec it was seen at"),
        MakeField<&PaddleJobCondition::last_transition_time>("lastTransitionTime", "when the status changed last"),
        MakeField<&PaddleJobCondition::reason>("reason", "one word"),
        MakeField<&PaddleJobCondition::message>("message", "a sentence"));
  }
};

struct PaddleJobStatus {
  std::string phase, mode, queue, elastic, message;
  std::optional<RoleStatus> ps, worker, heter;
  std::int32_t restarts = 0;
  Time start_time, completion_time;
  std::int64_t observed_generation = 0;
  std::vector<PaddleJobCondition> conditions;
  static constexpr std::string_view kName = "PaddleJobStatus";
  static constexpr auto Fields() {
    return MakeFields(
        MakeField<&PaddleJobStatus::phase>(
            "phase",
            "Pending Starting Running Scaling Restarting Aborting Aborted Completing Completed Failed Terminating"),
        MakeField<&PaddleJobStatus::mode>("mode", "PS, Collective or Single"),
        MakeField<&PaddleJobStatus::queue>("queue", "the queue the job waits in, or runs in"),
        MakeField<&PaddleJobStatus::ps>("ps", "the parameter servers' pods"),
        MakeField<&PaddleJobStatus::worker>("worker", "the workers' pods"),
        MakeField<&PaddleJobStatus::heter>("heter", "the heter workers' pods"),
        MakeField<&PaddleJobStatus::elastic>("elastic", "NONE, DOING, DONE or ERROR"),
        MakeField<&PaddleJobStatus::restarts>("restarts", "restarts of the whole job"),
        MakeField<&PaddleJobStatus::start_time>("startTime", "when all pods ran first"),
        MakeField<&PaddleJobStatus::completion_time>("completionTime", "when the job ended"),
        MakeField<&PaddleJobStatus::observed_generation>("observedGeneration",
                                                         "the generation of the spec that this is the status of"),
        MakeField<&PaddleJobStatus::message>("message", "what the job waits for, or what went wrong"),
        MakeField<&PaddleJobStatus::conditions>("conditions", "why it is as it is").ListKey("type"));
  }
};

struct PaddleJob {
  std::string api_version, kind;
  ObjectMeta metadata;
  PaddleJobSpec spec;
  PaddleJobStatus status;
  static constexpr std::string_view kName = "PaddleJob";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&PaddleJob::api_version>("apiVersion", ""), MakeField<&PaddleJob::kind>("kind", ""),
                      MakeField<&PaddleJob::metadata>("metadata", ""),
                      MakeField<&PaddleJob::spec>("spec", "what is wanted"),
                      MakeField<&PaddleJob::status>("status", "what is"));
  }
};

namespace kubeflow {

inline constexpr std::string_view kMaster = "Master", kWorker = "Worker";  // keys of paddleReplicaSpecs
inline constexpr std::string_view kContainer = "paddle";                   // the container that trains
inline constexpr std::string_view kPortName = "master";                    // its port where the pods meet
inline constexpr std::int32_t kDefaultPort = 36543;
inline constexpr std::string_view kRestartPolicies = "Always,OnFailure,Never,ExitCode";
inline constexpr std::string_view kCleanPodPolicies = "None,Running,All";
inline constexpr std::string_view kManagers = "kubeflow.org/training-operator,kueue.x-k8s.io/multikueue";

struct ReplicaSpec {
  std::optional<std::int32_t> replicas;
  Document pod_template;       // core/v1 PodTemplateSpec, kept as it was written
  std::string restart_policy;  // kRestartPolicies
  static constexpr std::string_view kName = "ReplicaSpec";
  static constexpr auto Fields() {
    return MakeFields(
        MakeField<&ReplicaSpec::replicas>("replicas", "how many pods; absent: 1"),
        MakeField<&ReplicaSpec::pod_template>("template", "a core/v1 pod template"),
        MakeField<&ReplicaSpec::restart_policy>(
            "restartPolicy", "Always, OnFailure, Never or ExitCode; over the template's own; absent: OnFailure"));
  }
};

struct SchedulingPolicy {
  std::optional<std::int32_t> min_available;
  std::string queue;
  ResourceList min_resources;
  std::string priority_class;
  std::optional<std::int32_t> schedule_timeout_seconds;
  static constexpr std::string_view kName = "KubeflowSchedulingPolicy";
  static constexpr auto Fields() {
    return MakeFields(
        MakeField<&SchedulingPolicy::min_available>("minAvailable",
                                                    "pods that start together or not at all; absent: all of them"),
        MakeField<&SchedulingPolicy::queue>("queue", "the queue the job waits in"),
        MakeField<&SchedulingPolicy::min_resources>("minResources", "what a queue must have free for the job"),
        MakeField<&SchedulingPolicy::priority_class>("priorityClass", "the priority class of the gang"),
        MakeField<&SchedulingPolicy::schedule_timeout_seconds>("scheduleTimeoutSeconds", "not used with Volcano"));
  }
};

struct RunPolicy {
  std::string clean_pod_policy;  // kubeflow::kCleanPodPolicies
  std::optional<std::int32_t> ttl_seconds_after_finished;
  std::optional<std::int64_t> active_deadline_seconds;
  std::optional<std::int32_t> backoff_limit;
  std::optional<SchedulingPolicy> scheduling_policy;
  std::optional<bool> suspend;
  std::string managed_by;  // kManagers
  static constexpr std::string_view kName = "RunPolicy";
  static constexpr auto Fields() {
    return MakeFields(
        MakeField<&RunPolicy::clean_pod_policy>("cleanPodPolicy",
                                                "which pods of a finished job go: None, Running or All; absent: None"),
        MakeField<&RunPolicy::ttl_seconds_after_finished>("ttlSecondsAfterFinished", "how long a finished job stays"),
        MakeField<&RunPolicy::active_deadline_seconds>("activeDeadlineSeconds",
                                                       "from the start until the job is stopped"),
        MakeField<&RunPolicy::backoff_limit>("backoffLimit", "restarts before the job has failed"),
        MakeField<&RunPolicy::scheduling_policy>("schedulingPolicy", "how the job is scheduled as a gang"),
        MakeField<&RunPolicy::suspend>("suspend", "true: the job has no pods"),
        MakeField<&RunPolicy::managed_by>("managedBy",
                                          "the controller that runs the job; absent: kubeflow.org/training-operator"));
  }
};

struct ElasticPolicy {
  std::optional<std::int32_t> min_replicas, max_replicas, max_restarts;
  std::vector<Document> metrics;  // autoscaling/v2 MetricSpecs, kept as they were written
  static constexpr std::string_view kName = "ElasticPolicy";
  static constexpr auto Fields() {
    return MakeFields(
        MakeField<&ElasticPolicy::min_replicas>("minReplicas", "the fewest workers the job runs with"),
        MakeField<&ElasticPolicy::max_replicas>("maxReplicas", "the most workers the job runs with"),
        MakeField<&ElasticPolicy::max_restarts>("maxRestarts", "restarts of pods"),
        MakeField<&ElasticPolicy::metrics>("metrics", "what a number of workers between the two would go by"));
  }
};

struct PaddleJobSpec {
  RunPolicy run_policy;
  std::optional<ElasticPolicy> elastic_policy;
  std::map<std::string, ReplicaSpec> replica_specs;  // as written; read through FindReplicas
  static constexpr std::string_view kName = "KubeflowPaddleJobSpec";
  static constexpr auto Fields() {
    return MakeFields(
        MakeField<&PaddleJobSpec::run_policy>("runPolicy", "how the job runs and ends"),
        MakeField<&PaddleJobSpec::elastic_policy>("elasticPolicy", "how many workers there may be"),
        MakeField<&PaddleJobSpec::replica_specs>("paddleReplicaSpecs", "pods by role: Master, Worker").Required());
  }
};

// The pods of a role (kMaster, kWorker), its key in any letter case: as kubeflow's controller corrects it. One that is
// spelt right wins, else the first in order. nullptr: the job has no such role.
const ReplicaSpec* FindReplicas(const PaddleJobSpec& spec, std::string_view role);

struct JobCondition {
  std::string type, status, reason, message;  // status: True, False or Unknown
  Time last_update_time, last_transition_time;
  static constexpr std::string_view kName = "KubeflowJobCondition";
  static constexpr auto Fields() {
    return MakeFields(
        MakeField<&JobCondition::type>("type", "Created, Running, Restarting, Succeeded, Failed, Suspended").Required(),
        MakeField<&JobCondition::status>("status", "True, False or Unknown").Required(),
        MakeField<&JobCondition::reason>("reason", "one word"),
        MakeField<&JobCondition::message>("message", "a sentence"),
        MakeField<&JobCondition::last_update_time>("lastUpdateTime", "when it was written last"),
        MakeField<&JobCondition::last_transition_time>("lastTransitionTime", "when the status changed last"));
  }
};

struct ReplicaStatus {
  std::int32_t active = 0, succeeded = 0, failed = 0;
  Document label_selector;  // deprecated for `selector`; kept as it was written
  std::string selector;
  static constexpr std::string_view kName = "ReplicaStatus";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&ReplicaStatus::active>("active", "pods that run"),
                      MakeField<&ReplicaStatus::succeeded>("succeeded", "pods"),
                      MakeField<&ReplicaStatus::failed>("failed", "pods"),
                      MakeField<&ReplicaStatus::label_selector>("labelSelector", "deprecated: see selector"),
                      MakeField<&ReplicaStatus::selector>("selector", "the labels of the pods, as a query"));
  }
};

struct JobStatus {
  std::vector<JobCondition> conditions;  // the newest last
  std::map<std::string, ReplicaStatus> replica_statuses;
  Time start_time, completion_time, last_reconcile_time;
  static constexpr std::string_view kName = "KubeflowJobStatus";
  static constexpr auto Fields() {
    return MakeFields(
        MakeField<&JobStatus::conditions>("conditions", "what the job has come to, the newest last"),
        MakeField<&JobStatus::replica_statuses>("replicaStatuses", "pods by role"),
        MakeField<&JobStatus::start_time>("startTime", "when the job was accepted or resumed"),
        MakeField<&JobStatus::completion_time>("completionTime", "when the job ended"),
        MakeField<&JobStatus::last_reconcile_time>("lastReconcileTime", "when a controller looked at it last"));
  }
};

struct PaddleJob {
  std::string api_version, kind;
  ObjectMeta metadata;
  PaddleJobSpec spec;
  JobStatus status;
  static constexpr std::string_view kName = "KubeflowPaddleJob";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&PaddleJob::api_version>("apiVersion", ""), MakeField<&PaddleJob::kind>("kind", ""),
                      MakeField<&PaddleJob::metadata>("metadata", ""),
                      MakeField<&PaddleJob::spec>("spec", "what is wanted"),
                      MakeField<&PaddleJob::status>("status", "what is"));
  }
};

}  // namespace kubeflow
}  // namespace gangway::api::paddle

extern template struct gangway::api::internal::TypeFor<gangway::api::paddle::PaddleJob>;
extern template struct gangway::api::internal::TypeFor<gangway::api::paddle::kubeflow::PaddleJob>;
