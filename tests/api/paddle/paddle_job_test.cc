#include "api/paddle/paddle_job.h"

#include "api/field_rules.h"
#include "api/json_value.h"
#include "api/manifest/manifest.h"
#include "api/paddle/kinds.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/status_matchers.h"

namespace gangway::api::paddle {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Of one YAML document; what no table knows goes to `unknown`.
template <class Job>
Job Read(const std::string& yaml, std::vector<std::string>* unknown = nullptr) {
  const absl::StatusOr<std::vector<ManifestDocument>> documents = ReadManifest(yaml, "job.yaml");
  EXPECT_THAT(documents, testutil::IsOk());
  Job job;
  if (!documents.ok() || documents->size() != 1) return job;
  const DecodeReport report = DecodeInto(documents->front().json, TypeOf<Job>(), &job);
  EXPECT_THAT(report.status, testutil::IsOk());
  if (unknown != nullptr) {
    *unknown = report.unknown;
  } else {
    EXPECT_THAT(report.unknown, IsEmpty());
  }
  return job;
}

// The fields of a document that break a rule of the table.
template <class Job>
std::vector<std::string> Broken(const std::string& json) {
  FieldErrors errors;
  CheckRules(TypeOf<Job>(), *ParseJson(json), "", errors);
  std::vector<std::string> paths;
  for (const auto& error : errors) paths.push_back(error.field);
  return paths;
}

// As the user guide's job with a shared disk has it, the misspelt policy included.
constexpr char kStorage[] = R"(
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {name: on-nas}
spec:
  cleanPolicy: OnCompletion
  worker:
    replicas: 2
    template:
      spec:
        restartPolicy: "Never"
        containers:
        - {name: paddle, image: train, command: ["bash", "-c"], args: ["cd /nas; python3 train.py"], volumeMounts: [{mountPath: /nas, name: nas}]}
        volumes: [{name: nas, persistentVolumeClaim: {claimName: nas}}]
  ps:
    replicas: 3
    template: {spec: {restartPolicy: "Never", containers: [{name: paddle, image: train}]}}
)";

TEST(PaddleJobTest, TheGuidesMisspeltPolicyCounts) {
  PaddleJob job = Read<PaddleJob>(kStorage);
  EXPECT_EQ(job.spec.clean_policy, "OnCompletion");
  EXPECT_EQ(CleanPodPolicyOf(job.spec), "OnCompletion");
  job.spec.clean_pod_policy = "Never";
  EXPECT_EQ(CleanPodPolicyOf(job.spec), "Never");
  EXPECT_EQ(CleanPodPolicyOf(PaddleJobSpec()), "");
}

TEST(PaddleJobTest, RolesKeepTheirTemplatesAsWritten) {
  const PaddleJob job = Read<PaddleJob>(kStorage);
  ASSERT_TRUE(job.spec.ps.has_value() && job.spec.worker.has_value());
  EXPECT_FALSE(job.spec.heter.has_value());
  EXPECT_EQ(job.spec.ps->replicas, 3);
  EXPECT_EQ(job.spec.worker->replicas, 2);
  EXPECT_EQ(job.spec.ps->pod_template.json,
            R"({"spec":{"restartPolicy":"Never","containers":[{"name":"paddle","image":"train"}]}})");
}

TEST(PaddleJobTest, EveryFieldOfTheSpecIsKnown) {
  const PaddleJob job = Read<PaddleJob>(R"(
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {name: all, namespace: ads, annotations: {a: b}}
spec:
  cleanPodPolicy: Always
  schedulingPolicy: {minAvailable: 0, queue: ads, priorityClass: high, minResources: {cpu: 500m, memory: 1Gi}}
  intranet: Host
  withGloo: 0
  sampleSetRef: {name: criteo, namespace: data, mountPath: /mnt}
  elastic: 0
  ps: {replicas: 0}
  worker: {replicas: -1, requests: 1, limits: 4}
  heter: {replicas: 1, template: {}}
)");
  EXPECT_EQ(job.metadata.ns, "ads");
  ASSERT_TRUE(job.spec.scheduling_policy.has_value());
  EXPECT_EQ(job.spec.scheduling_policy->min_available, 0);
  EXPECT_EQ(job.spec.scheduling_policy->queue, "ads");
  EXPECT_EQ(job.spec.scheduling_policy->priority_class, "high");
  EXPECT_EQ(job.spec.scheduling_policy->min_resources.size(), 2u);
  EXPECT_EQ(job.spec.intranet, "Host");
  EXPECT_EQ(job.spec.with_gloo, 0);
  ASSERT_TRUE(job.spec.sample_set_ref.has_value());
  EXPECT_EQ(job.spec.sample_set_ref->ns, "data");
  EXPECT_EQ(job.spec.sample_set_ref->mount_path, "/mnt");
  EXPECT_EQ(job.spec.elastic, 0);
  EXPECT_EQ(job.spec.ps->replicas, 0);
  EXPECT_EQ(job.spec.worker->replicas, -1);
  EXPECT_EQ(job.spec.worker->requests, 1);
  EXPECT_EQ(job.spec.worker->limits, 4);
  EXPECT_EQ(job.spec.heter->pod_template.json, "{}");
}

TEST(PaddleJobTest, FieldsOfOtherApisAreReported) {
  std::vector<std::string> unknown;
  Read<PaddleJob>(R"(
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {name: odd}
spec:
  tasks: []
  runPolicy: {suspend: true}
  worker: {replicas: 1, restartPolicy: Never, template: {whatever: 1}}
)",
                  &unknown);
  EXPECT_THAT(unknown, ElementsAre("spec.tasks", "spec.runPolicy", "spec.worker.restartPolicy"));
}

TEST(PaddleJobTest, NumbersOutOfRangeAndOtherTypesAreErrors) {
  EXPECT_FALSE(Decode<PaddleJob>(R"({"spec":{"worker":{"replicas":2147483648}}})").ok());
  EXPECT_FALSE(Decode<PaddleJob>(R"({"spec":{"worker":{"replicas":"2"}}})").ok());
  EXPECT_FALSE(Decode<PaddleJob>(R"({"spec":{"schedulingPolicy":{"minResources":{"cpu":"two"}}}})").ok());
}

// Objects that the original has stored stay what they are: no policy, intranet or number is refused by the table.
TEST(PaddleJobTest, OnlyWhatTheOriginalRequiresIsRequired) {
  EXPECT_THAT(Broken<PaddleJob>(
                  R"({"spec":{"cleanPodPolicy":"OnFailed","intranet":"podip","withGloo":7,"worker":{"replicas":-1}}})"),
              IsEmpty());
  EXPECT_THAT(Broken<PaddleJob>(R"({"spec":{}})"), IsEmpty());
  EXPECT_THAT(Broken<PaddleJob>(R"({"spec":{"sampleSetRef":{"name":"a"},"ps":{"template":{}}}})"),
              ElementsAre("spec.sampleSetRef.mountPath", "spec.ps.replicas"));
}

TEST(PaddleJobTest, StatusOfEveryReleaseIsKnown) {
  const PaddleJob before = Read<PaddleJob>(R"(
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {name: old}
status:
  phase: Running
  mode: PS
  ps: {running: 2, ready: 2/2, refs: [{kind: Pod, namespace: ads, name: old-ps-0, uid: u, apiVersion: v1, resourceVersion: "7"}]}
  worker: {pending: 1, starting: 1, failed: 1, succeeded: 1, unknown: 1}
  heter: {}
  elastic: DOING
  startTime: "2026-11-21T05:11:53Z"
  completionTime: null
  observedGeneration: 3
)");
  EXPECT_EQ(before.status.phase, "Running");
  EXPECT_EQ(before.status.ps->ready, "2/2");
  ASSERT_EQ(before.status.ps->refs.size(), 1u);
  EXPECT_EQ(before.status.ps->refs[0].resource_version, "7");
  EXPECT_EQ(before.status.worker->unknown, 1);
  EXPECT_TRUE(before.status.start_time.set());
  EXPECT_FALSE(before.status.completion_time.set());
  EXPECT_EQ(before.status.observed_generation, 3);
}

TEST(PaddleJobTest, ARolesCountersAreWrittenZerosIncluded) {
  PaddleJobStatus status;
  status.worker.emplace().ready = "0/2";
  status.conditions.push_back({"Scheduled", "False", "Unschedulable", "queue ads is full", 2, {}});
  EXPECT_EQ(
      Encode(status),
      R"({"worker":{"pending":0,"starting":0,"running":0,"failed":0,"succeeded":0,"unknown":0,"ready":"0/2"},)"
      R"("conditions":[{"type":"Scheduled","status":"False","observedGeneration":2,"reason":"Unschedulable","message":"queue ads is full"}]})");
}

TEST(PaddleJobTest, TheResourcesDifferByGroup) {
  EXPECT_EQ(kPaddleJobs.ApiVersion(), "batch.paddlepaddle.org/v1");
  EXPECT_EQ(kPaddleJobs.short_names, "pdj");
  EXPECT_EQ(PathOf(kPaddleJobs, "ads", "wd", "status"),
            "/apis/batch.paddlepaddle.org/v1/namespaces/ads/paddlejobs/wd/status");
  EXPECT_EQ(PathOf(kubeflow::kPaddleJobs, "ads", "wd"), "/apis/kubeflow.org/v1/namespaces/ads/paddlejobs/wd");
  EXPECT_EQ(kubeflow::kPaddleJobs.short_names, "");
}

TEST(PaddleJobTest, ColumnsOfBothLayouts) {
  std::vector<std::string_view> narrow, wide;
  for (const PrinterColumn& column : Kinds()[0].columns) (column.priority == 0 ? narrow : wide).push_back(column.name);
  EXPECT_THAT(narrow, ElementsAre("STATUS", "MODE", "PS", "WORKER", "AGE"));
  EXPECT_THAT(wide, ElementsAre("HETER", "RESTARTS", "QUEUE", "MESSAGE"));
  EXPECT_EQ(Kinds()[1].columns[0].json_path, ".status.conditions[-1:].type");
}

// As the training operator's own example of two workers that meet at a port of their choice.
constexpr char kKubeflow[] = R"(
apiVersion: kubeflow.org/v1
kind: PaddleJob
metadata: {name: meet}
spec:
  paddleReplicaSpecs:
    Worker:
      replicas: 2
      restartPolicy: OnFailure
      template: {spec: {containers: [{name: paddle, image: train, ports: [{containerPort: 37777, name: master}]}]}}
)";

TEST(KubeflowPaddleJobTest, TheExampleIsRead) {
  const kubeflow::PaddleJob job = Read<kubeflow::PaddleJob>(kKubeflow);
  const kubeflow::ReplicaSpec* const workers = FindReplicas(job.spec, kubeflow::kWorker);
  ASSERT_NE(workers, nullptr);
  EXPECT_EQ(workers->replicas, 2);
  EXPECT_EQ(workers->restart_policy, "OnFailure");
  EXPECT_EQ(
      workers->pod_template.json,
      R"({"spec":{"containers":[{"name":"paddle","image":"train","ports":[{"containerPort":37777,"name":"master"}]}]}})");
  EXPECT_EQ(FindReplicas(job.spec, kubeflow::kMaster), nullptr);
}

TEST(KubeflowPaddleJobTest, RolesAreFoundInAnyLetterCase) {
  kubeflow::PaddleJobSpec spec;
  spec.replica_specs["worker"].replicas = 1;
  EXPECT_EQ(FindReplicas(spec, kubeflow::kWorker)->replicas, 1);
  spec.replica_specs["WORKER"].replicas = 2;
  EXPECT_EQ(FindReplicas(spec, kubeflow::kWorker)->replicas, 2);
  spec.replica_specs["Worker"].replicas = 3;
  EXPECT_EQ(FindReplicas(spec, kubeflow::kWorker)->replicas, 3);
  spec.replica_specs["Workers"].replicas = 4;
  EXPECT_EQ(FindReplicas(spec, kubeflow::kMaster), nullptr);
}

TEST(KubeflowPaddleJobTest, EveryFieldIsKnown) {
  const kubeflow::PaddleJob job = Read<kubeflow::PaddleJob>(R"(
apiVersion: kubeflow.org/v1
kind: PaddleJob
metadata: {name: all}
spec:
  runPolicy:
    cleanPodPolicy: Running
    ttlSecondsAfterFinished: 0
    activeDeadlineSeconds: 3000000000
    backoffLimit: 0
    schedulingPolicy: {minAvailable: 1, queue: ads, minResources: {cpu: 1}, priorityClass: high, scheduleTimeoutSeconds: 5}
    suspend: false
    managedBy: kueue.x-k8s.io/multikueue
  elasticPolicy: {minReplicas: 1, maxReplicas: 4, maxRestarts: 3, metrics: [{type: Resource}]}
  paddleReplicaSpecs: {Master: {}}
status:
  conditions: [{type: Created, status: "True", reason: PaddleJobCreated, message: m,
                lastUpdateTime: "2026-11-21T05:11:53Z", lastTransitionTime: "2026-11-21T05:11:53Z"}]
  replicaStatuses: {Worker: {active: 1, succeeded: 2, failed: 3, labelSelector: {matchLabels: {a: b}}, selector: a=b}}
  startTime: "2026-11-21T05:11:53Z"
  completionTime: "2026-11-21T05:11:54Z"
  lastReconcileTime: "2026-11-21T05:11:54Z"
)");
  const kubeflow::RunPolicy& policy = job.spec.run_policy;
  EXPECT_EQ(policy.clean_pod_policy, "Running");
  EXPECT_EQ(policy.ttl_seconds_after_finished, 0);
  EXPECT_EQ(policy.active_deadline_seconds, 3000000000);
  EXPECT_EQ(policy.backoff_limit, 0);
  EXPECT_EQ(policy.scheduling_policy->schedule_timeout_seconds, 5);
  EXPECT_EQ(policy.suspend, false);
  EXPECT_EQ(policy.managed_by, "kueue.x-k8s.io/multikueue");
  EXPECT_EQ(job.spec.elastic_policy->max_replicas, 4);
  EXPECT_EQ(job.spec.elastic_policy->metrics.size(), 1u);
  EXPECT_EQ(FindReplicas(job.spec, kubeflow::kMaster)->replicas, std::nullopt);
  EXPECT_EQ(job.status.conditions.at(0).reason, "PaddleJobCreated");
  EXPECT_EQ(job.status.replica_statuses.at("Worker").failed, 3);
  EXPECT_EQ(job.status.replica_statuses.at("Worker").selector, "a=b");
  EXPECT_TRUE(job.status.last_reconcile_time.set());
}

TEST(KubeflowPaddleJobTest, FieldsOfTheOtherDialectAreReported) {
  std::vector<std::string> unknown;
  Read<kubeflow::PaddleJob>(R"(
apiVersion: kubeflow.org/v1
kind: PaddleJob
metadata: {name: odd}
spec:
  withGloo: 1
  runPolicy: {queue: ads}
  paddleReplicaSpecs: {Worker: {requests: 1}}
)",
                            &unknown);
  EXPECT_THAT(unknown, ElementsAre("spec.withGloo", "spec.runPolicy.queue", "spec.paddleReplicaSpecs.Worker.requests"));
}

TEST(KubeflowPaddleJobTest, OnlyWhatTheOriginalRequiresIsRequired) {
  EXPECT_THAT(Broken<kubeflow::PaddleJob>(R"({"spec":{"runPolicy":{"cleanPodPolicy":"Some","backoffLimit":-1},)"
                                          R"("paddleReplicaSpecs":{"Worker":{"restartPolicy":"Odd"}}}})"),
              IsEmpty());
  EXPECT_THAT(Broken<kubeflow::PaddleJob>(R"({"spec":{},"status":{"conditions":[{}]}})"),
              ElementsAre("spec.paddleReplicaSpecs", "status.conditions[0].type", "status.conditions[0].status"));
}

// What a table can hold comes back: what was read, written and read again is the same text.
TEST(PaddleJobTest, ReadAndWrittenTwiceIsTheSame) {
  const std::string first = Encode(Read<PaddleJob>(kStorage));
  EXPECT_EQ(Encode(*Decode<PaddleJob>(first)), first);
  const std::string other = Encode(Read<kubeflow::PaddleJob>(kKubeflow));
  EXPECT_EQ(Encode(*Decode<kubeflow::PaddleJob>(other)), other);
}

}  // namespace
}  // namespace gangway::api::paddle
