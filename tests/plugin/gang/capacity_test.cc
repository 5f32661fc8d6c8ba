// What queues deserve as it is written: rows of tests/spec/volcano-scheduler.rows about capacity and trees.
#include "plugin/gang/evict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "tests/plugin/gang/evict_world.h"
#include "tests/plugin/model/cluster_builder.h"

namespace gangway::gang {
namespace {

using model::Decision;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testutil::Amounts;
using testutil::CapacityTest;
using testutil::kA100;
using testutil::kGpu;

TEST_F(CapacityTest, C3WhoHoldsMoreThanItDeserves) {
  for (const char* name : {"n1", "n2"}) Node(name, Amounts(2000, 4));
  for (const char* name : {"q3", "q4"}) Queue(name, Amounts(2000, 4));
  OneRuns("a", "low", "q3", Amounts(2000), "n1", false);
  OneRuns("b", "low", "q3", Amounts(2000), "n2");
  OneWaits("c", "low", "q4", Amounts(2000));
  EXPECT_THAT(Evicted(), ElementsAre("b"));
  const Decision decision = Of("c");
  ASSERT_TRUE(decision.nominations.has_value());
  EXPECT_EQ(cluster.node_name(decision.nominations->front().row), "n2");
}

// Who came first goes beyond what its queue deserves, who came later would not.
TEST_F(CapacityTest, WhereGangsOfOneQueueAloneWaitTheyGoAsTheyCame) {
  policy.preempt = policy.reclaim = false;
  Node("n", Amounts(16'000));
  for (const char* const name : {"default", "other"}) Queue(name, Amounts(8000));
  OneRuns("r", "mid", "other", Amounts(1000), "n");
  OneWaits("first", "mid", "default", Amounts(10'000));
  OneWaits("second", "mid", "default", Amounts(8000));
  EXPECT_THAT(Placed(), ElementsAre(::testing::Pair("first", "n")));
  OneWaits("beside", "mid", "other", Amounts(1000));
  EXPECT_THAT(Placed(), ElementsAre(::testing::Pair("beside", "n"), ::testing::Pair("second", "n")))
      << "now that the other waits, too";
}

TEST_F(CapacityTest, WhatIsKeptForTheHigherPriorityCountsAsItsOwn) {
  policy.keeps_after = absl::ZeroDuration();
  Node("n1", Amounts(2000, 0, {{kGpu, 2}}));
  Node("n2", Amounts(2000));
  Queue("default", Amounts(500, 0, {{kGpu, 2}}));
  Queue("lab", Amounts(1500));
  OneRuns("held", "mid", "lab", Amounts(2000, 0, {{kGpu, 2}}), "n1");
  OneWaits("low", "low", "default", Amounts(2000, 0, {{kGpu, 2}}));
  EXPECT_THAT(Evicted(), ElementsAre("held"));
  Group("high", "high", 2);
  for (int i = 0; i < 2; ++i) Waits("high", absl::StrCat("high-", i), Amounts(2000));
  EXPECT_THAT(Evicted(), IsEmpty());
}

TEST_F(CapacityTest, C4WhatIsAskedForCounts) {
  for (const char* name : {"n3", "n4"}) Node(name, Amounts(2000, 0, {{kGpu, 10}}));
  for (const char* name : {"q5", "q6"}) Queue(name, Amounts(2000, 0, {{kGpu, 10}}));
  OneRuns("a", "low", "q5", Amounts(0, 0, {{kGpu, 10}}), "n3", false);
  OneRuns("b", "low", "q5", Amounts(0, 0, {{kGpu, 10}}), "n4");
  OneRuns("c", "low", "q6", Amounts(2000), "n3");
  OneRuns("d", "low", "q6", Amounts(2000), "n4");
  OneWaits("e", "low", "q6", Amounts(0, 0, {{kGpu, 10}}));
  EXPECT_THAT(Evicted(), ElementsAre("b"));
}

TEST_F(CapacityTest, C6OneOfWhatIsAskedForIsEnough) {
  Node("n1", Amounts(2000, 4));
  Queue("q10", Amounts(2000, 2), Amounts(4000, 4));
  Queue("q11", {}, Amounts(2000));
  OneRuns("a", "low", "q10", Amounts(1000, 3), "n1");
  OneRuns("b", "low", "q11", Amounts(1000, 1), "n1");
  OneWaits("c", "low", "q10", Amounts(1000, 1));
  EXPECT_THAT(Evicted(), ElementsAre("b"));
}

TEST_F(CapacityTest, C7NoneOfWhatIsAskedForIsDeserved) {
  Node("n1", Amounts(2000, 4));
  Queue("q12", Amounts(1000, 2), Amounts(4000, 4));
  Queue("q13");
  OneRuns("a", "low", "q12", Amounts(1000, 1), "n1");
  OneRuns("b", "low", "q13", Amounts(1000, 1), "n1");
  OneWaits("c", "low", "q12", Amounts(1000, 2));
  EXPECT_THAT(Evicted(), IsEmpty());
}

TEST_F(CapacityTest, C8NotWhenItWouldNotFitThen) {
  Node("n7", Amounts(4000, 8, {{kGpu, 4}}));
  for (const char* name : {"q14", "q16"}) Queue(name, Amounts(2000, 4, {{kGpu, 2}}));
  Queue("q15");
  OneRuns("a", "low", "q14", Amounts(2000, 4), "n7");
  OneRuns("b", "low", "q15", Amounts(0, 0, {{kGpu, 1}}), "n7");
  OneRuns("c", "low", "q16", Amounts(2000, 1, {{kGpu, 1}}), "n7");
  OneWaits("d", "low", "q16", Amounts(2000, 3, {{kGpu, 1}}));
  EXPECT_THAT(Evicted(), IsEmpty());
}

TEST_F(CapacityTest, C9OnlyWhoHelps) {
  Node("n8", Amounts(4000, 8, {{kGpu, 1}}));
  Queue("q17", Amounts(2000, 2));
  Queue("q18", Amounts(2000, 4, {{kGpu, 1}}));
  OneRuns("mem", "low", "q17", Amounts(0, 4), "n8");
  OneRuns("cpu", "low", "q17", Amounts(1000), "n8");
  OneRuns("gpu", "low", "q17", Amounts(0, 0, {{kGpu, 1}}), "n8");
  OneRuns("own", "low", "q18", Amounts(2000, 4), "n8");
  OneWaits("c", "low", "q18", Amounts(1000, 0, {{kGpu, 1}}));
  EXPECT_THAT(Evicted(), ElementsAre("gpu"));
}

TEST_F(CapacityTest, C10NotWhatItDeserves) {
  Node("n8", Amounts(4000, 8, {{kGpu, 1}}));
  Queue("q19", {{kGpu, 1}});
  Queue("q20", Amounts(2000, 2));
  OneRuns("a", "low", "q19", Amounts(4000, 4, {{kGpu, 1}}), "n8");
  OneWaits("b", "low", "q20", Amounts(1000, 1));
  EXPECT_THAT(Evicted(), IsEmpty());
}

TEST_F(CapacityTest, TheLastPieceOfWhatIsGuaranteedIsNotTaken) {
  Node("n1", Amounts(4000, 0, {{kGpu, 2}}));
  Queue("q2", Amounts(4000));
  model::QueueFacts guaranteed = testutil::Queue("q1");
  cluster.SetQueue(guaranteed);
  OneRuns("a", "low", "q1", Amounts(4000, 0, {{kGpu, 1}}), "n1");
  OneWaits("b", "low", "q2", Amounts(4000));
  EXPECT_THAT(Evicted(), ElementsAre("a"));
  guaranteed.guarantee = {{kGpu, 1}};
  cluster.SetQueue(guaranteed);
  EXPECT_THAT(Evicted(), IsEmpty());
}

// Less than q2 would win by it.
TEST_F(CapacityTest, AQueueThatHoldsNoMoreThanItDeservesLosesNothing) {
  Node("n1", Amounts(4000));
  for (const char* name : {"q1", "q2"}) Queue(name, Amounts(2000));
  OneRuns("a", "low", "q1", Amounts(1000), "n1");
  OneRuns("stays", "low", "default", Amounts(2000), "n1", false);
  OneWaits("b", "low", "q2", Amounts(2000));
  EXPECT_THAT(Evicted(), IsEmpty());
}

// However many gangs run in queues that hold no more than they deserve.
TEST_F(CapacityTest, TheOneGangIsLookedForWhereMoreIsHeldThanDeserved) {
  for (const char* name : {"n1", "n2"}) Node(name, Amounts(3000));
  Node("n3", Amounts(34'000), 100);
  Queue("q1");
  Queue("q2", Amounts(3000));
  Queue("q3", Amounts(34'000));
  Group("whole", "low", 3, "q1");
  for (int i = 0; i < 3; ++i) Runs("whole", absl::StrCat("w-", i), Amounts(1000), "n2");
  for (int i = 0; i < 3; ++i) OneRuns(absl::StrCat("x-", i), "low", "q1", Amounts(1000), "n1");
  for (int i = 0; i < 17; ++i) OneRuns(absl::StrCat("within-", i), "low", "q3", Amounts(2000), "n3");
  OneWaits("b", "low", "q2", Amounts(3000));
  EXPECT_THAT(Evicted(), ElementsAre("w-0", "w-1", "w-2"));
}

// "shop" would hold 5 of the 5 that it deserves, or 4.
TEST_F(CapacityTest, AQueueAboveBothMayComeDownToWhatItDeserves) {
  Node("n1", Amounts(10'000));
  Queue("shop", Amounts(5000));
  Queue("ads", Amounts(5000), {}, "shop");
  Queue("default", Amounts(5000));
  OneRuns("large", "low", "shop", Amounts(6000), "n1");
  OneRuns("other", "low", "default", Amounts(4000), "n1");
  OneWaits("more", "low", "default", Amounts(4000));
  OneWaits("small", "low", "ads", Amounts(5000));
  EXPECT_THAT(Evicted(), ElementsAre("large"));
  cluster.SetPod(PodOf("small", "small", Amounts(4000)));
  EXPECT_THAT(Evicted(), IsEmpty());
}

TEST_F(CapacityTest, C11NotBeyondItsCapability) {
  for (const char* name : {"n9", "n10"}) Node(name, Amounts(8000, 100));
  Queue("q21", Amounts(8000, 100), Amounts(8000, 100));
  Queue("q22", {}, Amounts(2000, 5));
  OneRuns("a", "low", "q21", Amounts(7000, 90), "n9");
  OneRuns("b", "low", "q22", Amounts(2000, 5), "n10");
  OneWaits("c", "low", "q21", Amounts(2000, 5));
  EXPECT_THAT(Evicted(), IsEmpty());
}

// ---- 9.9 trees

TEST_F(CapacityTest, T4T5SiblingsShareWhatTheirParentDeserves) {
  Node("n1", Amounts(8000, 8));
  Queue("root");
  Queue("q3", Amounts(4000), Amounts(4000), "root");
  for (const char* name : {"q31", "q32"}) Queue(name, Amounts(2000), Amounts(4000), "q3");
  Queue("q33", {}, Amounts(4000), "q3");
  Queue("q4", Amounts(2000), Amounts(4000), "root");
  OneRuns("x", "low", "q4", Amounts(4000), "n1");
  OneRuns("a", "low", "q31", Amounts(2000), "n1", false);
  OneRuns("b", "low", "q31", Amounts(2000), "n1");
  OneWaits("c", "low", "q32", Amounts(2000));
  EXPECT_THAT(Evicted(), ElementsAre("b"));
  // T5
  cluster.RemovePod("default", "b");
  cluster.RemovePod("default", "c");
  OneRuns("d", "low", "q32", Amounts(2000), "n1");
  Group("e", "low", 1, "q33");
  Waits("e", "e", Amounts(3000));
  EXPECT_THAT(Evicted(), IsEmpty());
}

TEST_F(CapacityTest, T12ALeafTakesBackWhatItDeserves) {
  Node("n1", Amounts(8000, 8, {{kA100, 4}}));
  Queue("a", {{kA100, 2}});
  Queue("b");
  OneRuns("stays", "low", "b", Amounts(0, 0, {{kA100, 2}}), "n1", false);
  OneRuns("goes", "low", "b", Amounts(0, 0, {{kA100, 2}}), "n1");
  OneWaits("c", "low", "a", Amounts(0, 0, {{kA100, 2}}));
  EXPECT_THAT(Evicted(), ElementsAre("goes"));
}

TEST_F(CapacityTest, T13ByWhatTheQueueAboveDeserves) {
  Node("n1", Amounts(8000, 8, {{kA100, 4}}));
  Queue("root");
  Queue("a", {{kA100, 1}}, {}, "root");
  Queue("leaf", {}, {}, "a");
  Queue("b", {}, {}, "root");
  for (int i = 0; i < 4; ++i) OneRuns(absl::StrCat("b-", i), "low", "b", Amounts(0, 0, {{kA100, 1}}), "n1");
  OneWaits("c", "low", "leaf", Amounts(0, 0, {{kA100, 1}}));
  EXPECT_THAT(Evicted(), ElementsAre("b-3"));
}

TEST_F(CapacityTest, T14TheLowestPriorityOfTheQueue) {
  Node("n1", Amounts(8000, 8, {{kA100, 4}}));
  Queue("root");
  Queue("project2", {{kA100, 3}}, {}, "root");
  Queue("child2", {}, {}, "project2");
  Queue("project1", {{kA100, 1}}, {}, "root");
  Queue("child1", {}, {}, "project1");
  OneRuns("p-0", "mid", "child2", Amounts(0, 0, {{kA100, 1}}), "n1");
  OneRuns("p-1", "low", "child2", Amounts(0, 0, {{kA100, 1}}), "n1");
  OneRuns("p-2", "high", "child2", Amounts(0, 0, {{kA100, 1}}), "n1");
  OneRuns("p-3", "mid", "child2", Amounts(0, 0, {{kA100, 1}}), "n1");
  OneWaits("c", "low", "child1", Amounts(0, 0, {{kA100, 1}}));
  EXPECT_THAT(Evicted(), ElementsAre("p-1"));
}

TEST_F(CapacityTest, T15T16T17TheChildrenOfTheQueueAboveBothAreCompared) {
  Node("n1", Amounts(3000, 8));
  Queue("root");
  for (const char* side : {"a", "b"}) {
    Queue(absl::StrCat(side, "-project"), {}, {}, "root");
    Queue(absl::StrCat(side, "-leaf"), Amounts(side[0] == 'a' ? 1000 : 2000), {}, absl::StrCat(side, "-project"));
  }
  OneRuns("v", "low", "a-leaf", Amounts(2000), "n1");
  OneWaits("c", "low", "b-leaf", Amounts(2000));
  EXPECT_THAT(Evicted(), ElementsAre("v"));
  Queue("a-project", Amounts(1000), {}, "root");  // T16
  EXPECT_THAT(Evicted(), ElementsAre("v"));
  Node("n2", Amounts(3000, 8));
  OneRuns("other", "low", "default", Amounts(3000), "n2", false);
  Queue("a-project", Amounts(3000), {}, "root");  // T17: it holds no more than it deserves
  EXPECT_THAT(Evicted(), IsEmpty());
}

TEST_F(CapacityTest, T18SiblingsThatDeserveNothing) {
  Node("n1", Amounts(2000, 8));
  Queue("root");
  Queue("project", Amounts(2000), {}, "root");
  for (const char* name : {"leaf1", "leaf2"}) Queue(name, {}, {}, "project");
  OneRuns("a", "low", "leaf1", Amounts(2000), "n1");
  OneWaits("b", "low", "leaf2", Amounts(2000));
  EXPECT_THAT(Evicted(), IsEmpty());
}

}  // namespace
}  // namespace gangway::gang
