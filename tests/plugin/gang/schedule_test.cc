#include "plugin/gang/schedule.h"

#include <map>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plugin/gang/constraint/asks.h"
#include "tests/plugin/gang/world.h"

namespace gangway::gang {
namespace {

using model::Cluster;
using model::Decision;
using model::Decisions;
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

// Three gangs of at least two, 64 x 1 cpu each, on 64 cpu; the pods of the first are there.
struct SurplusTest : World, ::testing::Test {
  SurplusTest() { AddNodes(cluster, 4); }
  // Let in; `milli` of cpu and a pod each is what its Job says of its pods.
  void LetIn(const std::string& name, int min_member, std::int64_t milli) {
    model::GangFacts gang = Gang(name, min_member);
    gang.has_min_resources = true;
    gang.min_resources = {{"cpu", min_member * milli}, {"pods", min_member}};
    cluster.SetGang(gang);
  }
  void AddPods(const std::string& gang, int from, int to, const Wants& wants) {
    for (int i = from; i < to; ++i) cluster.SetPod(Pod(gang, "w", i, wants));
  }
  void Apply() {
    for (const Decision& decision : World::Run()) {
      if (decision.admit) cluster.SetAdmitted(decision.gang, true);
      for (const model::Placement& p : decision.placements) {
        PodFacts pod = Pod(cluster.gang(decision.gang).name, "w", cluster.task(p.task).index, Wants());
        pod.wants = wants_of[pod.gang];
        pod.node = std::string(cluster.node_name(p.row));
        pod.phase = PodPhase::kRunning;
        cluster.SetPod(pod);
      }
    }
  }
  // Tasks `from` to `to` run on the node.
  void Runs(const std::string& gang, int from, int to, const Wants& wants, const std::string& node,
            PodPhase phase = PodPhase::kRunning) {
    for (int i = from; i < to; ++i) {
      PodFacts pod = Pod(gang, "w", i, wants);
      pod.node = node;
      pod.phase = phase;
      cluster.SetPod(pod);
    }
  }
  std::size_t PlacedOf(const std::string& gang) { return Of(gang).placements.size(); }

  std::map<std::string, Wants> wants_of;
};

TEST_F(SurplusTest, LeavesTheMinimaOfGangsWhosePodsAreStillToBeMade) {
  for (const char* name : {"m1", "m2", "m3"}) LetIn(name, 2, 1000);
  AddPods("m1", 0, 64, Cpu(1000));
  const Decision first = Of("m1");
  EXPECT_EQ(first.placements.size(), 60u);
  ASSERT_TRUE(first.reason.has_value());
  EXPECT_FALSE(first.short_of_minimum);
  EXPECT_EQ(model::Render(*first.reason),
            "waits for 4 of 64 tasks: room is kept for gangs that lack their minimum, the first is default/m2");
  for (const char* name : {"m1", "m2", "m3"}) wants_of[name] = Cpu(1000);
  Apply();
  for (const char* name : {"m2", "m3"}) AddPods(name, 0, 64, Cpu(1000));
  EXPECT_EQ(PlacedOf("m1"), 0u);
  EXPECT_EQ(PlacedOf("m2"), 2u);
  EXPECT_EQ(PlacedOf("m3"), 2u);
}

// One that was not let in before this very call, and one of which some pods are there.
TEST_F(SurplusTest, LeavesTheMinimaOfThoseJustLetInAndOfThoseHalfMade) {
  LetIn("m1", 2, 1000);
  AddPods("m1", 0, 64, Cpu(1000));
  model::GangFacts fresh = Gang("m2", 4);
  fresh.phase = model::GangPhase::kPending;
  fresh.has_min_resources = true;
  fresh.min_resources = {{"cpu", 16'000}};
  cluster.SetGang(fresh);
  LetIn("m3", 4, 1000);
  AddPods("m3", 0, 3, Cpu(2000));
  EXPECT_EQ(PlacedOf("m1"), 64u - 16u - 7u);
}

TEST_F(SurplusTest, AGangThatNeverFitsStopsNobody) {
  LetIn("m1", 2, 1000);
  AddPods("m1", 0, 64, Cpu(1000));
  LetIn("awaited", 5, 13'000);  // 65 of 64
  LetIn("wide", 1, 17'000);     // no node is so large
  LetIn("large", 5, 13'000);
  AddPods("large", 0, 5, Cpu(13'000));
  LetIn("nowhere", 1, 1000);
  AddPods("nowhere", 0, 1, CpuOn(1000, "zone", "none"));
  LetIn("gated", 1, 1000);
  PodFacts gated = Pod("gated", "w", 0, Cpu(1000));
  gated.gated = true;
  cluster.SetPod(gated);
  model::GangFacts elsewhere = Gang("elsewhere", 1);
  elsewhere.queue = "missing";
  cluster.SetGang(elsewhere);
  AddPods("elsewhere", 0, 1, Cpu(1000));
  LetIn("failed", 2, 1000);  // nobody replaces it
  Runs("failed", 0, 1, Cpu(0), "node-003");
  Runs("failed", 1, 2, Cpu(0), "node-003", PodPhase::kFailed);
  EXPECT_EQ(PlacedOf("m1"), 64u);
}

// 16 cpu of minima, the rest is surplus: a gang that needs 32 waits, and what becomes free gathers for it.
TEST_F(SurplusTest, WhatBecomesFreeGathersForAMinimum) {
  LetIn("m1", 16, 1000);
  for (int node = 0; node < 4; ++node) Runs("m1", 16 * node, 16 * node + 16, Cpu(1000), absl::StrCat("node-00", node));
  AddPods("m1", 64, 80, Cpu(1000));
  LetIn("late", 2, 16'000);
  AddPods("late", 0, 2, Cpu(16'000));
  for (int i = 0; i < 32; ++i) {
    ASSERT_EQ(PlacedOf("late"), 0u) << i;
    Runs("m1", 63 - i, 64 - i, Cpu(1000), absl::StrCat("node-00", (63 - i) / 16), PodPhase::kSucceeded);
    if (i < 31) {
      EXPECT_EQ(PlacedOf("m1"), 0u) << i;
    }
  }
  EXPECT_EQ(PlacedOf("late"), 2u);
}

// What stands in its way are minima: nothing is kept, since nobody knows for how long.
TEST_F(SurplusTest, MinimaInTheWayKeepNothing) {
  LetIn("m1", 48, 1000);
  for (int node = 0; node < 3; ++node) Runs("m1", 16 * node, 16 * node + 16, Cpu(1000), absl::StrCat("node-00", node));
  AddPods("m1", 48, 60, Cpu(1000));
  LetIn("late", 2, 16'000);
  AddPods("late", 0, 2, Cpu(16'000));
  EXPECT_EQ(PlacedOf("m1"), 12u);
}

TEST_F(SurplusTest, GoesToNodesThatTheOthersCannotUse) {
  model::NodeFacts fast = Node("node-004");
  fast.labels.emplace_back("disk", "ssd");
  cluster.SetNode(fast);
  LetIn("m1", 1, 1000);
  AddPods("m1", 0, 80, Cpu(1000));
  LetIn("late", 2, 16'000);
  AddPods("late", 0, 1, CpuOn(16'000, "disk", "ssd"));  // its other pod is to be made, and may go anywhere
  EXPECT_EQ(PlacedOf("m1"), 48u);
}

TEST_F(SurplusTest, NothingIsKeptForAGangThatNoRoomCouldHelp) {
  LetIn("m1", 1, 1000);
  AddPods("m1", 0, 64, Cpu(1000));
  LetIn("gated", 3, 1000);  // its third pod is to be made, and another is held back
  AddPods("gated", 0, 1, Cpu(1000));
  PodFacts gated = Pod("gated", "w", 1, Cpu(1000));
  gated.gated = true;
  cluster.SetPod(gated);
  EXPECT_EQ(PlacedOf("m1"), 64u);
  PodFacts unknown = Pod("gated", "w", 1, Cpu(1000));
  unknown.wants.not_modelled = "spec.workloadRef";
  cluster.SetPod(unknown);
  EXPECT_EQ(PlacedOf("m1"), 64u);
}

// 15,000.5 of cpu each.
TEST_F(SurplusTest, APodToComeIsTakenToBeAShareRoundedUp) {
  LetIn("m1", 1, 1000);
  AddPods("m1", 0, 64, Cpu(1000));
  model::GangFacts late = Gang("late", 2);
  late.has_min_resources = true;
  late.min_resources = {{"cpu", 30'001}};
  cluster.SetGang(late);
  EXPECT_EQ(PlacedOf("m1"), 32u);
}

TEST_F(SurplusTest, NothingIsKeptWhereAPortIsTaken) {
  LetIn("m1", 1, 1000);
  AddPods("m1", 0, 64, Cpu(1000));
  Wants wants;
  wants.host_ports = {{"TCP", "", 8080}};
  LetIn("other", 4, 0);
  for (int node = 0; node < 4; ++node) Runs("other", node, node + 1, wants, absl::StrCat("node-00", node));
  LetIn("late", 2, 1000);
  wants = Cpu(1000);
  wants.host_ports = {{"TCP", "", 8080}};
  AddPods("late", 0, 1, wants);
  EXPECT_EQ(PlacedOf("m1"), 64u);
}

// Had the pod that may go anywhere taken the first node, nothing would be kept.
TEST_F(SurplusTest, RoomIsKeptForTheHardestPodFirst) {
  model::NodeFacts fast = Node("node-000");
  fast.labels.emplace_back("disk", "ssd");
  cluster.SetNode(fast);
  LetIn("m1", 1, 1000);
  AddPods("m1", 0, 64, Cpu(1000));
  LetIn("late", 3, 15'000);
  AddPods("late", 0, 1, Cpu(15'000));
  AddPods("late", 1, 2, CpuOn(15'000, "disk", "ssd"));
  EXPECT_EQ(PlacedOf("m1"), 64u - 45u);
}

// The one with a selector has a single place, however many nodes there are that it cannot use.
TEST_F(SurplusTest, NodesThatAPodCannotUseMakeItNoEasier) {
  model::NodeFacts fast = Node("node-000");
  fast.labels.emplace_back("disk", "ssd");
  cluster.SetNode(fast);
  LetIn("full", 2, 16'000);
  for (int i = 0; i < 2; ++i) Runs("full", i, i + 1, Cpu(16'000), absl::StrCat("node-00", 2 + i));
  LetIn("m1", 1, 1000);
  AddPods("m1", 0, 64, Cpu(1000));
  LetIn("late", 3, 1000);
  AddPods("late", 0, 1, Cpu(15'000));
  AddPods("late", 1, 2, CpuOn(15'000, "disk", "ssd"));
  EXPECT_EQ(PlacedOf("m1"), 32u - 31u) << "both of them have their place kept, and the one that is to be made";
}

// The pod that is to be made tolerates nothing, as far as one knows; the one that is there does.
TEST_F(SurplusTest, RoomIsKeptForAPodToComeBeforeOneThatMayGoAnywhere) {
  for (const char* name : {"node-001", "node-002", "node-003"}) {
    model::NodeFacts tainted = Node(name);
    tainted.taints = {{"dedicated", "x", model::TaintEffect::kNoSchedule}};
    cluster.SetNode(tainted);
  }
  Wants anywhere = Cpu(1000);
  anywhere.tolerations = {{"dedicated", "", "", true}};
  LetIn("m1", 1, 1000);
  AddPods("m1", 0, 64, anywhere);
  LetIn("late", 2, 15'000);
  anywhere.requests[0].second = 15'000;
  AddPods("late", 0, 1, anywhere);
  EXPECT_EQ(PlacedOf("m1"), 64u - 30u);
}

TEST_F(SurplusTest, PodsThatAreEndingAreRoomToCome) {
  LetIn("m1", 1, 1000);
  AddPods("m1", 0, 32, Cpu(1000));
  for (int node = 0; node < 2; ++node) {
    PodFacts old = Pod("gone", "w", node, Cpu(8000));
    old.node = absl::StrCat("node-00", node);
    old.terminating = true;
    cluster.SetPod(old);
  }
  LetIn("gone", 3, 16'000);
  AddPods("gone", 2, 5, Cpu(16'000));
  EXPECT_EQ(PlacedOf("m1"), 8u) << "beside its minimum only what no pod of 16 cpu could use";
}

TEST_F(SurplusTest, LeavesTheQueuesRoomToo) {
  model::QueueFacts queue = Queue("default");
  queue.capability = {{"cpu", 20'000}};
  cluster.SetQueue(queue);
  LetIn("m1", 2, 1000);
  AddPods("m1", 0, 64, Cpu(1000));
  LetIn("m2", 4, 1000);
  EXPECT_EQ(PlacedOf("m1"), 16u);
  LetIn("m3", 17, 1000);  // more than the queue has left beside them
  EXPECT_EQ(PlacedOf("m1"), 16u);
}

TEST_F(SurplusTest, AllThatIsLeftMayBeKept) {
  LetIn("m1", 1, 1000);
  AddPods("m1", 0, 64, Cpu(1000));
  LetIn("late", 63, 1000);
  EXPECT_EQ(PlacedOf("m1"), 1u);
  LetIn("late", 64, 1000);
  EXPECT_EQ(PlacedOf("m1"), 64u) << "it would not fit, whatever is kept";
}

TEST_F(SurplusTest, TheBudgetGoesToThoseWhoAreServedFirst) {
  LetIn("m1", 2, 1000);
  AddPods("m1", 0, 64, Cpu(1000));
  for (int i = 0; i < 5; ++i) LetIn(absl::StrCat("m2-", i), 2, 1000);
  EXPECT_EQ(PlacedOf("m1"), 54u);
  policy.keep_budget = 2;
  EXPECT_EQ(PlacedOf("m1"), 60u);
}

TEST_F(SurplusTest, IsLeftUndecidedWhenThePolicySaysSo) {
  LetIn("m1", 2, 1000);
  AddPods("m1", 0, 64, Cpu(1000));
  policy.place_surplus = false;
  const Decision decision = Of("m1");
  EXPECT_EQ(decision.placements.size(), 2u);
  EXPECT_TRUE(decision.rest_undecided);
  EXPECT_FALSE(decision.reason.has_value());
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
  EXPECT_THAT(second.reason->sums, ElementsAre(model::SumLack{"cpu", 72'000, 115'200, 72'000, 96'000}));
  for (int i = 0; i < 8; ++i) w.cluster.SetPod(Pod("first", "w", i, Cpu(9000)));
  EXPECT_TRUE(w.Of("second").admit) << "the first has its pods, does not fit, and holds nothing";
}

// A task of `partitions` times two pods that start together, each partition whole.
PodFacts PartitionPod(const std::string& gang, int index, std::int64_t milli) {
  PodFacts pod = Pod(gang, "w", index, Cpu(milli));
  pod.partition = absl::StrCat(index / 2);
  return pod;
}
model::GangFacts Partitioned(const std::string& name, int min_member, int min_groups) {
  model::GangFacts gang = Gang(name, min_member);
  gang.min_task_member = {{"w", min_member}};
  gang.sub_groups = {{"w", 2, min_groups}};
  return gang;
}

// Two partitions of two, no topology.
TEST(SubGroupTest, WithoutTopologyTheyAreAPlainGang) {
  World w;
  AddNodes(w.cluster, 1);
  w.cluster.SetGang(Partitioned("g", 4, 0));
  for (int i = 0; i < 4; ++i) w.cluster.SetPod(PartitionPod("g", i, 1000));
  EXPECT_EQ(w.Placed().size(), 4u);
}

TEST(SubGroupTest, TheMinimumTakesWholeSubGroups) {
  World w;
  AddNodes(w.cluster, 1, 6);
  w.cluster.SetGang(Partitioned("g", 4, 2));
  for (int i = 0; i < 8; ++i) {
    if (i != 1) w.cluster.SetPod(PartitionPod("g", i, 1000));  // g-w-1 is being made again
  }
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-2", "node-000"), Pair("g-w-3", "node-000"), Pair("g-w-4", "node-000"),
                                      Pair("g-w-5", "node-000"), Pair("g-w-6", "node-000"), Pair("g-w-7", "node-000")));
}

TEST(SubGroupTest, WhatRunsOfASubGroupCountsForIt) {
  World w;
  AddNodes(w.cluster, 1, 3);
  w.cluster.SetGang(Partitioned("g", 4, 2));
  for (const int i : {0, 1, 3}) {
    PodFacts running = PartitionPod("g", i, 1000);
    running.node = "node-other";
    running.phase = PodPhase::kRunning;
    w.cluster.SetPod(running);
  }
  for (const int i : {2, 4, 5}) w.cluster.SetPod(PartitionPod("g", i, 1000));
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-2", "node-000"), Pair("g-w-4", "node-000"), Pair("g-w-5", "node-000")));
  w.cluster.SetNode(Node("node-000", 2));
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-2", "node-000"))) << "no half of the third";
}

// Four of any pods would do for the gang, but not one pod of each partition.
TEST(SubGroupTest, TooFewWholeOnesWaitAndSaySo) {
  World w;
  AddNodes(w.cluster, 1);
  w.cluster.SetGang(Partitioned("g", 4, 2));
  for (const int i : {0, 2, 4, 5}) w.cluster.SetPod(PartitionPod("g", i, 1000));
  const Decision decision = w.Of("g");
  EXPECT_THAT(decision.placements, IsEmpty());
  EXPECT_TRUE(decision.short_of_minimum);
  EXPECT_EQ(model::Render(*decision.reason), "waits for 1 of 1 sub-group of task w: 0 have all of 2 pods");
  w.cluster.SetGang(Partitioned("g", 2, 2));
  EXPECT_EQ(model::Render(*w.Of("g").reason), "waits for 1 of 2 sub-groups of task w: 1 has all of 2 pods");
}

// Its two pods are the two of the task.
TEST(SubGroupTest, OneThatTheTasksMinimumNeedsIsOneOfThoseTheGangNeeds) {
  World w;
  AddNodes(w.cluster, 1, 2);
  w.cluster.SetGang(Partitioned("g", 2, 1));
  for (int i = 0; i < 4; ++i) w.cluster.SetPod(PartitionPod("g", i, 1000));
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-0", "node-000"), Pair("g-w-1", "node-000")));
}

TEST(SubGroupTest, TheRestComesInWholeSubGroups) {
  World w;
  AddNodes(w.cluster, 1, 5);
  w.cluster.SetGang(Partitioned("g", 2, 1));
  for (int i = 0; i < 6; ++i) w.cluster.SetPod(PartitionPod("g", i, 1000));
  EXPECT_EQ(w.Placed().size(), 4u);
  EXPECT_EQ(w.Of("g").reason->missing, 2);
}

TEST(SubGroupTest, WhatIsBeyondTheSizeComesAfterTheWhole) {
  World w;
  AddNodes(w.cluster, 1, 1);
  w.cluster.SetGang(Partitioned("g", 0, 0));
  for (int i = 0; i < 3; ++i) {
    PodFacts pod = PartitionPod("g", i, 1000);
    pod.partition = "0";
    w.cluster.SetPod(pod);
  }
  EXPECT_THAT(w.Placed(), IsEmpty());
  w.cluster.SetNode(Node("node-000", 3));
  EXPECT_EQ(w.Placed().size(), 3u);
}

TEST(SubGroupTest, NoHalfIsPlacedForAQueueThatHasRoomForOne) {
  World w;
  AddNodes(w.cluster, 1);
  model::QueueFacts queue = Queue("default");
  queue.capability = {{"cpu", 3000}};
  w.cluster.SetQueue(queue);
  w.cluster.SetGang(Partitioned("g", 2, 1));
  for (int i = 0; i < 4; ++i) w.cluster.SetPod(PartitionPod("g", i, 1000));
  EXPECT_EQ(w.Placed().size(), 2u);
  EXPECT_EQ(model::Render(*w.Of("g").reason),
            "waits for 2 of 4 tasks: needs cpu 2, queue default uses 2 of 3, 1 too many");
}

TEST(ScheduleTest, ACapabilityOfNoDevicesIsNone) {
  World w;
  model::NodeFacts node = Node("n");
  node.allocatable.emplace_back("nvidia.com/gpu", 8);
  w.cluster.SetNode(node);
  model::QueueFacts queue = Queue("default");
  queue.capability = {{"cpu", 0}, {"memory", 0}, {"nvidia.com/gpu", 0}};
  w.cluster.SetQueue(queue);
  AddGang(w.cluster, "plain", 1, 1, 1000);
  EXPECT_EQ(w.Placed().size(), 1u) << "cpu and memory of 0 are no limit, as in Volcano";
  w.cluster.SetGang(Gang("gpu", 1));
  Wants wants = Cpu(1000);
  wants.requests.emplace_back("nvidia.com/gpu", 1);
  w.cluster.SetPod(Pod("gpu", "w", 0, wants));
  EXPECT_THAT(w.Of("gpu").placements, IsEmpty());
  EXPECT_EQ(model::Render(*w.Of("gpu").reason),
            "waits for 1 of 1 task: needs nvidia.com/gpu 1, queue default uses 0 of 0, 1 too many");
  model::GangFacts asks = Gang("asks", 1);
  asks.phase = model::GangPhase::kNone;
  asks.has_min_resources = true;
  asks.min_resources = {{"nvidia.com/gpu", 1}};
  w.cluster.SetGang(asks);
  EXPECT_FALSE(w.Of("asks").admit);
}

// 16 cpu; `lab` keeps 8 of them and its child 6 of those 8.
struct QueueLimitTest : ::testing::Test {
  QueueLimitTest() {
    AddNodes(w.cluster, 1);
    Set("root", "", {}, {});
    Set("lab", "root", {}, {{"cpu", 8000}});
    Set("team", "lab", {}, {{"cpu", 6000}});
    Set("mate", "lab", {}, {});
    Set("other", "root", {}, {});
    w.policy.overcommit_percent = 1000;
  }
  void Set(const std::string& name, const std::string& parent, model::NamedAmounts capability,
           model::NamedAmounts guarantee) {
    model::QueueFacts queue = Queue(name);
    queue.parent = parent;
    queue.capability = std::move(capability);
    queue.guarantee = std::move(guarantee);
    w.cluster.SetQueue(queue);
  }
  // The reason why `milli` more are not let into the queue.
  std::string Asks(const std::string& queue, std::int64_t milli) {
    model::GangFacts gang = Gang("asks", 1);
    gang.queue = queue;
    gang.phase = model::GangPhase::kNone;
    gang.has_min_resources = true;
    gang.min_resources = {{"cpu", milli}};
    w.cluster.SetGang(gang);
    const Decision decision = w.Of("asks");
    return decision.reason.has_value() ? model::Render(*decision.reason) : "";
  }
  World w;
};

TEST_F(QueueLimitTest, AGuaranteeLiesWithinThatOfTheQueueAbove) {
  EXPECT_EQ(Asks("other", 8000), "");
  EXPECT_EQ(Asks("other", 9000), "waits for 1 of 1 task: needs cpu 9, queue other uses 0 of 8, 1 too many");
  EXPECT_EQ(Asks("team", 16000), "");
  EXPECT_EQ(Asks("mate", 10000), "");
  EXPECT_EQ(Asks("mate", 11000), "waits for 1 of 1 task: needs cpu 11, queue mate uses 0 of 10, 1 too many");
  Set("team", "lab", {}, {{"cpu", 10000}});  // more than its parent's
  EXPECT_EQ(Asks("other", 7000), "waits for 1 of 1 task: needs cpu 7, queue other uses 0 of 6, 1 too many");
}

TEST_F(QueueLimitTest, ACapabilityHoldsForTheQueuesBelow) {
  w.policy.reclaim = false;
  Set("lab", "root", {{"cpu", 4000}}, {});
  Set("team", "lab", {}, {});
  model::GangFacts runs = Gang("runs", 1);
  runs.queue = "mate";
  w.cluster.SetGang(runs);
  PodFacts running = Pod("runs", "w", 0, Cpu(3000));
  running.node = "node-000";
  running.phase = PodPhase::kRunning;
  w.cluster.SetPod(running);
  EXPECT_EQ(Asks("team", 1000), "");
  EXPECT_EQ(Asks("team", 2000), "waits for 1 of 1 task: needs cpu 2, queue lab uses 3 of 4, 1 too many");
  model::GangFacts gang = Gang("g", 2);
  gang.queue = "team";
  w.cluster.SetGang(gang);
  for (int i = 0; i < 2; ++i) w.cluster.SetPod(Pod("g", "w", i, Cpu(1000)));
  EXPECT_EQ(model::Render(*w.Of("g").reason), "waits for 2 of 2 tasks: needs cpu 2, queue lab uses 3 of 4, 1 too many");
  Set("mate", "root", {}, {});
  EXPECT_FALSE(w.Of("g").reason.has_value()) << "what runs in mate counts no more";
}

TEST_F(QueueLimitTest, ACircleOfParentsIsNobodysTree) {
  Set("lab", "team", {{"cpu", 4000}}, {{"cpu", 8000}});
  EXPECT_EQ(Asks("mate", 4000), "");
  EXPECT_EQ(Asks("mate", 5000), "waits for 1 of 1 task: needs cpu 5, queue mate uses 0 of 4, 1 too many");
  w.cluster.RemoveQueue("lab");
  w.cluster.RemoveQueue("team");
  EXPECT_EQ(Asks("other", 16000), "");
}

TEST(ScheduleTest, AQueuesFieldWeDoNotKnowIsNamed) {
  World w;
  AddNodes(w.cluster, 1);
  model::QueueFacts queue = Queue("default");
  queue.not_modelled = "spec.affinity";
  w.cluster.SetQueue(queue);
  AddGang(w.cluster, "g", 1, 1, 1000);
  EXPECT_EQ(model::Render(*w.Of("g").reason),
            "waits for 1 of 1 task: spec.affinity of queue default asks for something this scheduler does not know");
}

// ---- claims and volumes

model::ClaimFacts BoundTo(const std::string& name, const std::string& volume) {
  model::ClaimFacts claim;
  claim.ns = "default";
  claim.name = name;
  claim.phase = model::ClaimPhase::kBound;
  claim.volume = volume;
  return claim;
}
model::VolumeFacts Volume(const std::string& name, const std::string& not_modelled = "") {
  model::VolumeFacts volume;
  volume.name = name;
  volume.not_modelled = not_modelled;
  return volume;
}
model::VolumeFacts VolumeIn(const std::string& name, const std::string& zone) {
  model::VolumeFacts volume;
  volume.name = name;
  volume.selectors = {{{{"zone", model::Op::kIn, {zone}}}}};
  return volume;
}
model::NodeFacts NodeIn(const std::string& name, const std::string& zone) {
  model::NodeFacts node = Node(name);
  node.labels.emplace_back("zone", zone);
  return node;
}

struct ClaimTest : ::testing::Test {
  ClaimTest() {
    w.cluster.SetNode(NodeIn("n1", "a"));
    w.cluster.SetNode(NodeIn("n2", "b"));
    w.cluster.SetGang(Gang("g", 1));
    w.cluster.SetPod(PodWith({"default/data"}));
  }
  static PodFacts PodWith(std::vector<std::string> claims, int index = 0) {
    PodFacts pod = Pod("g", "w", index, Cpu(1000));
    pod.wants.claims = std::move(claims);
    return pod;
  }
  std::string Reason() {
    const Decision decision = w.Of("g");
    return decision.reason.has_value() ? model::Render(*decision.reason) : "";
  }
  World w;
};

TEST_F(ClaimTest, EveryTroubleIsSaid) {
  const auto is = [&](const std::string& what) { EXPECT_EQ(Reason(), "waits for 1 of 1 task: " + what); };
  is("there is no claim data");
  w.cluster.SetClaimsReadable(false);
  is("claim data cannot be read: the scheduler may not list persistentvolumeclaims");
  model::ClaimFacts claim = BoundTo("data", "");
  claim.phase = model::ClaimPhase::kPending;
  w.cluster.SetClaim(claim);
  is("claim data is not bound yet");
  claim.storage_class = "disk";
  w.cluster.SetClaim(claim);
  is("claim data is not bound yet (storage class disk)");
  w.cluster.SetStorageClass({"disk", true, false, {}});
  EXPECT_EQ(Reason(),
            "waits for 1 of 1 task: w needs cpu 1, memory 100M; 2 nodes have no volume for claim data, 0 fit");
  claim.volume = "pv1";
  w.cluster.SetClaim(claim);
  is("claim data is not bound yet (storage class disk)");
  claim.phase = model::ClaimPhase::kLost;
  w.cluster.SetClaim(claim);
  is("claim data has lost its volume pv1");
  claim.phase = model::ClaimPhase::kBound;
  w.cluster.SetClaim(claim);
  is("volume pv1 of claim data is not known: it is gone, or the scheduler may not list persistentvolumes");
  w.cluster.SetVolume(Volume("pv1", "spec.nodeAffinity"));
  is("claim data: spec.nodeAffinity of volume pv1 asks for something this scheduler does not know");
  w.cluster.SetVolume(Volume("pv1"));
  EXPECT_EQ(Reason(), "");
  claim.ending = true;
  w.cluster.SetClaim(claim);
  is("claim data is being deleted");
  w.cluster.RemoveClaim("default", "data");
  is("there is no claim data");
}

TEST_F(ClaimTest, OfSeveralTroublesThatOfTheFirstClaimByNameIsSaid) {
  w.cluster.SetPod(PodWith({"default/b"}));
  w.cluster.SetPod(PodWith({"default/a"}, 1));
  w.cluster.SetPod(PodWith({"default/c"}, 2));
  EXPECT_EQ(Reason(), "waits for 1 of 1 task: there is no claim a");
}

TEST_F(ClaimTest, AVolumeKeepsItsPodsWhereItIs) {
  w.cluster.SetClaim(BoundTo("data", "pv1"));
  w.cluster.SetVolume(VolumeIn("pv1", "b"));
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-0", "n2")));
  w.cluster.SetVolume(VolumeIn("pv1", "c"));
  EXPECT_EQ(Reason(),
            "waits for 1 of 1 task: w needs cpu 1, memory 100M; 2 nodes do not reach volume pv1 (zone=c), 0 fit");
  w.cluster.SetNode(NodeIn("n3", "c"));
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-0", "n3")));
}

TEST_F(ClaimTest, TwoVolumesInTwoPlacesFitNowhere) {
  w.cluster.SetClaim(BoundTo("data", "pv1"));
  w.cluster.SetClaim(BoundTo("more", "pv2"));
  w.cluster.SetVolume(VolumeIn("pv1", "a"));
  w.cluster.SetVolume(VolumeIn("pv2", "b"));
  w.cluster.SetPod(PodWith({"default/data", "default/more"}));
  EXPECT_EQ(Reason(),
            "waits for 1 of 1 task: w needs cpu 1, memory 100M; 2 nodes do not reach volume pv1 (zone=a), 0 fit");
  w.cluster.SetClaim(BoundTo("more", "pv1"));
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-0", "n1")));
}

TEST_F(ClaimTest, OnePodAtATimeUsesAClaimThatIsForOne) {
  model::ClaimFacts claim = BoundTo("data", "pv1");
  claim.one_pod = true;
  w.cluster.SetClaim(claim);
  w.cluster.SetVolume(Volume("pv1"));
  w.cluster.SetPod(PodWith({"default/data"}, 1));
  AddGang(w.cluster, "other", 1, 0, 0);
  PodFacts others = Pod("other", "w", 0, Cpu(1000));
  others.wants.claims = {"default/data"};
  w.cluster.SetPod(others);
  EXPECT_EQ(w.Placed().size(), 1u);
  EXPECT_EQ(Reason(),
            "waits for 1 of 2 tasks: claim data is for one pod at a time (ReadWriteOncePod), and another has it");
  EXPECT_EQ(model::Render(*w.Of("other").reason),
            "waits for 1 of 1 task: claim data is for one pod at a time (ReadWriteOncePod), and another has it");
  PodFacts running = PodWith({"default/data"});
  running.node = "n1";
  running.phase = PodPhase::kRunning;
  w.cluster.SetPod(running);
  EXPECT_THAT(w.Placed(), IsEmpty());
  w.cluster.RemovePod("default", running.name);
  EXPECT_EQ(w.Placed().size(), 1u);
}

TEST_F(ClaimTest, WhatNobodyUsesIsForgotten) {
  for (int i = 0; i < 100; ++i) {
    const std::string name = absl::StrCat("c", i), volume = absl::StrCat("pv", i);
    w.cluster.SetPod(PodWith({"default/" + name}));
    w.cluster.SetClaim(BoundTo(name, volume));
    w.cluster.SetVolume(VolumeIn(volume, "a"));
    w.cluster.RemoveClaim("default", name);
    w.cluster.RemoveVolume(volume);
  }
  EXPECT_EQ(w.cluster.volumes().claim_slots(), 1);
  EXPECT_EQ(w.cluster.volumes().volume_slots(), 0);
}

// ---- claims of classes that wait for a pod

struct OpenClaimTest : ClaimTest {
  OpenClaimTest() {
    w.cluster.SetStorageClass(Class());
    w.cluster.SetClaim(Open("data"));
  }
  static model::StorageClassFacts Class(bool makes_volumes = false) { return {"disk", true, makes_volumes, {}}; }
  static model::ClaimFacts Open(const std::string& name, std::int64_t bytes = 10) {
    model::ClaimFacts claim;
    claim.ns = "default";
    claim.name = claim.uid = name;
    claim.storage_class = "disk";
    claim.bytes = bytes;
    claim.access_modes = {"ReadWriteOnce"};
    return claim;
  }
  static model::VolumeFacts Free(const std::string& name, const std::string& zone, std::int64_t bytes = 10) {
    model::VolumeFacts volume = VolumeIn(name, zone);
    volume.storage_class = "disk";
    volume.available = true;
    volume.bytes = bytes;
    volume.access_modes = {"ReadOnlyMany", "ReadWriteOnce"};
    return volume;
  }
  std::string PromisedTo(const std::string& pod) {
    const model::Task& task = w.cluster.task(w.cluster.FindTask("default", pod));
    const auto promised = w.cluster.volumes().PromisedTo(w.cluster.shape(task.shape).claims.front());
    return !promised.has_value() ? "nothing"
           : promised->lost      ? "lost"
           : promised->made      ? "made on " + promised->node
                                 : promised->volume;
  }
  void Assume(const std::string& pod, const std::string& node) {
    w.cluster.Assume(w.cluster.FindTask("default", pod), w.cluster.FindNode(node));
  }
};

TEST_F(OpenClaimTest, APodGoesWhereAVolumeIs) {
  EXPECT_EQ(Reason(),
            "waits for 1 of 1 task: w needs cpu 1, memory 100M; 2 nodes have no volume for claim data, 0 fit");
  w.cluster.SetVolume(Free("pv1", "b"));
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-0", "n2")));
}

TEST_F(OpenClaimTest, OnlyAVolumeThatSuitsIsTaken) {
  const auto taken = [&](auto change, auto change_claim) {
    model::VolumeFacts volume = Free("pv1", "b");
    change(volume);
    w.cluster.SetVolume(volume);
    model::ClaimFacts claim = Open("data");
    change_claim(claim);
    w.cluster.SetClaim(claim);
    return !w.Placed().empty();
  };
  const auto as_is = [](auto&) {};
  EXPECT_TRUE(taken(as_is, as_is));
  EXPECT_FALSE(taken([](auto& v) { v.bytes = 9; }, as_is));
  EXPECT_FALSE(taken([](auto& v) { v.available = false; }, as_is));
  EXPECT_FALSE(taken([](auto& v) { v.block = true; }, as_is));
  EXPECT_FALSE(taken([](auto& v) { v.storage_class = "other"; }, as_is));
  EXPECT_FALSE(taken([](auto& v) { v.access_modes = {"ReadOnlyMany"}; }, as_is));
  EXPECT_FALSE(taken([](auto& v) { v.claim = "default/other"; }, as_is));
  EXPECT_FALSE(taken([](auto& v) { v.not_modelled = "spec.nodeAffinity"; }, as_is));
  EXPECT_TRUE(taken(
      [](auto& v) {
        v.claim = "default/data";
        v.available = false;
      },
      as_is))
      << "it is kept for the claim";
  EXPECT_FALSE(taken(as_is, [](auto& c) { c.selector = {{"tier", model::Op::kIn, {"x"}}}; }));
  EXPECT_TRUE(taken([](auto& v) { v.labels = {{"tier", "x"}}; },
                    [](auto& c) { c.selector = {{"tier", model::Op::kIn, {"x"}}}; }));
  EXPECT_FALSE(taken(as_is, [](auto& c) { c.selected_node = "n1"; })) << "its volume is being made for another node";
  EXPECT_TRUE(taken(as_is, [](auto& c) { c.selected_node = "n2"; }));
}

TEST_F(OpenClaimTest, AVolumeIsMadeWhereTheClassMakesThem) {
  w.cluster.SetStorageClass(Class(true));
  EXPECT_EQ(w.Placed().size(), 1u);
  model::StorageClassFacts only_b = Class(true);
  only_b.topologies = {{{"zone", model::Op::kIn, {"b"}}}};
  w.cluster.SetStorageClass(only_b);
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-0", "n2")));
}

// Rows A10 and A11 of the contract.
TEST_F(OpenClaimTest, A10A11OneVolumeIsNotEnoughForTwoAndTwoAre) {
  w.cluster.SetGang(Gang("g", 2));
  w.cluster.SetPod(PodWith({"default/more"}, 1));
  w.cluster.SetClaim(Open("more"));
  w.cluster.SetVolume(Free("pv1", "a"));
  EXPECT_THAT(w.Placed(), IsEmpty());
  EXPECT_EQ(Reason(),
            "waits for 1 of 2 tasks: w needs cpu 1, memory 100M; with 1 placed, 2 nodes have no volume for claim more, "
            "0 fit");
  w.cluster.SetVolume(Free("pv2", "a"));
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-0", "n1"), Pair("g-w-1", "n1")));
}

TEST_F(OpenClaimTest, PodsOfOneClaimGoWhereItsVolumeCanBeReached) {
  w.cluster.SetNode(NodeIn("n3", "b"));
  w.cluster.SetGang(Gang("g", 3));
  for (int i = 0; i < 3; ++i) {
    PodFacts pod = PodWith({"default/data"}, i);
    pod.wants.requests.front().second = 12'000;
    w.cluster.SetPod(pod);
  }
  w.cluster.SetNode([] {
    model::NodeFacts node = NodeIn("n4", "b");
    return node;
  }());
  w.cluster.SetVolume(Free("pv1", "a", 10));
  w.cluster.SetVolume(Free("pv2", "b", 20));
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-0", "n2"), Pair("g-w-1", "n3"), Pair("g-w-2", "n4")))
      << "the smaller volume is where one pod fits";
}

TEST_F(OpenClaimTest, WhatIsPromisedNobodyElseGets) {
  w.cluster.SetVolume(Free("small", "a", 10));
  w.cluster.SetVolume(Free("large", "a", 20));
  w.cluster.SetVolume(Free("there", "b", 10));
  w.cluster.SetPod(PodWith({"default/more"}, 1));
  w.cluster.SetClaim(Open("more"));
  Assume("g-w-0", "n1");
  EXPECT_EQ(PromisedTo("g-w-0"), "small");
  Assume("g-w-1", "n1");
  EXPECT_EQ(PromisedTo("g-w-1"), "large");
  EXPECT_THAT(w.cluster.Audit(), IsEmpty());
  w.cluster.SetVolume([] {
    model::VolumeFacts volume = Free("large", "a", 20);
    volume.claim = "default/stranger";
    return volume;
  }());
  EXPECT_EQ(PromisedTo("g-w-1"), "lost");
  w.cluster.Forget(w.cluster.FindTask("default", "g-w-0"));
  EXPECT_EQ(PromisedTo("g-w-0"), "nothing");
  w.cluster.Forget(w.cluster.FindTask("default", "g-w-1"));
  Assume("g-w-1", "n1");
  EXPECT_EQ(PromisedTo("g-w-1"), "small");
  w.cluster.RemoveVolume("small");
  EXPECT_EQ(PromisedTo("g-w-1"), "lost");
  w.cluster.RemovePod("default", "g-w-1");
  EXPECT_THAT(w.cluster.Audit(), IsEmpty());
  EXPECT_EQ(w.cluster.volumes().volume_slots(), 2);
}

TEST_F(OpenClaimTest, AnEventOfAnAssumedPodChangesNoPromise) {
  w.cluster.SetStorageClass(Class(true));
  Assume("g-w-0", "n1");
  EXPECT_EQ(PromisedTo("g-w-0"), "made on n1");
  PodFacts touched = PodWith({"default/data"});
  touched.priority = 7;
  w.cluster.SetPod(touched);
  EXPECT_EQ(PromisedTo("g-w-0"), "made on n1");
  w.cluster.RemoveClaim("default", "data");
  EXPECT_EQ(PromisedTo("g-w-0"), "nothing");
  w.cluster.SetPod(PodWith({"default/other"}));
  EXPECT_THAT(w.cluster.Audit(), IsEmpty());
}

// ---- room for volumes that are made

struct StorageRoomTest : OpenClaimTest {
  StorageRoomTest() {
    model::StorageClassFacts disk = Class(true);
    disk.provisioner = disk.driver = "d";
    w.cluster.SetStorageClass(disk);
    w.cluster.SetCsiDriver({"d", true});
  }
  void Room(const std::string& zone, std::optional<std::int64_t> bytes,
            std::optional<std::int64_t> a_volumes = std::nullopt) {
    w.cluster.SetStorageCapacity({"kube-system", zone, "disk", {{"zone", model::Op::kIn, {zone}}}, bytes, a_volumes});
  }
};

TEST_F(StorageRoomTest, AVolumeIsMadeWhereThereIsRoomForIt) {
  EXPECT_EQ(Reason(),
            "waits for 1 of 1 task: w needs cpu 1, memory 100M; 2 nodes have no storage left for claim data (storage "
            "class disk), 0 fit");
  Room("a", 9);
  Room("b", 10);
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-0", "n2")));
  Room("b", 100, 9);
  EXPECT_THAT(w.Placed(), IsEmpty()) << "of one volume it makes less";
  Room("b", std::nullopt, 10);
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-0", "n2")));
  w.cluster.RemoveStorageCapacity("kube-system", "b");
  EXPECT_THAT(w.Placed(), IsEmpty());
  w.cluster.SetCsiDriver({"d", false});
  EXPECT_EQ(w.Placed().size(), 1u);
}

TEST_F(StorageRoomTest, AVolumeThatIsThereNeedsNoRoom) {
  w.cluster.SetVolume(Free("pv1", "b"));
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-0", "n2")));
}

TEST_F(StorageRoomTest, VolumesOfAGangShareTheRoomOfAZone) {
  w.cluster.SetGang(Gang("g", 2));
  w.cluster.SetPod(PodWith({"default/more"}, 1));
  w.cluster.SetClaim(Open("more"));
  Room("a", 19);
  EXPECT_EQ(Reason(),
            "waits for 1 of 2 tasks: w needs cpu 1, memory 100M; with 1 placed, 2 nodes have no storage left for claim "
            "more (storage class disk), 0 fit");
  Room("a", 20);
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-0", "n1"), Pair("g-w-1", "n1")));
  Room("a", 19);
  Room("b", 10);
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-0", "n1"), Pair("g-w-1", "n2")));
}

TEST_F(StorageRoomTest, BothClaimsOfAPodNeedRoom) {
  w.cluster.SetPod(PodWith({"default/data", "default/more"}));
  w.cluster.SetClaim(Open("more"));
  Room("a", 19);
  EXPECT_THAT(w.Placed(), IsEmpty());
  Room("b", 20);
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-0", "n2")));
}

TEST_F(StorageRoomTest, WhatIsPromisedIsTakenUntilTheVolumeIsThere) {
  w.cluster.SetPod(PodWith({"default/more"}, 1));
  w.cluster.SetClaim(Open("more"));
  Room("a", 19);
  Assume("g-w-0", "n1");
  EXPECT_THAT(w.Placed(), IsEmpty());
  EXPECT_THAT(w.cluster.Audit(), IsEmpty());
  model::ClaimFacts bound = Open("data");
  bound.phase = model::ClaimPhase::kBound;
  bound.volume = "pv1";
  w.cluster.SetClaim(bound);
  EXPECT_EQ(w.Placed().size(), 1u) << "who makes volumes tells what is left by now";
  w.cluster.SetClaim(Open("data"));
  w.cluster.Forget(w.cluster.FindTask("default", "g-w-0"));
  Assume("g-w-0", "n1");
  EXPECT_THAT(w.Placed(), IsEmpty());
  w.cluster.RemoveStorageCapacity("kube-system", "a");
  Room("a", 19);
  EXPECT_EQ(w.Placed().size(), 1u) << "of another count";
  EXPECT_THAT(w.cluster.Audit(), IsEmpty());
  w.cluster.Forget(w.cluster.FindTask("default", "g-w-0"));
  EXPECT_THAT(w.cluster.Audit(), IsEmpty());
}

// ---- how many volumes a node can attach

struct AttachLimitTest : ClaimTest {
  AttachLimitTest() {
    for (const char* const node : {"n1", "n2"}) w.cluster.SetCsiNode({node, {{"d", 1}}});
    for (const char* const name : {"data", "more", "other"}) Bound(name, name);
  }
  void Bound(const std::string& claim, const std::string& handle, const std::string& driver = "d") {
    model::VolumeFacts volume = Volume("pv-" + claim);
    volume.driver = driver;
    volume.handle = handle;
    w.cluster.SetVolume(volume);
    w.cluster.SetClaim(BoundTo(claim, "pv-" + claim));
  }
  // A pod of nobody we know.
  void Run(const std::string& name, const std::string& node, const std::string& claim) {
    PodFacts pod = Pod("", "x", 0, Cpu(0));
    pod.name = pod.uid = name;
    pod.ours = false;
    pod.node = node;
    pod.phase = PodPhase::kRunning;
    pod.wants.claims = {claim};
    w.cluster.SetPod(pod);
  }
};

TEST_F(AttachLimitTest, ANodeThatHasAllItCanHaveTakesNoMore) {
  Run("a", "n1", "default/more");
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-0", "n2")));
  Run("b", "n2", "default/other");
  EXPECT_EQ(Reason(),
            "waits for 1 of 1 task: w needs cpu 1, memory 100M; 2 nodes can attach no more volumes of d (1 at most), "
            "0 fit");
  w.cluster.SetCsiNode({"n2", {{"d", 2}}});
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-0", "n2")));
  w.cluster.RemoveCsiNode("n1");
  w.cluster.SetCsiNode({"n2", {{"d", 1}}});
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-0", "n1"))) << "without a word of it there is no limit";
  EXPECT_THAT(w.cluster.Audit(), IsEmpty());
}

TEST_F(AttachLimitTest, OneVolumeOfSeveralPodsCountsOnce) {
  Run("a", "n1", "default/data");
  Run("b", "n2", "default/other");
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-0", "n1")));
  Bound("more", "data");
  Run("a", "n1", "default/more");
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-0", "n1"))) << "by another claim";
  Bound("more", "data", "e");
  EXPECT_EQ(w.Placed().size(), 1u) << "volumes of other drivers do not count";
}

TEST_F(AttachLimitTest, PodsOfAGangShareWhatANodeCanAttach) {
  w.cluster.SetGang(Gang("g", 3));
  w.cluster.SetPod(PodWith({"default/more"}, 1));
  w.cluster.SetPod(PodWith({"default/more"}, 2));
  EXPECT_EQ(w.Placed().size(), 3u);
  w.cluster.SetPod(PodWith({"default/other"}, 2));
  EXPECT_EQ(Reason(),
            "waits for 1 of 3 tasks: w needs cpu 1, memory 100M; with 2 placed, 2 nodes can attach no more volumes of "
            "d (1 at most), 0 fit");
}

TEST_F(AttachLimitTest, AClaimWithoutAVolumeCountsAsOneOfItsClass) {
  w.cluster.SetStorageClass({"disk", true, true, {}, "x", "d"});
  model::ClaimFacts open;
  open.ns = "default";
  open.name = "data";
  open.storage_class = "disk";
  w.cluster.SetClaim(open);
  Run("a", "n1", "default/more");
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-0", "n2")));
  Run("b", "n2", "default/other");
  EXPECT_THAT(w.Placed(), IsEmpty());
  w.cluster.SetStorageClass({"disk", true, true, {}, "x", "e"});
  EXPECT_EQ(w.Placed().size(), 1u);
}

TEST_F(AttachLimitTest, WhatIsStillAttachedCounts) {
  w.cluster.SetVolumeAttachment({"va1", "n1", "d", "pv-more"});
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-0", "n2")));
  w.cluster.SetVolumeAttachment({"va2", "n2", "d", "pv-data"});
  EXPECT_THAT(w.Placed(), IsEmpty()) << "as with Kubernetes: it may be on its way out, and counts beside the pod's";
  Run("b", "n2", "default/data");
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-0", "n2"))) << "now a pod is there that keeps it";
  w.cluster.RemovePod("default", "b");
  w.cluster.SetVolumeAttachment({"va1", "n2", "d", "pv-more"});
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-0", "n1"))) << "it is another one of the same name";
  w.cluster.RemoveVolumeAttachment("va1");
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-0", "n1")));
  EXPECT_THAT(w.cluster.Audit(), IsEmpty());
}

TEST_F(AttachLimitTest, AnEphemeralVolumesClaimIsThePodsOwn) {
  PodFacts pod = PodWith({"default/data"});
  pod.wants.made_claims = {{"default/data", pod.uid}};
  w.cluster.SetPod(pod);
  EXPECT_EQ(Reason(),
            "waits for 1 of 1 task: claim data is not the pod's own, though its volume is ephemeral: delete that "
            "claim");
  model::ClaimFacts own = BoundTo("data", "pv-data");
  own.owner = pod.uid;
  w.cluster.SetClaim(own);
  EXPECT_EQ(w.Placed().size(), 1u);
}

// ---- pods that keep others away

struct KeptAwayTest : ::testing::Test {
  KeptAwayTest() {
    w.cluster.SetNode(NodeIn("n1", "a"));
    w.cluster.SetNode(NodeIn("n2", "a"));
    w.cluster.SetNode(NodeIn("n3", "b"));
    w.cluster.SetGang(Gang("g", 1));
    w.cluster.SetPod(Waiting());
  }
  static PodFacts Waiting() {
    PodFacts pod = Pod("g", "w", 0, Cpu(1000));
    pod.labels = {{"app", "train"}, {"tier", "x"}};
    return pod;
  }
  static model::PodTermFacts Term(const std::string& key = "zone") {
    model::PodTermFacts term;
    term.topology_key = key;
    term.selector.namespaces = {"default"};
    term.selector.pods = {{"app", model::Op::kIn, {"train"}}};
    return term;
  }
  static PodFacts Keeper(const std::string& node, model::PodTermFacts term, const std::string& name = "web") {
    PodFacts pod = Pod("", "x", 0, Cpu(0));
    pod.name = name;
    pod.uid = name + node;
    pod.ours = false;
    pod.node = node;
    pod.phase = PodPhase::kRunning;
    pod.wants.pod_anti_affinity = {std::move(term)};
    return pod;
  }
  // Nodes that take the pod.
  std::set<std::string> Open() {
    std::set<std::string> open;
    for (const char* const node : {"n1", "n2", "n3"}) {
      const model::Task& task = w.cluster.task(w.cluster.FindTask("default", "g-w-0"));
      if (constraint::Placed(w.cluster).AsksOf(task.shape).ObstacleAt(w.cluster.FindNode(node)).empty())
        open.insert(node);
    }
    return open;
  }
  using Nodes = std::set<std::string>;
  World w;
};

TEST_F(KeptAwayTest, FromEveryNodeOfTheDomain) {
  w.cluster.SetPod(Keeper("n1", Term()));
  EXPECT_EQ(Open(), (Nodes{"n3"}));
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-0", "n3")));
  w.cluster.SetPod(Keeper("n3", Term(), "web2"));
  EXPECT_EQ(model::Render(*w.Of("g").reason),
            "waits for 1 of 1 task: w needs cpu 1, memory 100M; 3 nodes are kept free by the podAntiAffinity of pod "
            "default/web, 0 fit");
  w.cluster.RemovePod("default", "web");
  EXPECT_EQ(Open(), (Nodes{"n1", "n2"}));
  PodFacts ended = Keeper("n3", Term(), "web2");
  ended.phase = PodPhase::kSucceeded;
  w.cluster.SetPod(ended);
  EXPECT_EQ(Open(), (Nodes{"n1", "n2", "n3"}));
}

TEST_F(KeptAwayTest, ANodeWithoutTheLabelIsNoDomain) {
  w.cluster.SetPod(Keeper("n1", Term("rack")));
  EXPECT_EQ(Open(), (Nodes{"n1", "n2", "n3"}));
  model::NodeFacts racked = NodeIn("n1", "a");
  racked.labels.emplace_back("rack", "7");
  w.cluster.SetNode(racked);
  EXPECT_EQ(Open(), (Nodes{"n2", "n3"}));
  w.cluster.SetNode(NodeIn("n1", "a"));
  EXPECT_EQ(Open(), (Nodes{"n1", "n2", "n3"}));
}

TEST_F(KeptAwayTest, SelectorsDecideWhom) {
  const auto open_with = [&](auto change) {
    model::PodTermFacts term = Term("kubernetes.io/hostname");
    change(term);
    w.cluster.SetPod(Keeper("n1", term, "web"));
    const Nodes open = Open();
    w.cluster.RemovePod("default", "web");
    return open;
  };
  const Nodes all{"n1", "n2", "n3"}, rest{"n2", "n3"};
  EXPECT_EQ(open_with([](auto&) {}), rest);
  EXPECT_EQ(open_with([](auto& t) { t.selector.pods.clear(); }), rest) << "an empty selector matches every pod";
  EXPECT_EQ(open_with([](auto& t) { t.selector.pods = {{"app", model::Op::kIn, {"web", "db"}}}; }), all);
  EXPECT_EQ(open_with([](auto& t) { t.selector.pods = {{"app", model::Op::kNotIn, {"web"}}}; }), rest);
  EXPECT_EQ(open_with([](auto& t) { t.selector.pods = {{"gone", model::Op::kNotIn, {"x"}}}; }), rest);
  EXPECT_EQ(open_with([](auto& t) { t.selector.pods = {{"gone", model::Op::kExists, {}}}; }), all);
  EXPECT_EQ(open_with([](auto& t) {
              t.selector.pods = {{"gone", model::Op::kDoesNotExist, {}}, {"tier", model::Op::kExists, {}}};
            }),
            rest);
  EXPECT_EQ(open_with([](auto& t) { t.selector.namespaces = {"other"}; }), all);
}

TEST_F(KeptAwayTest, ANamespaceThatNobodyShowedIsTakenToMatch) {
  model::PodTermFacts term = Term("kubernetes.io/hostname");
  term.selector.namespaces.clear();
  term.selector.namespace_selector = {{"team", model::Op::kIn, {"blue"}}};
  w.cluster.SetPod(Keeper("n1", term));
  EXPECT_EQ(Open(), (Nodes{"n2", "n3"}));
  w.cluster.SetNamespace({"default", {{"team", "red"}}});
  EXPECT_EQ(Open(), (Nodes{"n1", "n2", "n3"}));
  w.cluster.SetNamespace({"default", {{"team", "blue"}}});
  EXPECT_EQ(Open(), (Nodes{"n2", "n3"}));
  w.cluster.SetNamespace({"default", {}});
  EXPECT_EQ(Open(), (Nodes{"n1", "n2", "n3"}));
  w.cluster.RemoveNamespace("default");
  EXPECT_EQ(Open(), (Nodes{"n2", "n3"}));
}

TEST_F(KeptAwayTest, APodWithoutLabelsIsMatchedToo) {
  PodFacts bare = Waiting();
  bare.labels.clear();
  w.cluster.SetPod(bare);
  model::PodTermFacts everyone = Term("kubernetes.io/hostname");
  everyone.selector.pods.clear();
  w.cluster.SetPod(Keeper("n1", everyone));
  EXPECT_EQ(Open(), (Nodes{"n2", "n3"}));
}

TEST_F(KeptAwayTest, TermsComeAndGoWithoutATrace) {
  const int shapes = w.cluster.shape_slots();
  for (int i = 0; i < 100; ++i) {
    model::PodTermFacts term = Term();
    term.selector.pods.push_back({"tier", model::Op::kNotIn, {absl::StrCat(i)}});
    w.cluster.SetPod(Keeper("n1", term));
    w.cluster.SetPod(Waiting());
    EXPECT_EQ(Open(), (Nodes{"n3"}));
    w.cluster.RemovePod("default", "web");
    w.cluster.RemovePod("default", "g-w-0");
    w.cluster.SetPod(Waiting());
    EXPECT_EQ(Open(), (Nodes{"n1", "n2", "n3"}));
  }
  EXPECT_LE(w.cluster.shape_slots(), shapes + 3);
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
