#include "plugin/scheduler/group_status.h"

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "tests/plugin/model/cluster_builder.h"

namespace gangway::scheduler {
namespace {

using api::volcano::PodGroupCondition;
using api::volcano::PodGroupStatus;
using testutil::At;
using testutil::Cpu;

const PodGroupCondition& Newest(const PodGroupStatus& status) {
  return *std::max_element(status.conditions.begin(), status.conditions.end(), [](const auto& a, const auto& b) {
    return a.last_transition_time.at < b.last_transition_time.at;
  });
}

class GroupStatusTest : public ::testing::Test {
 protected:
  GroupStatusTest() {
    cluster_.SetNode(testutil::Node("n1"));
    testutil::AddGang(cluster_, "g", 2, 2, 1000);
  }
  void SetPod(int index, model::PodPhase phase) {
    model::PodFacts pod = testutil::Pod("g", "w", index, Cpu(1000));
    pod.node = "n1";
    pod.phase = phase;
    cluster_.SetPod(pod);
  }
  void Write(int second, bool told, const std::string& text = "waits", const std::string& released = "") {
    const StatusInput input{cluster_,
                            cluster_.gang(cluster_.FindGang("default", "g")),
                            status_,
                            told,
                            told ? text : "",
                            released,
                            "",
                            "id",
                            At(second)};
    status_ = WantedStatus(input);
  }
  const PodGroupCondition& Condition(absl::string_view type) const {
    return *std::find_if(status_.conditions.begin(), status_.conditions.end(),
                         [&](const auto& condition) { return condition.type == type; });
  }
  std::string PhaseAfter(const std::string& phase, bool told = false) {
    status_ = {};
    status_.phase = phase;
    Write(1, told);
    return status_.phase;
  }

  model::Cluster cluster_;
  PodGroupStatus status_;
};

TEST_F(GroupStatusTest, WhatHoldsAgainIsTheNewestCondition) {
  SetPod(0, model::PodPhase::kRunning);
  SetPod(1, model::PodPhase::kRunning);
  Write(1, false);
  EXPECT_EQ(Newest(status_).type, "Scheduled");
  SetPod(1, model::PodPhase::kFailed);
  Write(2, true);
  EXPECT_EQ(Newest(status_).type, "Unschedulable");
  SetPod(1, model::PodPhase::kRunning);
  Write(3, false);
  EXPECT_EQ(Newest(status_).type, "Scheduled");
  const PodGroupStatus before = status_;
  Write(4, false);
  EXPECT_EQ(StatusPatch(before, status_), "") << "it is said once";
  SetPod(1, model::PodPhase::kFailed);
  Write(5, true);
  EXPECT_EQ(Newest(status_).type, "Unschedulable");
  EXPECT_EQ(status_.conditions.size(), 2u);
}

// Pods enough, and none of a task that must have one. Once it was whole, its phase follows the number alone, as
// Volcano's.
TEST_F(GroupStatusTest, AGangWithoutATasksMinimumIsNotSaidToBeWhole) {
  model::GangFacts gang = testutil::Gang("g", 2);
  gang.min_task_member = {{"ps", 1}, {"w", 1}};
  cluster_.SetGang(gang);
  for (int i = 0; i < 2; ++i) SetPod(i, model::PodPhase::kRunning);
  EXPECT_EQ(PhaseAfter("Inqueue"), "Inqueue");
  EXPECT_TRUE(status_.conditions.empty());
  EXPECT_EQ(PhaseAfter("Running"), "Running");
  model::PodFacts ps = testutil::Pod("g", "ps", 0, Cpu(1000));
  ps.node = "n1";
  cluster_.SetPod(ps);
  EXPECT_EQ(PhaseAfter("Inqueue"), "Running");
  EXPECT_EQ(Condition("Scheduled").status, "True");
}

// As recorded (no-policy, policy-exitcode).
TEST_F(GroupStatusTest, AFailedMemberBesideARunningOneIsUnknown) {
  SetPod(0, model::PodPhase::kRunning);
  SetPod(1, model::PodPhase::kRunning);
  Write(1, false);
  EXPECT_EQ(status_.phase, "Running");
  SetPod(1, model::PodPhase::kFailed);
  Write(2, true);
  EXPECT_EQ(status_.phase, "Unknown");
}

TEST_F(GroupStatusTest, AMemberThatIsBeingBoundLeavesThePhaseAsItIs) {
  SetPod(0, model::PodPhase::kRunning);
  EXPECT_EQ(PhaseAfter("Running", /*told=*/true), "Unknown");
  cluster_.Assume(cluster_.FindTask("default", "g-w-1"), cluster_.FindNode("n1"));
  EXPECT_EQ(PhaseAfter("Running", /*told=*/true), "Running");
}

TEST_F(GroupStatusTest, AConditionThatGoesOnHasItsNewWordsAndItsOldTime) {
  Write(1, true, "waits for 2");
  Write(2, true, "waits for 1");
  EXPECT_EQ(Condition("Unschedulable").message, "waits for 1");
  EXPECT_EQ(Condition("Unschedulable").last_transition_time.at, At(1));
  status_.conditions[0].reason = "another's";
  Write(3, true, "waits for 1");
  EXPECT_EQ(Condition("Unschedulable").reason, kUnschedulableReason);
  EXPECT_EQ(Condition("Unschedulable").last_transition_time.at, At(1));
  status_.conditions[0].status = "False";
  Write(4, true, "waits for 1");
  EXPECT_EQ(Condition("Unschedulable").last_transition_time.at, At(4));
}

TEST_F(GroupStatusTest, OnlyTheirOppositeOvertakesScheduledAndUnschedulable) {
  Write(1, true);
  Write(2, true, "waits", "released 1 of 2 tasks [g-w-0/u]");
  EXPECT_EQ(Condition("GangReleased").last_transition_time.at, At(2));
  Write(3, true);
  EXPECT_EQ(Condition("Unschedulable").last_transition_time.at, At(1));
}

// Whoever counts from it counts from the last one.
TEST_F(GroupStatusTest, EachReleaseHasItsOwnTime) {
  Write(1, true, "waits", "released 1 of 2 tasks [g-w-0/u]");
  Write(2, true, "waits", "released 1 of 2 tasks [g-w-0/u]");
  EXPECT_EQ(Condition("GangReleased").last_transition_time.at, At(1));
  Write(3, true, "waits", "released 1 of 2 tasks [g-w-0/v]");
  EXPECT_EQ(Condition("GangReleased").last_transition_time.at, At(3));
}

TEST_F(GroupStatusTest, NothingElseMakesAGangScheduledAnew) {
  for (int i = 0; i < 2; ++i) SetPod(i, model::PodPhase::kRunning);
  Write(1, false);
  Write(2, false, "", "released 1 of 2 tasks [g-w-0/u]");
  Write(3, false);
  EXPECT_EQ(Condition("Scheduled").last_transition_time.at, At(1));
}

TEST_F(GroupStatusTest, WhatIsScheduledIsSaidWhenAllBindingsHaveArrived) {
  SetPod(0, model::PodPhase::kRunning);
  cluster_.Assume(cluster_.FindTask("default", "g-w-1"), cluster_.FindNode("n1"));
  Write(1, false);
  EXPECT_TRUE(status_.conditions.empty());
  SetPod(1, model::PodPhase::kPending);
  Write(2, false);
  EXPECT_EQ(Condition("Scheduled").last_transition_time.at, At(2));
}

TEST_F(GroupStatusTest, PhasesFollowFromWhatIsThere) {
  EXPECT_EQ(PhaseAfter(""), "Inqueue") << "it is let in";
  EXPECT_EQ(PhaseAfter("Running"), "Pending") << "it has nothing any more";
  SetPod(0, model::PodPhase::kRunning);
  EXPECT_EQ(PhaseAfter("Inqueue"), "Inqueue");
  EXPECT_EQ(PhaseAfter("Running"), "Running") << "what it lacks is not told";
  EXPECT_EQ(PhaseAfter("Running", true), "Unknown");
  EXPECT_EQ(PhaseAfter("Inqueue", true), "Inqueue") << "it never was whole";
  SetPod(1, model::PodPhase::kSucceeded);
  EXPECT_EQ(PhaseAfter("Inqueue"), "Running");
  SetPod(0, model::PodPhase::kSucceeded);
  EXPECT_EQ(PhaseAfter("Running"), "Completed");
  cluster_.RemovePod("default", "g-w-0");
  EXPECT_EQ(PhaseAfter("Completed"), "Completed") << "its pods go one by one";
  cluster_.SetPod(testutil::Pod("g", "w", 0, Cpu(1000)));
  EXPECT_EQ(PhaseAfter("Completed"), "Pending") << "one was made anew";
  for (const int i : {0, 1}) cluster_.RemovePod("default", absl::StrCat("g-w-", i));
  EXPECT_EQ(PhaseAfter("Completed"), "Completed") << "its pods are gone";
  EXPECT_EQ(PhaseAfter("Unknown"), "Pending");
  EXPECT_EQ(PhaseAfter("Inqueue"), "Inqueue");
  cluster_.SetGang(testutil::Gang("g", 1));
  EXPECT_EQ(PhaseAfter("Inqueue"), "Inqueue") << "its pod is to be made";
  cluster_.SetGang(testutil::Gang("g", 0));
  EXPECT_EQ(PhaseAfter("Inqueue"), "Completed") << "a minimum of nothing is complete at once";
  cluster_.SetAdmitted(cluster_.FindGang("default", "g"), false);
  EXPECT_EQ(PhaseAfter("Pending"), "Pending");
}

TEST_F(GroupStatusTest, AGangThatIsNotLetInHasNoPhaseBeforeThatIsTold) {
  cluster_.SetAdmitted(cluster_.FindGang("default", "g"), false);
  EXPECT_EQ(PhaseAfter(""), "");
  EXPECT_EQ(PhaseAfter("", true), "Pending");
  for (const int i : {0, 1}) cluster_.RemovePod("default", absl::StrCat("g-w-", i));
  EXPECT_EQ(PhaseAfter(""), "");
  EXPECT_EQ(PhaseAfter("", true), "Pending");
}

TEST_F(GroupStatusTest, AllThatCountsIsPatchedAndWhatIsNoneGoes) {
  PodGroupStatus before, after;
  after.phase = "Running";
  after.running = 2;
  after.succeeded = 1;
  after.failed = 3;
  EXPECT_EQ(StatusPatch(before, after), R"({"status":{"phase":"Running","running":2,"succeeded":1,"failed":3}})");
  EXPECT_EQ(StatusPatch(after, before), R"({"status":{"phase":"","running":null,"succeeded":null,"failed":null}})");
  EXPECT_EQ(StatusPatch(after, after), "");
  before = after;
  before.running = 1;
  EXPECT_EQ(StatusPatch(before, after), R"({"status":{"running":2}})") << "no more than what changed";
}

}  // namespace
}  // namespace gangway::scheduler
