// Real PaddlePaddle, 2.6.2 for CPUs, trains in the embedded cluster whose containers are processes: what is translated
// for it is what it reads. The package is installed by scripts/install-paddle, outside of the repository; where it
// cannot be had everything here is skipped.
//
// Beside one job of parameter servers (20 s) all is left to a long run.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "api/kinds/kinds.h"
#include "api/manifest/manifest.h"
#include "api/paddle_resources.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/process/process.h"
#include "tests/sandbox/process/process_cluster.h"
#include "tests/testing/long_test.h"

namespace gangway::sandbox {
namespace {

namespace json = boost::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testutil::Eventually;
using testutil::RunProgram;

constexpr std::chrono::seconds kTraining{900};  // also where many others are at work

// The folder of PaddlePaddle; "" with the reason in `why` when there is none.
std::string PaddleFolder(const std::string& version, std::string* why) {
  const testutil::Outcome outcome = RunProgram({GW_SOURCE_DIR "/scripts/install-paddle", version});
  *why = outcome.err;
  return outcome.exit_code == 0 ? std::string(absl::StripSuffix(outcome.out, "\n")) : std::string();
}

class RealPaddleTest : public ProcessCluster {
 protected:
  bool StartPaddle(const std::string& version = "2.6.2") {
    python_ = PaddleFolder(version, &why_);
    return !python_.empty() && Start(false, {{"*", python_, true}});
  }
  std::string ExampleText(const std::string& file) {
    return testutil::ReadFile(absl::StrCat(GW_SOURCE_DIR "/examples/train/", file));
  }
  // All objects of a file.
  void Apply(const std::string& text) {
    const auto documents = api::ReadManifest(text, "file");
    ASSERT_TRUE(documents.ok()) << documents.status();
    for (const api::ManifestDocument& document : *documents) {
      const api::Resource* const resource = api::FindKind(document.api_version, document.kind);
      ASSERT_NE(resource, nullptr) << document.kind;
      Make(api::PathOf(*resource, "default"), document.json);
    }
  }
  std::string At(const api::Resource& resource, const std::string& name, const char* pointer) {
    const kube::Response reply = Ask("GET", api::PathOf(resource, "default", name));
    if (!reply.ok()) return "";
    const json::value object = *api::ParseJson(*reply.body);
    boost::system::error_code error;
    const json::value* const at = object.find_pointer(pointer, error);
    return at == nullptr ? "" : at->is_string() ? std::string(at->as_string()) : api::ToJson(*at);
  }
  std::string JobPhase(const std::string& name) { return At(api::kJobs, name, "/status/state/phase"); }
  bool JobBecomes(const std::string& name, const std::string& phase) {
    return Eventually([&] { return JobPhase(name) == phase; }, kTraining);
  }
  // What every container of the job has written, for a test that fails.
  std::string Everything() {
    std::string out;
    const json::value pods = *api::ParseJson(*Ask("GET", api::PathOf(api::kPods, "default")).body);
    for (const json::value& pod : pods.at("items").as_array()) {
      const std::string name = json::value_to<std::string>(pod.at("metadata").at("name"));
      absl::StrAppend(&out, "--- ", name, " ", api::ToJson(pod.at("status")), "\n", Log(name));
    }
    return out;
  }
  std::vector<std::string> PodNames() {
    std::vector<std::string> out;
    const json::value pods = *api::ParseJson(*Ask("GET", api::PathOf(api::kPods, "default")).body);
    for (const json::value& pod : pods.at("items").as_array())
      out.push_back(json::value_to<std::string>(pod.at("metadata").at("name")));
    return out;
  }
  // Of the line "done: loss A -> B".
  static std::optional<std::pair<double, double>> Losses(const std::string& log) {
    for (absl::string_view line : absl::StrSplit(log, '\n')) {
      if (!absl::ConsumePrefix(&line, "done: loss ")) continue;
      const std::vector<absl::string_view> parts = absl::StrSplit(line, " -> ");
      std::pair<double, double> out;
      if (parts.size() == 2 && absl::SimpleAtod(parts[0], &out.first) && absl::SimpleAtod(parts[1], &out.second))
        return out;
    }
    return std::nullopt;
  }
  // The job is Completed, both workers saw their loss fall, and the servers went.
  void ExpectTrained(const std::string& job, const std::string& worker = "worker") {
    ASSERT_TRUE(JobBecomes(job, "Completed")) << JobPhase(job) << "\n" << Everything();
    for (const int index : {0, 1}) {
      const std::string pod = absl::StrCat(job, "-", worker, "-", index);
      EXPECT_EQ(Phase(pod), "Succeeded");
      const auto losses = Losses(Log(pod));
      ASSERT_TRUE(losses.has_value()) << Log(pod);
      EXPECT_LT(losses->second, losses->first);
      EXPECT_NEAR(losses->second, AloneLoss(), 0.25) << Log(pod);
    }
    EXPECT_THAT(PodNames(), Not(::testing::Contains(HasSubstr("-ps-")))) << "servers stay";
  }
  // Where the same model ends when one process trains it, on as many batches as each worker.
  double AloneLoss() {
    if (!alone_.has_value()) {
      const std::string code = temporary_.path() + "/train.py";
      const auto documents = api::ReadManifest(ExampleText("ctr-ps.yaml"), "ps.yaml");
      for (const api::ManifestDocument& document : *documents) {
        if (document.kind != "ConfigMap") continue;
        testutil::WriteFile(code,
                            json::value_to<std::string>(api::ParseJson(document.json)->at("data").at("train.py")));
      }
      const testutil::Outcome outcome = RunProgram({python_ + "/bin/python", code}, {"STEPS=400"});
      const auto losses = Losses(outcome.out);
      EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
      alone_ = losses.has_value() ? losses->second : 1e9;
    }
    return *alone_;
  }

  std::string python_;
  std::optional<double> alone_;
};

// What is said of one program is true of both.
TEST(CheckpointExampleTest, ItsProgramIsThatOfTheParameterServers) {
  const auto program = [](const std::string& file) {
    const std::string text = testutil::ReadFile(absl::StrCat(GW_SOURCE_DIR "/examples/", file));
    return text.substr(text.find("data:\n  train.py: |\n"));
  };
  EXPECT_EQ(program("ctr-volcano-pvc.yaml"), program("train/ctr-ps.yaml"));
}

#define PADDLE_OR_SKIP(...) \
  if (!StartPaddle(__VA_ARGS__)) GTEST_SKIP() << why_

TEST_F(RealPaddleTest, ParameterServersTrain) {
  PADDLE_OR_SKIP();
  Apply(ExampleText("ctr-ps.yaml"));
  ExpectTrained("ctr");
}

// What a hand-written Job of the plugin paddle keeps on a claim: examples/ctr-volcano-pvc.yaml.
class RealCheckpointTest : public RealPaddleTest {
 protected:
  static constexpr char kJob[] = "ctr-volcano-pvc";
  // With more checkpoints than the example has, so that there is one in the middle.
  std::string Text(std::vector<std::pair<std::string, std::string>> env = {}) {
    std::string more;
    for (const auto& [name, value] : env)
      absl::StrAppend(&more, "\n                - {name: ", name, ", value: \"", value, "\"}");
    constexpr absl::string_view kPlace = "- {name: CHECKPOINTS, value: /model}";
    return absl::StrReplaceAll(testutil::ReadFile(GW_SOURCE_DIR "/examples/ctr-volcano-pvc.yaml"),
                               {{kPlace, absl::StrCat(kPlace, more)},
                                {"CHECKPOINT_EVERY, value: \"100\"", "CHECKPOINT_EVERY, value: \"50\""}});
  }
  std::string Kept(const std::string& file) {
    const std::string path = absl::StrCat(temporary_.path(), "/claims/default/ctr-model/", file);
    return std::filesystem::exists(path) ? testutil::ReadFile(path) : std::string();
  }
  std::string Version() { return At(api::kJobs, kJob, "/status/version"); }
  bool Trains() {
    return Eventually([&] { return !Kept("steps").empty(); }, kTraining);
  }
  void ExpectResumedAndKept() {
    ASSERT_TRUE(JobBecomes(kJob, "Completed")) << JobPhase(kJob) << "\n" << Everything();
    EXPECT_EQ(At(api::kJobs, kJob, "/status/retryCount"), "1") << Everything();
    for (const int index : {0, 1}) {
      const std::string log = Log(absl::StrCat(kJob, "-trainer-", index));
      EXPECT_THAT(log, AllOf(HasSubstr(absl::StrCat("worker ", index, " begins at step ")),
                             Not(HasSubstr("begins at step 0\n"))));
      const auto losses = Losses(log);
      ASSERT_TRUE(losses.has_value()) << log;
      EXPECT_NEAR(losses->second, AloneLoss(), 0.25) << log;
    }
    EXPECT_EQ(Kept("steps"), "400");
  }
};

TEST_F(RealCheckpointTest, TheModelIsOnTheClaimAndServed) {
  GW_LONG_TEST();
  PADDLE_OR_SKIP();
  Apply(Text());
  ExpectTrained(kJob, "trainer");
  EXPECT_EQ(Kept("steps"), "400");
  EXPECT_TRUE(std::filesystem::is_directory(temporary_.path() + "/claims/default/ctr-model/model-400"));
  // The in-cluster way, by the Service's name.
  MakePod("asks", absl::StrCat(R"(,"containers":[{"name":"main","image":"x","command":["python","-c",)",
                               api::JsonString("import time, urllib.request\n"
                                               "for i in range(300):\n"
                                               "  try:\n"
                                               "    print(urllib.request.urlopen('http://ctr-model:8080/steps').read()"
                                               ".decode()); break\n"
                                               "  except OSError: time.sleep(0.1)\n"),
                               "]}]"));
  EXPECT_EQ(End("asks"), "Succeeded");
  EXPECT_EQ(Log("asks"), "400\n");
}

TEST_F(RealCheckpointTest, AWorkerThatFailsRestartsTheGangWhichGoesOn) {
  GW_LONG_TEST();
  PADDLE_OR_SKIP();
  Apply(Text({{"FAIL_AT", "1:60"}, {"STEP_SLEEP", "0.02"}}));
  ExpectResumedAndKept();
}

TEST_F(RealCheckpointTest, AServerThatIsEvictedDoesToo) {
  GW_LONG_TEST();
  PADDLE_OR_SKIP();
  Apply(Text({{"STEP_SLEEP", "0.02"}}));
  ASSERT_TRUE(Trains()) << Everything();
  const std::string server = absl::StrCat(kJob, "-pserver-0");
  const kube::Response reply = Ask("POST", api::PathOf(api::kPods, "default", server) + "/eviction",
                                   absl::StrCat(R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":")",
                                                server, R"(","namespace":"default"}})"));
  ASSERT_TRUE(reply.ok()) << *reply.body;
  ExpectResumedAndKept();
}

TEST_F(RealCheckpointTest, AJobDeletedInTheMiddleLeavesItsClaim) {
  GW_LONG_TEST();
  PADDLE_OR_SKIP();
  Apply(Text({{"STEP_SLEEP", "0.05"}}));
  ASSERT_TRUE(Trains()) << Everything();
  Ask("DELETE", api::PathOf(api::kJobs, "default", kJob));
  ASSERT_TRUE(Eventually(
      [&] {
        const std::vector<std::string> pods = PodNames();
        return std::none_of(pods.begin(), pods.end(),
                            [](const std::string& pod) { return absl::StartsWith(pod, kJob); });
      },
      kTraining))
      << Everything();
  EXPECT_FALSE(Kept("steps").empty());
}

// examples/train/linear-elastic.yaml with a real etcd, that of the control plane of other tests.
class RealElasticTest : public RealPaddleTest {
 protected:
  static std::string EtcdProgram() {
    const char* const folder = std::getenv("GW_E2E_BIN");
    return absl::StrCat(folder == nullptr ? GW_SOURCE_DIR "/build/e2e/bin" : folder, "/etcd");
  }
  std::string Text(const std::string& packages) {
    return absl::StrReplaceAll(
        ExampleText("linear-elastic.yaml"),
        {{"{name: STEPS, value: \"400\"}",
          "{name: STEPS, value: \"1000000\"}\n"
          "              - {name: PYTHONPATH, value: /etcd3}"},
         {"- {name: code, mountPath: /code}",
          "- {name: code, mountPath: /code}\n"
          "              - {name: etcd3, mountPath: /etcd3}"},
         {"          - name: code\n", absl::StrCat("          - name: etcd3\n            hostPath: {path: ", packages,
                                                   "}\n          - name: code\n")}});
  }
  std::string ModelFile(const std::string& name) {
    return absl::StrCat(temporary_.path(), "/claims/default/elastic-model/", name);
  }
  std::string History() {
    return std::filesystem::exists(ModelFile("history")) ? testutil::ReadFile(ModelFile("history")) : std::string();
  }
  // How many lines "worker RANK of SIZE begins at step STEP" there are with such a beginning, and a checkpoint or none.
  int Beginnings(int size, bool resumed) {
    int count = 0;
    for (const absl::string_view line : absl::StrSplit(History(), '\n')) {
      if (!absl::StrContains(line, absl::StrCat(" of ", size, " begins at step "))) continue;
      count += absl::EndsWith(line, " 0") ? !resumed : resumed;
    }
    return count;
  }
  bool Begin(int size, bool resumed) {
    return Eventually([&] { return Beginnings(size, resumed) == size; }, kTraining);
  }
  void Scale(int replicas) {
    kube::Request request;
    request.method = "PATCH";
    request.path = api::PathOf(api::paddle::kPaddleJobs, "default", "elastic");
    request.content_type = "application/merge-patch+json";
    request.body = absl::StrCat(R"({"spec":{"worker":{"replicas":)", replicas, "}}}");
    const kube::Response reply = thread_.Run([&] { return cluster_->api_server().Handle(request, {"user"}); });
    ASSERT_TRUE(reply.ok()) << *reply.body;
  }
};

TEST_F(RealElasticTest, AWorkerJoinsAndLeavesAndTheTrainingGoesOn) {
  GW_LONG_TEST();
  if (!std::filesystem::exists(EtcdProgram())) GTEST_SKIP() << EtcdProgram() << " is not there";
  const std::string packages = PaddleFolder("etcd3", &why_);
  if (packages.empty()) GTEST_SKIP() << why_;
  PADDLE_OR_SKIP();
  Apply(absl::StrReplaceAll(testutil::ReadFile(GW_SOURCE_DIR "/examples/etcd.yaml"),
                            {{"            - etcd\n", absl::StrCat("            - ", EtcdProgram(), "\n")}}));
  Apply(Text(packages));
  ASSERT_TRUE(Begin(2, false)) << History() << Everything();
  ASSERT_TRUE(Eventually([&] { return std::filesystem::exists(ModelFile("linear.pdparams")); }, kTraining));
  Scale(3);
  ASSERT_TRUE(Begin(3, true)) << History() << Everything();
  Scale(2);
  ASSERT_TRUE(Begin(2, true)) << History() << Everything();
  testutil::WriteFile(ModelFile("enough"), "");
  ASSERT_TRUE(JobBecomes("elastic", "Completed")) << JobPhase("elastic") << "\n" << History() << Everything();
  EXPECT_THAT(History(), AllOf(HasSubstr("worker 0 of 2 is done: loss "), HasSubstr("worker 1 of 2 is done: loss ")));
  EXPECT_THAT(At(api::paddle::kPaddleJobs, "elastic", "/status/restarts"), ::testing::AnyOf("", "0"))
      << "the job itself does not restart";
}

constexpr char kHeterJob[] = R"(
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {name: het}
spec:
  ps: &role
    replicas: 1
    template:
      spec:
        terminationGracePeriodSeconds: 1
        containers:
          - name: paddle
            image: x
            command: [python, /code/role.py]
            volumeMounts: [{name: code, mountPath: /code}, {name: said, mountPath: /said}]
        volumes: [{name: code, configMap: {name: het-code}}, {name: said, persistentVolumeClaim: {claimName: said}}]
  worker: *role
  heter: *role
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: said}
spec: {accessModes: [ReadWriteMany], resources: {requests: {storage: 1Gi}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: het-code}
data:
  role.py: |
    import os, time
    import paddle
    from paddle.distributed import fleet
    paddle.enable_static()
    fleet.init()
    maker = fleet.fleet._role_maker
    who = "server" if fleet.is_server() else "heter" if maker._is_heter_worker() else "worker"
    with open("/said/.%s" % who, "w") as said:
        said.write("%s: heter mode %s, stage %d of %d, heter workers %s" % (
            who, maker._is_heter_parameter_server_mode, maker._get_stage_id(), maker._get_num_stage(),
            ",".join(maker._get_heter_worker_endpoints())))
    os.rename("/said/.%s" % who, "/said/%s" % who)
    while not all(os.path.exists("/said/%s" % other) for other in ("server", "heter", "worker")):
        time.sleep(0.1)
)";

// Its programs train nothing with 2.6.2 (docs/paddle-versions.md).
TEST_F(RealPaddleTest, RolesOfAHeterJobKnowThemselves) {
  GW_LONG_TEST();
  PADDLE_OR_SKIP();
  Apply(kHeterJob);
  ASSERT_TRUE(JobBecomes("het", "Completed")) << JobPhase("het") << "\n" << Everything();
  const auto said = [&](const char* role) {
    return testutil::ReadFile(absl::StrCat(temporary_.path(), "/claims/default/said/", role));
  };
  EXPECT_THAT(said("server"), HasSubstr("heter mode True"));
  EXPECT_EQ(said("worker"), "worker: heter mode True, stage 1 of 2, heter workers het-heter-0.het:36000");
  EXPECT_EQ(said("heter"), "heter: heter mode True, stage 2 of 2, heter workers het-heter-0.het:36000");
}

struct CollectiveCase {
  const char* name;
  const char* file;
  const char* version = "2.6.2";
  bool plain = false;  // python alone, without Paddle's launcher
};

// As the job of volcano's example has to be written for a Paddle of today, without paddle_k8s and without our plugin:
// names from svc, a number from env, and the rest by hand.
TEST_F(RealCheckpointTest, TheExampleOfVolcanoTrainsWithTheEnvironmentWrittenByHand) {
  GW_LONG_TEST();
  PADDLE_OR_SKIP();
  const std::string script = absl::StrCat(
      "case $(hostname) in *pserver*) export TRAINING_ROLE=PSERVER;; *) export TRAINING_ROLE=TRAINER;; esac; "
      "export POD_IP=$(hostname).",
      kJob,
      " PADDLE_PORT=30236 PADDLE_TRAINERS_NUM=2 PADDLE_TRAINER_ID=$VC_TASK_INDEX "
      "PADDLE_PSERVERS_IP_PORT_LIST=",
      kJob, "-pserver-0.", kJob, ":30236,", kJob, "-pserver-1.", kJob, ":30236; exec python /code/train.py");
  const std::string text = absl::StrReplaceAll(
      Text(),
      {{"paddle: [\"--server=pserver\", \"--worker=trainer\", \"--port=30236\", --with-gloo]", "env: []"},
       {"command: [python, /code/train.py]", absl::StrCat("command: [sh, -c, ", api::JsonString(script), "]")}});
  ASSERT_THAT(text, Not(HasSubstr("--server=pserver")));
  Apply(text);
  ExpectTrained(kJob, "trainer");
}

TEST_F(RealPaddleTest, ParameterServersTrainThroughPaddlesLauncher) {
  GW_LONG_TEST();
  PADDLE_OR_SKIP();
  // The launcher takes a job for a collective one unless it is told of servers in its own words.
  Apply(absl::StrReplaceAll(ExampleText("ctr-ps.yaml"),
                            {{"command: [python, /code/train.py]",
                              "command: [sh, -c, \"PADDLE_SERVERS_ENDPOINTS=$PADDLE_PSERVERS_IP_PORT_LIST "
                              "PADDLE_TRAINERS_ENDPOINTS=$PADDLE_TRAINER_ENDPOINTS exec python -m "
                              "paddle.distributed.launch /code/train.py\"]"}}));
  ASSERT_TRUE(JobBecomes("ctr", "Completed")) << JobPhase("ctr") << "\n" << Everything();
}

class RealCollectiveTest : public RealPaddleTest, public ::testing::WithParamInterface<CollectiveCase> {};

TEST_P(RealCollectiveTest, WorkersEndWithTheSameWeights) {
  GW_LONG_TEST();
  PADDLE_OR_SKIP(GetParam().version);
  std::string text = ExampleText(GetParam().file);
  if (GetParam().plain) {
    // What the launcher would say to each: where it is itself, and what carries the gradients without a GPU.
    text = absl::StrReplaceAll(text, {{"command: [python, -m, paddle.distributed.launch, /code/train.py]",
                                       "command: [sh, -c, \"PADDLE_CURRENT_ENDPOINT=$POD_IP:$PADDLE_PORT "
                                       "PADDLE_DISTRI_BACKEND=gloo exec python /code/train.py\"]"}});
  }
  Apply(text);
  ASSERT_TRUE(JobBecomes("linear", "Completed")) << JobPhase("linear") << "\n" << Everything();
  std::vector<std::string> weights;
  for (const char* const pod : {"linear-worker-0", "linear-worker-1"}) {
    const std::string log = Log(pod);
    const auto losses = Losses(log);
    ASSERT_TRUE(losses.has_value()) << log;
    EXPECT_LT(losses->second, losses->first);
    for (const absl::string_view line : absl::StrSplit(log, '\n'))
      if (absl::StartsWith(line, "weights ")) weights.emplace_back(line);
  }
  ASSERT_EQ(weights.size(), 2u) << Everything();
  EXPECT_EQ(weights[0], weights[1]);
}
INSTANTIATE_TEST_SUITE_P(All, RealCollectiveTest,
                         ::testing::Values(CollectiveCase{"Launcher", "linear-collective.yaml"},
                                           CollectiveCase{"Plain", "linear-collective.yaml", "2.6.2", true},
                                           CollectiveCase{"Kubeflow", "linear-kubeflow.yaml"},
                                           CollectiveCase{"Launcher331", "linear-collective.yaml", "3.3.1"},
                                           CollectiveCase{"Plain331", "linear-collective.yaml", "3.3.1", true},
                                           CollectiveCase{"Kubeflow331", "linear-kubeflow.yaml", "3.3.1"}),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace gangway::sandbox
