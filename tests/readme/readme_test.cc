// The README's commands, run as they are written, by a shell: the first three, what it prints of them, those with
// kubectl, and the way from paddle-operator and back. The program is that of the tests, so `make` does not build it
// anew; the cluster is the sandbox.
#include <atomic>
#include <csignal>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cmd/gangway/gangway_process.h"
#include "tests/kubectl/sandbox_process.h"
#include "tests/testing/files.h"
#include "tests/testing/long_test.h"
#include "tests/testing/loop_thread.h"

namespace gangway::testutil {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::SizeIs;

constexpr char kJob[] = "wide-ande-deep-volcano";

struct Block {
  std::string kind, text;  // "sh": commands; "": what they print
};

std::vector<Block> AllBlocksUnder(const std::string& heading) {
  const std::string text = ReadFile(GW_SOURCE_DIR "/README.md");
  const std::size_t from = text.find("\n## " + heading + "\n");
  std::vector<Block> blocks;
  if (from == std::string::npos) return blocks;
  const std::size_t to = text.find("\n## ", from + 1);
  for (std::size_t at = text.find("\n```", from); at < to; at = text.find("\n```", at)) {
    const std::size_t begin = text.find('\n', at + 1) + 1, end = text.find("```", begin);
    blocks.push_back({text.substr(at + 4, begin - at - 5), text.substr(begin, end - begin)});
    at = end;
  }
  return blocks;
}

// The blocks of commands under a heading.
std::vector<std::string> BlocksUnder(const std::string& heading) {
  std::vector<std::string> commands;
  for (Block& block : AllBlocksUnder(heading))
    if (block.kind == "sh") commands.push_back(std::move(block.text));
  return commands;
}

std::string InCheckout(const std::string& commands) { return absl::StrCat("cd " GW_SOURCE_DIR "\n", commands); }

// A line of a block that begins with that, as a user types it.
std::string LineOf(const std::string& block, const std::string& begin) {
  for (const absl::string_view line : absl::StrSplit(block, '\n'))
    if (absl::StartsWith(line, begin)) return std::string(line);
  ADD_FAILURE() << begin << " is not in\n" << block;
  return "false";
}

// Lines without their times. What happens at one moment is printed in an order of its own, so they are compared as a
// set.
std::multiset<std::string> Timeless(const std::string& text) {
  std::multiset<std::string> lines;
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipWhitespace()))
    lines.insert(std::regex_replace(std::string(line), std::regex("[0-9]+\\.[0-9]+s"), "<time>"));
  return lines;
}

// What comes after the welcome, whose port is another each time.
std::string Account(const std::string& out) {
  const std::size_t end = out.find("\n\n");
  return end == std::string::npos ? out : out.substr(end);
}

class FirstMinutesTest : public ::testing::Test {
 protected:
  // `make` as the README has it, but for the building: what `build` and `packages` would make is there.
  Outcome Make(const std::string& line) {
    EXPECT_TRUE(absl::StartsWith(line, "make ")) << line;
    return RunProgram(
        {"bash", "-c",
         InCheckout(
             absl::StrCat("make -s -o build -o packages -o paddle-packages GANGWAY=" GW_GANGWAY " ", line.substr(5)))});
  }
  const std::vector<Block> blocks_ = AllBlocksUnder("Three commands");
};

TEST_F(FirstMinutesTest, MakeRunPrintsWhatTheReadmeSays) {
  ASSERT_GE(blocks_.size(), 2u);
  const Outcome outcome = Make(LineOf(blocks_[0].text, "make run "));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(Timeless(Account(outcome.out)), Timeless(blocks_[1].text));
}

TEST_F(FirstMinutesTest, MakePaddlePrintsWhatTheReadmeSays) {
  GW_LONG_TEST();
  ASSERT_EQ(blocks_.size(), 5u);
  if (const Outcome paddle = RunProgram({GW_SOURCE_DIR "/scripts/install-paddle", "2.6.2"}); paddle.exit_code != 0)
    GTEST_SKIP() << paddle.err;
  const Outcome outcome = Make(LineOf(blocks_[0].text, "make paddle "));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  // Losses differ from run to run, and what happens while workers print.
  const auto in_words = [](const std::string& text) {
    return std::regex_replace(text, std::regex("(loss) [0-9.]+( -> [0-9.]+)?"), "$1 <number>");
  };
  const std::multiset<std::string> printed = Timeless(in_words(outcome.out));
  for (const std::string& line : Timeless(in_words(blocks_[2].text))) {
    if (line != "...") EXPECT_TRUE(printed.contains(line)) << line << "\nis not in\n" << outcome.out;
  }
}

TEST_F(FirstMinutesTest, TheGangThatDoesNotFitSaysWhy) {
  ASSERT_EQ(blocks_.size(), 5u);
  ASSERT_THAT(blocks_[3].text, HasSubstr("build/release/cmd/gangway/gangway sandbox"));
  const Outcome outcome = RunProgram(
      {"bash", "-c",
       InCheckout(absl::StrReplaceAll(blocks_[3].text, {{"build/release/cmd/gangway/gangway", GW_GANGWAY}}))});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(Timeless(Account(outcome.out) + outcome.err), Timeless(blocks_[4].text));
}

TEST_F(FirstMinutesTest, ItsTargetsAreThoseOfMake) {
  for (const char* const target : {"run", "paddle", "test"}) {
    const std::string line = LineOf(blocks_[0].text, absl::StrCat("make ", target, " "));
    EXPECT_EQ(RunProgram({"bash", "-c", InCheckout(absl::StrCat("make -n ", line.substr(5)))}).exit_code, 0) << line;
  }
}

TEST(WithKubectlTest, AJobRestartsWhenAPodIsDeleted) {
  if (!HasKubectl()) GTEST_SKIP() << "there is no kubectl on this machine";
  const std::vector<std::string> blocks = BlocksUnder("With kubectl");
  ASSERT_THAT(blocks, SizeIs(1));
  ASSERT_EQ(LineOf(blocks[0], "make sandbox").substr(0, 13), "make sandbox ");
  const TemporaryFolder folder("gangway-readme");
  const std::string output = folder.path() + "/output";
  // What `make sandbox` runs when all is built.
  const Outcome makes =
      RunProgram({"make", "-n", "-o", "build", "-C", GW_SOURCE_DIR, "GANGWAY=" GW_GANGWAY, "sandbox"});
  ASSERT_THAT(makes.out, HasSubstr(GW_GANGWAY " sandbox --nodes 6\n"));
  ChildProcess sandbox({GW_GANGWAY, "sandbox", "--nodes", "6"}, output, {"TMPDIR=" + folder.path()});
  const auto told = [&] {
    std::smatch found;
    const std::string text = ReadFile(output);
    static const std::regex line("export KUBECONFIG=(\\S+)\n");
    return std::regex_search(text, found, line) ? found.str(1) : std::string();
  };
  ASSERT_TRUE(Eventually([&] { return !told().empty(); })) << ReadFile(output);
  ASSERT_THAT(told(), MatchesRegex(absl::StrCat(folder.path(), "/gangway-[^/]+/kubeconfig")));
  const std::string asked = LineOf(blocks[0], "export KUBECONFIG=");
  ASSERT_EQ(asked, "export KUBECONFIG=/tmp/gangway-.../kubeconfig");
  const std::string commands = blocks[0].substr(blocks[0].find(asked) + asked.size());
  const auto shell = [&](const std::string& script) {
    const Outcome outcome = RunProgram({"bash", "-ec", InCheckout(script)},
                                       {"KUBECONFIG=" + told(), "HOME=" + folder.path(), "KUBECTL_KUBERC=false"});
    EXPECT_EQ(outcome.exit_code, 0) << script << "\n" << outcome.err;
    return outcome.out;
  };
  // All but the last, when there is something to look at.
  const std::string apply = LineOf(commands, "kubectl apply "), last = LineOf(commands, "kubectl delete pod ");
  shell(apply + "\nkubectl wait pod --all --for=jsonpath={.status.phase}=Running --timeout=30s");
  const std::string looks = commands.substr(commands.find(apply) + apply.size());
  EXPECT_THAT(
      shell(looks.substr(0, looks.find(last))),
      AllOf(HasSubstr("job.batch.volcano.sh/ctr-volcano"), HasSubstr("podgroup.scheduling.volcano.sh/ctr-volcano"),
            HasSubstr("pod/ctr-volcano-trainer-1"), HasSubstr("node-000"), HasSubstr("Min Member:")));
  shell(last);
  shell("kubectl wait vcjob/ctr-volcano --for=jsonpath={.status.retryCount}=1 --timeout=30s");
  sandbox.Signal(SIGINT);
  EXPECT_EQ(sandbox.Wait(), 0);
}

class MovingTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!HasKubectl()) GTEST_SKIP() << "there is no kubectl on this machine";
    Start({});
  }
  void Start(std::vector<std::string> flags) {
    flags.insert(flags.end(), {"--start-delay", "10ms", "--stop-delay", "10ms"});
    sandbox_.reset();
    sandbox_ = std::make_unique<SandboxProcess>(flags);
    std::filesystem::create_symlink(GW_GANGWAY, sandbox_->folder() + "/gangway");
  }
  std::string Kubectl(std::vector<std::string> args, const std::string& input = {}) {
    const Outcome outcome = sandbox_->Kubectl(args, input);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.out;
  }
  std::vector<std::string> Lines(std::vector<std::string> args) {
    return absl::StrSplit(Kubectl(std::move(args)), '\n', absl::SkipEmpty());
  }
  // A shell's, which stops at the first command that fails.
  std::string Run(const std::string& commands) {
    const Outcome outcome = RunProgram(
        {"bash", "-ec",
         absl::StrCat("set -o pipefail; cd " GW_SOURCE_DIR "; PATH=", sandbox_->folder(), ":$PATH\n", commands)},
        {"KUBECONFIG=" + sandbox_->kubeconfig()});
    EXPECT_EQ(outcome.exit_code, 0) << commands << "\n" << outcome.out << outcome.err;
    return outcome.out;
  }
  // What paddle-operator has made of its guide's example.
  void LetTheOperatorWork() {
    Kubectl({"create", "namespace", "paddle-system"});
    Kubectl(
        {"apply", "-n", "paddle-system", "-f", "-"},
        R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"paddle-controller-manager"},"spec":{"replicas":1,
      "selector":{"matchLabels":{"app":"o"}},"template":{"metadata":{"labels":{"app":"o"}},"spec":{"containers":[{"name":"manager","image":"paddleflow/paddle-operator:v0.3.5"}]}}}})");
    MakeJobs({kJob});
  }
  // Jobs of the operator's, with their pods.
  void MakeJobs(const std::vector<std::string>& jobs) {
    const std::string example = absl::StrReplaceAll(
        ReadFile(GW_SOURCE_DIR "/tests/golden/paddle/guide/volcano.yaml"),
        // Ours sees it only when its pods are there.
        {{"metadata:\n", "metadata:\n  annotations: {paddle.gangway.io/managed-by: paddle-operator}\n"}});
    std::string objects, pods;
    for (const std::string& job : jobs) absl::StrAppend(&objects, absl::StrReplaceAll(example, {{kJob, job}}), "---\n");
    Kubectl({"apply", "-f", "-"}, objects);
    int node = 0;
    for (const std::string& line :
         Lines({"get", "pdj", "-o", R"(jsonpath={range .items[*]}{.metadata.name} {.metadata.uid}{"\n"}{end})"})) {
      const std::pair<std::string, std::string> job = absl::StrSplit(line, ' ');
      if (!absl::c_linear_search(jobs, job.first)) continue;
      for (const std::string role : {"ps", "worker"}) {
        for (const char* const index : {"-0", "-1"}) {
          const std::string name = absl::StrCat(job.first, "-", role, index);
          absl::StrAppend(
              &pods, R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")", name,
              R"(","labels":{"paddle-res-name":")", name, R"(","paddle-res-type":")", role,
              R"("},"annotations":{"paddle-resource":")", role,
              R"("},"ownerReferences":[{"apiVersion":"batch.paddlepaddle.org/v1","kind":"PaddleJob","name":")",
              job.first, R"(","uid":")", job.second, R"(","controller":true}]},"spec":{"nodeName":"node-00)",
              ++node % 6, R"(","containers":[{"name":"paddle","image":"p"}]}})", "\n");
        }
      }
    }
    Kubectl({"apply", "-f", "-"}, pods);
    Kubectl({"wait", "pod", "--all", "--for=jsonpath={.status.phase}=Running", "--timeout=60s"});
    Kubectl({"annotate", "pdj", "--all", "paddle.gangway.io/managed-by-"});
  }

  std::unique_ptr<SandboxProcess> sandbox_;
};

TEST_F(MovingTest, FromPaddleOperatorAndBack) {
  const std::vector<std::string> blocks = BlocksUnder("Moving from paddle-operator, and back");
  ASSERT_THAT(blocks, SizeIs(3));
  LetTheOperatorWork();

  // The sandbox has the controller already, and no registry is asked.
  const std::size_t install = blocks[0].find("make image");
  ASSERT_NE(install, std::string::npos);
  const std::size_t render = blocks[0].find("scripts/render "), pipe = blocks[0].find(" | kubectl apply -f -", render);
  ASSERT_NE(pipe, std::string::npos);
  const std::string rendered = Run(blocks[0].substr(render, pipe - render));
  EXPECT_THAT(rendered, HasSubstr("image: registry.example/ml/gangway:0.1.0"));
  Kubectl({"create", "namespace", "gangway-system"});  // a dry run makes none
  EXPECT_THAT(Kubectl({"apply", "--dry-run=server", "-f", "-"}, rendered),
              HasSubstr("deployment.apps/gangway-controller"));
  EXPECT_THAT(Run(blocks[0].substr(0, install)),
              AllOf(HasSubstr(kJob), HasSubstr("spec.schedulingPolicy.minAvailable")));
  EXPECT_EQ(Kubectl({"get", "vcjob", "-o", "name"}), "") << "what the operator has pods for is left alone";

  EXPECT_THAT(Run(blocks[1]), AllOf(HasSubstr("runs under paddle-operator"),
                                    HasSubstr("done; what was is kept in config map"), HasSubstr("STATUS")));
  Kubectl({"wait", "pdj", kJob, "--for=jsonpath={.status.phase}=Running", "--timeout=30s"});
  EXPECT_EQ(Kubectl({"get", "pods", "-o", "jsonpath={.items[*].metadata.ownerReferences[0].kind}"}), "Job Job Job Job");

  EXPECT_THAT(Run(blocks[2]), HasSubstr("is paddle-operator's again"));
  EXPECT_EQ(Kubectl({"get", "vcjob", "-o", "name"}), "");
  EXPECT_EQ(Kubectl({"get", "deployment", "-n", "paddle-system", "-o", "jsonpath={.items[*].spec.replicas}"}), "1");
}

// The same where nobody may do more than their roles say, on what is installed: the overlay of the README is applied as
// it stands there, and the controller runs as its Deployment starts it, with its account's token. Volcano's part is
// played by our own scheduler and Job controller.
class RehearsedMovingTest : public MovingTest {
 protected:
  void SetUp() override {
    if (!HasKubectl()) GTEST_SKIP() << "there is no kubectl on this machine";
    Start({"--rbac", "--components=kubelets,scheduler", "--nodes=12"});
  }
  std::unique_ptr<GangwayProcess> StartController(const std::string& name, std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--metrics-addr=127.0.0.1:0"});
    auto process = std::make_unique<GangwayProcess>(sandbox_->folder(), name, std::move(arguments));
    EXPECT_TRUE(Eventually([&] { return process->Ready(); })) << process->log();
    return process;
  }
  // As the Deployment of the overlay starts it, but for addresses.
  std::unique_ptr<GangwayProcess> StartInstalled(const std::string& name) {
    std::vector<std::string> arguments =
        Lines({"get", "deployment", "gangway-controller", "-n", "gangway-system", "-o",
               R"(jsonpath={range .spec.template.spec.containers[0].args[*]}{@}{"\n"}{end})"});
    std::erase_if(arguments, [](const std::string& each) {
      return absl::StartsWith(each, "--health-addr") || absl::StartsWith(each, "--metrics-addr") ||
             absl::StartsWith(each, "--log-format");  // the test's own
    });
    arguments.insert(arguments.end(), {"--kubeconfig", sandbox_->KubeconfigOf("gangway-system", "gangway-controller")});
    return StartController(name, std::move(arguments));
  }
  static std::string NewJob(const std::string& name, const std::string& annotations) {
    return absl::StrCat(R"({"apiVersion":"batch.paddlepaddle.org/v1","kind":"PaddleJob","metadata":{"name":")", name,
                        R"("},"spec":{"worker":{"replicas":1,"template":{"metadata":{"annotations":{)", annotations,
                        R"(}},"spec":{"containers":[{"name":"paddle","image":"p"}]}}}}})");
  }
  std::string PodsOf(const std::string& job) {
    return Kubectl({"get", "pods", "-l", absl::StrCat("volcano.sh/job-name=", job), "-o",
                    "jsonpath={.items[*].metadata.uid} {.items[*].status.phase}"});
  }
  std::string OperatorsPods() {
    return Kubectl({"get", "pods", "-l", "paddle-res-type,!volcano.sh/job-name", "-o",
                    "jsonpath={.items[*].metadata.uid} {.items[*].status.phase}"});
  }
};

// With fifty jobs in a long run, with five in every one. New ones come all the while, and what is installed is replaced
// by the next version and that by the one before.
TEST_F(RehearsedMovingTest, InstalledWithItsRolesUpgradedAndBack) {
  const std::vector<std::string> blocks = BlocksUnder("Moving from paddle-operator, and back");
  ASSERT_THAT(blocks, SizeIs(3));
  Kubectl({"apply", "-k", GW_SOURCE_DIR "/deploy/volcano/crds-paddle"});
  LetTheOperatorWork();
  std::vector<std::string> moved;
  for (int i = 1; i < (LongRun() ? 50 : 5); ++i) moved.push_back(absl::StrCat("moved-", i));
  MakeJobs(moved);
  moved.push_back(kJob);
  const auto specs = [&] {
    std::vector<std::string> get{"get", "pdj", "-o", "jsonpath={.items[*].spec}"};
    get.insert(get.begin() + 2, moved.begin(), moved.end());
    return Kubectl(get);
  };
  const std::string before = specs();
  const std::string running = OperatorsPods();
  ASSERT_THAT(running, HasSubstr("Running"));
  // Volcano's controllers.
  const auto volcano =
      StartController("volcano", {"controller", "--kubeconfig", sandbox_->kubeconfig(), "--only=job,queue,podgroup"});

  const std::size_t render = blocks[0].find("scripts/render ");
  ASSERT_NE(render, std::string::npos);
  EXPECT_THAT(Run(blocks[0].substr(render)), HasSubstr("clusterrole.rbac.authorization.k8s.io/gangway-controller"));
  auto controller = StartInstalled("installed");
  ASSERT_TRUE(controller->Ready());
  // A job that is new runs as ours from the beginning.
  Kubectl({"apply", "-f", "-"}, NewJob("ours", ""));
  EXPECT_TRUE(Eventually([&] { return absl::StrContains(PodsOf("ours"), "Running"); })) << controller->log();
  const std::string ours = PodsOf("ours");
  EXPECT_EQ(OperatorsPods(), running) << "what the operator has pods for is left alone";

  std::atomic<bool> done{false};
  std::atomic<int> come{0};
  std::thread users([&] {
    for (int i = 1; !done; come = i++)
      Kubectl({"apply", "-f", "-"}, NewJob(absl::StrCat("new-", i), R"("sandbox.gangway.io/finish":"200ms")"));
  });
  EXPECT_THAT(Run(blocks[1]), HasSubstr("done; what was is kept in config map"));
  std::map<std::string, std::string> pods;
  for (const std::string& job : moved) {
    Kubectl({"wait", "pdj", job, "--for=jsonpath={.status.phase}=Running", "--timeout=60s"});
    pods[job] = PodsOf(job);
    EXPECT_THAT(pods[job], HasSubstr("Running Running Running Running"));
  }
  EXPECT_EQ(PodsOf("ours"), ours) << "what was ours runs on";

  // The next version starts beside the one that goes, as a Deployment has it; then the one before.
  for (const char* const version : {"upgraded", "rolled-back"}) {
    auto next = StartInstalled(version);
    controller->process().Signal(SIGTERM);
    const int came = come;
    EXPECT_EQ(controller->process().Wait(), 0) << controller->log();
    EXPECT_THAT(controller->log(), Not(HasSubstr("forbidden")));
    controller = std::move(next);
    const std::string job = absl::StrCat("new-", came + 2);  // which began to come later
    EXPECT_TRUE(Eventually([&] { return sandbox_->Kubectl({"get", "pdj", job}).exit_code == 0; }));
    Kubectl({"wait", "pdj", job, "--for=jsonpath={.status.phase}=Completed", "--timeout=60s"});
  }
  done = true;
  users.join();
  for (int i = 1; i <= come; ++i)
    Kubectl({"wait", "pdj", absl::StrCat("new-", i), "--for=jsonpath={.status.phase}=Completed", "--timeout=60s"});
  for (const std::string& job : moved) EXPECT_EQ(PodsOf(job), pods[job]) << "no pod is made anew";
  EXPECT_EQ(PodsOf("ours"), ours);

  EXPECT_THAT(Run(blocks[2]), HasSubstr("is paddle-operator's again"));
  for (const std::string& job : moved) EXPECT_EQ(PodsOf(job), " ");
  EXPECT_EQ(specs(), before);
  EXPECT_EQ(PodsOf("ours"), ours) << "what began as ours runs on";
  EXPECT_THAT(controller->log(), Not(HasSubstr("forbidden")));
}

}  // namespace
}  // namespace gangway::testutil
