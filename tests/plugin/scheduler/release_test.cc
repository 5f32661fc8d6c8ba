#include "plugin/scheduler/release.h"

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/plugin/model/cluster_builder.h"

namespace gangway::scheduler {
namespace {

using model::PodFacts;
using model::PodPhase;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ReleaseTest : public ::testing::Test {
 protected:
  ReleaseTest() {
    cluster_.SetNode(testutil::Node("n1"));
    cluster_.SetGang(testutil::Gang("g", 3));
  }
  static PodFacts Pod(int index, std::string node = "", PodPhase phase = PodPhase::kPending) {
    PodFacts pod = testutil::Pod("g", "w", index, testutil::Cpu(1000));
    pod.node = std::move(node);
    pod.phase = phase;
    return pod;
  }
  const model::Gang& Gang() const { return cluster_.gang(cluster_.FindGang("default", "g")); }
  std::optional<Leftovers> Find() const { return FindLeftovers(cluster_, cluster_.FindGang("default", "g")); }
  std::vector<std::string> Released() const {
    std::vector<std::string> names;
    for (const model::TaskId id : Find().value_or(Leftovers{}).released) names.push_back(cluster_.task(id).name);
    return names;
  }
  std::string Sentence(absl::string_view waits = "") const {
    return ReleaseSentence(Gang(), *Find(), absl::Seconds(30), waits);
  }

  model::Cluster cluster_;
};

TEST_F(ReleaseTest, WhatIsBoundAndWouldBeMadeAgainIsReleased) {
  cluster_.SetPod(Pod(1, "n1"));
  cluster_.SetPod(Pod(0, "n1"));
  cluster_.SetPod(Pod(2));
  EXPECT_THAT(Released(), ElementsAre("g-w-0", "g-w-1"));
  EXPECT_THAT(Find()->staying, IsEmpty());
  EXPECT_EQ(Sentence(), "released 2 of 3 tasks: the gang did not become whole within 30s");
  EXPECT_EQ(Sentence("waits for 1 of 3 tasks"),
            "released 2 of 3 tasks: the gang did not become whole within 30s, it waits for 1 of 3 tasks");
}

TEST_F(ReleaseTest, APodThatNamesAnotherSchedulerStays) {
  PodFacts others = Pod(0, "n1");
  others.ours = false;
  cluster_.SetPod(others);
  cluster_.SetPod(Pod(1));
  EXPECT_THAT(Released(), IsEmpty());
  EXPECT_THAT(Find()->staying, ElementsAre("g-w-0"));
}

TEST_F(ReleaseTest, APodThatNobodyWouldMakeAgainStays) {
  for (const int index : {1, 0}) {
    PodFacts pod = Pod(index, "n1");
    pod.controlled = false;
    cluster_.SetPod(pod);
  }
  EXPECT_THAT(Released(), IsEmpty());
  EXPECT_THAT(Find()->staying, ElementsAre("g-w-0", "g-w-1"));
  EXPECT_EQ(Sentence(), "the gang did not become whole within 30s; 2 pods without a controller stay: g-w-0, g-w-1");
}

TEST_F(ReleaseTest, WhatRunsStays) {
  cluster_.SetPod(Pod(0, "n1", PodPhase::kRunning));
  EXPECT_THAT(Released(), IsEmpty());
  EXPECT_EQ(Sentence(), "the gang did not become whole within 30s; 1 task runs and stays");
  cluster_.SetPod(Pod(1, "n1", PodPhase::kRunning));
  EXPECT_EQ(Find()->running, 2);
  EXPECT_EQ(Sentence(), "the gang did not become whole within 30s; 2 tasks run and stay");
}

TEST_F(ReleaseTest, NobodyIsLeftOverOfAGangThatIsWholeOrHoldsNothing) {
  cluster_.SetPod(Pod(0));
  EXPECT_EQ(Find(), std::nullopt) << "nothing is bound";
  for (int i = 0; i < 3; ++i) cluster_.SetPod(Pod(i, "n1"));
  EXPECT_EQ(Find(), std::nullopt) << "its minimum is bound";
}

// As many pods as the minimum, and none of a task that must have one.
TEST_F(ReleaseTest, AGangWithoutATasksMinimumIsNotWhole) {
  model::GangFacts gang = testutil::Gang("g", 3);
  gang.min_task_member = {{"ps", 1}, {"w", 2}};
  cluster_.SetGang(gang);
  for (int i = 0; i < 3; ++i) cluster_.SetPod(Pod(i, "n1"));
  EXPECT_THAT(Released(), ElementsAre("g-w-0", "g-w-1", "g-w-2"));
  PodFacts ps = testutil::Pod("g", "ps", 0, testutil::Cpu(1000));
  ps.node = "n1";
  cluster_.SetPod(ps);
  EXPECT_EQ(Find(), std::nullopt);
}

TEST_F(ReleaseTest, AGangWithoutItsWholeSubGroupsIsNotWhole) {
  model::GangFacts gang = testutil::Gang("g", 2);
  gang.sub_groups = {testutil::SubGroupsOfTask("w", 2, 1)};
  cluster_.SetGang(gang);
  for (int i = 0; i < 2; ++i) {
    PodFacts pod = Pod(i, "n1");
    testutil::SetPartition(pod, absl::StrCat(i));
    cluster_.SetPod(pod);
  }
  EXPECT_THAT(Released(), ElementsAre("g-w-0", "g-w-1"));
  PodFacts other_half = Pod(2, "n1");
  testutil::SetPartition(other_half, "0");
  cluster_.SetPod(other_half);
  EXPECT_EQ(Find(), std::nullopt);
}

TEST_F(ReleaseTest, NobodyIsLeftOverOfAGangThatWasWhole) {
  model::GangFacts gang = testutil::Gang("g", 3);
  gang.was_whole = true;
  cluster_.SetGang(gang);
  cluster_.SetPod(Pod(0, "n1"));
  EXPECT_EQ(Find(), std::nullopt);
}

TEST_F(ReleaseTest, WhileABindingIsUnderWayNobodyIsLeftOver) {
  cluster_.SetPod(Pod(0, "n1"));
  for (int i = 1; i < 3; ++i) cluster_.SetPod(Pod(i));
  EXPECT_TRUE(IsHalfBound(cluster_, Gang()));
  cluster_.Assume(cluster_.FindTask("default", "g-w-1"), cluster_.FindNode("n1"));
  cluster_.Assume(cluster_.FindTask("default", "g-w-2"), cluster_.FindNode("n1"));
  EXPECT_EQ(Find(), std::nullopt);
  EXPECT_TRUE(IsHalfBound(cluster_, Gang())) << "they may be refused";
  for (int i = 1; i < 3; ++i) cluster_.SetPod(Pod(i, "n1"));
  EXPECT_FALSE(IsHalfBound(cluster_, Gang()));
}

}  // namespace
}  // namespace gangway::scheduler
