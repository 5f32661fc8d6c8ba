// `gangway top` and `gangway dashboard` as a user runs them, against a `gangway sandbox`.
#include <csignal>

#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/kubectl/sandbox_process.h"
#include "tests/testing/loop_thread.h"

namespace gangway::testutil {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class TopProcessTest : public ::testing::Test {
 protected:
  Outcome Run(std::vector<std::string> args) const {
    args.insert(args.begin(), GW_GANGWAY);
    args.insert(args.end(), {"--kubeconfig", sandbox_.kubeconfig()});
    return RunProgram(args, {"KUBECONFIG=", "HOME=" + sandbox_.folder()});
  }

  const SandboxProcess sandbox_{{"--apply", std::string(GW_SOURCE_DIR) + "/examples/too-large.yaml"}};
};

TEST_F(TopProcessTest, SaysWhoWaitsAndWhy) {
  std::string out;
  EXPECT_TRUE(Eventually([&] {
    out = Run({"top"}).out;
    return absl::StrContains(out, "waits for 1 of 7 tasks");
  })) << out;
  EXPECT_THAT(out, AllOf(StartsWith("QUEUE "), HasSubstr("\ndefault/too-large  default  0/7 "),
                         HasSubstr("\nnode-000  0/16  cpu  -")));
  EXPECT_THAT(Run({"top", "-n", "elsewhere"}).out, ::testing::Not(HasSubstr("too-large")));
  const Outcome wrong = Run({"top", "--every", "0s"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_EQ(wrong.err, "gangway top: --every 0s: write a number and a unit, such as 2s; at least 100ms\n");
}

TEST_F(TopProcessTest, TheDashboardSaysWhereItIsAndEndsWhenItIsTold) {
  const std::string output = sandbox_.folder() + "/dashboard";
  ChildProcess dashboard({GW_GANGWAY, "dashboard", "--listen", "127.0.0.1:0", "--kubeconfig", sandbox_.kubeconfig()},
                         output);
  EXPECT_TRUE(Eventually([&] { return absl::StrContains(ReadFile(output), "/\n"); }));
  EXPECT_THAT(ReadFile(output), StartsWith("dashboard at http://127.0.0.1:"));
  dashboard.Signal(SIGTERM);
  EXPECT_EQ(dashboard.Wait(), 0);
  const Outcome open = Run({"dashboard", "--listen", "0.0.0.0:0"});
  EXPECT_EQ(open.exit_code, 2);
  EXPECT_THAT(open.err, StartsWith("gangway dashboard: --listen 0.0.0.0:0: whoever reaches the page sees"));
}

}  // namespace
}  // namespace gangway::testutil
