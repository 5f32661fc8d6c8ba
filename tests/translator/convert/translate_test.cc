// PaddleJobs and what becomes of them: table F of tests/spec/paddle.rows, and the rows of E that concern a whole job
// (docs/paddlejob.md, tests/spec/paddle.rows).
//
// GW_UPDATE_GOLDEN=1 writes the golden texts in tests/golden/translate anew, and the test fails; their difference is
// read in review.
#include "translator/convert/translate.h"

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "api/manifest/yaml_writer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "plugin/lifecycle/job/pod.h"
#include "plugin/lifecycle/job/pod_group.h"
#include "tests/testing/files.h"
#include "tests/testing/golden.h"
#include "tests/translator/convert/translated.h"

namespace gangway::convert {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSubsetOf;
using ::testing::Not;
using ::testing::StartsWith;
using testutil::ContainerOf;
using testutil::EnvOf;
using testutil::ForGangway;
using testutil::kTwoAndTwo;
using testutil::PaddleJobOf;
using testutil::PaddleJobWith;
using testutil::PodOf;
using testutil::Refusal;
using testutil::TemplateOf;
using testutil::TextOf;
using testutil::Told;
using testutil::Variable;

Translation Of(const std::string& spec, const std::string& annotations = "",
               const TranslateOptions& options = ForGangway()) {
  const std::string metadata =
      absl::StrCat("name: wd, namespace: default", annotations.empty() ? "" : ", annotations: {", annotations,
                   annotations.empty() ? "" : "}");
  Translation done = Translate(PaddleJobWith(spec, metadata), options);
  if (done.ok()) {
    EXPECT_EQ(Refusal(done), "") << api::Encode(done.job);
  }
  return done;
}

std::string Json(const boost::json::value& value) { return api::ToJson(value); }
std::string Annotation(const std::string& name, const std::string& value) {
  return absl::StrCat("paddle.gangway.io/", name, ": \"", value, "\"");
}

// --- the worked example

std::string YamlOfAll(const Translation& done) {
  std::string out;
  for (const Companion& one : done.before)
    absl::StrAppend(&out, api::YamlOf(one.json, api::KeyOrder::kAsWritten).value(), "---\n");
  return out + api::YamlOf(api::Encode(done.job), api::KeyOrder::kAsWritten).value();
}

void ExpectGolden(const std::string& path, const std::string& actual) {
  testutil::ExpectGolden(absl::StrCat(GW_SOURCE_DIR, "/tests/golden/translate/", path), actual);
}

TEST(TranslateTest, WorkedExample) {
  const auto job = PaddleJobOf(testutil::ReadFile(GW_SOURCE_DIR "/tests/golden/translate/wd/input.yaml"));
  const Translation done = Translate(job, ForGangway());
  EXPECT_EQ(Told(done.findings), "");
  EXPECT_EQ(Refusal(done), "");
  ExpectGolden("wd/gangway.yaml", YamlOfAll(done));
  ExpectGolden("wd/volcano.yaml", YamlOfAll(Translate(job, {})));
}

// --- env (6.5)

constexpr char kServers[] = "wd-ps-0.wd:36000,wd-ps-1.wd:36000",
               kWorkers[] = "wd-worker-0.wd:36000,wd-worker-1.wd:36000";

TEST(TranslateTest, F1ListOfServers) {
  const Translation done = Of(kTwoAndTwo);
  for (const char* const task : {"ps", "worker"})
    EXPECT_EQ(Variable(EnvOf(done, task), "PADDLE_PSERVERS_IP_PORT_LIST"), kServers);
}

TEST(TranslateTest, F2ListsOfWorkersAndPorts) {
  const Translation done = Of(kTwoAndTwo);
  for (const char* const task : {"ps", "worker"}) {
    const auto env = EnvOf(done, task);
    EXPECT_EQ(Variable(env, "PADDLE_TRAINER_ENDPOINTS"), kWorkers);
    EXPECT_EQ(Variable(env, "PADDLE_TRAINERS"), "wd-worker-0.wd,wd-worker-1.wd");
    EXPECT_EQ(Variable(env, "PADDLE_TRAINERS_NUM"), "2");
    EXPECT_EQ(Variable(env, "TRAINER_PORTS_NUM"), "20");
    EXPECT_EQ(Variable(env, "PADDLE_PORT"), "36000");
  }
}

TEST(TranslateTest, F3Gloo) {
  const auto env = EnvOf(Of(absl::StrCat("withGloo: 1, ", kTwoAndTwo)), "worker");
  EXPECT_EQ(Variable(env, "PADDLE_WITH_GLOO"), "1");
  EXPECT_EQ(Variable(env, "PADDLE_GLOO_RENDEZVOUS"), "3");
  EXPECT_EQ(Variable(env, "PADDLE_GLOO_HTTP_ENDPOINT"), "wd-ps-0.wd:36018");
}

TEST(TranslateTest, F4ServiceIsPodIpByAnotherName) {
  const std::string spec =
      "withGloo: 1, ps: {replicas: 2, template: T}, worker: {replicas: 2, template: {spec: {restartPolicy: Never, "
      "containers: [{name: c, image: i}]}}}";
  const Translation plain = Of(spec), service = Of("intranet: Service, " + spec);
  EXPECT_EQ(api::Encode(service.job), api::Encode(plain.job));
  EXPECT_EQ(Told(plain.findings), "");
  EXPECT_EQ(Told(service.findings), "I-INTRANET spec.intranet");
}

TEST(TranslateTest, F5WhoThePodIsComesFirst) {
  const Translation done =
      Of("ps: {replicas: 1, template: {spec: {containers: [{name: a, image: i}, {name: b, image: i, env: [{name: MINE, "
         "value: x}]}]}}}, worker: {replicas: 2, template: T}");
  for (const auto& container : {ContainerOf(done, "ps"), ContainerOf(done, "ps", 1), ContainerOf(done, "worker")}) {
    std::vector<std::string> names;
    for (const std::string& one : EnvOf(container)) names.push_back(one.substr(0, one.find_first_of("=<")));
    names.resize(5);
    EXPECT_THAT(names,
                ElementsAre("PADDLE_POD_NAME", "POD_IP", "PADDLE_TRAINER_ID", "TRAINING_ROLE", "PADDLE_TRAINING_ROLE"));
  }
  EXPECT_EQ(EnvOf(ContainerOf(done, "ps", 1)).back(), "MINE=x");
}

TEST(TranslateTest, F6PodIp) {
  EXPECT_EQ(Variable(EnvOf(Of(kTwoAndTwo), "ps"), "POD_IP"), "$(PADDLE_POD_NAME).wd");
  EXPECT_EQ(Variable(EnvOf(Of(kTwoAndTwo, Annotation("name-style", "absolute")), "ps"), "POD_IP"),
            "$(PADDLE_POD_NAME).wd.default.svc.cluster.local");
}

TEST(TranslateTest, F7TrainerId) {
  const Translation done = Of(kTwoAndTwo);
  for (const char* const task : {"ps", "worker"})
    EXPECT_EQ(Variable(EnvOf(done, task), "PADDLE_TRAINER_ID"), "metadata.labels['volcano.sh/task-index']");
}

// --- the host network (6.5.3)

std::vector<std::int64_t> HostPortsOf(const Translation& done, const std::string& task) {
  std::vector<std::int64_t> out;
  const boost::json::object container = ContainerOf(done, task);
  for (const boost::json::value& port : container.at("ports").as_array()) {
    EXPECT_EQ(port.at("hostPort"), port.at("containerPort"));
    out.push_back(port.at("hostPort").as_int64());
  }
  return out;
}

TEST(TranslateTest, F8Host) {
  const Translation done = Of(absl::StrCat("intranet: Host, ", kTwoAndTwo));
  EXPECT_EQ(Told(done.findings), "");
  for (const char* const task : {"ps", "worker"}) {
    EXPECT_EQ(PodOf(done, task).at("hostNetwork"), true);
    EXPECT_EQ(PodOf(done, task).at("dnsPolicy"), "ClusterFirstWithHostNet");
    EXPECT_EQ(Variable(EnvOf(done, task), "PADDLE_PSERVERS_IP_PORT_LIST"), "wd-ps-0.wd:21800,wd-ps-1.wd:21800");
    EXPECT_EQ(Variable(EnvOf(done, task), "PADDLE_TRAINER_ENDPOINTS"), "wd-worker-0.wd:21820,wd-worker-1.wd:21820");
  }
  EXPECT_EQ(Variable(EnvOf(done, "ps"), "PADDLE_PORT"), "21800");
  EXPECT_EQ(Variable(EnvOf(done, "worker"), "PADDLE_PORT"), "21820");
  EXPECT_THAT(HostPortsOf(done, "ps"), ElementsAre(21800));
  EXPECT_THAT(HostPortsOf(done, "worker"), ElementsAre(21820));
}

TEST(TranslateTest, F9HostWithGloo) {
  const Translation done = Of(absl::StrCat("intranet: Host, withGloo: 1, ", kTwoAndTwo));
  EXPECT_THAT(HostPortsOf(done, "ps"), ElementsAre(21800, 21818));
  EXPECT_EQ(Variable(EnvOf(done, "worker"), "PADDLE_GLOO_HTTP_ENDPOINT"), "wd-ps-0.wd:21818");
}

TEST(TranslateTest, F10HostCollectiveOneProcessAnAccelerator) {
  const Translation done =
      Of("intranet: Host, worker: {replicas: 2, template: {spec: {containers: [{name: c, image: i, resources: {limits: "
         "{nvidia.com/gpu: 8}}}]}}}");
  EXPECT_THAT(HostPortsOf(done, "worker"), ElementsAre(21820, 21821, 21822, 21823, 21824, 21825, 21826, 21827));
  EXPECT_EQ(Variable(EnvOf(done, "worker"), "PORT_RANGE"), "21820:21839");
}

TEST(TranslateTest, F11HostAndDns) {
  const std::string spec =
      "intranet: Host, worker: {replicas: 2, template: {spec: {dnsPolicy: Default, containers: [{name: c, image: "
      "i}]}}}";
  EXPECT_EQ(Told(Of(spec).findings), "E-DNS spec.worker.template.spec.dnsPolicy");
  const Translation absolute = Of(spec, Annotation("name-style", "absolute"));
  EXPECT_EQ(Told(absolute.findings), "");
  EXPECT_EQ(PodOf(absolute, "worker").at("dnsPolicy"), "Default");
  const Translation first =
      Of("intranet: Host, worker: {replicas: 2, template: {spec: {dnsPolicy: ClusterFirst, containers: [{name: c, "
         "image: i}]}}}");
  EXPECT_EQ(Told(first.findings), "W-DNS spec.worker.template.spec.dnsPolicy");
  EXPECT_EQ(PodOf(first, "worker").at("dnsPolicy"), "ClusterFirstWithHostNet");
}

TEST(TranslateTest, ShortNamesAreNotFoundWithoutTheClustersDns) {
  const auto told = [](const std::string& pod) {
    return Told(
        Of(absl::StrCat("worker: {replicas: 2, template: {spec: {", pod, ", containers: [{name: c, image: i}]}}}"))
            .findings);
  };
  EXPECT_EQ(told("dnsPolicy: Default"), "E-DNS spec.worker.template.spec.dnsPolicy");
  EXPECT_EQ(told("dnsPolicy: None, dnsConfig: {nameservers: [10.0.0.10]}"),
            "E-DNS spec.worker.template.spec.dnsPolicy");
  EXPECT_EQ(told("dnsPolicy: None, dnsConfig: {nameservers: [10.0.0.10], searches: [default.svc.cluster.local]}"), "");
}

TEST(TranslateTest, ATemplateOnTheHostNetworkGetsPortsOfItsOwn) {
  const Translation done =
      Of("ps: {replicas: 1, template: T}, worker: {replicas: 2, template: {spec: {hostNetwork: true, containers: "
         "[{name: c, image: i}]}}}");
  EXPECT_THAT(HostPortsOf(done, "worker"), ElementsAre(21820));
  EXPECT_FALSE(PodOf(done, "ps").contains("hostNetwork"));
  EXPECT_EQ(Variable(EnvOf(done, "ps"), "PADDLE_PORT"), "21800");
  const Translation servers =
      Of("ps: {replicas: 1, template: {spec: {hostNetwork: true, containers: [{name: c, image: i}]}}}, worker: "
         "{replicas: 2, template: T}");
  EXPECT_THAT(HostPortsOf(servers, "ps"), ElementsAre(21800));
  EXPECT_EQ(Variable(EnvOf(servers, "worker"), "PADDLE_PSERVERS_IP_PORT_LIST"), "wd-ps-0.wd:21800");
}

TEST(TranslateTest, HostPortBaseAndNodes) {
  TranslateOptions options = ForGangway();
  options.nodes = 1;
  const Translation done =
      Of("intranet: Host, worker: {replicas: 2, template: T}", Annotation("host-port-base", "40000"), options);
  EXPECT_THAT(HostPortsOf(done, "worker"), ElementsAre(40020));
  EXPECT_EQ(Told(done.findings), "W-HOST-NODES spec.worker.replicas");
  EXPECT_THAT(TextOf(done.findings, Code::kHostNodes), HasSubstr("the cluster has 1 node, and"));
  options.nodes = 2;
  EXPECT_EQ(Told(Of("intranet: Host, worker: {replicas: 2, template: T}", "", options).findings), "") << "one for each";
  EXPECT_EQ(Told(Of("worker: {replicas: 3, template: T}", "", options).findings), "")
      << "off the host network they may share one";
  EXPECT_THAT(TextOf(Of("intranet: Host, worker: {replicas: 3, template: T}", "", options).findings, Code::kHostNodes),
              HasSubstr("the cluster has 2 nodes, and"));
}

TEST(TranslateTest, APortThatIsExposedAlreadyIsNotExposedTwice) {
  const auto ports = [](const std::string& intranet, int port) {
    const Translation done = Of(absl::StrCat("intranet: ", intranet,
                                             ", worker: {replicas: 2, template: {spec: {containers: [{name: c, image: "
                                             "i, ports: [{containerPort: 80}, {name: mine, containerPort: ",
                                             port, "}]}]}}}"));
    return Json(ContainerOf(done, "worker").at("ports"));
  };
  EXPECT_EQ(ports("PodIP", 36000), R"([{"containerPort":80},{"name":"mine","containerPort":36000}])");
  EXPECT_EQ(ports("PodIP", 36001),
            R"([{"containerPort":80},{"name":"mine","containerPort":36001},{"containerPort":36000}])");
  EXPECT_EQ(ports("Host", 21820), R"([{"containerPort":80},{"name":"mine","containerPort":21820,"hostPort":21820}])")
      << "the scheduler must see it";
}

TEST(TranslateTest, ARoleHasTwentyPortsHoweverManyAccelerators) {
  const auto of = [](int gpus, const std::string& more) {
    return Of(absl::StrCat("intranet: Host, ", more,
                           "worker: {replicas: 2, template: {spec: {containers: [{name: c, image: i, resources: "
                           "{limits: {nvidia.com/gpu: ",
                           gpus, "}}}]}}}"));
  };
  EXPECT_EQ(HostPortsOf(of(20, ""), "worker").size(), 20u);
  EXPECT_EQ(HostPortsOf(of(32, ""), "worker").size(), 20u);
  EXPECT_EQ(HostPortsOf(of(1, ""), "worker").size(), 1u);
  EXPECT_THAT(HostPortsOf(of(8, "ps: {replicas: 1, template: T}, "), "worker"), ElementsAre(21820))
      << "beside servers a trainer is one process";
}

TEST(TranslateTest, GlooHasAPortOnTheNodeWhereItsServerHasOne) {
  const std::string worker = "worker: {replicas: 2, template: T}";
  const Translation of_template = Of(absl::StrCat(
      "withGloo: 1, ps: {replicas: 1, template: {spec: {hostNetwork: true, containers: [{name: c, image: i}]}}}, ",
      worker));
  EXPECT_THAT(HostPortsOf(of_template, "ps"), ElementsAre(21800, 21818));
  EXPECT_EQ(
      Json(ContainerOf(Of(absl::StrCat("withGloo: 1, ps: {replicas: 1, template: T}, ", worker)), "ps").at("ports")),
      R"([{"containerPort":36000}])");
}

TEST(TranslateTest, APortOfTheUsersThatIsOursOnTheNodeIsRefused) {
  const Translation done =
      Of("intranet: Host, worker: {replicas: 2, template: {spec: {containers: [{name: c, image: i}, {name: d, image: "
         "i, ports: [{containerPort: 21820, hostPort: 21820}]}]}}}");
  EXPECT_EQ(Told(done.findings), "E-REFUSED spec.worker.template.spec.containers[1].ports[0].hostPort");
}

// --- modes

TEST(TranslateTest, F12Collective) {
  const Translation done = Of("worker: {replicas: 2, template: G}");
  EXPECT_EQ(done.mode, Mode::kCollective);
  EXPECT_EQ(Told(done.findings), "");
  const auto env = EnvOf(done, "worker");
  EXPECT_THAT(env, Not(Contains(StartsWith("PADDLE_PSERVERS_"))));
  EXPECT_EQ(Variable(env, "PADDLE_MASTER"), "-");
  EXPECT_EQ(Variable(env, "PADDLE_DISTRI_BACKEND"), "-");
  EXPECT_EQ(Variable(env, "PADDLE_CURRENT_ENDPOINT"), "$(POD_IP):36000");
  ASSERT_EQ(done.job.spec.policies.size(), 1u);
  EXPECT_EQ(done.job.spec.policies[0].event, "PodEvicted");
  EXPECT_EQ(done.job.spec.policies[0].action, "RestartJob");
  EXPECT_EQ(done.job.spec.tasks[0].policies.back().event, "TaskCompleted");
  EXPECT_EQ(done.job.spec.tasks[0].policies.back().action, "CompleteJob");
}

TEST(TranslateTest, F13Single) {
  const Translation done = Of("worker: {replicas: 1, template: T}");
  EXPECT_EQ(done.mode, Mode::kSingle);
  EXPECT_EQ(done.job.spec.min_available, 1);
  EXPECT_EQ(Variable(EnvOf(done, "worker"), "PADDLE_TRAINER_ENDPOINTS"), "wd-worker-0.wd:36000");
  EXPECT_EQ(Variable(EnvOf(done, "worker"), "PADDLE_DISTRI_BACKEND"), "gloo");
}

// --- policies, as far as the pods' restart policy goes; policies_test.cc has the rest

std::string PoliciesOf(const Translation& done, std::size_t task) {
  std::string out;
  for (const auto& policy : done.job.spec.tasks[task].policies) {
    absl::StrAppend(&out, out.empty() ? "" : ", ",
                    policy.exit_code.has_value() ? absl::StrCat(*policy.exit_code) : policy.event, " ", policy.action,
                    policy.timeout.empty() ? "" : " " + policy.timeout);
  }
  return out;
}
std::string RestartPolicyOf(const Translation& done, const std::string& task) {
  return std::string(PodOf(done, task).at("restartPolicy").as_string());
}
std::string WithPolicy(const std::string& worker) {
  return absl::StrCat("ps: {replicas: 2, template: T}, worker: {replicas: 2, template: {spec: {restartPolicy: ", worker,
                      ", containers: [{name: c, image: i}]}}}");
}

TEST(TranslateTest, F14NeverByDefault) {
  const Translation done = Of(kTwoAndTwo);
  EXPECT_EQ(RestartPolicyOf(done, "ps"), "Never");
  EXPECT_EQ(RestartPolicyOf(done, "worker"), "Never");
  EXPECT_EQ(PoliciesOf(done, 0), "143 RestartJob, 137 RestartJob, 15 RestartJob, PodFailed TerminateJob 20s");
  EXPECT_THAT(PoliciesOf(done, 1),
              StartsWith("143 RestartJob, 137 RestartJob, 15 RestartJob, PodFailed TerminateJob 10s"));
}

TEST(TranslateTest, F15ServiceRestartsWorkersInPlace) {
  const Translation done = Of(absl::StrCat("intranet: Service, ", kTwoAndTwo));
  EXPECT_EQ(RestartPolicyOf(done, "ps"), "Never");
  EXPECT_EQ(RestartPolicyOf(done, "worker"), "OnFailure");
}

TEST(TranslateTest, F16OnFailure) {
  const Translation done = Of(WithPolicy("OnFailure"));
  EXPECT_THAT(PoliciesOf(done, 1), StartsWith("PodFailed RestartJob, TaskFailed TerminateJob"));
  EXPECT_EQ(done.job.spec.tasks[1].max_retry, 6);
}

TEST(TranslateTest, F17Always) {
  const Translation done = Of(WithPolicy("Always"));
  EXPECT_EQ(RestartPolicyOf(done, "worker"), "OnFailure");
  EXPECT_EQ(Told(done.findings), "W-RESTART-ALWAYS spec.worker.template.spec.restartPolicy");
}

TEST(TranslateTest, F18NoRestarts) { EXPECT_EQ(Of(kTwoAndTwo, Annotation("max-restarts", "0")).job.spec.max_retry, 1); }
TEST(TranslateTest, F19ThreeRestarts) { EXPECT_EQ(Of(kTwoAndTwo).job.spec.max_retry, 4); }

TEST(TranslateTest, F20OldVolcanoHasNoDelays) {
  const Translation done = Of(kTwoAndTwo, "", {.target = Target::kVolcano, .volcano = {1, 10}, .kept = true});
  EXPECT_THAT(Told(done.findings), HasSubstr("W-GRACE"));
  for (const auto& task : done.job.spec.tasks) {
    for (const auto& policy : task.policies) EXPECT_EQ(policy.timeout, "");
  }
  const api::volcano::Job wanted =
      Of(kTwoAndTwo, "", {.target = Target::kVolcano, .kept = true}).job;  // of today's Volcano, which forgets delays
  const auto texts = [](const std::vector<api::volcano::LifecyclePolicy>& policies) {
    return absl::StrJoin(policies, " ", [](std::string* out, const api::volcano::LifecyclePolicy& policy) {
      absl::StrAppend(out, api::Encode(policy));
    });
  };
  EXPECT_EQ(texts(done.job.spec.policies), texts(wanted.spec.policies));
  ASSERT_EQ(done.job.spec.tasks.size(), wanted.spec.tasks.size());
  for (std::size_t i = 0; i < wanted.spec.tasks.size(); ++i)
    EXPECT_EQ(texts(done.job.spec.tasks[i].policies), texts(wanted.spec.tasks[i].policies))
        << wanted.spec.tasks[i].name;
}

TEST(TranslateTest, F21TooOldVolcano) {
  const TranslateOptions old{.target = Target::kVolcano, .volcano = {1, 8}, .kept = true};
  EXPECT_THAT(Told(Of(kTwoAndTwo, "", old).findings), HasSubstr("E-VOLCANO-OLD"));
  const Translation wrapped = Of(kTwoAndTwo, Annotation("task-index", "from-name"), old);
  ASSERT_TRUE(wrapped.ok()) << Told(wrapped.findings);
  EXPECT_EQ(
      Json(ContainerOf(wrapped, "worker").at("command")),
      R"x(["sh","-c","export PADDLE_TRAINER_ID=\"${PADDLE_POD_NAME##*-}\"; exec \"$@\"","sh","python","train.py"])x");
  EXPECT_EQ(Variable(EnvOf(wrapped, "worker"), "PADDLE_TRAINER_ID"), "-");
  EXPECT_EQ(Told(Of("worker: {replicas: 1, template: {spec: {containers: [{name: c, image: i}]}}}",
                    Annotation("task-index", "from-name"), old)
                     .findings),
            "E-VOLCANO-OLD spec.worker.template.spec.containers[0].command");
}

TEST(TranslateTest, F22FlagsOfSvc) {
  const std::vector<std::string> two = {"--publish-not-ready-addresses=true", "--disable-network-policy=true"};
  EXPECT_EQ(Of(kTwoAndTwo).job.spec.plugins.at("svc"), two);
  EXPECT_EQ(Of(kTwoAndTwo, "", {.volcano = {1, 15}}).job.spec.plugins.at("svc"), two);
  EXPECT_THAT(Of(kTwoAndTwo, "", {.volcano = {1, 16}}).job.spec.plugins.at("svc"),
              ElementsAre(two[0], two[1], "--inject-hosts-env=false"));
  EXPECT_EQ(Of(kTwoAndTwo, Annotation("network-policy", "on")).job.spec.plugins.at("svc")[1],
            "--disable-network-policy=false");
  EXPECT_TRUE(Of(kTwoAndTwo).job.spec.plugins.at("env").empty());
}

// --- the user's own

std::string WithContainer(const std::string& container) {
  return absl::StrCat(
      "ps: {replicas: 2, template: T}, worker: {replicas: 2, template: {spec: {containers: [{name: c, image: i, ",
      container, "}]}}}");
}

TEST(TranslateTest, F23TheUsersOwnVariableStays) {
  const Translation done = Of(WithContainer("env: [{name: PADDLE_TRAINERS_NUM, value: \"9\"}]"));
  const auto env = EnvOf(done, "worker");
  EXPECT_EQ(std::count_if(env.begin(), env.end(),
                          [](const std::string& one) { return absl::StartsWith(one, "PADDLE_TRAINERS_NUM"); }),
            1);
  EXPECT_EQ(env.back(), "PADDLE_TRAINERS_NUM=9");
  EXPECT_EQ(Told(done.findings), "I-ENV-USER spec.worker.template.spec.containers[0].env[0].name");
}

TEST(TranslateTest, F24ArgumentsMayReferToOurs) {
  const Translation done =
      Of(WithContainer("args: [\"--id=$(PADDLE_TRAINER_ID)\"], env: [{name: MY_ID, value: \"$(PADDLE_TRAINER_ID)\"}]"));
  EXPECT_EQ(Json(ContainerOf(done, "worker").at("args")), R"x(["--id=$(PADDLE_TRAINER_ID)"])x");
  EXPECT_EQ(EnvOf(done, "worker").back(), "MY_ID=$(PADDLE_TRAINER_ID)") << "after what it refers to";
}

TEST(TranslateTest, F25TwoContainers) {
  const Translation done =
      Of("worker: {replicas: 2, template: {spec: {containers: [{name: a, image: i}, {name: b, image: i}]}}}");
  EXPECT_EQ(Variable(EnvOf(ContainerOf(done, "worker", 1)), "PADDLE_TRAINERS_NUM"), "2");
  EXPECT_EQ(Json(ContainerOf(done, "worker").at("ports")), R"([{"containerPort":36000}])");
  EXPECT_FALSE(ContainerOf(done, "worker", 1).contains("ports"));
}

TEST(TranslateTest, F26ConfigMapOfTheJobsName) {
  for (const char* const use : {"envFrom: [{configMapRef: {name: wd}}]",
                                "env: [{name: X, valueFrom: {configMapKeyRef: {name: wd, key: PADDLE_PORT}}}]"}) {
    const Translation done = Translate(PaddleJobWith(absl::StrCat("withGloo: 1, ", WithContainer(use))), ForGangway());
    ASSERT_EQ(done.before.size(), 1u) << use;
    EXPECT_TRUE(done.needed.paddle_config_map);
    EXPECT_EQ(done.before[0].resource, &api::kConfigMaps);
    EXPECT_EQ(done.before[0].name, "wd");
    EXPECT_EQ(
        done.before[0].json,
        absl::StrCat(
            R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"wd","namespace":"default","labels":{"paddle-res-name":"wd"}},"data":{)",
            R"("PADDLE_GLOO_HTTP_ENDPOINT":"wd-ps-0.wd:36018","PADDLE_GLOO_RENDEZVOUS":"3","PADDLE_PORT":"36000","PADDLE_PSERVERS_IP_PORT_LIST":")",
            kServers,
            R"(","PADDLE_TRAINERS":"wd-worker-0.wd,wd-worker-1.wd","PADDLE_TRAINERS_NUM":"2","PADDLE_TRAINER_ENDPOINTS":")",
            kWorkers, R"(","PADDLE_WITH_GLOO":"1","TRAINER_PORTS_NUM":"20"}})"));
  }
  const Translation volume =
      Of("worker: {replicas: 2, template: {spec: {volumes: [{name: v, projected: {sources: [{configMap: {name: "
         "wd}}]}}], containers: [{name: c, image: i}]}}}");
  EXPECT_EQ(volume.before.size(), 1u);
  EXPECT_TRUE(Of(WithContainer("envFrom: [{configMapRef: {name: other}}]")).before.empty());
}

const std::string kThirtyLetters = "abcdefghijklmnopqrstuvwxyzabcd";

TEST(TranslateTest, F27LongListsStandInAConfigMap) {
  const auto job =
      PaddleJobWith("ps: {replicas: 2, template: T}, worker: {replicas: 400, template: T}", "name: " + kThirtyLetters);
  const Translation done = Translate(job, ForGangway());
  ASSERT_EQ(done.before.size(), 1u) << Told(done.findings);
  EXPECT_EQ(Refusal(done), "");
  EXPECT_TRUE(done.needed.env_config_map);
  EXPECT_EQ(done.before[0].name, kThirtyLetters + "-paddle-env");
  const auto config_map = api::ParseJson(done.before[0].json).value();
  EXPECT_FALSE(config_map.at("metadata").as_object().contains("namespace")) << "as in the job";
  const std::string list(config_map.at("data").at("PADDLE_TRAINER_ENDPOINTS").as_string());
  const std::vector<std::string> hosts = absl::StrSplit(list, ',');
  EXPECT_EQ(hosts.size(), 400u);
  EXPECT_EQ(hosts.back(), absl::StrCat(kThirtyLetters, "-worker-399.", kThirtyLetters, ":36000"));
  for (const char* const task : {"ps", "worker"}) {
    EXPECT_EQ(Json(ContainerOf(done, task).at("envFrom")),
              absl::StrCat(R"([{"configMapRef":{"name":")", kThirtyLetters, R"(-paddle-env"}}])"));
    EXPECT_EQ(Variable(EnvOf(done, task), "PADDLE_TRAINER_ENDPOINTS"), "-");
    EXPECT_EQ(Variable(EnvOf(done, task), "PADDLE_TRAINERS_NUM"), "400");
  }
}

TEST(TranslateTest, F28TooLongAList) {
  const Translation done =
      Translate(PaddleJobWith("worker: {replicas: 4000, template: T}", "name: " + kThirtyLetters), ForGangway());
  EXPECT_EQ(Told(done.findings), "E-ENV-TOO-LARGE spec.worker.replicas");
  EXPECT_THAT(TextOf(done.findings, Code::kEnvTooLarge), HasSubstr("4000: the list of their endpoints would have 3"))
      << "entries of 80 bytes";
  EXPECT_EQ(Told(Of("ps: {replicas: 2147483646, template: T}, worker: {replicas: 1, template: T}").findings),
            "E-ENV-TOO-LARGE spec.ps.replicas")
      << "and at no cost";
}

// --- elastic (6.6.1)

const std::string kElastic = "elastic: 1, worker: {replicas: 3, requests: 2, limits: 4, template: T}";
const std::string kEtcd = Annotation("elastic-etcd", "etcd.infra:2379");

TEST(TranslateTest, F29Elastic) {
  const Translation done = Of(kElastic, kEtcd);
  ASSERT_TRUE(done.ok()) << Told(done.findings);
  const auto env = EnvOf(done, "worker");
  EXPECT_EQ(Variable(env, "PADDLE_MASTER"), "etcd://Etcd.infra:2379");
  EXPECT_EQ(Variable(env, "PADDLE_NNODES"), "2:4");
  EXPECT_EQ(Variable(env, "PADDLE_JOB_ID"), "default-wd");
  EXPECT_EQ(Variable(env, "PADDLE_ELASTIC_LEVEL"), "1");
  EXPECT_EQ(Variable(env, "PADDLE_ELASTIC_TIMEOUT"), "60");
  EXPECT_EQ(Variable(env, "POD_IP"), "status.podIP");
  EXPECT_EQ(Variable(env, "PADDLE_TRAINER_ID"), "-");
  EXPECT_EQ(Variable(env, "PADDLE_TRAINER_ENDPOINTS"), "-");
  EXPECT_EQ(RestartPolicyOf(done, "worker"), "OnFailure");
  EXPECT_FALSE(PodOf(done, "worker").contains("initContainers"));
  for (const auto& policy : done.job.spec.policies) EXPECT_NE(policy.event, "PodEvicted");
}

TEST(TranslateTest, F30ElasticWithoutEtcd) {
  EXPECT_THAT(Told(Of(kElastic).findings), HasSubstr("E-ELASTIC spec.elastic"));
  TranslateOptions options = ForGangway();
  options.elastic_etcd = "etcd.infra:2379";
  EXPECT_TRUE(Of(kElastic, "", options).ok());
}

TEST(TranslateTest, E17ElasticGang) {
  const Translation done = Of(kElastic, kEtcd);
  EXPECT_EQ(done.job.spec.min_available, 2);
  EXPECT_EQ(done.job.spec.tasks[0].replicas, 3);
  EXPECT_EQ(done.job.spec.tasks[0].min_available, 2);
}

TEST(TranslateTest, ElasticOfOldPaddle) {
  const Translation done = Of(kElastic, absl::StrCat(kEtcd, ", ", Annotation("elastic-style", "legacy")));
  ASSERT_TRUE(done.ok()) << Told(done.findings);
  const auto env = EnvOf(done, "worker");
  EXPECT_EQ(Variable(env, "PADDLE_ELASTIC_SERVER"), "etcd.infra:2379");
  EXPECT_EQ(Variable(env, "PADDLE_ELASTIC_JOB_ID"), "default-wd");
  EXPECT_EQ(Variable(env, "PADDLE_ELASTIC_NP"), "2:4");
  EXPECT_EQ(Variable(env, "PADDLE_ELASTIC_TIMEOUT"), "60");
  EXPECT_EQ(Variable(env, "POD_IP"), "$(PADDLE_POD_NAME).wd");
  EXPECT_EQ(Variable(env, "PADDLE_TRAINERS"), "wd-worker-0.wd,wd-worker-1.wd,wd-worker-2.wd");
  EXPECT_EQ(Variable(env, "PADDLE_MASTER"), "-");
}

TEST(TranslateTest, ElasticOverridesTheRestartPolicy) {
  const Translation done = Of(
      "elastic: 1, worker: {replicas: 2, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}",
      kEtcd);
  EXPECT_EQ(RestartPolicyOf(done, "worker"), "OnFailure");
  EXPECT_THAT(Told(done.findings), HasSubstr("W-UNUSED spec.worker.template.spec.restartPolicy"));
}

// --- heter

TEST(TranslateTest, F31Heter) {
  const Translation done =
      Of("ps: {replicas: 2, template: T}, worker: {replicas: 2, template: T}, heter: {replicas: 2, template: G}");
  ASSERT_TRUE(done.ok()) << Told(done.findings);
  const std::string heters = "wd-heter-0.wd:36000,wd-heter-1.wd:36000";
  const auto worker = EnvOf(done, "worker"), heter = EnvOf(done, "heter");
  EXPECT_EQ(Variable(heter, "TRAINING_ROLE"), "HETER_TRAINER");
  for (const auto& env : {worker, heter}) {
    EXPECT_EQ(Variable(env, "PADDLE_ALL_HETER_TRAINER_IP_PORT_LIST"), heters);
    EXPECT_EQ(Variable(env, "PADDLE_HETER_TRAINER_IP_PORT_LIST"), heters);
    EXPECT_EQ(Variable(env, "STAGE_NUM"), "2");
    EXPECT_EQ(Variable(env, "PADDLE_STAGE_TRAINERS_NUM"), "[2, 2]");
    EXPECT_EQ(Variable(env, "PADDLE_HETER_TRAINER_DEVICE"), "gpu");
  }
  EXPECT_EQ(Variable(worker, "PADDLE_NEXT_HETER_TRAINER_IP_PORT_LIST"), heters);
  EXPECT_EQ(Variable(worker, "PADDLE_PREVIOUS_HETER_TRAINER_IP_PORT_LIST"), "");
  EXPECT_EQ(Variable(worker, "STAGE_ID"), "1");
  EXPECT_EQ(Variable(worker, "HETER_DEVICE_TYPE"), "cpu");
  EXPECT_EQ(Variable(heter, "PADDLE_PREVIOUS_HETER_TRAINER_IP_PORT_LIST"), kWorkers);
  EXPECT_EQ(Variable(heter, "STAGE_ID"), "2");
  EXPECT_EQ(Variable(heter, "HETER_DEVICE_TYPE"), "gpu");
}

// --- what cannot be kept

TEST(TranslateTest, F32FinalizersAndNames) {
  const Translation done =
      Of("worker: {replicas: 2, template: {metadata: {name: x, finalizers: [a/b], labels: {team: ads}, annotations: "
         "{note: hi}}, "
         "spec: {hostname: h, subdomain: s, containers: [{name: c, image: i}]}}}");
  EXPECT_EQ(Told(done.findings),
            "W-FINALIZERS spec.worker.template.metadata.finalizers; W-HOSTNAME spec.worker.template.spec.hostname; "
            "W-HOSTNAME spec.worker.template.spec.subdomain");
  EXPECT_EQ(
      Json(TemplateOf(done, "worker").at("metadata")),
      R"({"labels":{"team":"ads","paddle-res-type":"worker"},"annotations":{"note":"hi","paddle-resource":"worker"}})");
  EXPECT_FALSE(PodOf(done, "worker").contains("hostname"));
  EXPECT_FALSE(PodOf(done, "worker").contains("subdomain"));
}

TEST(TranslateTest, F33TheSameBytes) {
  const auto job = PaddleJobWith(absl::StrCat("withGloo: 1, intranet: Host, ", kTwoAndTwo));
  EXPECT_EQ(api::Encode(Translate(job, ForGangway()).job), api::Encode(Translate(job, ForGangway()).job));
}

std::vector<std::string> WaitedFor(const Translation& done, const std::string& task) {
  std::vector<std::string> out;
  const auto container = PodOf(done, task).at("initContainers").as_array().back().as_object();
  EXPECT_EQ(container.at("name"), "wait-dns");
  const auto& command = container.at("command").as_array();
  for (std::size_t i = 4; i < command.size(); ++i) out.emplace_back(command[i].as_string());
  return out;
}

TEST(TranslateTest, F34NamesWaitedFor) {
  EXPECT_THAT(WaitedFor(Of(kTwoAndTwo), "worker"), ElementsAre("$(PADDLE_POD_NAME).wd", "wd-ps-0.wd", "wd-ps-1.wd"));
  EXPECT_THAT(WaitedFor(Of(absl::StrCat("withGloo: 1, ", kTwoAndTwo)), "ps"),
              ElementsAre("$(PADDLE_POD_NAME).wd", "wd-ps-0.wd", "wd-ps-1.wd", "wd-worker-0.wd"));
  EXPECT_THAT(WaitedFor(Of("worker: {replicas: 2, template: T}"), "worker"),
              ElementsAre("$(PADDLE_POD_NAME).wd", "wd-worker-0.wd", "wd-worker-1.wd"));
  EXPECT_THAT(WaitedFor(Of("worker: {replicas: 33, template: T}"), "worker"),
              ElementsAre("$(PADDLE_POD_NAME).wd", "wd-worker-0.wd"))
      << "not n names in n pods";
  EXPECT_THAT(
      WaitedFor(
          Of("ps: {replicas: 1, template: T}, worker: {replicas: 1, template: T}, heter: {replicas: 2, template: T}"),
          "heter"),
      ElementsAre("$(PADDLE_POD_NAME).wd", "wd-ps-0.wd", "wd-heter-0.wd"));
}

TEST(TranslateTest, WaitingNeedsNoMoreThanThePodHas) {
  const Translation done =
      Of("worker: {replicas: 2, template: {spec: {initContainers: [{name: first, image: i}], containers: [{name: c, "
         "image: mine:1, imagePullPolicy: Never, "
         "securityContext: {runAsNonRoot: true}, resources: {limits: {cpu: 2, nvidia.com/gpu: 1}, requests: {cpu: 1, "
         "memory: 1Gi}}}]}}}");
  const auto init = PodOf(done, "worker").at("initContainers").as_array();
  ASSERT_EQ(init.size(), 2u);
  EXPECT_EQ(init[0].at("name"), "first");
  EXPECT_EQ(init[1].at("image"), "mine:1");
  EXPECT_EQ(init[1].at("imagePullPolicy"), "Never");
  EXPECT_EQ(Json(init[1].at("securityContext")), R"({"runAsNonRoot":true})");
  EXPECT_EQ(Json(init[1].at("resources")), R"({"requests":{"cpu":1,"memory":"1Gi"},"limits":{"cpu":2}})");
  EXPECT_EQ(Json(init[1].at("env")),
            R"([{"name":"PADDLE_POD_NAME","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}])");
}

TEST(TranslateTest, WaitingCanBeTurnedOffOrGivenAnImage) {
  EXPECT_FALSE(PodOf(Of(kTwoAndTwo, Annotation("wait-dns", "off")), "ps").contains("initContainers"));
  const auto init = PodOf(Of(kTwoAndTwo, Annotation("wait-dns", "busybox:1.36")), "ps").at("initContainers").as_array();
  EXPECT_EQ(init.back().at("image"), "busybox:1.36");
  const Translation own =
      Of("worker: {replicas: 2, template: {spec: {initContainers: [{name: wait-dns, image: mine}], containers: [{name: "
         "c, image: i}]}}}");
  EXPECT_EQ(PodOf(own, "worker").at("initContainers").as_array().size(), 1u) << "the user's own way";
}

// --- what users ask for that needs an answer (table C)

TEST(TranslateTest, C10GlooOfAnUnknownNumber) {
  const Translation done = Of(absl::StrCat("withGloo: 7, ", kTwoAndTwo));
  EXPECT_EQ(Told(done.findings), "W-ENUM spec.withGloo; W-GLOO2 spec.withGloo");
  EXPECT_EQ(Variable(EnvOf(done, "worker"), "PADDLE_WITH_GLOO"), "2");
  EXPECT_EQ(Told(Of(absl::StrCat("withGloo: -1, ", kTwoAndTwo)).findings), "W-ENUM spec.withGloo");
  TranslateOptions strict = ForGangway();
  strict.strict = true;
  EXPECT_THAT(Told(Of(absl::StrCat("withGloo: 7, ", kTwoAndTwo), "", strict).findings),
              StartsWith("E-ENUM spec.withGloo"));
}

// What paddle-operator draws by chance, or writes differently into one pod and into the lists of the others, is one
// fixed number here, in every pod; with the network of hosts its block begins at 21800, and no two listeners of one
// node have one port.
struct PortsCase {
  std::string name, intranet;
  int servers, workers;  // the port of each
};
class PortsTest : public ::testing::TestWithParam<PortsCase> {};
TEST_P(PortsTest, AreTheSameEverywhere) {
  const PortsCase& c = GetParam();
  const Translation done = Of(absl::StrCat("withGloo: 1, intranet: ", c.intranet, ", ", kTwoAndTwo));
  const std::string servers = absl::StrCat("wd-ps-0.wd:", c.servers, ",wd-ps-1.wd:", c.servers);
  const std::string workers = absl::StrCat("wd-worker-0.wd:", c.workers, ",wd-worker-1.wd:", c.workers);
  for (const auto& [task, port] : {std::pair("ps", c.servers), std::pair("worker", c.workers)}) {
    const auto env = EnvOf(done, task);
    EXPECT_EQ(Variable(env, "POD_IP"), "$(PADDLE_POD_NAME).wd") << "the name that the lists have";
    EXPECT_EQ(Variable(env, "PADDLE_PORT"), absl::StrCat(port));
    EXPECT_EQ(Variable(env, "PADDLE_PSERVERS_IP_PORT_LIST"), servers);
    EXPECT_EQ(Variable(env, "PADDLE_TRAINER_ENDPOINTS"), workers);
    EXPECT_EQ(Variable(env, "PADDLE_TRAINERS"), "wd-worker-0.wd,wd-worker-1.wd");
    EXPECT_EQ(Variable(env, "PADDLE_TRAINERS_NUM"), "2");
    EXPECT_EQ(Variable(env, "TRAINER_PORTS_NUM"), "20");
    EXPECT_EQ(Variable(env, "PADDLE_GLOO_HTTP_ENDPOINT"), absl::StrCat("wd-ps-0.wd:", c.servers + 18));
    if (c.intranet != "Host") continue;
    EXPECT_THAT(HostPortsOf(done, task), Contains(port)) << "which keeps two of " << task << " off one node";
  }
}
INSTANTIATE_TEST_SUITE_P(Rows, PortsTest,
                         ::testing::Values(PortsCase{"C1C2C4PodIp", "PodIP", 36000, 36000},
                                           PortsCase{"C5Service", "Service", 36000, 36000},
                                           PortsCase{"C7Host", "Host", 21800, 21820}),
                         [](const auto& c) { return c.param.name; });

TEST(TranslateTest, C3C6GlooPortByNumber) {
  const auto by_ip = EnvOf(Of(absl::StrCat("withGloo: 1, intranet: PodIP, ", kTwoAndTwo)), "worker");
  EXPECT_EQ(Variable(by_ip, "PADDLE_GLOO_HTTP_ENDPOINT"), "wd-ps-0.wd:36018");
  EXPECT_EQ(Variable(by_ip, "PADDLE_GLOO_RENDEZVOUS"), "3");
  EXPECT_EQ(Variable(by_ip, "PADDLE_WITH_GLOO"), "1");
  EXPECT_EQ(Variable(EnvOf(Of(absl::StrCat("withGloo: 2, intranet: Service, ", kTwoAndTwo)), "ps"),
                     "PADDLE_GLOO_HTTP_ENDPOINT"),
            "wd-ps-0.wd:36018");
  EXPECT_EQ(Variable(EnvOf(Of(absl::StrCat("withGloo: 2, intranet: Service, ", kTwoAndTwo)), "ps"), "PADDLE_WITH_GLOO"),
            "2");
}

TEST(TranslateTest, C8C9NoGloo) {
  const Translation without = Of("withGloo: 1, worker: {replicas: 2, template: T}");
  EXPECT_EQ(Variable(EnvOf(without, "worker"), "PADDLE_WITH_GLOO"), "-");
  EXPECT_EQ(Told(without.findings), "W-UNUSED spec.withGloo");
  EXPECT_EQ(Variable(EnvOf(Of(absl::StrCat("withGloo: 0, ", kTwoAndTwo)), "worker"), "PADDLE_WITH_GLOO"), "-");
}

TEST(TranslateTest, C11HeterIsSpeltAsTheRuntimeReadsIt) {
  const auto env =
      EnvOf(Of("ps: {replicas: 1, template: T}, worker: {replicas: 1, template: T}, heter: {replicas: 1, template: T}"),
            "heter");
  EXPECT_EQ(Variable(env, "TRAINING_ROLE"), "HETER_TRAINER");
  EXPECT_EQ(Variable(env, "PADDLE_HETER_ENDPOINTS"), "wd-heter-0.wd:36000") << "for old scripts";
}

TEST(TranslateTest, C12ElasticWorkersHaveAServerToMeetAt) {
  const auto env = EnvOf(Of("elastic: 1, worker: {replicas: 3, template: T}", kEtcd), "worker");
  EXPECT_EQ(Variable(env, "PADDLE_MASTER"), "etcd://Etcd.infra:2379");
  EXPECT_EQ(Variable(env, "PADDLE_NNODES"), "1:1000") << "no bounds: any number";
  EXPECT_EQ(Variable(env, "PADDLE_JOB_ID"), "default-wd");
  EXPECT_EQ(Variable(env, "PADDLE_ELASTIC_TIMEOUT"), "60");
  const Translation never = Of(
      "elastic: 1, worker: {replicas: 3, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}",
      kEtcd);
  EXPECT_EQ(RestartPolicyOf(never, "worker"), "OnFailure") << "even if Never was asked for";
  EXPECT_FALSE(ContainerOf(never, "worker").contains("envFrom"));
}

TEST(TranslateTest, C13ElasticZeroIsNo) {
  const Translation done = Of("elastic: 0, worker: {replicas: 3, template: T}");
  EXPECT_EQ(Told(done.findings), "W-ELASTIC0 spec.elastic");
  EXPECT_EQ(Variable(EnvOf(done, "worker"), "PADDLE_MASTER"), "-");
}

TEST(TranslateTest, C14ElasticWithoutWorkers) {
  EXPECT_THAT(Told(Of("elastic: 1").findings), HasSubstr("E-ELASTIC spec.elastic"));
}

TEST(TranslateTest, C15NoAddressIsNeeded) {
  for (const std::string& one : EnvOf(Of(kTwoAndTwo), "worker"))
    EXPECT_THAT(one, Not(HasSubstr("status.podIP"))) << "IPv6 would break at the colon";
}

TEST(TranslateTest, C16TheUsersOwnPort) {
  const Translation done = Of(WithContainer("env: [{name: PADDLE_PORT, value: \"7000\"}]"));
  EXPECT_EQ(Variable(EnvOf(done, "worker"), "PADDLE_PORT"), "7000");
  EXPECT_EQ(Told(done.findings),
            "W-ENV-RESERVED spec.worker.template.spec.containers[0].env[0].value; I-ENV-USER "
            "spec.worker.template.spec.containers[0].env[0].name");
  EXPECT_THAT(TextOf(done.findings, Code::kEnvReserved),
              HasSubstr("\"7000\": is kept, but the lists of endpoints say 36000"));
  EXPECT_EQ(Told(Of(WithContainer("env: [{name: PADDLE_PORT, value: \"36000\"}]")).findings),
            "I-ENV-USER spec.worker.template.spec.containers[0].env[0].name");
}

TEST(TranslateTest, C17WhoThePodIsIsNotTheUsersToSay) {
  const Translation done =
      Of(WithContainer("env: [{name: A, value: a}, {name: POD_IP, value: x}, {name: B, value: b}]"));
  const auto env = EnvOf(done, "worker");
  EXPECT_EQ(Variable(env, "POD_IP"), "$(PADDLE_POD_NAME).wd");
  EXPECT_THAT(env, Not(Contains("POD_IP=x")));
  EXPECT_THAT(std::vector<std::string>(env.end() - 2, env.end()), ElementsAre("A=a", "B=b"));
  EXPECT_EQ(Told(done.findings), "W-ENV-RESERVED spec.worker.template.spec.containers[0].env[1].name");
}

// POD_IP is a name, so that servers find themselves in the lists; a program that binds to it may not take one.
TEST(TranslateTest, WhatBindsToPodIpIsWarnedOf) {
  const auto told = [](const std::string& command) { return Told(Of(WithContainer(command)).findings); };
  const std::string at = "W-POD-IP spec.worker.template.spec.containers[0].";
  EXPECT_EQ(told("command: [serve, --bind, $(POD_IP)]"), at + "command[2]");
  EXPECT_EQ(told("command: [serve], args: [\"--bind=$(POD_IP):8080\", -v]"), at + "args[0]");
  EXPECT_EQ(told("command: [gunicorn, -b], args: [\"$(POD_IP):80\"]"), at + "args[0]");
  EXPECT_EQ(told("command: [sh, -c, \"exec serve --listen-address 'tcp://${POD_IP}:99'\"]"), at + "command[2]");
  EXPECT_EQ(told("command: [sh, -c, \"SERVER_BIND=$POD_IP serve\"]"), at + "command[2]");
  for (const char* const fine :
       {"command: [serve, --bind, 0.0.0.0]", "command: [launch, --current, \"$(POD_IP):36000\"]",
        "command: [serve, --bind, $(POD_IPS)]", "command: [sh, -c, \"serve --bind $POD_IP_DUMMY\"]",
        "command: [serve, --bind, all, $(POD_IP)]", "command: [serve, --bind, \"a,$(POD_IP)\"]", "command: [7]"}) {
    EXPECT_THAT(told(fine), Not(HasSubstr("W-POD-IP"))) << fine;
  }
  EXPECT_EQ(TextOf(Of(WithContainer("command: [serve, --bind, $(POD_IP)]")).findings, Code::kPodIp),
            "W-POD-IP spec.worker.template.spec.containers[0].command[2]: \"$(POD_IP)\": POD_IP is the pod's name, not "
            "its address: nothing can be bound to it before the name resolves, and not "
            "every program takes a name (bind to 0.0.0.0, or to a variable of another name with valueFrom fieldRef "
            "status.podIP)");
  const Translation elastic =
      Of("elastic: 1, worker: {replicas: 2, template: {spec: {containers: [{name: paddle, image: i, command: [serve, "
         "--bind, $(POD_IP)]}]}}}");
  EXPECT_THAT(Told(elastic.findings), Not(HasSubstr("W-POD-IP"))) << "there it is the address";
}

TEST(TranslateTest, C18HostPortsAndListsAgree) {
  const auto env = EnvOf(Of(absl::StrCat("intranet: Host, withGloo: 1, ", kTwoAndTwo)), "ps");
  EXPECT_EQ(Variable(env, "PADDLE_PSERVERS_IP_PORT_LIST"), "wd-ps-0.wd:21800,wd-ps-1.wd:21800");
  EXPECT_EQ(Variable(env, "PADDLE_PORT"), "21800");
}

// --- the end

TEST(TranslateTest, D11MisspeltCleanPolicy) {
  const Translation done = Of(absl::StrCat("cleanPodPolicy: OnFailed, ", kTwoAndTwo));
  EXPECT_EQ(Told(done.findings), "W-ENUM spec.cleanPodPolicy");
  EXPECT_EQ(TextOf(done.findings, Code::kEnumIgnored),
            "W-ENUM spec.cleanPodPolicy: \"OnFailed\": is none of Always, Never, OnFailure, OnCompletion; the pods are "
            "kept, as with Never (did you mean OnFailure?)");
  TranslateOptions strict = ForGangway();
  strict.strict = true;
  EXPECT_THAT(Told(Of(absl::StrCat("cleanPodPolicy: OnFailed, ", kTwoAndTwo), "", strict).findings),
              StartsWith("E-ENUM spec.cleanPodPolicy"));
}

TEST(TranslateTest, D12OldNameOfCleanPolicy) {
  TranslateOptions strict = ForGangway();
  strict.strict = true;
  const Translation done = Of(absl::StrCat("cleanPolicy: OnCompletion, ", kTwoAndTwo), "", strict);
  EXPECT_TRUE(done.ok());
  EXPECT_EQ(Told(done.findings), "W-DEPRECATED spec.cleanPolicy");
  EXPECT_EQ(api::Encode(done.job),
            api::Encode(Of(absl::StrCat("cleanPodPolicy: OnCompletion, ", kTwoAndTwo), "", strict).job));
  EXPECT_THAT(Told(Of(absl::StrCat("cleanPolicy: OnFailed, ", kTwoAndTwo)).findings),
              HasSubstr("W-ENUM spec.cleanPolicy"))
      << "it is read";
}

TEST(TranslateTest, AJobAloneCannotClean) {
  const TranslateOptions alone{.target = Target::kGangway};
  EXPECT_EQ(Told(Of(absl::StrCat("cleanPodPolicy: Never, ", kTwoAndTwo), "", alone).findings),
            "W-CLEAN spec.cleanPodPolicy");
  EXPECT_EQ(Told(Of(kTwoAndTwo, "", alone).findings), "");
  const Translation ttl = Of(absl::StrCat("cleanPodPolicy: Always, ", kTwoAndTwo), Annotation("ttl", "60"), alone);
  EXPECT_EQ(Told(ttl.findings), "");
  EXPECT_EQ(ttl.job.spec.ttl_seconds_after_finished, 60);
}

// --- the gang (table E)

TEST(TranslateTest, E10PriorityClass) {
  const Translation done = Of(absl::StrCat("schedulingPolicy: {priorityClass: high}, ", kTwoAndTwo));
  EXPECT_EQ(done.job.spec.priority_class_name, "high");
  EXPECT_EQ(Told(done.findings), "I-PRIORITY spec.schedulingPolicy.priorityClass");
  const auto group = lifecycle::WantedPodGroupSpec(done.job.spec, {{"high", 1000}}, {});
  ASSERT_TRUE(group.ok()) << group.status();
  EXPECT_EQ(group->priority_class_name, "high");
  for (const api::volcano::TaskSpec& task : done.job.spec.tasks) {
    const auto pods = lifecycle::PodDocument::Make(done.job, task, {}, {});
    ASSERT_TRUE(pods.ok()) << pods.status();
    EXPECT_EQ(api::ParseJson(pods->ForIndex(0))->at("spec").at("priorityClassName"), "high") << task.name;
  }
}

TEST(TranslateTest, E13AnotherScheduler) {
  const std::string spec =
      "ps: {replicas: 1, template: {spec: {schedulerName: default-scheduler, containers: [{name: c, image: i}]}}}, "
      "worker: {replicas: 2, template: T}";
  EXPECT_EQ(Told(Of(spec).findings), "E-SCHEDULER spec.ps.template.spec.schedulerName");
  const Translation any = Of(spec, Annotation("scheduler", "any"));
  EXPECT_EQ(any.job.spec.scheduler_name, "default-scheduler");
  EXPECT_FALSE(PodOf(any, "ps").contains("schedulerName"));
  const Translation usual =
      Of("worker: {replicas: 2, template: {spec: {schedulerName: volcano, containers: [{name: c, image: i}]}}}");
  EXPECT_EQ(Told(usual.findings), "");
  EXPECT_EQ(usual.job.spec.scheduler_name, "volcano");
  EXPECT_THAT(Told(Of("ps: {replicas: 1, template: {spec: {schedulerName: a, containers: [{name: c, image: i}]}}}, "
                      "worker: {replicas: 1, template: {spec: {schedulerName: b, containers: [{name: c, image: i}]}}}",
                      Annotation("scheduler", "any"))
                       .findings),
              HasSubstr("E-SCHEDULER spec.worker.template.spec.schedulerName"));
}

TEST(TranslateTest, E14SchedulingPolicyCounts) {
  const Translation done =
      Of(absl::StrCat("schedulingPolicy: {queue: ads, minAvailable: 3, minResources: {cpu: 8}}, ", kTwoAndTwo));
  EXPECT_EQ(done.job.spec.queue, "ads");
  EXPECT_EQ(done.job.spec.min_available, 3);
  EXPECT_EQ(done.job.spec.tasks[1].min_available, 1);
  EXPECT_EQ(Told(done.findings),
            "W-PARTIAL-GANG spec.schedulingPolicy.minAvailable; W-MIN-RESOURCES spec.schedulingPolicy.minResources");
}

TEST(TranslateTest, E15ThreeRoles) {
  const Translation done =
      Of("ps: {replicas: 3, template: T}, worker: {replicas: 2, template: T}, heter: {replicas: 1, template: T}");
  const auto group = lifecycle::WantedPodGroupSpec(done.job.spec, {}, {});
  ASSERT_TRUE(group.ok());
  EXPECT_EQ(group->min_member, 6);
  EXPECT_EQ(group->min_task_member, (std::map<std::string, std::int32_t>{{"ps", 3}, {"worker", 2}, {"heter", 1}}));
}

TEST(TranslateTest, E18PodGroupWrittenByHand) {
  TranslateOptions options = ForGangway();
  options.group = HandMadeGroup{.name = "wd", .min_member = 4, .queue = "ads"};
  const Translation done = Of(kTwoAndTwo, "", options);
  EXPECT_EQ(done.job.spec.min_available, 4);
  EXPECT_EQ(done.job.spec.queue, "ads");
  EXPECT_THAT(Told(done.findings), HasSubstr("W-PG-DROPPED metadata.name"));
}

TEST(TranslateTest, WaitingChangesNothingOfWhatTheGangNeeds) {
  const std::string spec =
      "worker: {replicas: 2, template: {spec: {containers: [{name: c, image: i, resources: {limits: {cpu: 2, "
      "nvidia.com/gpu: 1}}}, {name: d, image: i}]}}}";
  const auto needs = [](const Translation& done) {
    std::string out;
    const auto group = lifecycle::WantedPodGroupSpec(done.job.spec, {}, {});
    if (!group.ok()) return group.status().ToString();
    for (const auto& [name, amount] : group->min_resources) absl::StrAppend(&out, name, " ", amount.ToString(), ", ");
    return out;
  };
  EXPECT_EQ(needs(Of(spec)), needs(Of(spec, Annotation("wait-dns", "off"))));
  EXPECT_THAT(needs(Of(spec)), HasSubstr("nvidia.com/gpu 2"));
}

TEST(TranslateTest, Queues) {
  EXPECT_EQ(Of(kTwoAndTwo).job.spec.queue, "default");
  TranslateOptions options = ForGangway();
  options.namespace_queue = "research";
  EXPECT_EQ(Of(kTwoAndTwo, "", options).job.spec.queue, "research");
  EXPECT_EQ(Of(absl::StrCat("schedulingPolicy: {queue: ads}, ", kTwoAndTwo), "", options).job.spec.queue, "ads");
  EXPECT_EQ(Told(Of(absl::StrCat("schedulingPolicy: {queue: root}, ", kTwoAndTwo)).findings),
            "E-QUEUE spec.schedulingPolicy.queue");
  EXPECT_EQ(Told(Of(absl::StrCat("schedulingPolicy: {queue: A_B}, ", kTwoAndTwo)).findings),
            "E-QUEUE spec.schedulingPolicy.queue");
}

// --- the rest

TEST(TranslateTest, UnknownIntranet) {
  const Translation done = Of(absl::StrCat("intranet: service, ", kTwoAndTwo));
  EXPECT_EQ(
      TextOf(done.findings, Code::kEnumIgnored),
      "W-ENUM spec.intranet: \"service\": is none of PodIP, Service, Host; PodIP is taken (did you mean Service?)");
  EXPECT_EQ(RestartPolicyOf(done, "worker"), "Never");
}

TEST(TranslateTest, Metadata) {
  const auto job = PaddleJobWith(
      kTwoAndTwo,
      "name: wd, labels: {team: ads}, annotations: {note: x, kubectl.kubernetes.io/last-applied-configuration: z}, "
      "finalizers: [a/b], resourceVersion: \"7\", uid: u");
  const api::ObjectMeta metadata = Translate(job, ForGangway()).job.metadata;
  EXPECT_EQ(metadata.labels, (std::map<std::string, std::string>{{"team", "ads"}}));
  EXPECT_EQ(metadata.annotations, (std::map<std::string, std::string>{{"note", "x"}}));
  EXPECT_TRUE(metadata.finalizers.empty() && metadata.uid.empty() && metadata.resource_version.empty() &&
              metadata.ns.empty());
}

TEST(TranslateTest, SampleSet) {
  const Translation done = Of(absl::StrCat("sampleSetRef: {name: clicks, mountPath: /data}, ", kTwoAndTwo));
  EXPECT_EQ(Told(done.findings), "W-SAMPLESET spec.sampleSetRef");
  EXPECT_EQ(Json(PodOf(done, "worker").at("volumes")),
            R"([{"name":"sample-set","persistentVolumeClaim":{"claimName":"clicks"}}])");
  EXPECT_EQ(Json(ContainerOf(done, "worker").at("volumeMounts")), R"([{"name":"sample-set","mountPath":"/data"}])");
  EXPECT_FALSE(PodOf(done, "ps").contains("volumes"));
  EXPECT_EQ(Told(Of(absl::StrCat("sampleSetRef: {name: clicks, namespace: default, mountPath: /data}, ", kTwoAndTwo))
                     .findings),
            "W-SAMPLESET spec.sampleSetRef")
      << "its own";
  const Translation taken =
      Of("sampleSetRef: {name: clicks, mountPath: /data}, worker: {replicas: 1, template: {spec: {volumes: [{name: "
         "sample-set, emptyDir: {}}], containers: [{name: c, image: i}]}}}");
  EXPECT_EQ(
      Json(PodOf(taken, "worker").at("volumes")),
      R"([{"name":"sample-set","emptyDir":{}},{"name":"sample-set-x","persistentVolumeClaim":{"claimName":"clicks"}}])");
  EXPECT_EQ(Json(ContainerOf(taken, "worker").at("volumeMounts")), R"([{"name":"sample-set-x","mountPath":"/data"}])");
  EXPECT_EQ(Told(Of(absl::StrCat("sampleSetRef: {name: \"\", mountPath: \"\"}, ", kTwoAndTwo)).findings),
            "E-REFUSED spec.sampleSetRef.mountPath; E-REFUSED spec.sampleSetRef.name; W-SAMPLESET spec.sampleSetRef");
  const Translation elsewhere =
      Of(absl::StrCat("sampleSetRef: {name: clicks, namespace: other, mountPath: /data}, ", kTwoAndTwo));
  EXPECT_EQ(Told(elsewhere.findings), "W-SAMPLESET spec.sampleSetRef.namespace");
  EXPECT_FALSE(PodOf(elsewhere, "worker").contains("volumes"));
}

TEST(TranslateTest, SharedMemory) {
  const std::string gpus =
      "worker: {replicas: 2, template: {spec: {containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: "
      "4}}}]}}}";
  EXPECT_EQ(Told(Of(gpus).findings), "W-SHM spec.worker.template.spec.containers[0].volumeMounts");
  EXPECT_EQ(Told(Of("worker: {replicas: 2, template: G}").findings), "");
  EXPECT_EQ(Told(Of("ps: {replicas: 1, template: T}, " + gpus).findings), "") << "servers and workers share nothing";
}

TEST(TranslateTest, SidecarsThatANamespaceInjects) {
  TranslateOptions options = ForGangway();
  options.sidecars = true;
  const Translation done = Of("worker: {replicas: 2, template: T}", "", options);
  EXPECT_EQ(Told(done.findings), "W-ISTIO spec.worker.template.metadata.annotations");
  EXPECT_EQ(TemplateOf(done, "worker").at("metadata").at("annotations").at("sidecar.istio.io/inject"), "false");
  EXPECT_EQ(TemplateOf(done, "worker").at("metadata").at("labels").at("sidecar.istio.io/inject"), "false");
  const auto told = [&](const std::string& wish) {
    return Told(Of(absl::StrCat("worker: {replicas: 2, template: {metadata: {annotations: {sidecar.istio.io/inject: \"",
                                wish, "\"}}, spec: {containers: [{name: c, image: i}]}}}"),
                   "", options)
                    .findings);
  };
  EXPECT_EQ(told("false"), "");
  EXPECT_EQ(told("true"), "W-ISTIO spec.worker.template.metadata");
  const Translation label =
      Of("worker: {replicas: 2, template: {metadata: {labels: {sidecar.istio.io/inject: \"true\"}}, spec: {containers: "
         "[{name: c, image: i}]}}}");
  EXPECT_EQ(Told(label.findings), "W-ISTIO spec.worker.template.metadata")
      << "as Istio of today reads it; whatever the namespace says";
  EXPECT_EQ(TemplateOf(label, "worker").at("metadata").at("labels").at("sidecar.istio.io/inject"), "true")
      << "it is the user's to say";
}

TEST(TranslateTest, SelectorsOfSinglePods) {
  const Translation done =
      Of("worker: {replicas: 2, template: {spec: {affinity: {podAntiAffinity: "
         "{requiredDuringSchedulingIgnoredDuringExecution: "
         "[{topologyKey: h, labelSelector: {matchExpressions: [{key: paddle-res-name, operator: Exists}]}}]}}, "
         "containers: [{name: c, image: i}]}}}");
  EXPECT_EQ(Told(done.findings), "W-LABEL spec.worker.template.spec.affinity");
  const Translation others =
      Of("worker: {replicas: 2, template: {spec: {affinity: {podAntiAffinity: "
         "{requiredDuringSchedulingIgnoredDuringExecution: "
         "[{topologyKey: h, labelSelector: {matchExpressions: [{key: team, operator: In, values: [ads]}]}}]}}, "
         "containers: [{name: c, image: i}]}}}");
  EXPECT_EQ(Told(others.findings), "") << "these labels the pods have as before";
}

TEST(TranslateTest, PodServices) {
  const Translation done = Of(kTwoAndTwo, Annotation("per-pod-services", "on"));
  ASSERT_EQ(done.before.size(), 4u);
  EXPECT_EQ(done.before[2].name, "wd-worker-0");
  EXPECT_EQ(done.before[2].resource, &api::kServices);
  const auto service = api::ParseJson(done.before[2].json).value();
  EXPECT_EQ(Json(service.at("spec").at("selector")),
            R"({"volcano.sh/job-name":"wd","volcano.sh/task-spec":"worker","volcano.sh/task-index":"0"})");
  EXPECT_EQ(service.at("spec").at("clusterIP"), "None");
  EXPECT_EQ(service.at("spec").at("ports").as_array().size(), 20u);
  EXPECT_EQ(Json(service.at("spec").at("ports").at(19)), R"({"name":"p-19","port":36019})");
  EXPECT_EQ(Told(Of("elastic: 1, worker: {replicas: 20000, template: T}",
                    absl::StrCat(kEtcd, ", ", Annotation("per-pod-services", "on")))
                     .findings)
                .substr(0, 9),
            "E-REFUSED");
}

TEST(TranslateTest, EndpointsAreNames) {
  EXPECT_THAT(Told(Of(kTwoAndTwo, Annotation("endpoints", "ip")).findings),
              HasSubstr("E-IP metadata.annotations[paddle.gangway.io/endpoints]"));
}

TEST(TranslateTest, EntryInPlaceOfTheOldScript) {
  const Translation done =
      Of(WithContainer("command: [paddle_k8s, start_fluid], env: [{name: ENTRY, value: python ctr.py}]"),
         Annotation("run-entry", "on"));
  ASSERT_TRUE(done.ok()) << Told(done.findings);
  EXPECT_THAT(Json(ContainerOf(done, "worker").at("command")), HasSubstr("$ENTRY"));
}

TEST(TranslateTest, TemplatesThatNoClusterTakes) {
  const auto told = [](const std::string& worker) {
    return Told(Of(absl::StrCat("ps: {replicas: 1, template: T}, worker: {replicas: 2", worker, "}")).findings);
  };
  EXPECT_EQ(told(""), "E-NO-CONTAINER spec.worker.template");
  EXPECT_EQ(told(", template: {}"), "E-NO-CONTAINER spec.worker.template.spec.containers");
  EXPECT_EQ(told(", template: {spec: {containers: []}}"), "E-NO-CONTAINER spec.worker.template.spec.containers");
  EXPECT_THAT(told(", template: {spec: {containers: [1]}}"),
              StartsWith("E-REFUSED spec.worker.template.spec.containers[0]"));
  EXPECT_EQ(told(", template: {spec: {containers: [{name: C, image: i}]}}"),
            "E-REFUSED spec.worker.template.spec.containers[0].name");
  EXPECT_EQ(told(", template: {spec: {restartPolicy: Sometimes, containers: [{name: c, image: i, env: [{name: A, "
                 "value: 1}]}]}}"),
            "E-REFUSED spec.worker.template.spec.containers[0].env[0].value; E-REFUSED "
            "spec.worker.template.spec.restartPolicy");
}

TEST(TranslateTest, AllThatIsWrongIsTold) {
  const Translation done =
      Translate(PaddleJobWith("schedulingPolicy: {queue: root}, ps: {replicas: 1}, worker: {replicas: 1, template: "
                              "{spec: {schedulerName: x, containers: [{name: c, image: i}]}}}",
                              "name: 1job"),
                ForGangway());
  EXPECT_EQ(Told(done.findings),
            "E-NAME metadata.name; E-NO-CONTAINER spec.ps.template; E-QUEUE spec.schedulingPolicy.queue; E-SCHEDULER "
            "spec.worker.template.spec.schedulerName");
}

TEST(TranslateTest, EveryFieldsWay) {
  TranslateOptions options{.group = HandMadeGroup{.name = "wd", .min_member = 4}, .explain = true};
  const auto job =
      PaddleJobWith(absl::StrCat("cleanPodPolicy: Always, schedulingPolicy: {queue: ads, priorityClass: high, "
                                 "minAvailable: 4, minResources: {cpu: 1}}, intranet: Host, withGloo: 1, elastic: 0, "
                                 "sampleSetRef: {name: s, mountPath: /d}, heter: {replicas: 0, template: T}, ",
                                 kTwoAndTwo),
                    "name: wd, labels: {a: b}, annotations: {x: z, " + Annotation("ttl", "60") + "}");
  const Translation done = Translate(job, options);
  ASSERT_TRUE(done.ok()) << Told(done.findings);
  std::string from;
  for (const Step& step : done.steps) {
    EXPECT_FALSE(step.to.empty() && step.why.empty()) << step.from;
    if (!step.from.empty()) absl::StrAppend(&from, step.from, " -> ", step.to, "\n");
  }
  EXPECT_EQ(from, R"(metadata.name -> metadata.name
metadata.labels -> metadata.labels
metadata.annotations[paddle.gangway.io/ttl] -> spec.ttlSecondsAfterFinished
metadata.annotations[x] -> metadata.annotations[x]
spec.cleanPodPolicy -> 
spec.schedulingPolicy.minAvailable -> spec.minAvailable
spec.schedulingPolicy.queue -> spec.queue
spec.schedulingPolicy.priorityClass -> spec.priorityClassName
spec.schedulingPolicy.minResources -> 
spec.intranet -> spec.tasks[*].template.spec.hostNetwork
spec.withGloo -> env PADDLE_WITH_GLOO, PADDLE_GLOO_RENDEZVOUS, PADDLE_GLOO_HTTP_ENDPOINT
spec.sampleSetRef -> spec.tasks[worker].template.spec.volumes
spec.ps.replicas -> spec.tasks[0].replicas
spec.ps.template -> spec.tasks[0].template
spec.worker.replicas -> spec.tasks[1].replicas
spec.worker.template -> spec.tasks[1].template
spec.heter.replicas -> 
spec.elastic -> 
podgroup wd -> 
)");
  EXPECT_TRUE(Translate(job, {}).steps.empty());
}

}  // namespace
}  // namespace gangway::convert
