// `gangway run` as somebody types it, against a `gangway sandbox`.
#include <csignal>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/kubectl/sandbox_process.h"
#include "tests/testing/files.h"
#include "tests/testing/loop_thread.h"

namespace gangway::testutil {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

const std::vector<std::string> kCommand{"--", "python", "train.py", "--lr", "0.1"};

class LaunchProcessTest : public ::testing::Test {
 protected:
  void Start(std::vector<std::string> flags = {}) {
    flags.insert(flags.begin(), {"--start-delay", "10ms", "--stop-delay", "10ms"});
    sandbox_ = std::make_unique<SandboxProcess>(flags);
  }
  std::vector<std::string> Words(std::vector<std::string> flags) const {
    std::vector<std::string> words{GW_GANGWAY, "run", "--image", "paddle:2.6"};
    if (sandbox_ != nullptr) flags.insert(flags.end(), {"--kubeconfig", sandbox_->kubeconfig()});
    words.insert(words.end(), flags.begin(), flags.end());
    words.insert(words.end(), kCommand.begin(), kCommand.end());
    return words;
  }
  Outcome Run(const std::vector<std::string>& flags) const {
    return RunProgram(Words(flags), {"KUBECONFIG=", "HOME=" + folder_.path()});
  }
  // The same on a terminal, whose output is both of the program's.
  std::string RunInTerminal(const std::vector<std::string>& flags, const std::vector<std::string>& environment) const {
    const Outcome outcome = RunProgram({"script", "-qec", absl::StrJoin(Words(flags), " "), "/dev/null"}, environment);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
    return outcome.out;
  }

  const TemporaryFolder folder_{"gangway-run"};
  std::unique_ptr<SandboxProcess> sandbox_;
};

TEST_F(LaunchProcessTest, ItWaitsForTheEndAndSaysOnlyThatWhereThereIsNoTerminal) {
  Start({"--finish", "worker=100ms"});
  const Outcome outcome = Run({"--name", "mine", "--workers", "2", "--ps", "1"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, IsEmpty());
  EXPECT_THAT(outcome.out, AllOf(StartsWith("job default/mine created\n  gangway logs -f mine -n default\n"),
                                 HasSubstr("job default/mine: Completed: 2 succeeded"), Not(HasSubstr("\033"))));
  const Outcome pods = sandbox_->Kubectl({"get", "vcjob", "mine", "-o", "jsonpath={.spec.tasks[*].replicas}"});
  EXPECT_EQ(pods.out, "1 2");
}

TEST_F(LaunchProcessTest, InATerminalItTellsWhatHappensWithColoursUnlessNobodyWantsThem) {
  Start({"--finish", "worker=500ms"});
  const std::string colours = RunInTerminal({"--name", "bright"}, {"TERM=xterm", "NO_COLOR="});
  EXPECT_THAT(colours, AllOf(HasSubstr("job default/bright"), HasSubstr("\033[32mRunning: 1 running\033[0m"),
                             HasSubstr("pod default/bright-worker-0"), HasSubstr("podgroup default/bright"),
                             HasSubstr("job default/bright: Completed: 1 succeeded")));
  const std::string plain = RunInTerminal({"--name", "plain"}, {"TERM=xterm", "NO_COLOR=1"});
  EXPECT_THAT(plain, AllOf(HasSubstr("  Running: 1 running"), Not(HasSubstr("\033"))));
  EXPECT_THAT(RunInTerminal({"--name", "dumb"}, {"TERM=dumb", "NO_COLOR="}), Not(HasSubstr("\033")));
}

TEST_F(LaunchProcessTest, APaddleJobIsKeptByItsController) {
  Start({"--finish", "worker=50ms"});
  const Outcome outcome = Run({"--name", "pdj", "--kind", "paddlejob", "--workers", "2"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("paddlejob default/pdj created\n"), HasSubstr("kubectl delete pdj pdj"),
                                 HasSubstr("paddlejob default/pdj: Completed")));
}

TEST_F(LaunchProcessTest, AJobThatFailsIsNoSuccess) {
  Start({"--fail", "worker=20ms:1"});
  const Outcome outcome = Run({"--name", "bad"});
  EXPECT_EQ(outcome.exit_code, 3) << outcome.out;
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("gangway run: job default/bad: the job is "),
                                 HasSubstr("gangway job view -n default bad says more\n")));
}

TEST_F(LaunchProcessTest, WhoStopsWaitingDoesNotStopTheJob) {
  Start();
  EXPECT_TRUE(Eventually([&] {  // a busy machine may need longer to know why it waits
    const Outcome late = Run({"--name", "late", "--cpu", "1000", "--timeout", "3s", "--replace"});
    EXPECT_EQ(late.exit_code, 3);
    return absl::StrContains(late.err,
                             "job default/late: not at its end within 3s: waits for 1 of 1 task: needs cpu 1000");
  }));
  const Outcome at_once = Run({"--name", "later", "--wait=false"});
  EXPECT_EQ(at_once.exit_code, 0) << at_once.err;
  EXPECT_THAT(at_once.out, Not(HasSubstr("Completed")));

  const std::string log = folder_.path() + "/log";
  ChildProcess waits(Words({"--name", "long"}), log);
  ASSERT_TRUE(Eventually([&] {
    return sandbox_->Kubectl({"get", "vcjob", "long", "-o", "jsonpath={.status.state.phase}"}).out == "Running" &&
           ReadFile(log).find("gangway logs") != std::string::npos;
  }));
  waits.Signal(SIGINT);
  const int code = waits.Wait();
  EXPECT_TRUE(code == 3 || code == 128 + SIGINT) << code << " " << ReadFile(log);
  EXPECT_EQ(sandbox_->Kubectl({"get", "vcjob", "long", "-o", "jsonpath={.status.state.phase}"}).out, "Running");
}

TEST_F(LaunchProcessTest, ANameThatIsTakenIsReplacedOnlyWhenAsked) {
  Start({"--finish", "worker=50ms"});
  ASSERT_EQ(Run({"--name", "same", "--wait=false"}).exit_code, 0);
  const Outcome again = Run({"--name", "same"});
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_EQ(again.err,
            "gangway run: job default/same is there already; --replace stops and deletes it first, another --name "
            "leaves it alone\n");
  const Outcome replaced = Run({"--name", "same", "--replace"});
  EXPECT_EQ(replaced.exit_code, 0) << replaced.err;
  EXPECT_THAT(replaced.out, HasSubstr("job default/same deleted\njob default/same created\n"));
}

TEST_F(LaunchProcessTest, ADryRunIsAFileThatIsValidAndAsksNobody) {
  for (const std::string kind : {"job", "paddlejob"}) {
    const Outcome dry = Run({"--dry-run", "-o", "yaml", "--kind", kind, "--name", "mine", "--gpus", "8", "--workers",
                             "4", "--queue", "ads", "--master", "http://127.0.0.1:1"});
    EXPECT_EQ(dry.exit_code, 0) << dry.err;
    EXPECT_THAT(dry.out, AllOf(HasSubstr("nvidia.com/gpu: \"8\""), HasSubstr("replicas: 4"), HasSubstr("queue: ads")));
    const std::string file = folder_.path() + "/" + kind + ".yaml";
    WriteFile(file, dry.out);
    const Outcome valid = RunProgram({GW_GANGWAY, "validate", "-f", file});
    EXPECT_EQ(valid.exit_code, 0) << valid.out << valid.err;
  }
  EXPECT_THAT(Run({"--dry-run", "-o", "json", "--name", "mine"}).out, StartsWith("{"));
}

TEST_F(LaunchProcessTest, WhatIsWrongIsSaidBeforeAnybodyIsAsked) {
  const Outcome name = Run({"--name", "My_Job", "--dry-run"});
  EXPECT_EQ(name.exit_code, 1);
  EXPECT_THAT(name.err, AllOf(HasSubstr("E-NAME metadata.name"), HasSubstr("my-job")));
  EXPECT_EQ(Run({"--memory", "16GB"}).exit_code, 2);
  EXPECT_EQ(Run({"--timeout", "soon"}).exit_code, 2);
  const Outcome nothing = RunProgram({GW_GANGWAY, "run", "--image", "x", "--dry-run"});
  EXPECT_EQ(nothing.exit_code, 2);
  EXPECT_THAT(nothing.err, HasSubstr("gangway run: there is no command: write it after --"));
  const Outcome nobody = Run({"--master", "http://127.0.0.1:1"});
  EXPECT_EQ(nobody.exit_code, 2);
  EXPECT_THAT(nobody.err, HasSubstr("gave no answer"));
}

}  // namespace
}  // namespace gangway::testutil
