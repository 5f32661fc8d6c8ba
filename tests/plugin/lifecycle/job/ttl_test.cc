// Rows T1 to T4 of tests/spec/volcano-job.rows, and what a finished Job's plan says of its TTL.
#include "plugin/lifecycle/job/ttl.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "plugin/lifecycle/job/reconcile_job.h"
#include "tests/plugin/lifecycle/job/world.h"
#include "tests/testing/status_matchers.h"

namespace gangway::lifecycle {
namespace {

using api::volcano::Job;
using testutil::StatusIs;

const absl::Time kFinished = absl::FromUnixSeconds(1'767'225'600);

Job Finished(const std::string& phase, std::optional<std::int32_t> ttl) {
  Job job;
  job.metadata.ns = "test";
  job.metadata.name = "job1";
  job.metadata.uid = "u1";
  job.metadata.resource_version = "7";
  job.spec.ttl_seconds_after_finished = ttl;
  job.status.state.phase = phase;
  job.status.state.last_transition_time = {kFinished};
  return job;
}
kube::Plan PlanAt(const Job& job, absl::Time now) {
  kube::Plan plan;
  AddCleanUp(job, now, plan);
  return plan;
}

TEST(TtlTest, T1ExpiredOnlyWhenTheTtlIsOver) {
  EXPECT_TRUE(PlanAt(Finished("Completed", 3), kFinished).stages.empty());
  EXPECT_FALSE(PlanAt(Finished("Completed", 0), kFinished).stages.empty());
}

TEST(TtlTest, T2OnlyAFinishedJobWithATtlNeedsCleanUp) {
  EXPECT_TRUE(NeedsCleanUp(Finished("Completed", 3)));
  EXPECT_TRUE(NeedsCleanUp(Finished("Failed", 3)));
  EXPECT_TRUE(NeedsCleanUp(Finished("Terminated", 3)));
  for (const char* phase :
       {"", "Pending", "Running", "Restarting", "Completing", "Aborting", "Aborted", "Terminating"}) {
    EXPECT_FALSE(NeedsCleanUp(Finished(phase, 0))) << phase;
    EXPECT_TRUE(PlanAt(Finished(phase, 0), kFinished).empty()) << phase;
    EXPECT_EQ(PlanAt(Finished(phase, 0), kFinished).look_again, absl::InfiniteFuture()) << phase;
  }
  EXPECT_FALSE(NeedsCleanUp(Finished("Completed", std::nullopt)));
  Job deleting = Finished("Completed", 0);
  deleting.metadata.deletion_timestamp = {kFinished};
  EXPECT_FALSE(NeedsCleanUp(deleting));
}

TEST(TtlTest, T3TheWholeTtlIsLeftWhenItFinishes) {
  EXPECT_EQ(*ExpiryOf(Finished("Completed", 3)) - kFinished, absl::Seconds(3));
  EXPECT_EQ(PlanAt(Finished("Completed", 3), kFinished).look_again, kFinished + absl::Seconds(3));
  const auto refused = ExpiryOf(Finished("", 3));
  EXPECT_THAT(refused, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_EQ(refused.status().message(), "job test/job1 should not be cleaned up");
}

TEST(TtlTest, T4NobodyKnowsWhenItFinished) {
  Job job = Finished("Completed", 3);
  job.status.state.last_transition_time = {};
  EXPECT_EQ(ExpiryOf(job).status().message(), "unable to find the time when the Job test/job1 finished");
  const kube::Plan plan = PlanAt(job, kFinished + absl::Hours(1));
  EXPECT_TRUE(plan.stages.empty());
  ASSERT_EQ(plan.events.size(), 1u);
  EXPECT_EQ(plan.events[0].reason, "TTLUnknown");
  EXPECT_THAT(plan.events[0].message,
              ::testing::StartsWith("unable to find the time when the Job test/job1 finished: "));
}

TEST(TtlTest, TheVersionThatWasSeenIsDeletedAfterItsPods) {
  const kube::Plan plan = PlanAt(Finished("Failed", 3), kFinished + absl::Seconds(3));
  ASSERT_EQ(plan.stages.size(), 1u);
  ASSERT_EQ(plan.stages[0].size(), 1u);
  const kube::Write& write = plan.stages[0][0];
  EXPECT_EQ(write.verb, kube::Verb::kDelete);
  EXPECT_EQ(write.resource, &api::kJobs);
  EXPECT_EQ(write.ns + "/" + write.name, "test/job1");
  EXPECT_EQ(write.uid, "u1");
  EXPECT_EQ(write.resource_version, "7");
  EXPECT_EQ(write.propagation, kube::Propagation::kForeground);
}

TEST(TtlTest, AFinishInTheFutureIsWaitedFor) {
  const kube::Plan plan = PlanAt(Finished("Completed", 3), kFinished - absl::Hours(2));
  EXPECT_TRUE(plan.empty());
  EXPECT_EQ(plan.look_again, kFinished + absl::Seconds(3));
}

TEST(TtlTest, WhatElseIsToBeWrittenComesFirst) {
  kube::Plan plan;
  plan.stages.push_back({kube::Write{}});
  AddCleanUp(Finished("Completed", 0), kFinished + absl::Seconds(5), plan);
  EXPECT_EQ(plan.stages.size(), 1u);
  EXPECT_EQ(plan.look_again, kFinished);  // at once when it is written
}

TEST(TtlTest, AJobsLifeEndsWithItsTtl) {
  testutil::World world(testutil::JobText("j", 1, {{"w", 1}}, R"("ttlSecondsAfterFinished":3)"));
  ASSERT_TRUE(world.Start());
  world.SetPod("j-w-0", "Succeeded");
  ASSERT_TRUE(world.Settle());
  ASSERT_EQ(world.phase(), "Completed");
  EXPECT_EQ(world.look_again(), world.now() + absl::Seconds(3));
  world.Pass(absl::Seconds(3));
  const kube::Plan plan = world.Decide();
  ASSERT_EQ(plan.stages.size(), 1u);
  EXPECT_EQ(plan.stages[0][0].resource, &api::kJobs);
}

}  // namespace
}  // namespace gangway::lifecycle
