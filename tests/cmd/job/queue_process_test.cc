// `gangway queue` as a user runs it, against a `gangway sandbox`.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/kubectl/sandbox_process.h"
#include "tests/testing/loop_thread.h"

namespace gangway::testutil {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class QueueProcessTest : public ::testing::Test {
 protected:
  Outcome Run(std::vector<std::string> args) const {
    args.insert(args.begin(), {GW_GANGWAY, "queue"});
    args.insert(args.end(), {"--kubeconfig", sandbox_.kubeconfig()});
    return RunProgram(args, {"KUBECONFIG=", "HOME=" + sandbox_.folder()});
  }
  bool Shows(const std::string& row) const {
    return Eventually([&] { return Run({"get", "default"}).out.find("\n" + row) != std::string::npos; });
  }

  const SandboxProcess sandbox_{{"--apply", std::string(GW_SOURCE_DIR) + "/examples/too-large.yaml"}};
};

TEST_F(QueueProcessTest, ListCloseOpenAndWeight) {
  // The gang that does not fit is let in and waits.
  EXPECT_TRUE(Shows("default                  1       Open    1       0       0       0       \n"))
      << Run({"get", "default"}).out;
  EXPECT_THAT(Run({"list"}).out,
              HasSubstr("Name                     Weight  State   Inqueue Pending Running Unknown \ndefault "));

  EXPECT_THAT(Run({"get", "default", "-o", "json"}).out, HasSubstr(R"({"queues":[{"name":"default",)"));
  EXPECT_THAT(Run({"get", "default", "-o", "json"}).out, HasSubstr(R"(,"waiting":1}]})"));

  const Outcome close = Run({"operate", "-n", "default", "-a", "close"});
  EXPECT_EQ(close.exit_code, 0) << close.err;
  EXPECT_THAT(close.out, IsEmpty());
  EXPECT_TRUE(Shows("default                  1       Closing ")) << Run({"get", "default"}).out;
  EXPECT_EQ(Run({"operate", "default", "--action", "open"}).exit_code, 0);
  EXPECT_TRUE(Shows("default                  1       Open    ")) << Run({"get", "default"}).out;

  EXPECT_EQ(Run({"operate", "-n", "default", "-a", "update", "-w", "4"}).exit_code, 0);
  EXPECT_THAT(Run({"get", "-n", "default"}).out, HasSubstr("\ndefault                  4       Open    "));
}

TEST_F(QueueProcessTest, ErrorsNameTheQueueAndTheFix) {
  const Outcome unknown = Run({"operate", "ads", "-a", "close"});
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_EQ(unknown.err,
            "gangway queue operate: queue ads: queues.scheduling.volcano.sh \"ads\" not found; gangway queue list "
            "shows what is there\n");
  const auto refused = [&](std::vector<std::string> args) {
    const Outcome outcome = Run(std::move(args));
    EXPECT_EQ(outcome.exit_code, 2);
    return outcome.err;
  };
  EXPECT_EQ(refused({"get"}),
            "gangway queue get: name is mandatory to get a particular queue: gangway queue get NAME\n");
  EXPECT_EQ(refused({"operate", "ads"}),
            "gangway queue operate: queue ads: --action is missing: write open, close or update\n");
  EXPECT_EQ(refused({"operate", "ads", "-a", "shut"}),
            "gangway queue operate: queue ads: --action shut: write open, close or update\n");
  EXPECT_EQ(refused({"operate", "ads", "-a", "update"}),
            "gangway queue operate: queue ads: --action update needs --weight, from 1 to 65535\n");
  EXPECT_EQ(refused({"operate", "ads", "-a", "open", "-w", "2"}),
            "gangway queue operate: queue ads: --weight goes with --action update only\n");
}

}  // namespace
}  // namespace gangway::testutil
