// Real PaddlePaddle, 2.6.2 for CPUs, trains in the embedded cluster whose containers are processes: what is translated
// for it is what it reads. The package is installed by scripts/install-paddle, outside of the repository; where it
// cannot be had everything here is skipped.
//
// Beside one job of parameter servers (20 s) all is left to a long run.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
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
// How far from the loss of one process that of workers may be: it falls from 0.69 to 0.11, and sixteen workers ended
// between 0.06 and 0.12.
constexpr double kAsOne = 0.1;

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
  std::string At(const api::Resource& resource, const std::string& name, const char* pointer) {
    const kube::Response reply = Ask("GET", api::PathOf(resource, "default", name));
    if (!reply.ok()) return "";
    const json::value object = *api::ParseJson(*reply.body);
    boost::system::error_code error;
    const json::value* const at = object.find_pointer(pointer, error);
    return at == nullptr ? "" : at->is_string() ? std::string(at->as_string()) : api::ToJson(*at);
  }
  std::string JobPhase(const std::string& name) { return At(api::kJobs, name, "/status/state/phase"); }
  static bool Ended(const std::string& phase) {
    return phase == "Completed" || phase == "Failed" || phase == "Terminated" || phase == "Aborted";
  }
  // False as soon as it has ended otherwise.
  bool JobBecomes(const std::string& name, const std::string& phase) {
    std::string is;
    Eventually([&] { return (is = JobPhase(name)) == phase || Ended(is); }, kTraining);
    return is == phase;
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
  std::vector<std::string> PodNames(const std::string& phase = "") {
    std::vector<std::string> out;
    const json::value pods = *api::ParseJson(*Ask("GET", api::PathOf(api::kPods, "default")).body);
    for (const json::value& pod : pods.at("items").as_array()) {
      if (phase.empty() || pod.at("status").at("phase").as_string() == phase)
        out.push_back(json::value_to<std::string>(pod.at("metadata").at("name")));
    }
    return out;
  }
  std::vector<std::string> RunningOf(const std::string& job) {
    std::vector<std::string> out = PodNames("Running");
    std::erase_if(out, [&](const std::string& pod) { return !absl::StartsWith(pod, job + "-"); });
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
  void ExpectTrained(const std::string& job, const std::string& worker = "worker", const std::string& server = "ps") {
    ASSERT_TRUE(JobBecomes(job, "Completed")) << JobPhase(job) << "\n" << Everything();
    for (const int index : {0, 1}) {
      const std::string pod = absl::StrCat(job, "-", worker, "-", index);
      EXPECT_EQ(Phase(pod), "Succeeded");
      const auto losses = Losses(Log(pod));
      ASSERT_TRUE(losses.has_value()) << Log(pod);
      EXPECT_LT(losses->second, losses->first);
      EXPECT_NEAR(losses->second, AloneLoss(), kAsOne) << Log(pod);
    }
    ExpectNoneOf(job, server);
  }
  // The PaddleJob has failed and says so with these words, and nothing of it runs any more.
  void ExpectFailed(const std::string& job, const std::string& words) {
    const auto phase = [&] { return At(api::paddle::kPaddleJobs, job, "/status/phase"); };
    EXPECT_TRUE(Eventually([&] { return phase() == "Failed" || phase() == "Completed"; }, kTraining));
    EXPECT_EQ(phase(), "Failed") << Everything();
    EXPECT_THAT(At(api::paddle::kPaddleJobs, job, "/status/message"), HasSubstr(words));
    EXPECT_TRUE(Eventually([&] { return RunningOf(job).empty(); }, kTraining))
        << ::testing::PrintToString(RunningOf(job));
  }
  void ExpectNoneOf(const std::string& job, const std::string& task) {
    EXPECT_THAT(PodNames(), Not(::testing::Contains(HasSubstr(absl::StrCat(job, "-", task, "-"))))) << "servers stay";
  }
  // The program that an example has in its config map, as a file.
  std::string Program(const std::string& example, const std::string& file) {
    const auto documents = api::ReadManifest(ExampleText(example), example);
    EXPECT_TRUE(documents.ok()) << documents.status();
    for (const api::ManifestDocument& document : *documents) {
      if (document.kind != "ConfigMap") continue;
      testutil::WriteFile(file, json::value_to<std::string>(api::ParseJson(document.json)->at("data").at("train.py")));
      return file;
    }
    ADD_FAILURE() << example << " has no program";
    return "";
  }
  // What the example's program prints when one process trains.
  std::string Alone(const std::string& example, const std::vector<std::string>& environment) {
    const testutil::Outcome outcome =
        RunProgram({python_ + "/bin/python", Program(example, temporary_.path() + "/alone.py")}, environment);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.out;
  }
  // Where the same model is when one process has trained it on so many batches, as many as each worker.
  double AloneLoss(int steps = 400) {
    const auto [it, first] = alone_.try_emplace(steps, 1e9);
    if (first) {
      if (const auto losses = Losses(Alone("ctr-ps.yaml", {absl::StrCat("STEPS=", steps)})))
        it->second = losses->second;
    }
    return it->second;
  }

  // An image in which Paddle is and a trainer of ours in PaddleRec's place.
  std::string RecImage() {
    namespace paths = std::filesystem;
    const std::string folder = temporary_.path() + "/paddlerec";
    paths::path packages;  // lib/python3.11/site-packages
    for (const auto& each : paths::directory_iterator(python_ + "/lib"))
      packages = each.path().lexically_relative(python_) / "site-packages";
    const paths::path own = folder / packages;
    paths::create_directories(own / "paddlerec");
    paths::create_directories(folder + "/bin");
    paths::copy_file(python_ + "/pyvenv.cfg", folder + "/pyvenv.cfg");
    paths::create_symlink(paths::canonical(python_ + "/bin/python"), folder + "/bin/python");
    testutil::WriteFile(own / "paddle.pth", absl::StrCat(python_, "/", packages.string(), "\n"));
    testutil::WriteFile(own / "paddlerec/__init__.py", "");
    Program("ctr-ps.yaml", own / "paddlerec/train.py");
    testutil::WriteFile(own / "paddlerec/run.py", R"PY(
import argparse, os, re, sys
from paddlerec import train
parser = argparse.ArgumentParser()
parser.add_argument("-m", "--model", required=True)
parser.add_argument("-r", "--role")
given = parser.parse_args()
workspace = re.search(r"^ *workspace: (\S+)", open(given.model).read(), re.M).group(1)
print("paddlerec.run as %s, workspace %s, %s threads" % (given.role, workspace, os.environ["CPU_NUM"]), flush=True)
sys.exit(train.main())
)PY");
    ;
    return folder;
  }
  static std::string WithCommand(const std::string& text, const std::string& command, const std::string& other) {
    std::string out = absl::StrReplaceAll(text, {{"command: " + command, "command: " + other}});
    EXPECT_NE(out, text);
    return out;
  }
  // Of the line "weights X".
  static double Weights(const std::string& log) {
    double out = std::nan("");
    for (absl::string_view line : absl::StrSplit(log, '\n')) {
      if (absl::ConsumePrefix(&line, "weights ") && !absl::SimpleAtod(line, &out)) ADD_FAILURE() << line;
    }
    return out;
  }

  std::string python_;
  std::map<int, double> alone_;  // by steps
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

// Then nobody waits for worker 0, which gives the servers their first values, but the program itself: whoever trained
// on what is there before would train on zeros. Worker 0 begins when worker 1 says that it waits.
TEST_F(RealPaddleTest, ParameterServersTrainWithoutGloo) {
  GW_LONG_TEST();
  PADDLE_OR_SKIP();
  const std::string mount = "              - {name: code, mountPath: /code}\n";
  const std::string volume = "            configMap: {name: ctr-code}\n";
  const std::string text = WithCommand(
      absl::StrReplaceAll(
          ExampleText("ctr-ps.yaml"),
          {{"  withGloo: 1", "  withGloo: 0"},
           {mount, mount + "              - {name: go, mountPath: /go}\n"},
           {volume, volume + "          - name: go\n            persistentVolumeClaim: {claimName: go}\n"}}),
      "[python, /code/train.py]",
      "[sh, -c, 'if [ $TRAINING_ROLE$PADDLE_TRAINER_ID = TRAINER0 ]; then until [ -e /go/on ]; do sleep 0.1; done; fi; "
      "exec python /code/train.py']");
  Apply(
      "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: go}\n"
      "spec: {accessModes: [ReadWriteMany], resources: {requests: {storage: 1Mi}}}\n---\n" +
      text);
  const auto waits = [&] { return absl::StrContains(Log("ctr-worker-1"), "waits for the first values"); };
  Eventually([&] { return waits() || Ended(JobPhase("ctr")); }, kTraining);
  ASSERT_TRUE(waits()) << JobPhase("ctr") << "\n" << Everything();
  testutil::WriteFile(temporary_.path() + "/claims/default/go/on", "");
  ExpectTrained("ctr");
}

// There the launcher turns Gloo on by itself.
TEST_F(RealPaddleTest, ParameterServersTrainWithoutGlooThroughPaddlesLauncher) {
  GW_LONG_TEST();
  PADDLE_OR_SKIP();
  Apply(absl::StrReplaceAll(WithCommand(ExampleText("ctr-ps.yaml"), "[python, /code/train.py]",
                                        "[python, -m, paddle.distributed.launch, /code/train.py]"),
                            {{"  withGloo: 1", "  withGloo: 0"}}));
  ExpectTrained("ctr");
  EXPECT_THAT(Log("ctr-worker-1"), AllOf(HasSubstr("Gloo init with HTTP"), Not(HasSubstr("waits for the first"))));
}

TEST_F(RealPaddleTest, TheExampleOfOnePodChecksItsPaddle) {
  GW_LONG_TEST();
  PADDLE_OR_SKIP();
  // Its pods stay for their logs.
  Apply(absl::StrReplaceAll(testutil::ReadFile(GW_SOURCE_DIR "/examples/paddle/single.yaml"),
                            {{"spec:\n  worker:", "spec:\n  cleanPodPolicy: Never\n  worker:"}}));
  ASSERT_TRUE(JobBecomes("mnist", "Completed")) << JobPhase("mnist") << "\n" << Everything();
  EXPECT_THAT(Log("mnist-worker-0"), HasSubstr("PaddlePaddle is installed successfully!"));
}

// examples/paddlerec, translated. PaddleRec's own trainer is of Paddle 1.8, for which there is no Python any more:
// behind its entry, with its command line and its config, stands the program of examples/train/ctr-ps.yaml.
TEST_F(RealPaddleTest, ATrainingOfPaddleRecFindsItsConfigAndTheOthers) {
  GW_LONG_TEST();
  python_ = PaddleFolder("2.6.2", &why_);
  if (python_.empty() || !Start(false, {{"hub.baidubce.com/ctr/paddlerec", RecImage(), true}})) GTEST_SKIP() << why_;
  const std::string folder = GW_SOURCE_DIR "/examples/paddlerec/";
  const testutil::Outcome translated =
      RunProgram({GW_GANGWAY, "translate", "-f", folder + "backend.yaml", "-f", folder + "config.yaml"});
  ASSERT_EQ(translated.exit_code, 0) << translated.err;
  Apply(translated.out);
  const std::string job = "k8s-ctr-dnn";
  ExpectTrained(job, "trainer", "pserver");
  EXPECT_THAT(Log(job + "-trainer-1"),
              AllOf(HasSubstr("paddlerec.run as WORKER, workspace paddlerec.models.rank.dnn, 2 threads\n"),
                    HasSubstr("worker 1 begins at step 0\n")));
}

// What keeps its checkpoints on a claim: examples/ctr-volcano-pvc.yaml, a hand-written Job of the plugin paddle.
class RealCheckpointTest : public RealPaddleTest {
 protected:
  static constexpr char kJob[] = "ctr-volcano-pvc";
  static constexpr char kSlowly[] = "0.05";  // who is evicted at one checkpoint is gone long before the next
  static std::string Variables(const std::vector<std::pair<std::string, std::string>>& env, int indent) {
    std::string out;
    for (const auto& [name, value] : env)
      absl::StrAppend(&out, "\n", std::string(static_cast<std::size_t>(indent), ' '), "- {name: ", name, ", value: \"",
                      value, "\"}");
    return out;
  }
  std::string Text(const std::vector<std::pair<std::string, std::string>>& env = {}) {
    constexpr absl::string_view kPlace = "- {name: CHECKPOINTS, value: /model}";
    return absl::StrReplaceAll(testutil::ReadFile(GW_SOURCE_DIR "/examples/ctr-volcano-pvc.yaml"),
                               {{kPlace, absl::StrCat(kPlace, Variables(env, 16))}});
  }
  // The same training as a PaddleJob, which is translated.
  std::string TranslatedText(const std::vector<std::pair<std::string, std::string>>& env) {
    const std::string mount = "              - {name: code, mountPath: /code}\n",
                      volume = "            configMap: {name: ctr-code}\n";
    return absl::StrCat(
        "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: ctr-model}\n"
        "spec: {accessModes: [ReadWriteMany], resources: {requests: {storage: 1Gi}}}\n---\n",
        absl::StrReplaceAll(
            ExampleText("ctr-ps.yaml"),
            {{mount, absl::StrCat(mount,
                                  "              - {name: model, mountPath: /model}\n"
                                  "            env:\n"
                                  "              - {name: CHECKPOINTS, value: /model}\n"
                                  "              - {name: CHECKPOINT_EVERY, value: \"100\"}",
                                  Variables(env, 14), "\n")},
             {volume, absl::StrCat(volume,
                                   "          - name: model\n            persistentVolumeClaim: {claimName: "
                                   "ctr-model}\n")}}));
  }
  std::string Kept(const std::string& file) {
    const std::string path = absl::StrCat(temporary_.path(), "/claims/default/ctr-model/", file);
    return std::filesystem::exists(path) ? testutil::ReadFile(path) : std::string();
  }
  bool Keeps(const std::string& steps) {
    return Eventually([&] { return Kept("steps") == steps; }, kTraining);
  }
  // Of the line "worker INDEX begins at step X".
  static int BegunAt(const std::string& log, int index) {
    int out = -1;
    for (absl::string_view line : absl::StrSplit(log, '\n')) {
      if (absl::ConsumePrefix(&line, absl::StrCat("worker ", index, " begins at step ")) &&
          !absl::SimpleAtoi(line, &out))
        ADD_FAILURE() << line;
    }
    return out;
  }
  void Evict(const std::string& pod) {
    const kube::Response reply = Ask("POST", api::PathOf(api::kPods, "default", pod) + "/eviction",
                                     absl::StrCat(R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":")",
                                                  pod, R"(","namespace":"default"}})"));
    ASSERT_TRUE(reply.ok()) << *reply.body;
  }
  // The gang began anew with what its last checkpoint had learned, all of it, and went on from there.
  void ExpectResumedAndKept(const std::string& job = kJob, const std::string& worker = "trainer") {
    ASSERT_TRUE(JobBecomes(job, "Completed")) << JobPhase(job) << "\n" << Everything();
    EXPECT_EQ(At(api::kJobs, job, "/status/retryCount"), "1") << Everything();
    for (const int index : {0, 1}) {
      const std::string log = Log(absl::StrCat(job, "-", worker, "-", index));
      EXPECT_EQ(BegunAt(log, index), 300) << log;
      const auto losses = Losses(log);
      ASSERT_TRUE(losses.has_value()) << log;
      EXPECT_NEAR(losses->first, AloneLoss(300), kAsOne) << log;
      EXPECT_NEAR(losses->second, AloneLoss(), kAsOne) << log;
    }
    EXPECT_EQ(Kept("steps"), "400");
  }
};

TEST_F(RealCheckpointTest, TheModelIsOnTheClaimAndServed) {
  GW_LONG_TEST();
  PADDLE_OR_SKIP();
  Apply(Text());
  ExpectTrained(kJob, "trainer", "pserver");
  EXPECT_EQ(Kept("steps"), "400");
  EXPECT_TRUE(std::filesystem::is_directory(temporary_.path() + "/claims/default/ctr-model/model-400"));
  // The in-cluster way, by the Service's name.
  const std::string fetched = temporary_.path() + "/fetched";
  std::filesystem::create_directory(fetched);
  MakePod("asks",
          absl::StrCat(R"(,"containers":[{"name":"main","image":"x","command":["python","-c",)",
                       api::JsonString("import os, re, time, urllib.request\n"
                                       "def get(path):\n"
                                       "  for i in range(300):\n"
                                       "    try: return urllib.request.urlopen('http://ctr-model:8080/' + "
                                       "path).read()\n"
                                       "    except OSError: time.sleep(0.1)\n"
                                       "def fetch(path):\n"
                                       "  os.makedirs('/fetched/' + path)\n"
                                       "  for name in re.findall('href=\"([^\"?]+)\"', get(path).decode()):\n"
                                       "    if name.endswith('/'): fetch(path + name)\n"
                                       "    else: open('/fetched/' + path + name, 'wb').write(get(path + name))\n"
                                       "fetch('model-400/')\n"
                                       "print(get('steps').decode())\n"),
                       R"(],"volumeMounts":[{"name":"f","mountPath":"/fetched"}]}],"volumes":[{"name":"f",)",
                       R"("hostPath":{"path":")", fetched, R"("}}])"));
  EXPECT_EQ(End("asks", kTraining), "Succeeded");
  EXPECT_EQ(Log("asks"), "400\n");
  const testutil::Outcome compared =
      RunProgram({"diff", "-r", temporary_.path() + "/claims/default/ctr-model/model-400", fetched + "/model-400"});
  EXPECT_EQ(compared.exit_code, 0) << compared.out << compared.err;
}

TEST_F(RealCheckpointTest, AWorkerThatFailsRestartsTheGangWhichGoesOn) {
  GW_LONG_TEST();
  PADDLE_OR_SKIP();
  Apply(Text({{"FAIL_AT", "1:310"}, {"STEP_SLEEP", "0.01"}}));
  ExpectResumedAndKept();
}

// Then nobody waits until worker 0 has had the servers load the dense values but the program itself. Worker 0 begins
// when worker 1 says that it waits.
TEST_F(RealCheckpointTest, WithoutGlooTheGangGoesOnWithAllOfItsCheckpoint) {
  GW_LONG_TEST();
  PADDLE_OR_SKIP();
  const std::string text = Text({{"STEP_SLEEP", kSlowly}});
  const std::string without = absl::StrReplaceAll(text, {{", --with-gloo", ""}});
  ASSERT_NE(without, text);
  Apply(WithCommand(without, "[python, /code/train.py]",
                    "[sh, -c, 'if [ $TRAINING_ROLE$PADDLE_TRAINER_ID = TRAINER0 ]; then until [ -e /model/go ]; do "
                    "sleep 0.1; done; fi; exec python /code/train.py']"));
  const std::string go = temporary_.path() + "/claims/default/ctr-model/go";
  const auto begin = [&] {
    const std::string pod = absl::StrCat(kJob, "-trainer-1");
    bool waits = false;
    Eventually(
        [&] {
          const std::string log = Log(pod);
          waits = absl::StrContains(log, "waits for the first values");
          return waits != absl::StrContains(log, "begins at step");  // both: of the one before
        },
        kTraining);
    testutil::WriteFile(go, "");
    return waits;
  };
  ASSERT_TRUE(begin()) << Everything();
  ASSERT_TRUE(Keeps("300")) << Everything();
  std::filesystem::remove(go);
  Evict(absl::StrCat(kJob, "-pserver-1"));
  ASSERT_TRUE(begin()) << Everything();
  ExpectResumedAndKept();
}

// One of which a server has not written its part: worker 0 says so, and nobody trains on the rest.
TEST_F(RealCheckpointTest, ACheckpointThatLacksTheLayersOfAServerIsToldOf) {
  GW_LONG_TEST();
  PADDLE_OR_SKIP();
  Apply(Text({{"STEP_SLEEP", kSlowly}}));
  ASSERT_TRUE(Keeps("100")) << Everything();
  ASSERT_TRUE(std::filesystem::remove(temporary_.path() + "/claims/default/ctr-model/model-100/001/part-001.gz"));
  Evict(absl::StrCat(kJob, "-pserver-1"));
  EXPECT_TRUE(Eventually(
      [&] {
        return absl::StrContains(Log(absl::StrCat(kJob, "-trainer-0")),
                                 "RuntimeError: /model/model-100 has not all layers");
      },
      kTraining))
      << Everything();
}

// 137 is what is left of a worker that its node killed: the job starts over.
TEST_F(RealCheckpointTest, AWorkerOfATranslatedJobThatIsKilledRestartsTheGangWhichGoesOn) {
  GW_LONG_TEST();
  PADDLE_OR_SKIP();
  Apply(WithCommand(TranslatedText({{"FAIL_AT", "1:310"}, {"STEP_SLEEP", "0.01"}}), "[python, /code/train.py]",
                    "[sh, -c, 'python /code/train.py; code=$?; [ $code != 7 ] || exit 137; exit $code']"));
  ExpectResumedAndKept("ctr", "worker");
}

TEST_F(RealCheckpointTest, AWorkerOfATranslatedJobThatFailsEndsIt) {
  GW_LONG_TEST();
  PADDLE_OR_SKIP();
  Apply(TranslatedText({{"FAIL_AT", "1:60"}, {"STEP_SLEEP", "0.01"}}));
  ExpectFailed("ctr", "ctr-worker-1 exit 7");
  ExpectNoneOf("ctr", "ps");
}

// A Job written by hand, and a PaddleJob that is translated.
struct InterruptedCase {
  const char* name;
  const api::Resource* kind;
  const char *job, *server, *worker;
};

class RealInterruptedTest : public RealCheckpointTest, public ::testing::WithParamInterface<InterruptedCase> {
 protected:
  std::string InterruptedText() {
    return GetParam().kind == &api::kJobs ? Text({{"STEP_SLEEP", kSlowly}}) : TranslatedText({{"STEP_SLEEP", kSlowly}});
  }
};

TEST_P(RealInterruptedTest, AServerThatIsEvictedRestartsTheGangWhichGoesOn) {
  GW_LONG_TEST();
  PADDLE_OR_SKIP();
  Apply(InterruptedText());
  ASSERT_TRUE(Keeps("300")) << Everything();
  const std::string server = absl::StrCat(GetParam().job, "-", GetParam().server, "-0");
  Evict(server);
  ExpectResumedAndKept(GetParam().job, GetParam().worker);
  ExpectNoneOf(GetParam().job, GetParam().server);
}

TEST_P(RealInterruptedTest, AJobDeletedInTheMiddleLeavesItsClaim) {
  GW_LONG_TEST();
  PADDLE_OR_SKIP();
  Apply(InterruptedText());
  ASSERT_TRUE(Keeps("100")) << Everything();
  const std::string job = GetParam().job;
  Ask("DELETE", api::PathOf(*GetParam().kind, "default", job));
  ASSERT_TRUE(Eventually(
      [&] {
        const std::vector<std::string> pods = PodNames();
        return JobPhase(job).empty() && std::none_of(pods.begin(), pods.end(), [&](const std::string& pod) {
                 return absl::StartsWith(pod, absl::StrCat(job, "-", GetParam().server)) ||
                        absl::StartsWith(pod, absl::StrCat(job, "-", GetParam().worker));
               });
      },
      kTraining))
      << Everything();
  EXPECT_FALSE(Kept("steps").empty());
}

INSTANTIATE_TEST_SUITE_P(
    All, RealInterruptedTest,
    ::testing::Values(InterruptedCase{"HandWritten", &api::kJobs, "ctr-volcano-pvc", "pserver", "trainer"},
                      InterruptedCase{"Translated", &api::paddle::kPaddleJobs, "ctr", "ps", "worker"}),
    [](const auto& each) { return std::string(each.param.name); });

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
  // Of the line "worker RANK of SIZE is done at step X: loss Y".
  static std::pair<int, double> Done(const std::string& text, int rank, int size) {
    std::pair<int, double> out{-1, std::nan("")};
    for (absl::string_view line : absl::StrSplit(text, '\n')) {
      if (!absl::ConsumePrefix(&line, absl::StrCat("worker ", rank, " of ", size, " is done at step "))) continue;
      const std::vector<absl::string_view> parts = absl::StrSplit(line, ": loss ");
      if (parts.size() != 2 || !absl::SimpleAtoi(parts[0], &out.first) || !absl::SimpleAtod(parts[1], &out.second))
        ADD_FAILURE() << line;
    }
    return out;
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
  // One process ends there, too, on as many batches; its loss falls from 10 or so.
  const int step = Done(History(), 0, 2).first;
  ASSERT_GT(step, 0) << History();
  EXPECT_EQ(Done(History(), 1, 2).first, step) << History();
  const std::string program = Program("linear-elastic.yaml", temporary_.path() + "/alone.py"),
                    alone = temporary_.path() + "/alone";
  std::filesystem::create_directory(alone);
  testutil::WriteFile(program, absl::StrReplaceAll(testutil::ReadFile(program), {{"\"/model/", "\"" + alone + "/"}}));
  const testutil::Outcome one =
      RunProgram({python_ + "/bin/python", program}, {absl::StrCat("STEPS=", step + 1), "STEP_SLEEP=0"});
  ASSERT_EQ(one.exit_code, 0) << one.err;
  const auto [last, expected] = Done(one.out, 0, 1);
  EXPECT_EQ(last, step) << one.out;
  for (const int index : {0, 1}) EXPECT_NEAR(Done(History(), index, 2).second, expected, 0.3) << History();
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
  ExpectTrained(kJob, "trainer", "pserver");
}

TEST_F(RealPaddleTest, ParameterServersTrainThroughPaddlesLauncher) {
  GW_LONG_TEST();
  PADDLE_OR_SKIP();
  Apply(WithCommand(ExampleText("ctr-ps.yaml"), "[python, /code/train.py]",
                    "[python, -m, paddle.distributed.launch, /code/train.py]"));
  ExpectTrained("ctr");
}

// The other worker waits for it in the middle of an average, and would for ever.
TEST_F(RealPaddleTest, AWorkerOfACollectiveJobThatFailsEndsIt) {
  GW_LONG_TEST();
  PADDLE_OR_SKIP();
  const std::string loop = "        for step in range(60):\n", text = ExampleText("linear-collective.yaml");
  const std::string failing = absl::StrReplaceAll(
      text, {{loop, absl::StrCat(loop, "            if (rank, step) == (1, 30):\n", "                os._exit(7)\n")}});
  ASSERT_NE(failing, text);
  Apply(failing);
  ExpectFailed("linear", "linear-worker-");
  EXPECT_EQ(Phase("linear-worker-1"), "Failed");
  EXPECT_THAT(Log("linear-worker-1"), AllOf(HasSubstr("step 20  loss"), Not(HasSubstr("done: loss"))));
}

class RealCollectiveTest : public RealPaddleTest, public ::testing::WithParamInterface<CollectiveCase> {};

TEST_P(RealCollectiveTest, WorkersEndWhereOneProcessDoes) {
  GW_LONG_TEST();
  PADDLE_OR_SKIP(GetParam().version);
  std::string text = ExampleText(GetParam().file);
  if (GetParam().plain)
    text = WithCommand(text, "[python, -m, paddle.distributed.launch, /code/train.py]", "[python, /code/train.py]");
  Apply(text);
  ASSERT_TRUE(JobBecomes("linear", "Completed")) << JobPhase("linear") << "\n" << Everything();
  // Trained by one process on what both have: the same up to how floats are added.
  const std::string alone = Alone(GetParam().file, {"ALONE=2"});
  const auto expected = Losses(alone);
  ASSERT_TRUE(expected.has_value()) << alone;
  double first = 0, last = 0;
  for (const int index : {0, 1}) {
    const std::string log = Log(absl::StrCat("linear-worker-", index));
    EXPECT_THAT(log, HasSubstr(absl::StrCat("rank ", index, " of 2\n")));
    const auto losses = Losses(log);
    ASSERT_TRUE(losses.has_value()) << log;
    EXPECT_LT(losses->second, losses->first);
    first += losses->first / 2;
    last += losses->second / 2;
    EXPECT_NEAR(Weights(log), Weights(alone), 1e-4) << log;
  }
  EXPECT_NEAR(first, expected->first, 1e-3);
  EXPECT_NEAR(last, expected->second, 1e-3);
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
