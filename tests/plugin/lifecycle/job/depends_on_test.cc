// Tasks that wait for others, when what they wait for goes away: the gang counts what may be there, or nothing of it
// would start again.
#include "plugin/lifecycle/job/depends_on.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/plugin/lifecycle/job/world.h"

namespace gangway::lifecycle {
namespace {

using ::testing::ElementsAre;
using testutil::JobText;
using testutil::World;

std::int64_t MinMember(const World& world) {
  return world.Object("podgroups", PodGroupName(world.job())).at("spec").at("minMember").as_int64();
}
std::int64_t MinMemberOf(const World& world, const char* task) {
  return world.Object("podgroups", PodGroupName(world.job())).at("spec").at("minTaskMember").at(task).as_int64();
}

const char kWaits[] = R"("minAvailable":2,"dependsOn":{"name":["ps"]})";

TEST(DependsOnTest, APodThatARestartTakesAwayOpensNoGate) {
  World world(JobText("j", 3, {{"ps", 1, R"("minAvailable":1)"}, {"w", 2, kWaits}},
                      R"("policies":[{"event":"PodFailed","action":"RestartJob"}])"));
  ASSERT_TRUE(world.Start());
  ASSERT_TRUE(world.ComeBack());
  ASSERT_EQ(world.phase(), "Running");
  world.SetPod("j-w-0", "Failed", 7);
  ASSERT_TRUE(world.Settle());
  // The failed pod is gone, its server ends yet: it must not be made before the server is there again.
  world.SetGroupPhase("Inqueue");
  ASSERT_TRUE(world.Settle());
  EXPECT_THAT(world.Pods(), ElementsAre("ps-0 -Running v0", "w-1 -Running v0"));
  world.AllDeletedGone();
  ASSERT_TRUE(world.Settle());
  world.SetGroupPhase("Inqueue");
  ASSERT_TRUE(world.Settle());
  EXPECT_THAT(world.Pods(), ElementsAre("ps-0 Pending v1"));
  EXPECT_EQ(MinMember(world), 1);
  world.RunAll();
  ASSERT_TRUE(world.Settle());
  EXPECT_THAT(world.Pods(), ElementsAre("ps-0 Running v1", "w-0 Pending v1", "w-1 Pending v1"));
  EXPECT_EQ(MinMember(world), 3);
}

TEST(DependsOnTest, AGangThatLostItsServerAndOneOfTheOthersCanStartAgain) {
  World world(JobText("j", 3, {{"ps", 1, R"("minAvailable":1)"}, {"w", 2, kWaits}}));
  ASSERT_TRUE(world.Start());
  ASSERT_TRUE(world.ComeBack());
  ASSERT_EQ(world.phase(), "Running");
  world.PodGone("j-ps-0");
  world.PodGone("j-w-1");
  ASSERT_TRUE(world.Settle());
  // The one that is left and the server: a gang that can be placed, or nobody would ever open the gate.
  EXPECT_THAT(world.Pods(), ElementsAre("ps-0 Pending v0", "w-0 Running v0"));
  EXPECT_EQ(MinMember(world), 2);
  EXPECT_EQ(MinMemberOf(world, "w"), 1);
  world.RunAll();
  ASSERT_TRUE(world.Settle());
  EXPECT_THAT(world.Pods(), ElementsAre("ps-0 Running v0", "w-0 Running v0", "w-1 Pending v0"));
  EXPECT_EQ(MinMember(world), 3);
  EXPECT_EQ(MinMemberOf(world, "w"), 2);
}

}  // namespace
}  // namespace gangway::lifecycle
