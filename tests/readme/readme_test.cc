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
#include "tests/kubectl/sandbox_process.h"
#include "tests/readme/moving.h"
#include "tests/readme/readme.h"
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

std::string InCheckout(const std::string& commands) { return absl::StrCat("cd " GW_SOURCE_DIR "\n", commands); }

// A line of a block that begins with that, as a user types it.
std::string LineOf(const std::string& block, const std::string& begin) {
  for (const absl::string_view line : absl::StrSplit(block, '\n'))
    if (absl::StartsWith(line, begin)) return std::string(line);
  ADD_FAILURE() << begin << " is not in\n" << block;
  return "false";
}

// Lines without their times, nor how far those are set in: one of more than ten seconds is wider. What happens at one
// moment is printed in an order of its own, so they are compared as a set.
std::multiset<std::string> Timeless(const std::string& text) {
  std::multiset<std::string> lines;
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipWhitespace()))
    lines.insert(std::regex_replace(std::string(line), std::regex(" *[0-9]+\\.[0-9]+s"), "<time>"));
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
  shell(apply + "\nkubectl wait vcjob/ctr-volcano --for=jsonpath={.status.running}=4 --timeout=120s");
  const std::string looks = commands.substr(commands.find(apply) + apply.size());
  EXPECT_THAT(
      shell(looks.substr(0, looks.find(last))),
      AllOf(HasSubstr("job.batch.volcano.sh/ctr-volcano"), HasSubstr("podgroup.scheduling.volcano.sh/ctr-volcano"),
            HasSubstr("pod/ctr-volcano-trainer-1"), HasSubstr("node-000"), HasSubstr("Min Member:")));
  shell(last);
  shell("kubectl wait vcjob/ctr-volcano --for=jsonpath={.status.retryCount}=1 --timeout=120s");
  sandbox.Signal(SIGINT);
  EXPECT_EQ(sandbox.Wait(), 0);
}

// The sandbox as a cluster that one moves in.
class SandboxCluster final : public MovingCluster {
 public:
  explicit SandboxCluster(std::vector<std::string> flags) : sandbox_(Fast(std::move(flags))) {
    std::filesystem::create_symlink(GW_GANGWAY, folder() + "/gangway");
  }
  Outcome Kubectl(std::vector<std::string> args, const std::string& input) const override {
    return sandbox_.Kubectl(std::move(args), input);
  }
  std::string folder() const override { return sandbox_.folder(); }
  std::string kubeconfig() const override { return sandbox_.kubeconfig(); }
  std::string KubeconfigOf(const std::string& ns, const std::string& account) const override {
    return sandbox_.KubeconfigOf(ns, account);
  }

 private:
  static std::vector<std::string> Fast(std::vector<std::string> flags) {
    flags.insert(flags.end(), {"--start-delay", "10ms", "--stop-delay", "10ms"});
    return flags;
  }
  const SandboxProcess sandbox_;
};

TEST(MovingTest, FromPaddleOperatorAndBack) {
  if (!HasKubectl()) GTEST_SKIP() << "there is no kubectl on this machine";
  const std::vector<std::string> blocks = BlocksUnder("Moving from paddle-operator, and back");
  ASSERT_THAT(blocks, SizeIs(3));
  const SandboxCluster sandbox({});
  const Moving moving(sandbox);
  moving.LetTheOperatorWork();

  // The sandbox has the controller already, and no registry is asked.
  const std::size_t install = blocks[0].find("make image");
  ASSERT_NE(install, std::string::npos);
  const std::size_t render = blocks[0].find("scripts/render "), pipe = blocks[0].find(" | kubectl apply -f -", render);
  ASSERT_NE(pipe, std::string::npos);
  const std::string rendered = moving.Run(blocks[0].substr(render, pipe - render));
  EXPECT_THAT(rendered, HasSubstr("image: registry.example/ml/gangway:0.1.0"));
  moving.Kubectl({"create", "namespace", "gangway-system"});  // a dry run makes none
  EXPECT_THAT(moving.Kubectl({"apply", "--dry-run=server", "-f", "-"}, rendered),
              HasSubstr("deployment.apps/gangway-controller"));
  EXPECT_THAT(moving.Run(blocks[0].substr(0, install)),
              AllOf(HasSubstr(kGuidesJob), HasSubstr("spec.schedulingPolicy.minAvailable")));
  EXPECT_EQ(moving.Kubectl({"get", "vcjob", "-o", "name"}), "") << "what the operator has pods for is left alone";

  EXPECT_THAT(moving.Run(blocks[1]), AllOf(HasSubstr("runs under paddle-operator"),
                                           HasSubstr("done; what was is kept in config map"), HasSubstr("STATUS")));
  moving.Kubectl({"wait", "pdj", kGuidesJob, "--for=jsonpath={.status.phase}=Running", "--timeout=120s"});
  EXPECT_EQ(moving.Kubectl({"get", "pods", "-o", "jsonpath={.items[*].metadata.ownerReferences[0].kind}"}),
            "Job Job Job Job");

  EXPECT_THAT(moving.Run(blocks[2]), HasSubstr("is paddle-operator's again"));
  EXPECT_EQ(moving.Kubectl({"get", "vcjob", "-o", "name"}), "");
  EXPECT_EQ(moving.Kubectl({"get", "deployment", "-n", "paddle-system", "-o", "jsonpath={.items[*].spec.replicas}"}),
            "1");
}

// With fifty jobs in a long run, with five in every one.
TEST(RehearsedMovingTest, InstalledWithItsRolesUpgradedAndBack) {
  if (!HasKubectl()) GTEST_SKIP() << "there is no kubectl on this machine";
  const SandboxCluster sandbox({"--rbac", "--components=kubelets", "--nodes=12"});
  Moving(sandbox).ThereUpgradedAndBack(LongRun() ? 50 : 5);
}

}  // namespace
}  // namespace gangway::testutil
