#include "plugin/gang/schedule.h"

#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/plugin/gang/world.h"

namespace gangway::gang {
namespace {

using model::Decision;
using model::PodFacts;
using model::PodPhase;
using model::Reason;
using model::Wants;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using testutil::AddGang;
using testutil::AddNodes;
using testutil::Cpu;
using testutil::CpuOn;
using testutil::Gang;
using testutil::Node;
using testutil::Pod;
using testutil::Queue;
using testutil::World;

// One node has little cpu left and much memory, the other much cpu and little memory.
TEST(ScheduleTest, BinpacksWeightsSayWhichNodeIsTheFuller) {
  World w;
  AddNodes(w.cluster, 2);
  AddGang(w.cluster, "g", 1, 1, 1000);
  for (const bool cpu : {true, false}) {
    Wants much = Cpu(cpu ? 12'000 : 100);
    if (!cpu) much.requests[1].second = std::int64_t{48} << 30;
    PodFacts pod = Pod("", cpu ? "cpu" : "memory", 0, much);
    pod.node = cpu ? "node-000" : "node-001";
    pod.phase = PodPhase::kRunning;
    w.cluster.SetPod(pod);
  }
  w.policy.packing.weights = {{"cpu", 1}};
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-0", "node-000")));
  w.policy.packing.weights = {{"memory", 1}};
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-0", "node-001")));
  w.policy.packing.weights = {{"cpu", 1}, {"memory", 5}};
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-0", "node-001")));
}

// tests/golden/volcano/seed-ctr-volcano: four pods of 1 cpu on six nodes.
TEST(ScheduleTest, TheSeedJobGoesToOneNode) {
  World w;
  AddNodes(w.cluster, 6);
  AddGang(w.cluster, "ctr", 4, 4, 1000);
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("ctr-w-0", "node-000"), Pair("ctr-w-1", "node-000"),
                                      Pair("ctr-w-2", "node-000"), Pair("ctr-w-3", "node-000")));
}

// One of two pods is bound, the other's binding was refused; a gang of more worth would take its room.
struct WithHalfAGang : World {
  WithHalfAGang() {
    AddNodes(cluster, 1, 2);
    AddGang(cluster, "half", 2, 2, 1000);
    PodFacts bound = Pod("half", "w", 0, Cpu(1000));
    bound.node = "node-000";
    bound.phase = PodPhase::kRunning;
    cluster.SetPod(bound);
    cluster.SetPriorityClass({"high", 100, false});
    model::GangFacts other = Gang("other", 1);
    other.priority_class = "high";
    cluster.SetGang(other);
    cluster.SetPod(Pod("other", "w", 0, Cpu(1000)));
  }
};

TEST(ScheduleTest, AGangThatHasBegunIsMadeWholeBeforeOthersBegin) {
  WithHalfAGang w;
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("half-w-1", "node-000")));
}

TEST(ScheduleTest, AGangThatWasWholeOnceTakesItsTurn) {
  WithHalfAGang w;
  model::GangFacts half = Gang("half", 2);
  half.was_whole = true;
  w.cluster.SetGang(half);
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("other-w-0", "node-000")));
}

TEST(ScheduleTest, WhileAGangRestsAfterARefusedBindingItsRoomIsKept) {
  WithHalfAGang w;
  w.cluster.SetHeldBack(w.cluster.FindGang("default", "half"), "no");
  EXPECT_THAT(w.Placed(), IsEmpty());
  const Decision half = w.Of("half");
  EXPECT_TRUE(half.short_of_minimum);
  ASSERT_TRUE(half.reason.has_value());
  EXPECT_EQ(half.reason->kind, Reason::Kind::kBindFailed);
  w.cluster.SetHeldBack(w.cluster.FindGang("default", "half"), "");
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("half-w-1", "node-000")));
}

// Nothing of it has room: others need not wait.
TEST(ScheduleTest, AGangOfWhichNothingIsBoundKeepsNoRoomWhileItRests) {
  World w;
  AddNodes(w.cluster, 1, 2);
  AddGang(w.cluster, "first", 2, 2, 1000);
  AddGang(w.cluster, "second", 2, 2, 1000);
  w.cluster.SetHeldBack(w.cluster.FindGang("default", "first"), "no");
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("second-w-0", "node-000"), Pair("second-w-1", "node-000")));
}

// tests/golden/volcano/gang-unschedulable: 8 x 9 cpu on six nodes of 16.
TEST(ScheduleTest, OneNodeShortBindsNothingAndSaysWhatIsMissing) {
  World w;
  AddNodes(w.cluster, 6);
  AddGang(w.cluster, "tight", 8, 8, 9000);
  const Decision decision = w.Of("tight");
  EXPECT_THAT(decision.placements, IsEmpty());
  EXPECT_TRUE(decision.short_of_minimum);
  ASSERT_TRUE(decision.reason.has_value());
  EXPECT_EQ(decision.reason->missing, 2);
  EXPECT_EQ(decision.would_fit.size(), 6u);
  EXPECT_EQ(model::Render(*decision.reason),
            "waits for 2 of 8 tasks: w needs cpu 9; with 6 placed, 6 nodes have at most 7 free, 0 fit");
  AddNodes(w.cluster, 8);
  EXPECT_EQ(w.Placed().size(), 8u);
}

// tests/golden/volcano/gang-unschedulable-mixed
TEST(ScheduleTest, SelectorTaintAndCordonAreCounted) {
  World w;
  AddNodes(w.cluster, 6);
  model::NodeFacts tainted = Node("node-004");
  tainted.taints = {{"dedicated", "x", model::TaintEffect::kNoSchedule}};
  w.cluster.SetNode(tainted);
  model::NodeFacts cordoned = Node("node-005");
  cordoned.unschedulable = true;
  w.cluster.SetNode(cordoned);
  w.cluster.SetGang(Gang("mixed", 5));
  for (int i = 0; i < 2; ++i) w.cluster.SetPod(Pod("mixed", "ps", i, CpuOn(1000, "zone", "none")));
  for (int i = 0; i < 3; ++i) w.cluster.SetPod(Pod("mixed", "worker", i, Cpu(1000)));
  const Decision decision = w.Of("mixed");
  EXPECT_THAT(decision.placements, IsEmpty());
  EXPECT_EQ(decision.would_fit.size(), 3u);
  EXPECT_EQ(model::Render(*decision.reason),
            "waits for 2 of 5 tasks: ps needs nodes with zone=none; with 3 placed, 5 nodes do not match, 1 is "
            "cordoned, 0 fit");
}

// What a task of a role has done counts for the minimum of that role.
TEST(ScheduleTest, ATaskThatSucceededCountsForItsRole) {
  World w;
  AddNodes(w.cluster, 1);
  model::GangFacts gang = Gang("g", 2);
  gang.min_task_member = {{"ps", 1}, {"worker", 1}};
  w.cluster.SetGang(gang);
  PodFacts done = Pod("g", "ps", 0, Cpu(1000));
  done.node = "node-000";
  done.phase = PodPhase::kSucceeded;
  w.cluster.SetPod(done);
  w.cluster.SetPod(Pod("g", "worker", 0, Cpu(1000)));
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-worker-0", "node-000")));
}

// tests/golden/volcano/gang-not-enqueueable: 144 cpu asked of 96, which count as 115.2.
TEST(ScheduleTest, OverTheClustersSumIsNotLetIn) {
  World w;
  AddNodes(w.cluster, 6);
  model::GangFacts big = Gang("big", 12);
  big.phase = model::GangPhase::kNone;
  big.has_min_resources = true;
  big.min_resources = {{"cpu", 144'000}, {"memory", 1'200'000'000}, {"pods", 12}};
  w.cluster.SetGang(big);
  Decision decision = w.Of("big");
  EXPECT_FALSE(decision.admit);
  ASSERT_TRUE(decision.reason.has_value());
  EXPECT_EQ(decision.reason->kind, Reason::Kind::kClusterFull);
  ASSERT_EQ(decision.reason->sums.size(), 1u);
  EXPECT_EQ(decision.reason->sums[0], (model::SumLack{"cpu", 144'000, 115'200, 0, 96'000}));
  AddNodes(w.cluster, 12);
  EXPECT_TRUE(w.Of("big").admit);
}

// tests/golden/volcano/minavailable-lt-replicas: minimum 4, room for 6 of 8.
TEST(ScheduleTest, TheElasticRestTakesWhatIsThere) {
  World w;
  AddNodes(w.cluster, 6);
  AddGang(w.cluster, "elastic", 4, 8, 9000);
  const Decision decision = w.Of("elastic");
  EXPECT_EQ(decision.placements.size(), 6u);
  EXPECT_FALSE(decision.short_of_minimum);
  ASSERT_TRUE(decision.reason.has_value());
  EXPECT_EQ(decision.reason->missing, 2);
}

// tests/golden/volcano/raw-podgroup: two of three pods are there.
TEST(ScheduleTest, AGangWithoutItsPodsWaitsForThem) {
  World w;
  AddNodes(w.cluster, 6);
  AddGang(w.cluster, "pg1", 3, 2, 1000);
  const Decision decision = w.Of("pg1");
  EXPECT_THAT(decision.placements, IsEmpty());
  EXPECT_EQ(model::Render(*decision.reason), "waits for 1 of 3 tasks: 2 pods exist");
  w.cluster.SetPod(Pod("pg1", "w", 2, Cpu(1000)));
  EXPECT_EQ(w.Placed().size(), 3u);
}

// tests/golden/volcano/seed-evict: one pod is made anew while three still end.
TEST(ScheduleTest, EndingPodsDoNotCountAndKeepTheirRoom) {
  World w;
  w.cluster.SetNode(Node("n1", 4));
  w.cluster.SetGang(Gang("g", 4));
  for (int i = 0; i < 4; ++i) {
    PodFacts pod = Pod("g", "w", i, Cpu(1000));
    if (i > 0) {
      pod.node = "n1";
      pod.phase = PodPhase::kRunning;
      pod.terminating = true;
    }
    w.cluster.SetPod(pod);
  }
  EXPECT_EQ(model::Render(*w.Of("g").reason), "waits for 3 of 4 tasks: 1 pod exists, 3 are ending");
  for (int i = 1; i < 4; ++i) {
    PodFacts pod = Pod("g", "w", i, Cpu(1000));
    pod.uid = "new";
    pod.uid += std::to_string(i);
    w.cluster.SetPod(pod);
  }
  EXPECT_EQ(w.Placed().size(), 4u);
}

TEST(ScheduleTest, WhatRunsAndWhatSucceededCountsTowardTheMinimum) {
  World w;
  w.cluster.SetNode(Node("n1", 4));
  w.cluster.SetGang(Gang("g", 3));
  PodFacts running = Pod("g", "w", 0, Cpu(1000));
  running.node = "n1";
  running.phase = PodPhase::kRunning;
  w.cluster.SetPod(running);
  PodFacts done = Pod("g", "w", 1, Cpu(4000));
  done.node = "n1";
  done.phase = PodPhase::kSucceeded;
  w.cluster.SetPod(done);
  w.cluster.SetPod(Pod("g", "w", 2, Cpu(3000)));
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-2", "n1")));
}

TEST(ScheduleTest, HigherPriorityThenEarlierArrivalGoesFirst) {
  World w;
  w.cluster.SetNode(Node("n1", 2));
  w.cluster.SetPriorityClass({"high", 100, false});
  model::GangFacts late = Gang("late", 2), early = Gang("early", 2), high = Gang("high", 2);
  late.created = testutil::At(5);
  early.created = testutil::At(1);
  high.created = testutil::At(9);
  high.priority_class = "high";
  for (const auto& gang : {late, early, high}) {
    w.cluster.SetGang(gang);
    for (int i = 0; i < 2; ++i) w.cluster.SetPod(Pod(gang.name, "w", i, Cpu(1000)));
  }
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("high-w-0", "n1"), Pair("high-w-1", "n1")));
  w.cluster.RemoveGang("default", "high");
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("early-w-0", "n1"), Pair("early-w-1", "n1")));
}

TEST(ScheduleTest, AGangThatDoesNotFitBlocksNobody) {
  World w;
  AddNodes(w.cluster, 2);
  AddGang(w.cluster, "a-large", 3, 3, 16'000);
  AddGang(w.cluster, "b-small", 2, 2, 16'000);
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("b-small-w-0", "node-000"), Pair("b-small-w-1", "node-001")));
}

TEST(ScheduleTest, CapabilityLimitsTheQueue) {
  World w;
  AddNodes(w.cluster, 6);
  model::QueueFacts queue = Queue("small");
  queue.capability = {{"cpu", 8000}};
  w.cluster.SetQueue(queue);
  model::GangFacts gang = Gang("g", 4);
  gang.queue = "small";
  w.cluster.SetGang(gang);
  for (int i = 0; i < 4; ++i) w.cluster.SetPod(Pod("g", "w", i, Cpu(3000)));
  const Decision decision = w.Of("g");
  EXPECT_THAT(decision.placements, IsEmpty());
  EXPECT_EQ(decision.reason->kind, Reason::Kind::kQueueFull);
  EXPECT_EQ(model::Render(*decision.reason),
            "waits for 4 of 4 tasks: needs cpu 12, queue small uses 0 of 8, 4 too many");
}

TEST(ScheduleTest, ClosedAndMissingQueuesTakeNobody) {
  World w;
  AddNodes(w.cluster, 1);
  model::QueueFacts closed = Queue("closed");
  closed.open = false;
  w.cluster.SetQueue(closed);
  for (const auto& [name, queue] : {std::pair("a", "closed"), std::pair("b", "missing")}) {
    model::GangFacts gang = Gang(name, 1);
    gang.queue = queue;
    w.cluster.SetGang(gang);
    w.cluster.SetPod(Pod(name, "w", 0, Cpu(1000)));
  }
  EXPECT_THAT(w.Placed(), IsEmpty());
  EXPECT_EQ(w.Of("a").reason->kind, Reason::Kind::kQueueClosed);
  EXPECT_EQ(w.Of("b").reason->kind, Reason::Kind::kQueueMissing);
}

// As recorded (queue-states): its phase and condition stay those of a gang that runs.
TEST(ScheduleTest, AGangThatHasItsMinimumIsNotShortOfItInAClosedQueue) {
  World w;
  AddNodes(w.cluster, 1);
  model::QueueFacts closed = Queue("closed");
  closed.open = false;
  w.cluster.SetQueue(closed);
  model::GangFacts gang = Gang("g", 1);
  gang.queue = "closed";
  w.cluster.SetGang(gang);
  PodFacts running = Pod("g", "w", 0, Cpu(1000));
  running.node = "node-000";
  running.phase = model::PodPhase::kRunning;
  w.cluster.SetPod(running);
  w.cluster.SetPod(Pod("g", "w", 1, Cpu(1000)));
  EXPECT_EQ(model::Render(*w.Of("g").reason), "waits for 1 of 2 tasks: queue closed is closed");
  EXPECT_FALSE(w.Of("g").short_of_minimum);
}

TEST(ScheduleTest, GatedPodsWait) {
  World w;
  AddNodes(w.cluster, 1);
  w.cluster.SetGang(Gang("g", 2));
  PodFacts gated = Pod("g", "w", 0, Cpu(1000));
  gated.gated = true;
  w.cluster.SetPod(gated);
  w.cluster.SetPod(Pod("g", "w", 1, Cpu(1000)));
  const Decision decision = w.Of("g");
  EXPECT_THAT(decision.placements, IsEmpty());
  EXPECT_EQ(model::Render(*decision.reason),
            "waits for 1 of 2 tasks: pods are held by scheduling gates, the first is g-w-0");
}

TEST(ScheduleTest, AFieldWeDoNotKnowIsNamedAndNeverIgnored) {
  World w;
  AddNodes(w.cluster, 1);
  w.cluster.SetGang(Gang("g", 1));
  Wants wants = Cpu(1000);
  wants.not_modelled = "spec.workloadRef";
  w.cluster.SetPod(Pod("g", "w", 0, wants));
  const Decision decision = w.Of("g");
  EXPECT_THAT(decision.placements, IsEmpty());
  EXPECT_EQ(model::Render(*decision.reason),
            "waits for 1 of 1 task: spec.workloadRef asks for something this scheduler does not know");
}

TEST(ScheduleTest, OthersPodsAreAccountedAndNeverPlaced) {
  World w;
  AddNodes(w.cluster, 1);
  PodFacts theirs = Pod("g", "w", 0, Cpu(1000));
  theirs.ours = false;
  w.cluster.SetGang(Gang("g", 1));
  w.cluster.SetPod(theirs);
  EXPECT_THAT(w.Placed(), IsEmpty());
}

TEST(ScheduleTest, OneHostPortANode) {
  World w;
  AddNodes(w.cluster, 2);
  w.cluster.SetGang(Gang("g", 2));
  Wants wants = Cpu(1000);
  wants.host_ports = {{"TCP", "", 8080}};
  for (int i = 0; i < 2; ++i) w.cluster.SetPod(Pod("g", "w", i, wants));
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-0", "node-000"), Pair("g-w-1", "node-001")));
  w.cluster.RemoveNode("node-001");
  EXPECT_EQ(model::Render(*w.Of("g").reason),
            "waits for 1 of 2 tasks: w needs cpu 1, memory 100M; with 1 placed, 1 node has its host port taken, 0 fit");
}

TEST(ScheduleTest, SoftTaintsAndPreferencesOrderNodes) {
  World w;
  model::NodeFacts tainted = Node("a"), plain = Node("b"), liked = Node("c");
  tainted.taints = {{"k", "", model::TaintEffect::kPreferNoSchedule}};
  liked.labels = {{"disk", "ssd"}};
  for (const auto& node : {tainted, plain, liked}) w.cluster.SetNode(node);
  AddGang(w.cluster, "g", 1, 1, 1000);
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-0", "b")));
  Wants wants = Cpu(1000);
  wants.preferences = {{10, {{"disk", model::Op::kIn, {"ssd"}}}}};
  w.cluster.SetPod(Pod("g", "w", 0, wants));
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-0", "c")));
}

TEST(ScheduleTest, LetInGangsWithoutPodsAreCountedThoseThatDidNotFitAreNot) {
  World w;
  AddNodes(w.cluster, 6);  // 96 cpu
  const auto add = [&](const std::string& name, int second, model::GangPhase phase) {
    model::GangFacts gang = Gang(name, 8);
    gang.has_min_resources = true;
    gang.min_resources = {{"cpu", 72'000}};
    gang.phase = phase;
    gang.created = testutil::At(second);
    w.cluster.SetGang(gang);
  };
  add("first", 1, model::GangPhase::kInqueue);
  add("second", 2, model::GangPhase::kNone);
  const Decision second = w.Of("second");
  EXPECT_FALSE(second.admit) << "the first is about to be placed";
  EXPECT_THAT(second.reason->sums, ElementsAre(model::SumLack{"cpu", 72'000, 115'200, 72'000, 96'000, 72'000}));
  for (int i = 0; i < 8; ++i) w.cluster.SetPod(Pod("first", "w", i, Cpu(9000)));
  EXPECT_TRUE(w.Of("second").admit) << "the first has its pods, does not fit, and holds nothing";
}

// Filling one shape after the other fails here: the fullest choice for the first of the twos is the node that the three
// needs.
TEST(ScheduleTest, TheSearchFindsWhatFillingMisses) {
  World w;
  w.cluster.SetNode(Node("a", 4));
  w.cluster.SetNode(Node("b", 3));
  w.cluster.SetGang(Gang("g", 3));
  w.cluster.SetPod(Pod("g", "x", 0, Cpu(3000)));
  w.cluster.SetPod(Pod("g", "y", 0, Cpu(2000)));
  w.cluster.SetPod(Pod("g", "y", 1, Cpu(2000)));
  EXPECT_EQ(w.Placed().size(), 3u);
}

}  // namespace
}  // namespace gangway::gang
