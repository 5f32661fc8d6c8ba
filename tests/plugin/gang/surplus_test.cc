// What gangs want beyond their minimum, beside the minima that wait.
#include "plugin/gang/kept_room.h"

#include <map>
#include <string>

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "tests/plugin/gang/world.h"

namespace gangway::gang {
namespace {

using model::Decision;
using model::PodFacts;
using model::PodPhase;
using model::Wants;
using testutil::AddNodes;
using testutil::Cpu;
using testutil::CpuOn;
using testutil::Gang;
using testutil::Node;
using testutil::Pod;
using testutil::Queue;
using testutil::World;

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

TEST_F(SurplusTest, NothingIsKeptForAGangThatIsOver) {
  LetIn("m1", 1, 1000);
  AddPods("m1", 0, 64, Cpu(1000));
  LetIn("over", 3, 1000);
  AddPods("over", 0, 1, Cpu(1000));
  EXPECT_EQ(PlacedOf("m1"), 61u);
  model::GangFacts over = Gang("over", 3);
  over.phase = model::GangPhase::kCompleted;
  cluster.SetGang(over);
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

}  // namespace
}  // namespace gangway::gang
