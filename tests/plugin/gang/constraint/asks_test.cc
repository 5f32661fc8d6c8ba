// What is in the way of a pod: which of several constraints is named, how many copies a row takes, and what is told of
// all rows.
#include "plugin/gang/constraint/asks.h"
#include "plugin/gang/constraint/pod_preference.h"

#include <functional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "plugin/gang/overlay.h"
#include "plugin/phrases/phrases.h"
#include "tests/plugin/model/cluster_builder.h"

namespace gangway::constraint {
namespace {

using gang::Overlay;
using model::Cluster;
using model::ShapeId;
using model::Wants;
using ::testing::ElementsAre;
using testutil::Cpu;
using testutil::Node;
using testutil::Pod;

model::PodFacts Stranger(const std::string& name, const std::string& node, Wants wants) {
  model::PodFacts pod = Pod("", name, 0, std::move(wants));
  pod.ours = false;
  pod.node = node;
  pod.phase = model::PodPhase::kRunning;
  return pod;
}

// A pod against which everything stands, each of which can be taken away.
class ObstaclesTest : public ::testing::Test {
 protected:
  ObstaclesTest() {
    node.unschedulable = true;
    node.labels = {{"zone", "a"}};
    node.taints = {{"dedicated", "", model::TaintEffect::kNoSchedule}};
    wants = Cpu(99'000);
    wants.selector = {{"zone", "b"}};
    wants.claims = {"default/c"};
    wants.host_ports = {{"TCP", "", 80}};
    volume.name = "v";
    volume.selectors = {{{{"zone", model::Op::kIn, {"c"}}}}};
    volume.driver = "d";
    volume.handle = "h";
    keeper = Stranger("keeper", "n", Cpu(0));
    keeper.wants.host_ports = wants.host_ports;
    keeper.labels = {{"app", "web"}};
    const model::PodTermFacts everybody{"zone", {{"default"}, {}, {}}},
        nobody{"zone", {{"default"}, {}, {model::kNoPod}}};
    keeper.wants.pod_anti_affinity = {everybody};
    wants.pod_affinity = {nobody};
    wants.pod_anti_affinity = {everybody};
    wants.spreads = {{{"rack", everybody.selector}}};
    wants.pod_preferences = {{1, nobody}};  // stands against nothing
  }
  std::string Named() {
    Cluster cluster;
    cluster.SetNode(node);
    model::ClaimFacts claim;
    claim.ns = "default";
    claim.name = "c";
    claim.phase = model::ClaimPhase::kBound;
    claim.volume = "v";
    cluster.SetClaim(claim);
    cluster.SetVolume(volume);
    cluster.SetCsiNode({"n", {{"d", most_volumes}}});
    cluster.SetPod(keeper);
    const model::TaskId task = cluster.SetPod(Pod("g", "w", 0, wants));
    return std::string(Placed(cluster).AsksOf(cluster.task(task).shape).ObstacleAt(cluster.FindNode("n")));
  }
  model::NodeFacts node = Node("n");
  Wants wants;
  model::VolumeFacts volume;
  int most_volumes = 0;
  model::PodFacts keeper;
};

TEST_F(ObstaclesTest, AreNamedInTheOrderOfTheTable) {
  const std::vector<std::function<void()>> removals = {[&] { node.unschedulable = false; },
                                                       [&] { wants.selector.clear(); },
                                                       [&] { volume.selectors.clear(); },
                                                       [&] { most_volumes = 1; },
                                                       [&] { node.taints.clear(); },
                                                       [&] { wants.pod_affinity.clear(); },
                                                       [&] { wants.pod_anti_affinity.clear(); },
                                                       [&] { keeper.wants.pod_anti_affinity.clear(); },
                                                       [&] { wants.spreads.clear(); },
                                                       [] {},
                                                       [&] { keeper.wants.host_ports.clear(); },
                                                       [&] { wants.requests = Cpu(1000).requests; }};
  ASSERT_EQ(removals.size(), AllKinds().size());
  for (std::size_t i = 0; i < removals.size(); ++i) {
    if (AllKinds()[i].name != kPodPreference) EXPECT_EQ(Named(), AllKinds()[i].name);
    removals[i]();
  }
  EXPECT_EQ(Named(), "");
}

TEST_F(ObstaclesTest, ACordonIsTolerated) {
  wants.tolerations = {{"node.kubernetes.io/unschedulable", "", "NoSchedule", true}};
  EXPECT_EQ(Named(), "node");
}

struct World {
  World() {
    cluster.SetNode(Node("a", 4));
    cluster.SetNode(Node("b", 2));
  }
  ShapeId ShapeOf(const Wants& wants, const std::string& role = "w") {
    return cluster.task(cluster.SetPod(Pod("g", role, 0, wants))).shape;
  }
  model::Row row(const char* name) const { return cluster.FindNode(name); }
  Cluster cluster;
};

TEST(AsksTest, CopiesAreWhatRoomIsThereFor) {
  World w;
  const ShapeId shape = w.ShapeOf(Cpu(1500));
  Overlay overlay(w.cluster);
  const Asks& asks = overlay.AsksOf(shape);
  EXPECT_EQ(asks.At(w.row("a")).copies, 2);
  EXPECT_EQ(asks.At(w.row("b")).copies, 1);
  overlay.Take(w.row("a"), shape, 1);
  EXPECT_EQ(asks.At(w.row("a")).copies, 1);
  EXPECT_EQ(asks.BesideRoom(w.row("a")).copies, kAnyNumber);
  overlay.TakeBack();
  EXPECT_EQ(asks.At(w.row("a")).copies, 2);
}

TEST(AsksTest, APortIsForOnePodOnANode) {
  World w;
  Wants wants = Cpu(100);
  wants.host_ports = {{"TCP", "", 80}};
  const ShapeId shape = w.ShapeOf(wants);
  Wants other_address = wants;
  other_address.host_ports = {{"TCP", "10.0.0.1", 80}};
  const ShapeId other = w.ShapeOf(other_address, "x");
  Overlay overlay(w.cluster);
  EXPECT_EQ(overlay.AsksOf(shape).At(w.row("a")).copies, 1);
  overlay.Take(w.row("a"), shape, 1);
  EXPECT_EQ(overlay.AsksOf(shape).ObstacleAt(w.row("a")), "ports");
  EXPECT_EQ(overlay.AsksOf(other).ObstacleAt(w.row("a")), "ports") << "the first has every address";
  EXPECT_EQ(overlay.AsksOf(shape).ObstacleAt(w.row("b")), "");
  overlay.TakeBack();
  EXPECT_EQ(overlay.AsksOf(shape).ObstacleAt(w.row("a")), "");
}

// One that is for one pod on a node, as a part of room that is kept there.
TEST(KeepingTest, APortIsKeptWithTheRoom) {
  World w;
  Wants wants = Cpu(100);
  wants.host_ports = {{"TCP", "", 80}};
  const ShapeId shape = w.ShapeOf(wants), without = w.ShapeOf(Cpu(100), "x");
  const model::Shape& has_port = w.cluster.shape(shape);
  Placed placed(w.cluster);
  model::KeptNodes::Spot spot;
  spot.row = w.row("a");
  EXPECT_FALSE(placed.TakesBesideRoom(has_port, spot));
  placed.AddBesideRoom(w.cluster.shape(without), 1, spot);
  placed.AddBesideRoom(has_port, 1, spot);
  EXPECT_TRUE(placed.TakesBesideRoom(has_port, spot));
  EXPECT_FALSE(placed.TakesBesideRoom(w.cluster.shape(without), spot));

  placed.KeepBesideRoom(spot, 1);
  EXPECT_EQ(placed.AsksOf(shape).ObstacleAt(w.row("a")), "ports");
  EXPECT_EQ(placed.AsksOf(shape).ObstacleAt(w.row("b")), "");
  placed.KeepBesideRoom(spot, -1);
  EXPECT_EQ(placed.AsksOf(shape).ObstacleAt(w.row("a")), "");
}

TEST(KeepingTest, APortIsFreeAfterThoseWhoHaveItAreGone) {
  World w;
  Wants wants = Cpu(100);
  wants.host_ports = {{"TCP", "", 80}};
  const ShapeId shape = w.ShapeOf(wants);
  w.cluster.SetPod(Stranger("x", "a", wants));
  const Placed placed(w.cluster);
  model::KeptNodes::Spot spot;
  spot.row = w.row("a");
  EXPECT_TRUE(placed.FreeBesideRoom(spot, {})) << "nothing is kept yet";
  placed.AddBesideRoom(w.cluster.shape(shape), 1, spot);
  EXPECT_FALSE(placed.FreeBesideRoom(spot, {}));
  EXPECT_TRUE(placed.FreeBesideRoom(spot, {&w.cluster.shape(shape)}));
  spot.row = w.row("b");
  EXPECT_TRUE(placed.FreeBesideRoom(spot, {}));
}

TEST(KeepingDeathTest, WhatIsKeptIsHeldInAState) {
  std::vector<Kind> kinds(AllKinds().begin(), AllKinds().end());
  for (Kind& kind : kinds) kind.begin = nullptr;
  const Cluster cluster;
  EXPECT_DEATH(Placed(cluster, kinds), "begin");
}

TEST(AsksTest, AClaimForOnePodBlocksOthersOnceItIsTaken) {
  World w;
  model::VolumeFacts volume;
  volume.name = "v";
  w.cluster.SetVolume(volume);
  model::ClaimFacts claim;
  claim.ns = "default";
  claim.name = "c";
  claim.phase = model::ClaimPhase::kBound;
  claim.volume = "v";
  claim.one_pod = true;
  w.cluster.SetClaim(claim);
  Wants wants = Cpu(100);
  wants.claims = {"default/c"};
  const ShapeId shape = w.ShapeOf(wants);
  Overlay overlay(w.cluster);
  const Asks& asks = overlay.AsksOf(shape);
  EXPECT_TRUE(asks.exclusive());
  for (const model::Row row : {w.row("a"), model::Row{model::kNone}}) {
    EXPECT_FALSE(asks.BlockedByPlaced().has_value());
    overlay.Take(row, shape, 1);
    ASSERT_TRUE(asks.BlockedByPlaced().has_value());
    EXPECT_EQ(asks.BlockedByPlaced()->subject, "c");
    EXPECT_EQ(asks.BlockedByPlaced()->trouble, model::ClaimTrouble::kInUse);
    overlay.TakeBack();
  }
}

TEST(AsksTest, RowsThatAreFullerScoreHigher) {
  World w;
  const ShapeId shape = w.ShapeOf(Cpu(1000));
  Overlay overlay(w.cluster);
  const Asks& asks = overlay.AsksOf(shape);
  EXPECT_LT(asks.ScoresOnRow(w.row("a")), asks.ScoresOnRow(w.row("b")));
  overlay.Take(w.row("a"), shape, 3);
  EXPECT_GT(asks.ScoresOnRow(w.row("a")), asks.ScoresOnRow(w.row("b")));
}

// Soft taints before preferences, and these before fullness.
TEST(AsksTest, LevelsOfScoresComeOneAfterTheOther) {
  World w;
  model::NodeFacts soft = Node("soft", 2);
  soft.taints = {{"old", "", model::TaintEffect::kPreferNoSchedule}};
  soft.labels = {{"zone", "a"}};
  w.cluster.SetNode(soft);
  model::NodeFacts liked = Node("liked", 16);
  liked.labels = {{"zone", "a"}};
  w.cluster.SetNode(liked);
  Wants wants = Cpu(1000);
  wants.preferences = {{10, {{"zone", model::Op::kIn, {"a"}}}}};
  const ShapeId shape = w.ShapeOf(wants);
  const Placed placed(w.cluster);
  const Asks& asks = placed.AsksOf(shape);
  EXPECT_GT(asks.ScoresOnRow(w.row("liked")), asks.ScoresOnRow(w.row("b")));
  EXPECT_GT(asks.ScoresOnRow(w.row("b")), asks.ScoresOnRow(w.row("soft")));
}

TEST(ExplainTest, EveryNodeIsCountedOnce) {
  World w;
  model::NodeFacts tainted = Node("t");
  tainted.taints = {{"dedicated", "", model::TaintEffect::kNoSchedule}};
  w.cluster.SetNode(tainted);
  w.cluster.SetNode(Node("gone"));
  w.cluster.SetPod(Stranger("x", "gone", Cpu(0)));
  w.cluster.RemoveNode("gone");
  const ShapeId shape = w.ShapeOf(Cpu(3000));
  const model::RoleReason reason = Placed(w.cluster).AsksOf(shape).Explain(false);
  EXPECT_EQ(reason.nodes, 3);
  EXPECT_EQ(reason.fit, 1);
  EXPECT_THAT(reason.lacks, ElementsAre(model::Lack{"cpu", 3000, 2000, 1}));
  EXPECT_THAT(
      reason.hindrances,
      ElementsAre(model::Hindrance{"taints", 1, phrases::kTainted(1), {phrases::kWith, std::string("dedicated")}, {}}));
  EXPECT_EQ(reason.request_text, "cpu 3, memory 100M");
}

TEST(ExplainTest, WithAllCopiesTakenWhatTheNextOneLacksIsTold) {
  World w;
  const ShapeId shape = w.ShapeOf(Cpu(1500));
  const model::RoleReason full = Placed(w.cluster).AsksOf(shape).Explain(true);
  EXPECT_EQ(full.fit, 0);
  EXPECT_THAT(full.lacks, ElementsAre(model::Lack{"cpu", 1500, 1000, 2}));
  Wants wants = Cpu(100);
  wants.host_ports = {{"TCP", "", 80}};
  const model::RoleReason ports = Placed(w.cluster).AsksOf(w.ShapeOf(wants, "x")).Explain(true);
  EXPECT_EQ(ports.HinderedBy("ports"), 2);
}

}  // namespace
}  // namespace gangway::constraint
