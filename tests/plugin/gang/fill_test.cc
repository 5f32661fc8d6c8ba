#include "plugin/gang/fill.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/plugin/gang/placement_trial.h"
#include "tests/plugin/gang/world.h"

namespace gangway::gang {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testutil::Cpu;
using testutil::Domain;
using testutil::Node;
using testutil::PlacementTrial;
using testutil::Pod;

constexpr int kBudget = 1000;

class FillTest : public ::testing::Test {
 protected:
  // A gang with a pod for each, in this order.
  void AddPods(const std::vector<int>& cpus) {
    w.cluster.SetGang(testutil::Gang("g", 1));
    for (std::size_t i = 0; i < cpus.size(); ++i)
      w.cluster.SetPod(Pod("g", "w", static_cast<int>(i), Cpu(1000 * cpus[i])));
  }
  void AddInZone(const std::string& name, int cpu, const std::string& zone) {
    model::NodeFacts node = Node(name, cpu);
    node.labels.emplace_back("zone", zone);
    w.cluster.SetNode(node);
  }
  // `pods` of 1 cpu that want to be in one zone.
  void AddTogether(int pods) {
    w.cluster.SetGang(testutil::Gang("g", pods));
    for (int i = 0; i < pods; ++i) {
      model::PodFacts pod = Pod("g", "w", i, Cpu(1000));
      pod.labels = {{"app", "g"}};
      pod.wants.pod_affinity = {{"zone", {{"default"}, {}, {{"app", model::Op::kIn, {"g"}}}}}};
      w.cluster.SetPod(pod);
    }
  }
  testutil::World w;
};

TEST_F(FillTest, EachGroupTakesTheBestRowsThatAreLeft) {
  w.cluster.SetNode(Node("a", 4));
  w.cluster.SetNode(Node("b", 3));
  AddPods({2, 2, 3});
  PlacementTrial trial(w.cluster);
  EXPECT_FALSE(FillGreedily(trial.tasks, Area(), trial.Groups())) << "in this order the last finds nothing";
  EXPECT_THAT(trial.Nodes(), ElementsAre("b", "a", ""));
}

TEST_F(FillTest, AGroupThatDoesNotFitStopsNoOther) {
  w.cluster.SetNode(Node("a", 4));
  AddPods({8, 1});
  PlacementTrial trial(w.cluster);
  EXPECT_FALSE(FillGreedily(trial.tasks, Area(), trial.Groups()));
  EXPECT_THAT(trial.Nodes(), ElementsAre("", "a"));
}

TEST_F(FillTest, TheHardestGoesFirst) {
  AddInZone("a", 2, "x");
  AddInZone("b", 4, "y");
  AddPods({2});
  w.cluster.SetPod(Pod("g", "w", 1, testutil::CpuOn(2000, "zone", "x")));
  PlacementTrial trial(w.cluster);
  EXPECT_TRUE(Fill(trial.tasks, Area(), trial.Groups(), 0)) << "no search is needed";
  EXPECT_THAT(trial.Nodes(), ElementsAre("b", "a"));
}

// The large one, of as many ways, goes to the fullest that holds it, and that is where the others must go.
TEST_F(FillTest, WhatDoesNotFitAtOnceIsSearched) {
  w.cluster.SetNode(Node("a", 6));
  w.cluster.SetNode(Node("b", 5));
  AddPods({3, 3, 5});
  PlacementTrial trial(w.cluster);
  std::vector<TaskGroup> groups = trial.Groups();
  ASSERT_FALSE(FillGreedily(trial.tasks, Area(), groups));
  trial.tasks.DropAll();
  EXPECT_TRUE(Fill(trial.tasks, Area(), groups, kBudget));
  EXPECT_THAT(trial.Nodes(), ElementsAre("a", "a", "b"));
}

TEST_F(FillTest, AllOfItOrNothing) {
  w.cluster.SetNode(Node("a", 4));
  w.cluster.SetNode(Node("b", 4));
  AddPods({3, 3, 2});
  PlacementTrial trial(w.cluster);
  EXPECT_FALSE(Fill(trial.tasks, Area(), trial.Groups(), kBudget));
  EXPECT_THAT(trial.Nodes(), Each(""));
  EXPECT_THAT(trial.overlay.Drop(), IsEmpty());
}

TEST_F(FillTest, OnlyNodesOfTheAreaAreTaken) {
  w.cluster.SetNode(Node("a", 2));
  w.cluster.SetNode(Node("b", 2));
  AddPods({2});
  const model::HyperDomain rack = Domain(w.cluster, "s0", 1, {"b"});
  PlacementTrial trial(w.cluster);
  ASSERT_TRUE(Fill(trial.tasks, Area(rack), trial.Groups(), kBudget));
  EXPECT_THAT(trial.Nodes(), ElementsAre("b"));
}

TEST_F(FillTest, MoreThanThereArePlacesIsTooMany) {
  w.cluster.SetNode(Node("a", 2));
  w.cluster.SetNode(Node("b", 1));
  AddPods({1, 1, 1});
  const model::HyperDomain rack = Domain(w.cluster, "s0", 1, {"a"});
  PlacementTrial trial(w.cluster);
  EXPECT_FALSE(TooMany(trial.tasks, Area(), trial.Groups().front()));
  EXPECT_TRUE(TooMany(trial.tasks, Area(rack), trial.Groups().front()));
}

// The fullest node is in the zone that is too small.
TEST_F(FillTest, TheFirstPodDecidesForAllInTheNarrowestZoneThatHoldsThem) {
  AddInZone("a1", 1, "a");
  AddInZone("b1", 4, "b");
  AddInZone("c1", 3, "c");
  AddTogether(3);
  PlacementTrial trial(w.cluster);
  EXPECT_TRUE(Fill(trial.tasks, Area(), trial.Groups(), kBudget));
  EXPECT_THAT(trial.Nodes(), Each("c1"));
}

TEST_F(FillTest, NoZoneThatHoldsThemIsNone) {
  for (const char* const zone : {"a", "b", "c"}) AddInZone(zone, 2, zone);
  AddTogether(3);
  PlacementTrial trial(w.cluster);
  EXPECT_FALSE(Fill(trial.tasks, Area(), trial.Groups(), kBudget));
  EXPECT_THAT(trial.Nodes(), Each(""));
}

}  // namespace
}  // namespace gangway::gang
