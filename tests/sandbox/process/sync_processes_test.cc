#include "sandbox/process/sync_processes.h"

#include <boost/json.hpp>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/sandbox/process/sync_processes_fixture.h"

namespace gangway::sandbox {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST_F(SyncProcessesTest, APodIsPreparedThenStartedThenRunsThenEnds) {
  EXPECT_THAT(Pass(), ElementsAre("prepare"));
  EXPECT_EQ(Main().state.waiting->reason, "ContainerCreating");
  EXPECT_THAT(Pass(), IsEmpty()) << "asked once";
  Ground();
  EXPECT_THAT(Pass(), ElementsAre("start main"));
  EXPECT_EQ(pod().status.pod_ip, "10.1.0.1");
  EXPECT_EQ(pod().status.phase, "Pending");
  EXPECT_THAT(Pass(), IsEmpty());
  Started();
  EXPECT_THAT(Pass(), IsEmpty());
  EXPECT_EQ(pod().status.phase, "Running");
  EXPECT_TRUE(Main().ready);
  Ended(0);
  EXPECT_THAT(Pass(), IsEmpty());
  EXPECT_EQ(pod().status.phase, "Succeeded");
  EXPECT_EQ(Main().state.terminated->reason, "Completed");
  EXPECT_THAT(Pass(), ElementsAre("drop"));
  EXPECT_THAT(Pass(), IsEmpty());
  EXPECT_THAT(events_, ElementsAre("Started: Started container main"));
}

TEST_F(SyncProcessesTest, AnExitCodeFailsThePodUnlessItRestarts) {
  Running();
  Ended(7);
  Pass();
  EXPECT_EQ(pod().status.phase, "Failed");
  EXPECT_EQ(Main().state.terminated->exit_code, 7);
  EXPECT_EQ(Main().state.terminated->reason, "Error");
}

TEST_F(SyncProcessesTest, OutOfMemoryAndMessagesAreTold) {
  Running();
  known_.containers["main"].now->out_of_memory = true;
  known_.containers["main"].now->message = "last words";
  Ended(137);
  Pass();
  EXPECT_EQ(Main().state.terminated->reason, "OOMKilled");
  EXPECT_EQ(Main().state.terminated->message, "last words");
}

TEST_F(SyncProcessesTest, ACommandThatCannotBeStartedIsAStartError) {
  Pass();
  Ground();
  Pass();
  known_.containers["main"].now->error = "exec: \"x\": executable file not found in $PATH";
  Ended(128);
  Pass();
  EXPECT_EQ(pod().status.phase, "Failed");
  EXPECT_EQ(Main().state.terminated->reason, "StartError");
  EXPECT_EQ(Main().state.terminated->exit_code, 128);
  EXPECT_THAT(events_, ElementsAre("Failed: Error: exec: \"x\": executable file not found in $PATH"));
}

TEST_F(SyncProcessesTest, OnFailureRestartsAtOnceThenBacksOffTwiceAsLongEachTime) {
  Pod(R"({"spec":{"restartPolicy":"OnFailure"}})");
  Running();
  Ended(1);
  EXPECT_THAT(Pass(), ElementsAre("start main")) << "the first restart is at once";
  for (const int wait : {10, 20, 40}) {
    Started();
    Pass();
    EXPECT_EQ(Main().last_state.terminated->exit_code, 1);
    Ended(1);
    EXPECT_THAT(Pass(), IsEmpty());
    EXPECT_EQ(Main().state.waiting->reason, "CrashLoopBackOff");
    EXPECT_EQ(pod().status.phase, "Running");
    EXPECT_EQ(next_ - now_, absl::Seconds(wait));
    After(absl::Seconds(wait) - absl::Milliseconds(1));
    EXPECT_THAT(Pass(), IsEmpty());
    After(absl::Milliseconds(1));
    EXPECT_THAT(Pass(), ElementsAre("start main"));
  }
  Started();
  Pass();
  EXPECT_EQ(Main().restart_count, 4);
  Ended(0);
  Pass();
  EXPECT_EQ(pod().status.phase, "Succeeded");
}

TEST_F(SyncProcessesTest, ALongRunHasItsBackOffBehindIt) {
  Pod(R"({"spec":{"restartPolicy":"OnFailure"}})");
  Running();
  for (int i = 0; i < 3; ++i) {
    Ended(1);
    Pass();
    After(absl::Minutes(5));
    Pass();
    Started();
    Pass();
  }
  After(2 * times_.max_restart_backoff);
  Ended(1);
  EXPECT_THAT(Pass(), ElementsAre("start main")) << "as the first time";
  Started();
  Ended(1);
  EXPECT_THAT(Pass(), IsEmpty());
  EXPECT_EQ(next_ - now_, absl::Seconds(10));
}

TEST_F(SyncProcessesTest, EventsOfAStatusThatCouldNotBeWrittenAreToldAnew) {
  Pass();
  Ground();
  Pass();
  Started();
  const boost::json::value before = json_;
  Pass();
  EXPECT_THAT(events_, ElementsAre("Started: Started container main"));
  json_ = before;
  Pod(R"({"metadata":{"labels":{"somebody":"else"}}})");
  events_.clear();
  Pass();
  EXPECT_THAT(events_, ElementsAre("Started: Started container main"));
  events_.clear();
  Pass();
  EXPECT_THAT(events_, IsEmpty()) << "it was written";
}

TEST_F(SyncProcessesTest, HowADeletedPodEndedIsStoredBeforeItGoes) {
  Running();
  Deleted(5);
  Pass();
  Ended(143);
  EXPECT_THAT(Pass(), ElementsAre("drop"));
  EXPECT_TRUE(removed_);
  EXPECT_EQ(Main().state.terminated->exit_code, 143);
  EXPECT_FALSE(Main().ready);
}

TEST_F(SyncProcessesTest, WhileItIsMadeAnewItsLogIsThatOfTheRunBefore) {
  Pod(R"({"spec":{"restartPolicy":"Always"}})");
  Running();
  Ended(1);
  Pass();
  EXPECT_EQ(Main().restart_count, 0);
  Pass();
  EXPECT_EQ(Main().restart_count, 0);
  Started();
  Pass();
  EXPECT_EQ(Main().restart_count, 1);
}

TEST_F(SyncProcessesTest, AlwaysRestartsAlsoAfterSuccess) {
  Pod(R"({"spec":{"restartPolicy":"Always"}})");
  Running();
  Ended(0);
  EXPECT_THAT(Pass(), ElementsAre("start main"));
}

TEST_F(SyncProcessesTest, ContainersStartAndEndEachForItself) {
  Pod(R"({"spec":{"containers":[{"name":"main"},{"name":"other"}]}})");
  missing_.containers["other"] = "configmap \"x\" not found";
  Pass();
  Ground();
  EXPECT_THAT(Pass(), ElementsAre("start main"));
  EXPECT_EQ(pod().status.container_statuses.at(1).state.waiting->reason, "CreateContainerConfigError");
  Started();
  Pass();
  EXPECT_EQ(pod().status.phase, "Pending") << "one of them has never run";
  missing_ = {};
  EXPECT_THAT(Pass(), ElementsAre("start other"));
  Started("other");
  Pass();
  EXPECT_EQ(pod().status.phase, "Running");
  Ended(0);
  Pass();
  EXPECT_EQ(pod().status.phase, "Running") << "one of them runs";
  Ended(3, "other");
  Pass();
  EXPECT_EQ(pod().status.phase, "Failed");
}

TEST_F(SyncProcessesTest, InitContainersComeOneByOneAndSidecarsStay) {
  Pod(R"({"spec":{"initContainers":[{"name":"first"},{"name":"side","restartPolicy":"Always"},{"name":"second"}]}})");
  Pass();
  Ground();
  EXPECT_THAT(Pass(), ElementsAre("start first"));
  Started("first");
  EXPECT_THAT(Pass(), IsEmpty());
  Ended(0, "first");
  EXPECT_THAT(Pass(), ElementsAre("start side"));
  EXPECT_THAT(Pass(), IsEmpty()) << "a sidecar has to run first";
  Started("side");
  EXPECT_THAT(Pass(), ElementsAre("start second"));
  Started("second");
  Ended(0, "second");
  EXPECT_THAT(Pass(), ElementsAre("start main"));
  EXPECT_TRUE(pod().status.init_container_statuses.at(1).ready);
  Started();
  Pass();
  Ended(0);
  EXPECT_THAT(Pass(), ElementsAre("terminate side")) << "it may have something to write yet";
  EXPECT_EQ(next_ - now_, absl::Seconds(30));
  EXPECT_EQ(pod().status.phase, "Running");
  After(absl::Seconds(30));
  EXPECT_THAT(Pass(), ElementsAre("kill side"));
  Ended(137, "side");
  EXPECT_THAT(Pass(), IsEmpty());
  EXPECT_EQ(pod().status.phase, "Succeeded");
  EXPECT_EQ(pod().status.init_container_statuses.at(1).state.terminated->exit_code, 137);
  EXPECT_THAT(Pass(), ElementsAre("drop"));
}

TEST_F(SyncProcessesTest, ASidecarInBackOffHidesNothingOfTheMainContainers) {
  Pod(R"({"spec":{"initContainers":[{"name":"side","restartPolicy":"Always"}]}})");
  Pass();
  Ground();
  Pass();
  Started("side");
  EXPECT_THAT(Pass(), ElementsAre("start main"));
  Started();
  Pass();
  Ended(1, "side");
  EXPECT_THAT(Pass(), ElementsAre("start side"));
  Started("side");
  Ended(1, "side");
  EXPECT_THAT(Pass(), IsEmpty());
  EXPECT_EQ(pod().status.init_container_statuses.at(0).state.waiting->reason, "CrashLoopBackOff");
  Ended(0);
  EXPECT_THAT(Pass(), IsEmpty());
  EXPECT_EQ(pod().status.phase, "Succeeded");
}

TEST_F(SyncProcessesTest, AnEndThatCouldNotBeWrittenIsWrittenLater) {
  Pod(R"({"spec":{"initContainers":[{"name":"side","restartPolicy":"Always"}]}})");
  Pass();
  Ground();
  Pass();
  Started("side");
  Pass();
  Started();
  Pass();
  Ended(0);
  Pass();
  Ended(0, "side");
  const boost::json::value before = json_;
  EXPECT_THAT(Pass(), IsEmpty()) << "nothing is dropped before the end is stored";
  json_ = before;
  EXPECT_THAT(Pass(), IsEmpty());
  EXPECT_EQ(pod().status.phase, "Succeeded");
  EXPECT_THAT(Pass(), ElementsAre("drop"));
}

TEST_F(SyncProcessesTest, AnInitContainerThatFailsFailsThePodWhenItNeverRestarts) {
  Pod(R"({"spec":{"initContainers":[{"name":"first"}]}})");
  Pass();
  Ground();
  Pass();
  Started("first");
  Ended(1, "first");
  EXPECT_THAT(Pass(), IsEmpty());
  EXPECT_EQ(pod().status.phase, "Failed");
  EXPECT_EQ(Main().state.waiting->reason, "PodInitializing");
}

TEST_F(SyncProcessesTest, WhatCannotBePreparedIsToldAndTriedAgain) {
  Pass();
  known_.ground = PodGround::kNone;
  known_.ground_reason = "FailedMount";
  known_.ground_error = "no space left on device";
  known_.ground_failed = now_;
  EXPECT_THAT(Pass(), IsEmpty());
  EXPECT_THAT(Pass(), IsEmpty());
  EXPECT_THAT(events_, ElementsAre("FailedMount: no space left on device")) << "told once";
  After(absl::Seconds(2));
  EXPECT_THAT(Pass(), ElementsAre("prepare"));
  EXPECT_EQ(pod().status.phase, "Pending");
}

TEST_F(SyncProcessesTest, AContainerThatCannotBeOrderedWaitsWithTheReason) {
  Pass();
  Ground();
  Pass();
  ProcessRuns& runs = known_.containers["main"];
  runs.now.reset();
  runs.refused = {"CreateContainerError", "no command specified", now_ + absl::Seconds(10)};
  EXPECT_THAT(Pass(), IsEmpty());
  EXPECT_EQ(Main().state.waiting->reason, "CreateContainerError");
  EXPECT_EQ(Main().state.waiting->message, "no command specified");
  After(absl::Seconds(10));
  EXPECT_THAT(Pass(), ElementsAre("start main"));
}

TEST_F(SyncProcessesTest, ADeletedPodIsAskedFirstThenKilled) {
  Running();
  Pod(R"({"metadata":{"deletionTimestamp":"2027-01-15T08:00:00Z","deletionGracePeriodSeconds":5}})");
  EXPECT_THAT(Pass(), ElementsAre("terminate main"));
  EXPECT_EQ(next_ - now_, absl::Seconds(5));
  EXPECT_THAT(Pass(), IsEmpty());
  EXPECT_FALSE(removed_);
  After(absl::Seconds(5));
  EXPECT_THAT(Pass(), ElementsAre("kill main"));
  EXPECT_FALSE(removed_) << "its process is still there";
  Ended(137);
  EXPECT_THAT(Pass(), ElementsAre("drop"));
  EXPECT_TRUE(removed_);
  EXPECT_THAT(events_, ElementsAre("Started: Started container main", "Killing: Stopping container main"));
}

TEST_F(SyncProcessesTest, WithoutGraceItHasTwoSecondsStill) {
  Running();
  Pod(R"({"metadata":{"deletionTimestamp":"2027-01-15T08:00:00Z","deletionGracePeriodSeconds":0}})");
  EXPECT_THAT(Pass(), ElementsAre("terminate main"));
  EXPECT_EQ(next_ - now_, absl::Seconds(2));
  After(absl::Seconds(2));
  EXPECT_THAT(Pass(), ElementsAre("kill main"));
}

TEST_F(SyncProcessesTest, APodWhoseNodeIsSilentIsLeftAlone) {
  Running();
  node_ = NodeState::kLost;
  Pod(R"({"metadata":{"deletionTimestamp":"2027-01-15T08:00:00Z","deletionGracePeriodSeconds":0}})");
  EXPECT_THAT(Pass(), IsEmpty());
  node_ = NodeState::kAbsent;
  Pass();
  EXPECT_FALSE(removed_);
  After(times_.orphan);
  Pass();
  EXPECT_TRUE(removed_);
}

TEST_F(SyncProcessesTest, WhatSimulatedContainersAreToldIsNotPassedOverInSilence) {
  Pod(R"({"metadata":{"annotations":{"sandbox.gangway.io/finish":"5s"}}})");
  Running();
  EXPECT_THAT(events_,
              ElementsAre("InvalidAnnotation: annotation sandbox.gangway.io/finish is for simulated containers; it is "
                          "ignored",
                          "Started: Started container main"));
}

TEST_F(SyncProcessesTest, WhatCouldNotBePreparedIsDroppedToo) {
  Pass();
  known_.ground = PodGround::kNone;
  known_.ground_error = "no such directory";
  known_.ground_failed = now_;
  Pod(R"({"metadata":{"deletionTimestamp":"2027-01-15T08:00:00Z","deletionGracePeriodSeconds":5}})");
  EXPECT_THAT(Pass(), ElementsAre("drop")) << "its folders are there";
}

TEST_F(SyncProcessesTest, VolumesAreWaitedFor) {
  missing_.mounts = {"MountVolume.SetUp failed for volume \"v\" : configmap \"x\" not found"};
  EXPECT_THAT(Pass(), IsEmpty());
  EXPECT_THAT(events_, ElementsAre(HasSubstr("FailedMount: MountVolume.SetUp failed")));
  missing_ = {};
  EXPECT_THAT(Pass(), ElementsAre("prepare"));
}

}  // namespace
}  // namespace gangway::sandbox
