// PaddleJobs of kubeflow.org: table K of tests/spec/paddle.rows, as far as it is about the translation
// (docs/paddlejob.md; kubeflow/training-operator 1.9: pkg/controller.v1/paddlepaddle).
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "api/json_value.h"
#include "api/volcano/admission.h"
#include "base/strings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/files.h"
#include "translator/convert/translate.h"

namespace gangway::convert {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

namespace kf = api::paddle::kubeflow;

// A template whose container is called paddle; `ports`: JSON, "".
std::string Template(absl::string_view ports = "", absl::string_view container = "paddle") {
  return absl::StrCat(R"({"spec":{"containers":[{"name":")", container,
                      R"(","image":"paddle:2.6","command":["python","-m","paddle.distributed.launch","run_check"])",
                      ports.empty() ? "" : ",\"ports\":", ports, "}]}}");
}
std::string Role(absl::string_view fields, absl::string_view pod_template = "") {
  return absl::StrCat("{", fields, fields.empty() ? "" : ",",
                      "\"template\":", pod_template.empty() ? Template() : std::string(pod_template), "}");
}
constexpr absl::string_view kExamplePort = R"([{"containerPort":37777,"name":"master"}])";

// `roles`: members of paddleReplicaSpecs; `rest`: other members of the spec.
kf::PaddleJob Job(absl::string_view roles, absl::string_view rest = "", absl::string_view name = "paddle-simple-cpu",
                  absl::string_view annotations = "{}") {
  const std::string json =
      absl::StrCat(R"({"apiVersion":"kubeflow.org/v1","kind":"PaddleJob","metadata":{"name":")", name,
                   R"(","namespace":"default","annotations":)", annotations, R"(},"spec":{"paddleReplicaSpecs":{)",
                   roles, "}", rest.empty() ? "" : ",", rest, "}}");
  absl::StatusOr<kf::PaddleJob> job = api::Decode<kf::PaddleJob>(json);
  EXPECT_TRUE(job.ok()) << job.status() << json;
  return job.ok() ? *std::move(job) : kf::PaddleJob();
}
std::string Annotated(absl::string_view name, absl::string_view value) {
  return absl::StrCat(R"({"paddle.gangway.io/)", name, "\":\"", value, "\"}");
}

TranslateOptions Ours() {
  TranslateOptions out;
  out.target = Target::kGangway;
  return out;
}
Translation Made(const kf::PaddleJob& job, const TranslateOptions& options = Ours()) { return Translate(job, options); }

std::vector<std::string> Codes(const Translation& translation) {
  std::vector<std::string> out;
  for (const Finding& finding : translation.findings)
    out.push_back(absl::StrCat(View(EntryOf(finding.code).name), " ", finding.error.field));
  return out;
}

boost::json::value TemplateOf(const Translation& translation, std::size_t task) {
  EXPECT_TRUE(translation.ok()) << absl::StrJoin(Codes(translation), "; ");
  if (task >= translation.job.spec.tasks.size()) return boost::json::object();
  return *api::ParseJson(translation.job.spec.tasks[task].pod_template.json);
}
const boost::json::object& ContainerOf(const boost::json::value& pod_template, std::size_t i = 0) {
  return pod_template.at("spec").at("containers").at(i).as_object();
}
// The value of a variable, or the field it is from; "-" when it is not there.
std::string EnvOf(const Translation& translation, std::size_t task, absl::string_view name, std::size_t container = 0) {
  const boost::json::value pod_template = TemplateOf(translation, task);
  std::string out = "-";
  for (const boost::json::value& variable : ContainerOf(pod_template, container).at("env").as_array()) {
    if (variable.at("name").as_string() != boost::json::string_view(name.data(), name.size())) continue;
    const boost::json::value* const value = variable.as_object().if_contains("value");
    out = value != nullptr ? std::string(value->as_string())
                           : std::string(variable.at("valueFrom").at("fieldRef").at("fieldPath").as_string());
  }
  return out;
}
std::vector<std::string> Policies(const Translation& translation, std::size_t task) {
  std::vector<std::string> out;
  for (const auto& policy : translation.job.spec.tasks[task].policies) {
    out.push_back(absl::StrCat(policy.exit_code ? absl::StrCat(*policy.exit_code) : policy.event, "→", policy.action));
  }
  return out;
}

const char* const kTwoWorkers = R"("replicas":2,"restartPolicy":"OnFailure")";
std::string Workers(absl::string_view ports = "") {
  return absl::StrCat("\"Worker\":", Role(kTwoWorkers, Template(ports)));
}
std::string MasterAndWorkers(absl::string_view fields = "") {
  return absl::StrCat("\"Master\":", Role(fields),
                      ",\"Worker\":", Role(absl::StrCat("\"replicas\":2", fields.empty() ? "" : ",", fields)));
}

TEST(KubeflowTest, K1TheExampleMeetsAtWorker0) {
  const Translation out = Made(Job(Workers(kExamplePort)));
  ASSERT_TRUE(out.ok()) << absl::StrJoin(Codes(out), "; ");
  EXPECT_EQ(EnvOf(out, 0, "PADDLE_MASTER"), "paddle-simple-cpu-worker-0.paddle-simple-cpu:37777");
  EXPECT_EQ(EnvOf(out, 0, "POD_IP"), "$(PADDLE_POD_NAME).paddle-simple-cpu")
      << "worker 0 must find itself in PADDLE_MASTER, text for text";
  EXPECT_EQ(EnvOf(out, 0, "PADDLE_POD_NAME"), "metadata.name");
  EXPECT_EQ(EnvOf(out, 0, "PADDLE_NNODES"), "2");
  EXPECT_EQ(EnvOf(out, 0, "PADDLE_JOB_ID"), "paddle-simple-cpu");
  EXPECT_EQ(EnvOf(out, 0, "PYTHONUNBUFFERED"), "1");
  for (const char* const none :
       {"PADDLE_TRAINER_ID", "PADDLE_TRAINER_ENDPOINTS", "PADDLE_SERVER_NUM", "PADDLE_TRAINER_NUM", "POD_IP_DUMMY"}) {
    EXPECT_EQ(EnvOf(out, 0, none), "-") << none;
  }
  EXPECT_EQ(out.mode, Mode::kCollective);
  EXPECT_EQ(out.job.spec.min_available, 2);
  EXPECT_EQ(out.job.spec.queue, "default");
  EXPECT_EQ(out.job.spec.scheduler_name, "volcano");
  EXPECT_EQ(out.job.spec.max_retry, 4);
  EXPECT_EQ(out.job.spec.tasks[0].name, "worker");
  const boost::json::value made = TemplateOf(out, 0);
  EXPECT_EQ(ContainerOf(made).at("ports"), boost::json::parse(R"([{"containerPort":37777,"name":"master"}])"));
  EXPECT_EQ(
      made.at("metadata").at("labels"),
      boost::json::parse(
          R"({"training.kubeflow.org/job-name":"paddle-simple-cpu","training.kubeflow.org/operator-name":"paddlejob-controller",)"
          R"("training.kubeflow.org/replica-type":"worker"})"));
}

TEST(KubeflowTest, K2WithoutANamedPortTheUsualOneIsTaken) {
  const Translation out = Made(Job(Workers()));
  EXPECT_THAT(EnvOf(out, 0, "PADDLE_MASTER"), ::testing::EndsWith(":36543"));
  EXPECT_EQ(ContainerOf(TemplateOf(out, 0)).at("ports"),
            boost::json::parse(R"([{"containerPort":36543,"name":"master"}])"));
  EXPECT_THAT(EnvOf(Made(Job(Workers(R"([{"containerPort":8080,"name":"http"}])"))), 0, "PADDLE_MASTER"),
              ::testing::EndsWith(":36543"));
}

TEST(KubeflowTest, APortThatHasTheNameAndNoNumberIsRefused) {
  EXPECT_THAT(
      Codes(Made(Job(Workers(R"([{"name":"master"}])")))),
      ElementsAre("E-REFUSED spec.paddleReplicaSpecs.Worker.template.spec.containers[0].ports[0].containerPort"));
}

TEST(KubeflowTest, K3MastersServeAndEndTheJob) {
  const Translation out = Made(Job(MasterAndWorkers()));
  ASSERT_TRUE(out.ok());
  EXPECT_EQ(out.mode, Mode::kServers);
  for (const std::size_t task : {0u, 1u}) {
    EXPECT_EQ(EnvOf(out, task, "PADDLE_NNODES"), "3");
    EXPECT_EQ(EnvOf(out, task, "PADDLE_MASTER"), "paddle-simple-cpu-master-0.paddle-simple-cpu:36543");
  }
  EXPECT_EQ(EnvOf(out, 0, "PADDLE_SERVER_NUM"), "1");
  EXPECT_EQ(EnvOf(out, 0, "PADDLE_TRAINER_NUM"), "-");
  EXPECT_EQ(EnvOf(out, 1, "PADDLE_TRAINER_NUM"), "1");
  EXPECT_EQ(EnvOf(out, 1, "PADDLE_SERVER_NUM"), "-");
  EXPECT_EQ(TemplateOf(out, 0).at("metadata").at("labels").at("training.kubeflow.org/job-role"), "master");
  const Translation strict = Made(Job(MasterAndWorkers(), "", "wd", Annotated("strict-roles", "on")));
  EXPECT_EQ(EnvOf(strict, 0, "PADDLE_TRAINER_NUM"), "0");
  EXPECT_EQ(EnvOf(strict, 1, "PADDLE_SERVER_NUM"), "0");
}

TEST(KubeflowTest, K4KeysInAnyLetterCase) {
  const Translation out = Made(Job(absl::StrCat("\"worker\":", Role(kTwoWorkers))));
  EXPECT_TRUE(out.ok());
  EXPECT_EQ(out.job.spec.tasks[0].name, "worker");
  EXPECT_THAT(Codes(Made(Job(absl::StrCat("\"wORKER\":", Role("\"replicas\":-1"))))),
              ElementsAre("E-REPLICAS spec.paddleReplicaSpecs.wORKER.replicas"))
      << "fields are named as they are written";
}

TEST(KubeflowTest, K5OneReplicaUnlessSaid) {
  const Translation out = Made(Job(absl::StrCat("\"Worker\":", Role(""))));
  EXPECT_EQ(out.job.spec.tasks[0].replicas, 1);
  EXPECT_EQ(out.mode, Mode::kSingle);
}

TEST(KubeflowTest, K6AContainerIsCalledPaddle) {
  EXPECT_THAT(Codes(Made(Job(absl::StrCat("\"Worker\":", Role("", Template("", "trainer")))))),
              ElementsAre("E-NO-CONTAINER spec.paddleReplicaSpecs.Worker.template.spec.containers"));
  EXPECT_THAT(Codes(Made(Job("\"Worker\":{}"))), ElementsAre("E-NO-CONTAINER spec.paddleReplicaSpecs.Worker.template"));
}

TEST(KubeflowTest, K7MastersThatSucceedCompleteTheJob) {
  const Translation out = Made(Job(MasterAndWorkers()));
  EXPECT_THAT(Policies(out, 0),
              ElementsAre("PodFailed→RestartJob", "TaskFailed→TerminateJob", "TaskCompleted→CompleteJob"));
  EXPECT_THAT(Policies(out, 1), Not(Contains(HasSubstr("CompleteJob"))));
  EXPECT_THAT(Policies(Made(Job(Workers())), 0), Contains("TaskCompleted→CompleteJob"))
      << "without masters, workers do";
}

TEST(KubeflowTest, K8WorkersAreRestartedInPlaceUnlessSaid) {
  const Translation out = Made(Job(absl::StrCat("\"Worker\":", Role("\"replicas\":2"))));
  EXPECT_EQ(TemplateOf(out, 0).at("spec").at("restartPolicy"), "OnFailure");
  EXPECT_EQ(out.job.spec.tasks[0].max_retry, 6);
  const Translation always = Made(Job(absl::StrCat("\"Worker\":", Role("\"restartPolicy\":\"Always\""))));
  EXPECT_EQ(TemplateOf(always, 0).at("spec").at("restartPolicy"), "OnFailure");
  EXPECT_THAT(Codes(always), ElementsAre("W-RESTART-ALWAYS spec.paddleReplicaSpecs.Worker.restartPolicy"));
}

TEST(KubeflowTest, K9AWorkerThatFailsForGoodEndsTheJob) {
  const Translation out = Made(Job(absl::StrCat("\"Worker\":", Role("\"replicas\":2,\"restartPolicy\":\"Never\""))));
  EXPECT_EQ(TemplateOf(out, 0).at("spec").at("restartPolicy"), "Never");
  EXPECT_THAT(Policies(out, 0), Contains("PodFailed→TerminateJob"));
  EXPECT_THAT(Policies(out, 0), Contains("143→RestartJob"));
}

TEST(KubeflowTest, K10K11SuspendedOrNotTheJobIsTheSame) {
  const Translation suspended = Made(Job(Workers(), R"("runPolicy":{"suspend":true})"));
  EXPECT_EQ(api::Encode(suspended.job), api::Encode(Made(Job(Workers())).job));
  EXPECT_THAT(Codes(suspended), IsEmpty());
}

TEST(KubeflowTest, K12WhoseJobItIs) {
  EXPECT_THAT(Codes(Made(Job(Workers(), R"("runPolicy":{"managedBy":"kueue.x-k8s.io/multikueue"})"))),
              Contains("W-UNUSED spec.runPolicy.managedBy"));
  EXPECT_THAT(Codes(Made(Job(Workers(), R"("runPolicy":{"managedBy":"me"})"))),
              Contains("E-ENUM spec.runPolicy.managedBy"));
  EXPECT_THAT(Codes(Made(Job(Workers(), R"("runPolicy":{"managedBy":"kubeflow.org/training-operator"})"))),
              Not(Contains(HasSubstr("managedBy"))));
}

TEST(KubeflowTest, K13WithoutAControllerADeadlineIsThatOfThePods) {
  const kf::PaddleJob job = Job(Workers(), R"("runPolicy":{"activeDeadlineSeconds":60})");
  const Translation out = Made(job);
  EXPECT_THAT(Codes(out), Contains("W-DEADLINE spec.runPolicy.activeDeadlineSeconds"));
  EXPECT_EQ(TemplateOf(out, 0).at("spec").at("activeDeadlineSeconds"), 60);
  TranslateOptions kept = Ours();
  kept.kept = true;
  const Translation by_controller = Made(job, kept);
  EXPECT_THAT(Codes(by_controller), Not(Contains(HasSubstr("W-DEADLINE"))));
  EXPECT_FALSE(TemplateOf(by_controller, 0).at("spec").as_object().contains("activeDeadlineSeconds"));
  EXPECT_THAT(Codes(Made(Job(Workers(), R"("runPolicy":{"activeDeadlineSeconds":0})"))),
              Contains("E-REFUSED spec.runPolicy.activeDeadlineSeconds"));
}

TEST(KubeflowTest, K14ElasticWhereThereIsAnEtcd) {
  const std::string three = absl::StrCat("\"Worker\":", Role("\"replicas\":3"));
  const char* const bounds = R"("elasticPolicy":{"minReplicas":2,"maxReplicas":4})";
  const Translation without = Made(Job(three, bounds));
  EXPECT_THAT(Codes(without), Contains("W-UNUSED spec.elasticPolicy"));
  EXPECT_EQ(EnvOf(without, 0, "PADDLE_NNODES"), "3");

  TranslateOptions options = Ours();
  options.elastic_etcd = "etcd.infra:2379";
  for (const Translation& out :
       {Made(Job(three, bounds), options),
        Made(Job(three, bounds, "paddle-simple-cpu", Annotated("elastic-etcd", "etcd.infra:2379")))}) {
    ASSERT_TRUE(out.ok()) << absl::StrJoin(Codes(out), "; ");
    EXPECT_EQ(EnvOf(out, 0, "PADDLE_MASTER"), "etcd://Etcd.infra:2379");
    EXPECT_EQ(EnvOf(out, 0, "PADDLE_NNODES"), "2:4");
    EXPECT_EQ(EnvOf(out, 0, "PADDLE_JOB_ID"), "default-paddle-simple-cpu");
    EXPECT_EQ(EnvOf(out, 0, "POD_IP"), "status.podIP");
    EXPECT_EQ(out.job.spec.min_available, 2);
    EXPECT_EQ(out.job.spec.tasks[0].min_available, 2);
    EXPECT_EQ(out.job.spec.tasks[0].replicas, 3);
    EXPECT_EQ(out.job.spec.max_retry, 100);
    EXPECT_THAT(out.job.spec.policies, IsEmpty());
    EXPECT_EQ(out.gang.bounds, (ElasticBounds{2, 4}));
    EXPECT_FALSE(TemplateOf(out, 0).at("spec").as_object().contains("initContainers"));
  }
  EXPECT_EQ(Made(Job(three, R"("elasticPolicy":{"minReplicas":2,"maxReplicas":4,"maxRestarts":5})"), options)
                .job.spec.max_retry,
            6);
  EXPECT_THAT(Codes(Made(Job(three, R"("elasticPolicy":{"minReplicas":4,"maxReplicas":2})"), options)),
              ElementsAre("E-ELASTIC spec.elasticPolicy.maxReplicas", "E-ELASTIC spec.elasticPolicy.minReplicas"));
  EXPECT_THAT(Codes(Made(Job(MasterAndWorkers(), bounds), options)), Contains("W-UNUSED spec.elasticPolicy"));
}

TEST(KubeflowTest, ExitCodes) {
  const Translation out = Made(Job(absl::StrCat("\"Worker\":", Role("\"replicas\":2,\"restartPolicy\":\"ExitCode\"")),
                                   R"("runPolicy":{"backoffLimit":5})"));
  EXPECT_THAT(Codes(out), Contains("W-EXITCODE spec.paddleReplicaSpecs.Worker.restartPolicy"));
  EXPECT_EQ(TemplateOf(out, 0).at("spec").at("restartPolicy"), "Never");
  EXPECT_THAT(Policies(out, 0), ElementsAre("130→RestartJob", "134→RestartJob", "137→RestartJob", "139→RestartJob",
                                            "143→RestartJob", "PodFailed→TerminateJob", "TaskCompleted→CompleteJob"));
  EXPECT_EQ(out.job.spec.max_retry, 6) << "kubeflow counts these restarts against the backoffLimit";
}

TEST(KubeflowTest, BackoffLimitIsCountedForEachRole) {
  const Translation out = Made(Job(MasterAndWorkers(), R"("runPolicy":{"backoffLimit":4})"));
  EXPECT_THAT(Codes(out), Contains("W-BACKOFF spec.runPolicy.backoffLimit"));
  for (const auto& task : out.job.spec.tasks) EXPECT_EQ(task.max_retry, 4);
  EXPECT_THAT(Codes(Made(Job(Workers(), R"("runPolicy":{"backoffLimit":4})"))), Not(Contains(HasSubstr("W-BACKOFF"))));
  const Translation none = Made(Job(Workers(), R"("runPolicy":{"backoffLimit":0})"));
  EXPECT_EQ(TemplateOf(none, 0).at("spec").at("restartPolicy"), "Never");
  EXPECT_EQ(none.job.spec.max_retry, 1) << "the first restart is the end, also that of an eviction";
  EXPECT_THAT(Codes(Made(Job(Workers(), R"("runPolicy":{"backoffLimit":-1})"))),
              Contains("E-REFUSED spec.runPolicy.backoffLimit"));
}

TEST(KubeflowTest, NumbersOfRestartsUpToTheirBorders) {
  TranslateOptions options = Ours();
  options.elastic_etcd = "etcd.infra:2379";
  const auto elastic = [&](absl::string_view restarts, absl::string_view policy = "{}") {
    return Made(
        Job(Workers(), absl::StrCat(R"("elasticPolicy":{"maxRestarts":)", restarts, R"(},"runPolicy":)", policy)),
        options);
  };
  for (const char* const wrong : {"-1", "2147483647"})
    EXPECT_THAT(Codes(elastic(wrong)), ElementsAre("E-REFUSED spec.elasticPolicy.maxRestarts")) << wrong;
  EXPECT_EQ(elastic("0").job.spec.max_retry, 1);
  EXPECT_EQ(elastic("2147483646").job.spec.max_retry, 2147483647);
  EXPECT_EQ(elastic("null", R"({"backoffLimit":0})").job.spec.max_retry, 1) << "the first restart is the end";
  EXPECT_EQ(elastic("7", R"({"backoffLimit":0})").job.spec.max_retry, 8) << "it is said";
  EXPECT_EQ(elastic("null").job.spec.max_retry, 100);
  const std::string by_code = absl::StrCat("\"Worker\":", Role("\"replicas\":2,\"restartPolicy\":\"ExitCode\""));
  EXPECT_EQ(Made(Job(by_code, R"("runPolicy":{"backoffLimit":2147483647})")).job.spec.max_retry, 2147483647);
  EXPECT_EQ(Made(Job(by_code)).job.spec.max_retry, 4);
  EXPECT_EQ(Made(Job(Workers(), R"("runPolicy":{"backoffLimit":1})")).job.spec.tasks[0].max_retry, 1);
  EXPECT_EQ(Made(Job(Workers(), R"("runPolicy":{"backoffLimit":1})")).job.spec.max_retry, 4)
      << "of evictions it says nothing";
  EXPECT_EQ(
      Made(Job(by_code, R"("runPolicy":{"backoffLimit":0})", "wd", Annotated("max-restarts", "5"))).job.spec.max_retry,
      6)
      << "ours is said of the whole job";
}

TEST(KubeflowTest, RestartPoliciesThatItDoesNotHaveAreTold) {
  const auto codes = [](bool strict) {
    TranslateOptions options = Ours();
    options.strict = strict;
    return Codes(Made(Job(absl::StrCat("\"Worker\":", Role("\"restartPolicy\":\"Onfailure\""))), options));
  };
  EXPECT_THAT(codes(false), ElementsAre("W-ENUM spec.paddleReplicaSpecs.Worker.restartPolicy"));
  EXPECT_THAT(codes(true), ElementsAre("E-ENUM spec.paddleReplicaSpecs.Worker.restartPolicy"));
}

TEST(KubeflowTest, TheTimeAJobIsKeptIsItsOwnOrTheAnnotations) {
  EXPECT_EQ(Made(Job(Workers(), R"("runPolicy":{"ttlSecondsAfterFinished":0})", "wd", Annotated("ttl", "60")))
                .job.spec.ttl_seconds_after_finished,
            0);
  EXPECT_EQ(Made(Job(Workers(), "", "wd", Annotated("ttl", "60"))).job.spec.ttl_seconds_after_finished, 60);
  EXPECT_THAT(Codes(Made(Job(Workers(), R"("runPolicy":{"ttlSecondsAfterFinished":-1})"))),
              ElementsAre("E-REFUSED spec.runPolicy.ttlSecondsAfterFinished"));
}

TEST(KubeflowTest, ATemplatesOwnDeadlineStaysWhereItIsShorter) {
  const auto deadline = [](int own, int whole) {
    const std::string pod =
        absl::StrCat(R"({"spec":{"activeDeadlineSeconds":)", own, R"(,"containers":[{"name":"paddle","image":"i"}]}})");
    const Translation out = Made(Job(absl::StrCat("\"Worker\":", Role("", pod)),
                                     absl::StrCat(R"("runPolicy":{"activeDeadlineSeconds":)", whole, "}")));
    return TemplateOf(out, 0).at("spec").at("activeDeadlineSeconds").as_int64();
  };
  EXPECT_EQ(deadline(30, 60), 30);
  EXPECT_EQ(deadline(90, 60), 60);
  EXPECT_EQ(TemplateOf(Made(Job(Workers(), R"("runPolicy":{"activeDeadlineSeconds":1})")), 0)
                .at("spec")
                .at("activeDeadlineSeconds"),
            1);
  EXPECT_EQ(TemplateOf(Made(Job(Workers(), R"("runPolicy":{"activeDeadlineSeconds":5000000000})")), 0)
                .at("spec")
                .at("activeDeadlineSeconds"),
            2147483647)
      << "pods count no further";
}

TEST(KubeflowTest, CleanPodPolicies) {
  const auto codes = [](absl::string_view policy, bool kept, bool strict = false) {
    TranslateOptions options = Ours();
    options.kept = kept;
    options.strict = strict;
    const Translation out =
        Made(Job(Workers(), absl::StrCat(R"("runPolicy":{"cleanPodPolicy":")", policy, "\"}")), options);
    std::vector<std::string> found;
    for (const std::string& code : Codes(out))
      if (code.find("cleanPodPolicy") != std::string::npos) found.push_back(code.substr(0, code.find(' ')));
    return absl::StrJoin(found, " ");
  };
  EXPECT_EQ(codes("None", false), "W-CLEAN") << "pods that still run when the job ends are lost";
  EXPECT_EQ(codes("Running", false), "");
  EXPECT_EQ(codes("All", false), "W-CLEAN");
  EXPECT_EQ(codes("All", true), "");
  EXPECT_EQ(codes("all", true), "W-ENUM");
  EXPECT_EQ(codes("all", true, true), "E-ENUM");
}

TEST(KubeflowTest, SchedulingPolicy) {
  const Translation out = Made(Job(
      Workers(),
      R"("runPolicy":{"ttlSecondsAfterFinished":60,"schedulingPolicy":{"minAvailable":1,"queue":"ads","priorityClass":"high",)"
      R"("minResources":{"cpu":"2"},"scheduleTimeoutSeconds":30}})"));
  EXPECT_EQ(out.job.spec.queue, "ads");
  EXPECT_EQ(out.job.spec.priority_class_name, "high");
  EXPECT_EQ(out.job.spec.min_available, 1);
  EXPECT_EQ(out.job.spec.ttl_seconds_after_finished, 60);
  const std::string at = "spec.runPolicy.schedulingPolicy.";
  EXPECT_THAT(
      Codes(out),
      AllOf(Contains("W-PARTIAL-GANG " + at + "minAvailable"), Contains("W-MIN-RESOURCES " + at + "minResources"),
            Contains("W-UNUSED " + at + "scheduleTimeoutSeconds"), Contains("I-PRIORITY " + at + "priorityClass")));
  EXPECT_THAT(Codes(Made(Job(Workers(), R"("runPolicy":{"schedulingPolicy":{"minAvailable":3}})"))),
              ElementsAre("E-MIN-AVAILABLE " + at + "minAvailable"));
  TranslateOptions of_namespace = Ours();
  of_namespace.namespace_queue = "team";
  EXPECT_EQ(Made(Job(Workers()), of_namespace).job.spec.queue, "team");
}

TEST(KubeflowTest, WhatItsWebhookRefusesIsAnError) {
  EXPECT_THAT(Codes(Made(Job(""))), ElementsAre("E-EMPTY spec.paddleReplicaSpecs"));
  EXPECT_THAT(
      Codes(Made(Job(absl::StrCat("\"Worker\":", Role("\"replicas\":0"))))),
      ElementsAre("E-EMPTY spec.paddleReplicaSpecs", "W-ZERO-REPLICAS spec.paddleReplicaSpecs.Worker.replicas"));
  EXPECT_THAT(Codes(Made(Job(absl::StrCat("\"Workers\":", Role(""))))),
              Contains("E-REFUSED spec.paddleReplicaSpecs.Workers"));
  EXPECT_THAT(Codes(Made(Job(absl::StrCat("\"Worker\":", Role(""), ",\"worker\":", Role(""))))),
              Contains("E-REFUSED spec.paddleReplicaSpecs.worker"));
  EXPECT_THAT(Codes(Made(Job(Workers(), "", "1job"))), Contains("E-NAME metadata.name"));
  EXPECT_THAT(Codes(Made(Job(Workers(), "", "a.b"))), Contains("E-NAME metadata.name"));
  EXPECT_THAT(Codes(Made(Job(Workers(), "", std::string(56, 'a')))), Contains("E-NAME-LENGTH metadata.name"));
  EXPECT_THAT(Codes(Made(Job(absl::StrCat("\"Worker\":", Role("", R"({"spec":{"containers":[{"name":"paddle"}]}})"))))),
              Contains(HasSubstr("E-REFUSED")))
      << "a container without an image";
  EXPECT_THAT(Codes(Made(Job(absl::StrCat("\"Master\":", Role("\"replicas\":2147483647"),
                                          ",\"Worker\":", Role("\"replicas\":2147483647"))))),
              Contains("E-REPLICAS spec.paddleReplicaSpecs.Worker.replicas"));
}

TEST(KubeflowTest, AUsersOwnEnvIsKeptButForWhoThePodIs) {
  const std::string own =
      R"({"spec":{"containers":[{"name":"sidecar","image":"s"},{"name":"paddle","image":"p","env":[{"name":"PADDLE_NNODES","value":"9"},)"
      R"({"name":"POD_IP","value":"x"}]}]}})";
  const Translation out = Made(Job(absl::StrCat("\"Worker\":", Role("\"replicas\":2", own))));
  EXPECT_EQ(EnvOf(out, 0, "PADDLE_NNODES", 1), "9");
  EXPECT_EQ(EnvOf(out, 0, "POD_IP", 1), "$(PADDLE_POD_NAME).paddle-simple-cpu");
  EXPECT_EQ(EnvOf(out, 0, "PADDLE_NNODES", 0), "2") << "env is every container's";
  EXPECT_FALSE(ContainerOf(TemplateOf(out, 0)).contains("ports")) << "the port is that of the container that trains";
  EXPECT_THAT(Codes(out), AllOf(Contains(HasSubstr("I-ENV-USER")), Contains(HasSubstr("W-ENV-RESERVED"))));
}

TEST(KubeflowTest, PodsWaitForTheNamesTheyMeetAt) {
  const auto script = [](const Translation& out, std::size_t task) {
    return boost::json::serialize(TemplateOf(out, task).at("spec").at("initContainers"));
  };
  EXPECT_THAT(script(Made(Job(Workers(), "", "wd")), 0),
              AllOf(HasSubstr("wd-worker-0.wd"), HasSubstr("wd-worker-1.wd")));
  const Translation many = Made(Job(absl::StrCat("\"Worker\":", Role("\"replicas\":100")), "", "wd"));
  EXPECT_THAT(script(many, 0), AllOf(HasSubstr("wd-worker-0.wd"), Not(HasSubstr("wd-worker-1.wd"))));
}

TEST(KubeflowTest, AnnotationsOfTheOtherDialectAreTold) {
  EXPECT_THAT(Codes(Made(Job(Workers(), "", "wd", Annotated("host-port-base", "21000")))),
              Contains("W-UNUSED metadata.annotations[paddle.gangway.io/host-port-base]"));
  EXPECT_THAT(Codes(Made(Job(Workers(), "", "wd", Annotated("task-index", "from-name")))),
              Contains("W-UNUSED metadata.annotations[paddle.gangway.io/task-index]"));
  const Translation services = Made(Job(Workers(), "", "wd", Annotated("per-pod-services", "on")));
  ASSERT_EQ(services.before.size(), 2u);
  EXPECT_EQ(services.before[1].name, "wd-worker-1");
  TranslateOptions old;
  old.volcano = {1, 8};
  EXPECT_TRUE(Made(Job(Workers()), old).ok()) << "ranks are given where the pods meet: no index is needed";
}

TEST(KubeflowTest, TheEnvIsTheOneThatRealPaddleWasRunWith) {
  const Translation out = Made(Job(Workers(), "", "wd"));
  for (const char* const pod : {"wd-worker-0", "wd-worker-1"}) {
    const std::string file =
        absl::StrCat(GW_SOURCE_DIR "/tests/golden/paddle/kf-", absl::StripPrefix(pod, "wd-"), ".env");
    std::vector<std::string> wanted;
    for (const absl::string_view line : absl::StrSplit(testutil::ReadFile(file), '\n', absl::SkipEmpty())) {
      const std::vector<std::string> parts = absl::StrSplit(line, absl::MaxSplits('=', 1));
      EXPECT_EQ(absl::StrReplaceAll(EnvOf(out, 0, parts[0]), {{"$(PADDLE_POD_NAME)", pod}}), parts[1])
          << file << ": " << parts[0];
      wanted.push_back(parts[0]);
    }
    EXPECT_EQ(wanted.size(), 5u);
  }
}

TEST(KubeflowTest, MetadataIsCopied) {
  const Translation out =
      Made(Job(Workers(), "", "wd", R"({"team":"ads","kubectl.kubernetes.io/last-applied-configuration":"{}"})"));
  EXPECT_EQ(out.job.metadata.annotations, (std::map<std::string, std::string>{{"team", "ads"}}));
}

TEST(KubeflowTest, ExplainTellsWhereEachFieldWent) {
  TranslateOptions options = Ours();
  EXPECT_THAT(Made(Job(Workers()), options).steps, IsEmpty());
  options.explain = true;
  std::vector<std::string> from;
  for (const Step& step :
       Made(Job(Workers(), R"("runPolicy":{"ttlSecondsAfterFinished":60,"cleanPodPolicy":"All"})"), options).steps)
    from.push_back(step.from);
  EXPECT_THAT(from,
              AllOf(Contains("spec.paddleReplicaSpecs.Worker.template"),
                    Contains("spec.runPolicy.ttlSecondsAfterFinished"), Contains("spec.runPolicy.cleanPodPolicy")));
  std::vector<std::string> least;
  for (const Step& step : Made(Job(absl::StrCat(R"("Worker":)", Role(""))), options).steps) least.push_back(step.from);
  EXPECT_THAT(least, AllOf(Contains("metadata.name"), Not(Contains("spec.paddleReplicaSpecs.Worker.restartPolicy")),
                           Not(Contains("spec.runPolicy.suspend"))));
}

TEST(KubeflowTest, ExplainTellsOfMetadataSuspendManagersAndTheWaitForNames) {
  TranslateOptions options = Ours();
  options.explain = true;
  const std::string annotations = R"({"team":"ads","paddle.gangway.io/ttl":"60"})";
  const auto rows = [&](absl::string_view more) {
    std::vector<std::string> out;
    const std::string roles = absl::StrCat(R"("Worker":)", Role(R"("replicas":2,"restartPolicy":"Never")"));
    for (const Step& step : Made(Job(roles, more, "wd", annotations), options).steps) {
      EXPECT_FALSE(step.to.empty() && step.why.empty()) << step.from;
      out.push_back(absl::StrCat(step.from, " -> ", step.to));
    }
    return out;
  };
  EXPECT_THAT(
      rows(R"("runPolicy":{"suspend":false,"managedBy":"kubeflow.org/training-operator"})"),
      ::testing::IsSupersetOf(
          {"metadata.name -> metadata.name", "metadata.annotations[team] -> metadata.annotations[team]",
           "metadata.annotations[paddle.gangway.io/ttl] -> spec.ttlSecondsAfterFinished", "spec.runPolicy.suspend -> ",
           "spec.runPolicy.managedBy -> ", "spec.paddleReplicaSpecs.Worker.restartPolicy -> spec.tasks[0].policies",
           " -> spec.tasks[*].template.spec.initContainers"}));
}

}  // namespace
}  // namespace gangway::convert
