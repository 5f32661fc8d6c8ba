// What PodGroups that are not Volcano's show of their gang.
#include "plugin/scheduler/group_kinds.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/plugin/model/cluster_builder.h"

namespace gangway::scheduler {
namespace {

using model::PodPhase;
using ::testing::HasSubstr;
using ::testing::Not;
using testutil::At;

class GroupKindsTest : public ::testing::Test {
 protected:
  void SetGang(model::GangKind kind, int min_member) {
    model::GangFacts gang = testutil::Gang("g", min_member);
    gang.kind = kind_ = kind;
    cluster_.SetGang(gang);
  }
  void SetPods(PodPhase phase, int from, int to) {
    for (int i = from; i < to; ++i) {
      model::PodFacts pod = testutil::Pod("g", "w", i, testutil::Cpu(1000));
      pod.gang_kind = kind_;
      pod.phase = phase;
      if (phase != PodPhase::kPending) pod.node = "n1";
      cluster_.SetPod(pod);
    }
  }
  StatusChange Change(const GroupRef& group, const GroupTexts& texts = {}) {
    return ChangeOf(group, cluster_, cluster_.gang(cluster_.FindGang("default", "g", kind_)), texts, "id", At(10));
  }

  model::Cluster cluster_;
  model::GangKind kind_ = model::GangKind::kVolcano;
};

TEST_F(GroupKindsTest, CoschedulingsPhases) {
  api::core::CoschedulingPodGroup group;
  SetGang(model::GangKind::kCoscheduling, 3);
  const auto phase = [&] {
    const std::string patch = Change(&group).patch;
    const std::size_t at = patch.find(R"("phase":")");
    return at == std::string::npos ? "" : patch.substr(at + 9, patch.find('"', at + 9) - at - 9);
  };
  SetPods(PodPhase::kPending, 0, 2);
  EXPECT_EQ(phase(), "Pending");
  SetPods(PodPhase::kPending, 2, 3);
  EXPECT_EQ(phase(), "Scheduling");
  SetPods(PodPhase::kRunning, 0, 3);
  EXPECT_EQ(phase(), "Running");
  EXPECT_TRUE(Change(&group).starts);
  group.status.phase = "Running";
  group.status.running = 3;
  EXPECT_EQ(Change(&group).patch, "") << "it is as it should be";
  SetPods(PodPhase::kFailed, 0, 1);
  EXPECT_EQ(phase(), "Failed");
  SetPods(PodPhase::kSucceeded, 0, 3);
  EXPECT_EQ(phase(), "Finished");
  group.status.phase = "Failed";
  EXPECT_EQ(phase(), "") << "for good";
  group.status.phase = "Finished";
  SetPods(PodPhase::kRunning, 0, 3);
  EXPECT_EQ(phase(), "") << "for good";
}

TEST_F(GroupKindsTest, WhatKubernetesCallsScheduledStaysSo) {
  api::core::KubernetesPodGroup group;
  SetGang(model::GangKind::kKubernetes, 2);
  SetPods(PodPhase::kPending, 0, 2);
  EXPECT_EQ(Change(&group).patch, "");
  EXPECT_THAT(Change(&group, {"waits", "", ""}).patch, HasSubstr(R"("type":"PodGroupScheduled","status":"False")"));
  EXPECT_TRUE(HasPlaceForReason(&group));
  group.status.conditions = {{"PodGroupScheduled", "False", "Unschedulable", "waits", 0, {At(1)}}};
  EXPECT_TRUE(SaysReason(&group, "waits"));
  EXPECT_EQ(Change(&group, {"waits", "", ""}).patch, "");
  EXPECT_THAT(Change(&group, {"waits for more", "", ""}).patch, HasSubstr(api::FormatTime(At(1))))
      << "the status is what it was";
  SetPods(PodPhase::kRunning, 0, 2);
  EXPECT_TRUE(Change(&group).starts);
  EXPECT_THAT(Change(&group).patch,
              HasSubstr(absl::StrCat(R"("status":"True","lastTransitionTime":")", api::FormatTime(At(10)))));
  group.status.conditions[0].status = "True";
  SetPods(PodPhase::kPending, 1, 2);
  EXPECT_EQ(Change(&group, {"waits", "", ""}).patch, "");
  EXPECT_FALSE(HasPlaceForReason(&group));
  SetPods(PodPhase::kRunning, 1, 2);
  EXPECT_FALSE(Change(&group).starts);
}

TEST_F(GroupKindsTest, OfLeftoversKubernetesHasConditionsOfOurs) {
  api::core::KubernetesPodGroup group;
  SetGang(model::GangKind::kKubernetes, 2);
  SetPods(PodPhase::kPending, 0, 2);
  EXPECT_THAT(Change(&group, {"", "gone", ""}).patch, HasSubstr(R"("type":"GangReleased","status":"True")"));
  EXPECT_THAT(Change(&group, {"", "", "stay"}).patch, HasSubstr(R"("reason":"PodsStay","message":"stay")"));
  EXPECT_THAT(Change(&group, {"", "", "stay"}).patch, Not(HasSubstr("PodGroupScheduled")));
  EXPECT_FALSE(SaysPartBound(&group));
}

// Pods are made when that is written, so it is not put off.
TEST_F(GroupKindsTest, OfVolcanosInqueueLetsTheGangIn) {
  api::volcano::PodGroup group;
  SetGang(model::GangKind::kVolcano, 2);
  cluster_.SetAdmitted(cluster_.FindGang("default", "g"), true);
  group.status.phase = "Pending";
  EXPECT_THAT(Change(&group).patch, HasSubstr(R"("phase":"Inqueue")"));
  EXPECT_TRUE(Change(&group).lets_in);
  group.status.phase = "Inqueue";
  EXPECT_FALSE(Change(&group).lets_in) << "it was";
  SetPods(PodPhase::kRunning, 0, 2);
  EXPECT_THAT(Change(&group).patch, HasSubstr(R"("phase":"Running")"));
  EXPECT_FALSE(Change(&group).lets_in);
  EXPECT_TRUE(Change(&group).starts);
}

TEST_F(GroupKindsTest, AGangOfKubernetesThatHasNoPodsHasNotStarted) {
  api::core::KubernetesPodGroup group;
  SetGang(model::GangKind::kKubernetes, 0);
  EXPECT_FALSE(Change(&group).starts);
  SetPods(PodPhase::kRunning, 0, 1);
  EXPECT_TRUE(Change(&group).starts);
}

}  // namespace
}  // namespace gangway::scheduler
