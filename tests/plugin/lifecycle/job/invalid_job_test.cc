// Jobs that change under our feet into what no admission lets through (a cluster may have none), and back: what runs
// goes on, the Job says what is wrong, and nothing of it is left over.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "plugin/lifecycle/job/roster.h"
#include "tests/plugin/lifecycle/job/world.h"

namespace gangway::lifecycle {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testutil::JobText;
using testutil::World;

const char kRestartOnFailure[] = R"("policies":[{"event":"PodFailed","action":"RestartJob"}])";

TEST(InvalidJobTest, APluginThatDoesNotExistStopsNothingThatRuns) {
  World world(JobText("j", 2, {{"w", 2}}, kRestartOnFailure));
  ASSERT_TRUE(world.Start());
  world.PatchJob(R"({"spec":{"plugins":{"nope":[]}}})");
  ASSERT_TRUE(world.Settle());
  EXPECT_TRUE(world.HasEvent("PluginError", "nope"));
  EXPECT_THAT(world.Pods(), ElementsAre("w-0 Running v0", "w-1 Running v0"));
  world.SetPod("j-w-0", "Failed", 3);
  ASSERT_TRUE(world.Settle());
  world.AllDeletedGone();
  ASSERT_TRUE(world.Settle());
  EXPECT_THAT(world.Pods(), IsEmpty()) << "the restart waits for a Job that can be carried out";
  world.PatchJob(R"({"spec":{"plugins":null}})");
  ASSERT_TRUE(world.ComeBack());
  EXPECT_THAT(world.Pods(), ElementsAre("w-0 Running v1", "w-1 Running v1"));
  EXPECT_EQ(world.job().status.retry_count, 1);
}

TEST(InvalidJobTest, ATemplateThatIsNoneMakesNoPodsAndKeepsThoseThatAre) {
  const std::string good = R"({"name":"w","replicas":3,"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}})";
  World world(JobText("j", 2, {{"w", 2}}));
  ASSERT_TRUE(world.Start());
  for (
      const char* bad :
      {R"({"name":"w","replicas":3,"template":7})",
       R"({"name":"w","replicas":2,"template":{"spec":{"containers":"none"}}})",
       R"({"name":"w","replicas":2,"template":{"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"many"}}}]}}})"}) {
    world.PatchJob(absl::StrCat(R"({"spec":{"tasks":[)", bad, "]}}"));
    ASSERT_TRUE(world.Settle()) << bad;
    EXPECT_THAT(world.Pods(), ElementsAre("w-0 Running v0", "w-1 Running v0")) << bad;
  }
  EXPECT_TRUE(world.HasEvent("PodGroupError", "template") || world.HasEvent("FailedCreate", "template"));
  world.PatchJob(absl::StrCat(R"({"spec":{"tasks":[)", good, "]}}"));
  ASSERT_TRUE(world.Settle());
  world.RunAll();
  ASSERT_TRUE(world.Settle());
  EXPECT_THAT(world.Pods(), ElementsAre("w-0 Running v0", "w-1 Running v0", "w-2 Running v0"));
}

TEST(InvalidJobTest, TooManyPodsAreRefusedAndNoneIsTouched) {
  World world(JobText("j", 2, {{"w", 2}}));
  ASSERT_TRUE(world.Start());
  const std::size_t writes = world.writes().size();
  world.PatchJob(
      R"({"spec":{"tasks":[{"name":"w","replicas":2000000000,"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}}]}})");
  ASSERT_TRUE(world.Settle());
  EXPECT_TRUE(world.HasEvent("FailedCreate", "2000000000"));
  EXPECT_EQ(world.writes().size(), writes);
}

TEST(InvalidJobTest, PodsOfATaskThatIsNoMoreGo) {
  World world(JobText("j", 2, {{"old", 2}}, kRestartOnFailure));
  ASSERT_TRUE(world.Start());
  world.PatchJob(
      R"({"spec":{"tasks":[{"name":"new","replicas":2,"minAvailable":2,"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}}]}})");
  ASSERT_TRUE(world.Settle());
  EXPECT_THAT(world.Pods(),
              ElementsAre("new-0 Pending v0", "new-1 Pending v0", "old-0 -Running v0", "old-1 -Running v0"));
  world.AllDeletedGone();
  world.RunAll();
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Running");
  EXPECT_EQ(world.job().status.retry_count, 0) << "a pod the spec no longer wants is no eviction";
}

TEST(InvalidJobTest, NothingIsLeftOverWhenAJobWithoutTasksEnds) {
  World world(JobText("j", 2, {{"w", 2}}));
  ASSERT_TRUE(world.Start());
  world.Command("stop", "TerminateJob");
  world.PatchJob(R"({"spec":{"tasks":[]}})");
  ASSERT_TRUE(world.Settle());
  world.AllDeletedGone();
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Terminated");
  EXPECT_THAT(world.Pods(), IsEmpty());
}

TEST(InvalidJobTest, NegativeNumbersHarmNobody) {
  World world(JobText("j", 2, {{"w", 2}}, kRestartOnFailure));
  ASSERT_TRUE(world.Start());
  world.PatchJob(R"({"spec":{"minAvailable":-5,"maxRetry":-1}})");
  ASSERT_TRUE(world.Settle());
  EXPECT_THAT(world.Pods(), ElementsAre("w-0 Running v0", "w-1 Running v0"));
  world.PatchJob(R"({"spec":{"minAvailable":2,"maxRetry":3}})");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Running");
}

}  // namespace
}  // namespace gangway::lifecycle
