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
  return *std::max_element(status.conditions.begin(), status.conditions.end(),
                           [](const auto& a, const auto& b) { return a.last_transition_time.at < b.last_transition_time.at; });
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
  void Write(int second, bool told) {
    const StatusInput input{cluster_.gang(cluster_.FindGang("default", "g")), status_, told, told ? "waits" : "", "", "", "id", At(second)};
    status_ = WantedStatus(input);
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

}  // namespace
}  // namespace gangway::scheduler
