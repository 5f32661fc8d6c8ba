// What docs/differences.md says of Jobs, where no other test shows it.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "plugin/lifecycle/job/reconcile_job.h"
#include "tests/plugin/lifecycle/job/world.h"

namespace gangway::lifecycle {
namespace {

using ::testing::ElementsAre;
using testutil::JobText;
using testutil::World;

std::string Uid(const World& world, const std::string& pod) {
  return std::string(world.Object("pods", pod).at("metadata").at("uid").as_string());
}

// volcano-sh/volcano#5885: the job of that report.
TEST(DifferencesTest, APodThatFailsBecauseItIsBeingDeletedWasEvicted) {
  World world(JobText(
      "j", 2, {{"master", 1}, {"worker", 1}},
      R"("policies":[{"event":"PodFailed","action":"TerminateJob"},{"event":"PodEvicted","action":"RestartJob"}])"));
  ASSERT_TRUE(world.Start());
  world.DeletePod("j-worker-0");
  world.SetPod("j-worker-0", "Failed", 143);
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Running");
  world.PodGone("j-worker-0");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Restarting");
}

// One that failed by itself did, whoever removes it then.
TEST(DifferencesTest, APodThatFailedBeforeItWasDeletedFailed) {
  World world(JobText(
      "j", 2, {{"w", 2}},
      R"("policies":[{"event":"PodFailed","action":"TerminateJob"},{"event":"PodEvicted","action":"RestartJob"}])"));
  ASSERT_TRUE(world.Start());
  world.SetPod("j-w-0", "Failed", 1);
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Terminating");
}

// volcano-sh/volcano#4743.
TEST(DifferencesTest, ADelayedTargetedRestartOfPendingPodsHappens) {
  for (const char* action : {"RestartTask", "RestartPod"}) {
    World world(
        JobText("j", 2, {{"w", 2}},
                absl::StrCat(R"("policies":[{"event":"PodPending","action":")", action, R"(","timeout":"10s"}])")));
    ASSERT_TRUE(world.Settle());
    world.SetGroupPhase("Inqueue");
    ASSERT_TRUE(world.Settle());
    world.SetPod("j-w-1", "Running");
    ASSERT_TRUE(world.Settle());
    const std::string stuck = Uid(world, "j-w-0"), fine = Uid(world, "j-w-1");
    world.Pass(absl::Seconds(10));
    ASSERT_TRUE(world.Settle());
    world.AllDeletedGone();
    ASSERT_TRUE(world.Settle());
    EXPECT_NE(Uid(world, "j-w-0"), stuck) << action;
    EXPECT_EQ(Uid(world, "j-w-1") == fine, std::string(action) == "RestartPod") << action;
    EXPECT_EQ(world.job().status.retry_count, 1) << action;
    world.RunAll();
    ASSERT_TRUE(world.Settle());
    EXPECT_EQ(world.phase(), "Running") << action;
  }
}

// Spec 2.6: there the timer of a pod that goes from Pending to Succeeded at once stays armed.
TEST(DifferencesTest, ADelayedActionEndsWithItsReason) {
  World world(
      JobText("j", 2, {{"w", 2}}, R"("policies":[{"event":"PodPending","action":"AbortJob","timeout":"10s"}])"));
  ASSERT_TRUE(world.Settle());
  world.SetGroupPhase("Inqueue");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.look_again(), world.now() + absl::Seconds(10));
  world.SetPod("j-w-0", "Succeeded");
  world.SetPod("j-w-1", "Running");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.look_again(), absl::InfiniteFuture());
  world.Pass(absl::Minutes(1));
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Running");
}

// Volcano's event carries version 0 and so counts only until the first kill.
TEST(DifferencesTest, P22AnUnknownGroupIsAnsweredAfterARestartToo) {
  World world(JobText("j", 2, {{"w", 2}}, R"("maxRetry":5,"policies":[{"event":"Unknown","action":"RestartJob"}])"));
  ASSERT_TRUE(world.Start());
  for (int version = 1; version <= 2; ++version) {
    world.SetGroupPhase("Unknown");
    ASSERT_TRUE(world.Settle());
    EXPECT_EQ(world.job().status.version, version);
    ASSERT_TRUE(world.ComeBack());
    EXPECT_EQ(world.phase(), "Running");
  }
}

// A pod of the new version is lost while the old ones still go: the restart begins anew, and is still one.
TEST(DifferencesTest, ALossWhileRestartingIsAnsweredToo) {
  World world(JobText("j", 2, {{"w", 2}}, R"("policies":[{"event":"PodEvicted","action":"RestartJob"}])"));
  ASSERT_TRUE(world.Start());
  world.PodGone("j-w-0");
  ASSERT_TRUE(world.Settle());
  world.SetGroupPhase("Inqueue");
  ASSERT_TRUE(world.Settle());
  ASSERT_THAT(world.Pods(), ElementsAre("w-0 Pending v1", "w-1 -Running v0"));
  ASSERT_EQ(world.phase(), "Restarting");
  world.PodGone("j-w-0");
  ASSERT_TRUE(world.Settle());
  ASSERT_TRUE(world.ComeBack());
  EXPECT_THAT(world.Pods(), ElementsAre("w-0 Running v2", "w-1 Running v2"));
  EXPECT_EQ(world.phase(), "Running");
  EXPECT_EQ(world.job().status.retry_count, 1);
}

// volcano-sh/volcano#3967: whether a policy or the counts come first there is a matter of which event was handled
// first.
TEST(DifferencesTest, AFailureIsAnsweredBeforeTheJobIsJudgedByItsCounts) {
  World world(
      JobText("j", 1, {{"w", 1}}, R"("policies":[{"events":["PodFailed","PodEvicted"],"action":"RestartJob"}])"));
  ASSERT_TRUE(world.Start());
  world.SetPod("j-w-0", "Failed", 1);
  ASSERT_TRUE(world.Settle());
  ASSERT_TRUE(world.ComeBack());
  EXPECT_THAT(world.phases(), ElementsAre("Pending", "Running", "Restarting", "Pending", "Running"));
}

// Spec 3.4: there the pod stays missing until another event.
TEST(DifferencesTest, ALostPartitionIsMadeAnew) {
  World world(JobText(
      "j", 2,
      {{"w", 2,
        R"("partitionPolicy":{"totalPartitions":2,"partitionSize":1},"policies":[{"event":"PodEvicted","action":"RestartPartition"}])"}}));
  ASSERT_TRUE(world.Start());
  world.PodGone("j-w-0");
  ASSERT_TRUE(world.Settle());
  EXPECT_THAT(world.Pods(), ElementsAre("w-0 Pending v0", "w-1 Running v0"));
  EXPECT_EQ(world.job().status.retry_count, 0);
}

// Spec 3.2, 9: there every change of a counter moves it.
TEST(DifferencesTest, LastTransitionTimeIsWhenThePhaseBegan) {
  World world(JobText("j", 1, {{"w", 2}}));
  ASSERT_TRUE(world.Start());
  const absl::Time began = world.job().status.state.last_transition_time.at;
  world.Pass(absl::Minutes(5));
  world.SetPod("j-w-0", "Succeeded");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.job().status.succeeded, 1);
  EXPECT_EQ(world.job().status.state.last_transition_time.at, began);
}

// volcano-sh/volcano#1908: the running time of a finished Job is that of its life.
TEST(DifferencesTest, RunningDurationIsWrittenOnce) {
  World world(JobText("j", 1, {{"w", 1}}));
  ASSERT_TRUE(world.Start());
  world.Pass(absl::Minutes(5));
  world.SetPod("j-w-0", "Succeeded");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.job().status.running_duration, "5m0s");
  world.Pass(absl::Hours(5));
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.job().status.running_duration, "5m0s");
}

// Spec 2.7: there fifteen errors, for want of a claim or of room in a quota, terminate the Job.
TEST(DifferencesTest, WhatIsMissingIsWaitedForHoweverLong) {
  World world(JobText("j", 1, {{"w", 1}}, R"("volumes":[{"mountPath":"/data","volumeClaimName":"late"}])"));
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(world.Settle());
    world.Pass(absl::Minutes(1));
  }
  EXPECT_EQ(world.phase(), "Pending");
  world.AddClaim("late");
  ASSERT_TRUE(world.Start());
  EXPECT_EQ(world.phase(), "Running");
}

// What Volcano's controller left in the middle of a kill: it goes, and is no event (row H16).
TEST(DifferencesTest, APodMarkedOutOfSyncIsReplacedWithoutAnEvent) {
  World world(JobText("j", 2, {{"w", 2}}, R"("policies":[{"event":"*","action":"TerminateJob"}])"));
  ASSERT_TRUE(world.Start());
  world.Annotate("pods", "j-w-0", "volcano.sh/controller-out-of-sync", "true");
  ASSERT_TRUE(world.Settle());
  EXPECT_THAT(world.Pods(), ElementsAre("w-0 -Running v0", "w-1 Running v0"));
  world.AllDeletedGone();
  ASSERT_TRUE(world.Settle());
  EXPECT_THAT(world.Pods(), ElementsAre("w-0 Pending v0", "w-1 Running v0"));
  EXPECT_EQ(world.job().status.retry_count, 0);
  EXPECT_EQ(world.job().status.version, 0);
}

}  // namespace
}  // namespace gangway::lifecycle
