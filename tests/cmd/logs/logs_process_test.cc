// `gangway logs` as a user runs it, against a `gangway sandbox` over HTTP.
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/kubectl/sandbox_process.h"
#include "tests/testing/files.h"
#include "tests/testing/loop_thread.h"

namespace gangway::testutil {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kExamples = std::string(GW_SOURCE_DIR) + "/examples/";

class LogsProcessTest : public ::testing::Test {
 protected:
  void Start(std::vector<std::string> flags, const std::string& file = kExamples + "ctr-volcano.yaml") {
    flags.insert(flags.begin(), {"--start-delay", "10ms", "--stop-delay", "10ms", "--apply", file});
    sandbox_ = std::make_unique<SandboxProcess>(flags);
  }
  Outcome Run(std::vector<std::string> args) const {
    args.insert(args.begin(), GW_GANGWAY);
    args.insert(args.end(), {"--kubeconfig", sandbox_->kubeconfig()});
    return RunProgram(args, {"KUBECONFIG=", "HOME=" + sandbox_->folder()});
  }

  std::unique_ptr<SandboxProcess> sandbox_;
};

TEST_F(LogsProcessTest, FollowsAJobToItsEnd) {
  Start({"--finish", "trainer=1s", "--log", "trainer=100ms:loss"});
  const Outcome logs = Run({"logs", "-f", "job/ctr-volcano", "--task", "trainer"});
  EXPECT_EQ(logs.exit_code, 0) << logs.err;
  for (const std::string pod : {"trainer-0", "trainer-1"}) {
    std::vector<std::string> lines;
    for (const absl::string_view line : absl::StrSplit(logs.out, '\n')) {
      if (line.find("[" + pod + "] ") == 0) lines.emplace_back(line);
    }
    ASSERT_EQ(lines.size(), 11u) << logs.out;
    EXPECT_EQ(lines[9], "[" + pod + "] ctr-volcano-" + pod + "/trainer: loss 9");
    EXPECT_EQ(lines[10], "[" + pod + "] ctr-volcano-" + pod + "/trainer: ended with exit code 0");
  }
  EXPECT_THAT(logs.out, Not(HasSubstr("pserver")));
  EXPECT_THAT(logs.err, HasSubstr("job default/ctr-volcano: Completed"));
}

TEST_F(LogsProcessTest, AJobThatFailsIsAnExitCode) {
  const TemporaryFolder folder("gangway-logs");
  WriteFile(folder.path() + "/job.yaml", R"(
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: short}
spec:
  schedulerName: volcano
  minAvailable: 1
  policies: [{event: PodFailed, action: TerminateJob}]
  tasks:
  - {name: w, replicas: 1, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}
)");
  Start({"--fail", "w=200ms:9"}, folder.path() + "/job.yaml");
  const Outcome logs = Run({"logs", "-f", "short"});
  EXPECT_EQ(logs.exit_code, 3) << logs.err;
  EXPECT_THAT(logs.out, HasSubstr("[w-0] short-w-0/c: ended with exit code 9\n"));
  EXPECT_THAT(logs.err, HasSubstr("gangway logs: job default/short is Terminated"));
}

TEST_F(LogsProcessTest, PrintsAndSaysWhatIsWrong) {
  Start({});
  ASSERT_TRUE(Eventually(
      [&] { return Run({"logs", "ctr-volcano", "--tail", "1"}).out.find("[trainer-1] ") != std::string::npos; }));
  const Outcome stamped =
      Run({"logs", "ctr-volcano", "--task", "pserver", "--prefix=false", "--timestamps", "--tail", "1"});
  EXPECT_EQ(stamped.exit_code, 0) << stamped.err;
  EXPECT_THAT(stamped.out, ContainsRegex("^[0-9T:.-]+Z ctr-volcano-pserver-0/pserver: "));
  const Outcome two =
      Run({"logs", "--task", "pserver", "--task", "trainer", "ctr-volcano", "-c", "trainer", "--tail=1"});
  EXPECT_EQ(two.exit_code, 0) << two.err;
  EXPECT_THAT(two.out, AllOf(HasSubstr("[trainer-1] "), Not(HasSubstr("pserver"))));
  const Outcome previous = Run({"logs", "ctr-volcano", "--previous"});
  EXPECT_EQ(previous.exit_code, 1);
  EXPECT_THAT(previous.err, HasSubstr("no container has run before"));
  const Outcome task = Run({"logs", "ctr-volcano", "--task", "worker"});
  EXPECT_EQ(task.exit_code, 2);
  EXPECT_THAT(task.err, AllOf(HasSubstr("job ctr-volcano has no task worker"), HasSubstr("pserver, trainer")));
  EXPECT_EQ(Run({"logs", "ctr-volcano", "-f", "--previous"}).exit_code, 2);
  const Outcome nobody = Run({"logs", "nobody"});
  EXPECT_EQ(nobody.exit_code, 1);
  EXPECT_THAT(nobody.err, HasSubstr("gangway job list -n default shows what is there"));
}

}  // namespace
}  // namespace gangway::testutil
