// Jobs and a gang of Kubernetes' own in the place of a Volcano Job.
#include "translator/convert/kubernetes.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/scheduling_resources.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/files.h"
#include "tests/translator/convert/translated.h"
#include "translator/convert/paddle_rec.h"

namespace gangway::convert {
namespace {

namespace json = boost::json;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testutil::EnvOf;
using testutil::kTwoAndTwo;
using testutil::PaddleJobOf;
using testutil::PaddleJobWith;
using testutil::Told;
using testutil::Variable;

TranslateOptions ForKubernetes() { return {.target = Target::kKubernetes, .elastic_etcd = "etcd.infra:2379"}; }

Translation Of(const std::string& spec, const std::string& metadata = "name: wd, namespace: ads",
               const TranslateOptions& options = ForKubernetes()) {
  Translation done = Translate(PaddleJobWith(spec, metadata), options);
  EXPECT_TRUE(done.ok()) << Told(done.findings);
  return done;
}
json::object ObjectOf(const std::vector<Companion>& objects, const api::Resource& resource, const std::string& name) {
  for (const Companion& one : objects) {
    if (one.resource == &resource && one.name == name) return api::ParseJson(one.json).value().as_object();
  }
  ADD_FAILURE() << "no " << name;
  return {};
}
std::string At(const json::value& object, const std::string& pointer) {
  boost::system::error_code error;
  const json::value* const at = object.find_pointer(pointer, error);
  return at == nullptr ? "-" : at->is_string() ? std::string(at->as_string()) : json::serialize(*at);
}
json::value JobOf(const Translation& done, const std::string& name) {
  return ObjectOf(done.objects, api::kBatchJobs, name);
}
std::vector<std::string> EnvOfJob(const json::value& job, const char* list = "containers") {
  return EnvOf(job.at("spec").at("template").at("spec").at(list).at(0).as_object());
}
// "spec.ps: ..." of W-NOT-IN-JOBS.
std::vector<std::string> Losses(const Findings& findings) {
  std::vector<std::string> out;
  for (const Finding& one : findings) {
    if (one.code == Code::kNotInJobs) out.push_back(absl::StrCat(one.error.field, ": ", one.error.rule));
  }
  return out;
}

TEST(KubernetesTest, OneGangOneServiceAndAnIndexedJobForEachRole) {
  const Translation done = Of(kTwoAndTwo);
  std::vector<std::string> kinds;
  for (const Companion& one : done.objects) {
    kinds.push_back(absl::StrCat(View(one.resource->kind), " ", one.name));
    const json::value object = api::ParseJson(one.json).value();
    EXPECT_EQ(At(object, "/metadata/namespace"), "ads");
    EXPECT_EQ(At(object, "/metadata/labels/paddle.gangway.io~1job-name"), "wd");
    EXPECT_EQ(At(object, "/apiVersion"), one.resource->ApiVersion());
  }
  EXPECT_THAT(kinds, ElementsAre("PodGroup wd", "Service wd", "Job wd-ps", "Job wd-worker"));
  EXPECT_EQ(At(ObjectOf(done.objects, api::kKubernetesPodGroups, "wd"), "/spec"),
            R"({"schedulingPolicy":{"gang":{"minCount":4}}})");
  EXPECT_EQ(At(ObjectOf(done.objects, api::kServices, "wd"), "/spec"),
            R"({"clusterIP":"None","publishNotReadyAddresses":true,"selector":{"paddle.gangway.io/job-name":"wd"}})");
  const json::value job = JobOf(done, "wd-ps");
  for (const auto& [pointer, text] :
       {std::pair("/spec/completionMode", "Indexed"), std::pair("/spec/completions", "2"),
        std::pair("/spec/parallelism", "2"), std::pair("/spec/podReplacementPolicy", "Failed"),
        std::pair("/spec/template/spec/subdomain", "wd"), std::pair("/spec/template/spec/schedulerName", "-"),
        std::pair("/spec/template/spec/hostname", "-"),
        std::pair("/spec/template/spec/schedulingGroup", R"({"podGroupName":"wd"})"),
        std::pair("/spec/template/metadata/labels/paddle.gangway.io~1job-name", "wd")}) {
    EXPECT_EQ(At(job, pointer), text) << pointer;
  }
}

// The pod's own name ends in chance; its host name is what the lists say.
TEST(KubernetesTest, PodsAreCalledAsTheListsNameThem) {
  const Translation done = Of(kTwoAndTwo);
  const Translation volcanos = Translate(PaddleJobWith(kTwoAndTwo, "name: wd, namespace: ads"), {});
  const std::vector<std::string> env = EnvOfJob(JobOf(done, "wd-worker"));
  EXPECT_EQ(env[0], "JOB_COMPLETION_INDEX<metadata.labels['batch.kubernetes.io/job-completion-index']");
  EXPECT_EQ(env[1], "PADDLE_POD_NAME=wd-worker-$(JOB_COMPLETION_INDEX)");
  EXPECT_EQ(Variable(env, "POD_IP"), "$(PADDLE_POD_NAME).wd");
  EXPECT_EQ(Variable(env, "PADDLE_TRAINER_ID"), "metadata.labels['batch.kubernetes.io/job-completion-index']");
  for (const char* const name : {"PADDLE_PSERVERS_IP_PORT_LIST", "PADDLE_TRAINER_ENDPOINTS", "PADDLE_TRAINERS_NUM",
                                 "PADDLE_PORT", "TRAINING_ROLE"}) {
    EXPECT_EQ(Variable(env, name), Variable(EnvOf(volcanos, "worker"), name)) << name;
  }
  EXPECT_THAT(EnvOfJob(JobOf(done, "wd-worker"), "initContainers"),
              ElementsAre("JOB_COMPLETION_INDEX<metadata.labels['batch.kubernetes.io/job-completion-index']",
                          "PADDLE_POD_NAME=wd-worker-$(JOB_COMPLETION_INDEX)"));
}

TEST(KubernetesTest, WhoPlacesThePods) {
  const auto scheduler = [](const std::string& spec, const std::string& flag) {
    TranslateOptions options = ForKubernetes();
    options.scheduler_name = flag;
    return At(JobOf(Of(spec, "name: wd", options), "wd-worker"), "/spec/template/spec/schedulerName");
  };
  const std::string named =
      "worker: {replicas: 2, template: {spec: {schedulerName: volcano, containers: [{name: p, image: i}]}}}";
  EXPECT_EQ(scheduler("worker: {replicas: 2, template: T}", ""), "-");
  EXPECT_EQ(scheduler("worker: {replicas: 2, template: T}", "mine"), "mine");
  EXPECT_EQ(scheduler(named, "mine"), "volcano");
}

// ---- what becomes of pods that end

std::string RulesOf(const json::value& job) {
  std::vector<std::string> texts;
  boost::system::error_code error;
  const json::value* const rules = job.find_pointer("/spec/podFailurePolicy/rules", error);
  if (rules == nullptr) return "-";
  for (const json::value& rule : rules->as_array()) {
    texts.push_back(absl::StrCat(At(rule, "/action"), " ", At(rule, "/onPodConditions/0/type"), " ",
                                 At(rule, "/onExitCodes/operator"), At(rule, "/onExitCodes/values")));
  }
  return absl::StrJoin(texts, "; ");
}

TEST(KubernetesTest, DisturbedPodsAreMadeAgainAndFailuresOfTheirOwnEndTheJob) {
  const json::value job = JobOf(Of(kTwoAndTwo), "wd-worker");
  EXPECT_EQ(RulesOf(job), "Count DisruptionTarget --; Count - In[15,137,143]; FailJob - NotIn[0]");
  EXPECT_EQ(At(job, "/spec/backoffLimitPerIndex"), "3");
  EXPECT_EQ(At(job, "/spec/maxFailedIndexes"), "0");
  EXPECT_EQ(At(job, "/spec/backoffLimit"), "-");
  const json::value often =
      JobOf(Of(kTwoAndTwo, "name: wd, annotations: {paddle.gangway.io/max-restarts: \"7\"}"), "wd-ps");
  EXPECT_EQ(At(often, "/spec/backoffLimitPerIndex"), "7");
}

// A failure policy is for pods whose containers are not restarted in place (kubernetes: validation of batch/v1).
TEST(KubernetesTest, ContainersThatAreRestartedInPlaceAreCounted) {
  const std::string spec =
      "worker: {replicas: 2, template: {spec: {restartPolicy: OnFailure, containers: [{name: p, image: i}]}}}";
  const json::value job = JobOf(Of(spec), "wd-worker");
  EXPECT_EQ(RulesOf(job), "-");
  EXPECT_EQ(At(job, "/spec/backoffLimit"), "6");
  EXPECT_EQ(At(job, "/spec/backoffLimitPerIndex"), "-");
  const json::value for_ever =
      JobOf(Of(spec, "name: wd, annotations: {paddle.gangway.io/container-restarts: \"-1\"}"), "wd-worker");
  EXPECT_EQ(At(for_ever, "/spec/backoffLimit"), "2147483647");
}

TEST(KubernetesTest, AnElasticJobNeedsItsFewest) {
  const Translation done = Of("elastic: 1, worker: {replicas: 3, requests: 2, limits: 4, template: T}",
                              "name: wd, annotations: {paddle.gangway.io/max-restarts: \"7\"}");
  EXPECT_EQ(At(ObjectOf(done.objects, api::kKubernetesPodGroups, "wd"), "/spec/schedulingPolicy/gang/minCount"), "2");
  const json::value job = JobOf(done, "wd-worker");
  EXPECT_EQ(At(job, "/spec/backoffLimit"), "2147483647");
  EXPECT_EQ(Variable(EnvOfJob(job), "POD_IP"), "status.podIP");
  EXPECT_EQ(Variable(EnvOfJob(job), "PADDLE_TRAINER_ID"), "-");
  EXPECT_THAT(Losses(done.findings), IsEmpty());
  EXPECT_THAT(Told(done.findings), HasSubstr("W-UNUSED metadata.annotations[paddle.gangway.io/max-restarts]"));
}

// ---- what is told

TEST(KubernetesTest, WhatIsLostIsToldWhereItIsWritten) {
  EXPECT_THAT(Losses(Of(kTwoAndTwo).findings),
              ElementsAre(HasSubstr("spec: a pod that is evicted or killed is made again alone"),
                          HasSubstr("spec: a role that fails ends its own Job"),
                          HasSubstr("spec.ps: Job wd-ps does not end when Job wd-worker has")));
  EXPECT_THAT(Losses(Of("worker: {replicas: 1, template: T}").findings), IsEmpty()) << "one pod loses nothing";
  const Translation done =
      Of(absl::StrCat("schedulingPolicy: {queue: gpu, minAvailable: 3, priorityClass: high}, ", kTwoAndTwo),
         "name: wd, annotations: {volcano.sh/preemptable: \"true\", paddle.gangway.io/ttl: \"60\", "
         "paddle.gangway.io/server-grace: \"5\"}");
  EXPECT_THAT(Losses(done.findings),
              ::testing::IsSupersetOf(
                  {HasSubstr("spec.schedulingPolicy.queue: Kubernetes has no queues"),
                   HasSubstr("spec.schedulingPolicy.minAvailable: Kubernetes' gang counts pods of any role"),
                   HasSubstr("metadata.annotations[volcano.sh/preemptable]: is copied"),
                   HasSubstr("spec: the ttl deletes each Job")}));
  EXPECT_THAT(Told(done.findings), HasSubstr("W-UNUSED metadata.annotations[paddle.gangway.io/server-grace]"));
  EXPECT_EQ(At(ObjectOf(done.objects, api::kKubernetesPodGroups, "wd"), "/spec"),
            R"({"schedulingPolicy":{"gang":{"minCount":3}},"priorityClassName":"high"})");
  EXPECT_EQ(At(JobOf(done, "wd-ps"), "/spec/template/spec/priorityClassName"), "high");
  EXPECT_EQ(At(JobOf(done, "wd-ps"), "/spec/ttlSecondsAfterFinished"), "60");
  TranslateOptions queued = ForKubernetes();
  queued.namespace_queue = "gpu";
  EXPECT_THAT(Losses(Of("worker: {replicas: 1, template: T}", "name: wd", queued).findings),
              ElementsAre(HasSubstr("metadata.namespace: Kubernetes has no queues")));
}

TEST(KubernetesTest, WhatVolcanosPluginsGiveToPodsIsToldOf) {
  const auto losses = [](const std::string& container, const std::string& more = "") {
    return Losses(Of(absl::StrCat("worker: {replicas: 1, template: {spec: {", more, "containers: [{name: p, image: i, ",
                                  container, "}]}}}"))
                      .findings);
  };
  EXPECT_THAT(losses("args: [\"--rank=$(VC_TASK_INDEX)\"]"),
              ElementsAre(HasSubstr("spec.worker.template.spec.containers[0].args[0]: names VC_")));
  EXPECT_THAT(losses("command: [sh, -c, cat /etc/volcano/worker.host]"),
              ElementsAre(HasSubstr("containers[0].command[2]: names /etc/volcano")));
  EXPECT_THAT(losses("args: [a]", "nodeSelector: {volcano.sh/zone: b}, "),
              ElementsAre(HasSubstr("spec.worker.template.spec.nodeSelector.volcano.sh/zone: says nothing")));
  EXPECT_THAT(losses("args: [\"MY_VC_FUND\", \"docker.io/volcanosh/x\"]"), IsEmpty());
}

TEST(KubernetesTest, FindingsSpeakOfJobsNotOfVolcano) {
  const Translation done = Of(
      "cleanPodPolicy: Always, schedulingPolicy: {minResources: {cpu: 1}}, worker: {replicas: 1, template: {metadata: "
      "{finalizers: [a/b]}, spec: {containers: [{name: p, image: i}]}}}");
  for (const Finding& one : done.findings) EXPECT_THAT(one.ToString(), Not(HasSubstr("olcano")));
  EXPECT_THAT(Told(done.findings), HasSubstr("W-CLEAN"));
}

TEST(KubernetesTest, ServicesOfSinglePodsAndTheNetworkPolicySelectPodsOfJobs) {
  const Translation done = Of("worker: {replicas: 2, template: T}",
                              "name: wd, annotations: {paddle.gangway.io/per-pod-services: \"on\", "
                              "paddle.gangway.io/network-policy: \"on\"}");
  EXPECT_EQ(At(ObjectOf(done.before, api::kServices, "wd-worker-1"), "/spec/selector"),
            R"({"batch.kubernetes.io/job-name":"wd-worker","batch.kubernetes.io/job-completion-index":"1"})");
  EXPECT_EQ(At(ObjectOf(done.objects, api::kNetworkPolicies, "wd"), "/spec/podSelector/matchLabels"),
            R"({"paddle.gangway.io/job-name":"wd"})");
}

TEST(KubernetesTest, StepsNameTheObjects) {
  TranslateOptions options = ForKubernetes();
  options.explain = true;
  const Translation done =
      Of(absl::StrCat("schedulingPolicy: {minAvailable: 4, queue: q}, ", kTwoAndTwo), "name: wd", options);
  std::vector<std::string> ways;
  for (const Step& step : done.steps) {
    ways.push_back(absl::StrCat(step.from, " -> ", step.to));
    EXPECT_THAT(step.to, Not(HasSubstr("tasks["))) << step.from;
    EXPECT_THAT(step.why, Not(HasSubstr("olcano"))) << step.from;
  }
  EXPECT_THAT(ways,
              ::testing::IsSupersetOf(
                  {"spec.schedulingPolicy.minAvailable -> podgroup wd spec.schedulingPolicy.gang.minCount",
                   "spec.schedulingPolicy.queue -> ", "spec.ps.template -> job wd-ps spec.template",
                   "spec.worker.replicas -> job wd-worker spec.completions and spec.parallelism", " -> service wd"}));
}

// ---- the other dialect, and PaddleRec

TEST(KubernetesTest, AKubeflowJobKeepsWhatJobsKnowToo) {
  const auto documents =
      api::ReadManifest(R"({apiVersion: kubeflow.org/v1, kind: PaddleJob, metadata: {name: kf}, spec: {
    runPolicy: {suspend: true, activeDeadlineSeconds: 60, ttlSecondsAfterFinished: 9},
    paddleReplicaSpecs: {Master: {replicas: 1, restartPolicy: Never, template: {spec: {containers: [{name: paddle, image: i}]}}},
                         Worker: {replicas: 2, restartPolicy: Never, template: {spec: {containers: [{name: paddle, image: i}]}}}}}})",
                        "kf.yaml");
  const auto job = api::Decode<api::paddle::kubeflow::PaddleJob>(documents->front().json);
  const Translation done = Translate(*job, ForKubernetes());
  ASSERT_TRUE(done.ok()) << Told(done.findings);
  const json::value worker = JobOf(done, "kf-worker");
  EXPECT_EQ(At(worker, "/spec/suspend"), "true");
  EXPECT_EQ(At(worker, "/spec/activeDeadlineSeconds"), "60");
  EXPECT_EQ(At(worker, "/spec/template/spec/activeDeadlineSeconds"), "-");
  EXPECT_EQ(At(worker, "/spec/ttlSecondsAfterFinished"), "9");
  EXPECT_EQ(Variable(EnvOfJob(worker), "PADDLE_MASTER"), "kf-master-0.kf:36543");
  EXPECT_EQ(Variable(EnvOfJob(worker), "POD_IP"), "$(PADDLE_POD_NAME).kf");
  EXPECT_EQ(Variable(EnvOfJob(worker), "PADDLE_TRAINER_ID"), "-") << "ranks are given where they meet";
  EXPECT_THAT(Told(done.findings), Not(HasSubstr("W-DEADLINE")));
  EXPECT_THAT(Losses(done.findings),
              Contains(HasSubstr("spec.paddleReplicaSpecs.Worker: Job kf-worker does not end when Job kf-master has")));
}

TEST(KubernetesTest, PaddleRecsFilesBecomeJobsToo) {
  const auto read = [](const char* name) {
    return api::ReadDocuments(testutil::ReadFile(absl::StrCat(GW_SOURCE_DIR, "/examples/paddlerec/", name)), name)
        ->front()
        .json;
  };
  const RecTranslation rec = TranslateRec(
      {.backend_json = read("backend.yaml"), .config_json = read("config.yaml"), .config_text = "x", .ns = {}},
      ForKubernetes());
  ASSERT_TRUE(rec.ok());
  const json::value trainer = ObjectOf(rec.objects, api::kBatchJobs, rec.job.metadata.name + "-trainer");
  EXPECT_EQ(Variable(EnvOfJob(trainer), "PADDLE_PSERVER_ID"),
            "metadata.labels['batch.kubernetes.io/job-completion-index']");
  EXPECT_EQ(Variable(EnvOfJob(trainer), "PADDLE_POD_NAME"), rec.job.metadata.name + "-trainer-$(JOB_COMPLETION_INDEX)");
  EXPECT_THAT(Losses(rec.findings), Contains(HasSubstr("-pserver does not end when Job ")));
}

}  // namespace
}  // namespace gangway::convert
