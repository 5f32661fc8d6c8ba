// The rows D of spec paddle 8: which pods are left when a job has ended. Both controllers at work.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/translator/lifecycle/paddle_world.h"

namespace gangway::testutil {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct CleanCase {
  std::string name, policy;
  bool fails = false;
  std::vector<std::string> left;
  std::string field = "cleanPodPolicy";
};

class PaddleCleanTest : public ::testing::TestWithParam<CleanCase> {};

TEST_P(PaddleCleanTest, LeavesThesePods) {
  const CleanCase& c = GetParam();
  const std::string policy = c.policy.empty() ? "" : absl::StrCat("\"", c.field, "\":\"", c.policy, "\"");
  PaddleWorld world(PaddleJobText("wd", {{"ps", RoleText(1)}, {"worker", RoleText(2)}}, policy));
  ASSERT_TRUE(world.Start());
  world.SetPod("wd-worker-0", "Succeeded");
  world.SetPod("wd-worker-1", c.fails ? "Failed" : "Succeeded", c.fails ? 1 : 0);
  ASSERT_TRUE(world.Settle());
  world.ForgetWrites();
  world.Pass(absl::Seconds(10));
  ASSERT_TRUE(world.Settle());
  world.DeletedPodsGo();  // what Volcano has ended: the server
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), c.fails ? "Failed" : "Completed");
  EXPECT_EQ(world.Pods(), c.left);
  EXPECT_EQ(world.status().worker->succeeded, c.fails ? 1 : 2);  // counted also when they are gone
  EXPECT_EQ(world.Decide().stages.size(), 0u);
}

const std::vector<std::string> kBoth = {"worker-0 Succeeded", "worker-1 Succeeded"},
                               kOneFailed = {"worker-0 Succeeded", "worker-1 Failed"};

INSTANTIATE_TEST_SUITE_P(
    Rows, PaddleCleanTest,
    ::testing::Values(CleanCase{"D1EmptyCompleted", "", false, {}}, CleanCase{"D2EmptyFailed", "", true, kOneFailed},
                      CleanCase{"D3AlwaysCompleted", "Always", false, {}},
                      CleanCase{"D4AlwaysFailed", "Always", true, {}},
                      CleanCase{"D5OnCompletionCompleted", "OnCompletion", false, {}},
                      CleanCase{"D6OnCompletionFailed", "OnCompletion", true, kOneFailed},
                      CleanCase{"D7OnFailureFailed", "OnFailure", true, {}},
                      CleanCase{"D8OnFailureCompleted", "OnFailure", false, kBoth},
                      CleanCase{"D9NeverCompleted", "Never", false, kBoth},
                      CleanCase{"D10NeverFailed", "Never", true, kOneFailed},
                      CleanCase{"D12OldNameOnCompletion", "OnCompletion", false, {}, "cleanPolicy"},
                      CleanCase{"D12OldNameOnFailure", "OnFailure", true, {}, "cleanPolicy"},
                      CleanCase{"D12OldNameNever", "Never", false, kBoth, "cleanPolicy"},
                      CleanCase{"UnknownTextKeeps", "OnFailed", true, kOneFailed}),
    [](const auto& c) { return c.param.name; });

TEST(PaddleClean, AllPodsGoTogetherAfterTheStatusThatCountsThem) {
  PaddleWorld world(PaddleJobText("wd", {{"worker", RoleText(3)}}));
  ASSERT_TRUE(world.Start());
  world.SetAll("Succeeded");
  world.ForgetWrites();
  ASSERT_TRUE(world.Settle());
  ASSERT_EQ(world.phase(), "Completed");
  const std::vector<std::string> last(world.writes().end() - 4, world.writes().end());
  EXPECT_THAT(last, ElementsAre("patch paddlejobs/status wd", "delete pods wd-worker-0", "delete pods wd-worker-1",
                                "delete pods wd-worker-2"));
}

TEST(PaddleClean, AnEditAfterTheEndTakesEffect) {
  PaddleWorld world(PaddleJobText("wd", {{"worker", RoleText(2)}}, "\"cleanPodPolicy\":\"Never\""));
  ASSERT_TRUE(world.Start());
  world.SetAll("Succeeded");
  ASSERT_TRUE(world.Settle());
  ASSERT_EQ(world.Pods(), kBoth);
  world.Edit(R"({"spec":{"cleanPodPolicy":"Always"}})");
  ASSERT_TRUE(world.Settle());
  EXPECT_THAT(world.Pods(), IsEmpty());
  EXPECT_EQ(world.phase(), "Completed");
  EXPECT_EQ(world.status().observed_generation, 2);
}

TEST(PaddleClean, TheJobGoesByItsTtlAndTheStatusStays) {
  PaddleWorld world(PaddleJobText("wd", {{"worker", RoleText(1)}}, "", "\"paddle.gangway.io/ttl\":\"60\""));
  ASSERT_TRUE(world.Start());
  world.SetAll("Succeeded");
  ASSERT_TRUE(world.Settle());
  ASSERT_EQ(world.phase(), "Completed");
  EXPECT_TRUE(world.Exists("jobs", "wd"));
  EXPECT_EQ(world.look_again(), world.status().completion_time.at + absl::Seconds(60));
  world.Pass(absl::Seconds(60));
  ASSERT_TRUE(world.Settle());
  EXPECT_FALSE(world.Exists("jobs", "wd"));
  EXPECT_EQ(world.phase(), "Completed");
  EXPECT_EQ(world.status().restarts, 0);
}

}  // namespace
}  // namespace gangway::testutil
