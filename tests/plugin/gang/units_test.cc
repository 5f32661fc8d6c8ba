#include "plugin/gang/units.h"

#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "tests/plugin/gang/placement_trial.h"
#include "tests/plugin/gang/world.h"

namespace gangway::gang {
namespace {

using model::HyperNodeFacts;
using model::TopologyFacts;
using ::testing::Each;
using ::testing::ElementsAre;
using testutil::Cpu;
using testutil::Domain;
using testutil::Node;
using testutil::PlacementTrial;
using testutil::Pod;

// Nodes of 1, 2 and 3 cpu.
class UnitsTest : public ::testing::Test {
 protected:
  UnitsTest() {
    w.cluster.SetNode(Node("one", 1));
    w.cluster.SetNode(Node("two", 2));
    w.cluster.SetNode(Node("three", 3));
    w.cluster.SetGang(testutil::Gang("g", 1));
  }
  void AddPod(int index, int cpu, const std::string& partition = "") {
    model::PodFacts pod = Pod("g", "w", index, Cpu(1000 * cpu));
    testutil::SetPartition(pod, partition);
    w.cluster.SetPod(pod);
  }
  void SetSubGroups(int size, std::optional<TopologyFacts> topology = std::nullopt) {
    model::GangFacts gang = testutil::Gang("g", 1);
    gang.sub_groups = {testutil::SubGroupsOfTask("w", size, 0, std::move(topology))};
    w.cluster.SetGang(gang);
  }
  testutil::World w;
};

TEST_F(UnitsTest, EachTaskGoesToTheBestRowThatIsLeft) {
  for (int i = 0; i < 3; ++i) AddPod(i, 2);
  PlacementTrial trial(w.cluster);
  UnitPlacement units(trial.tasks);
  EXPECT_TRUE(units.Place({{0}}, {}));
  EXPECT_TRUE(units.Place({{1}}, {}));
  EXPECT_FALSE(units.Place({{2}}, {}));
  EXPECT_THAT(trial.Nodes(), ElementsAre("two", "three", ""));
}

TEST_F(UnitsTest, AUnitIsPlacedWholeOrNotAtAll) {
  for (int i = 0; i < 3; ++i) AddPod(i, 2);
  AddPod(3, 3);
  PlacementTrial trial(w.cluster);
  UnitPlacement units(trial.tasks);
  EXPECT_FALSE(units.Place({{0, 1, 2}}, {}));
  EXPECT_THAT(trial.Nodes(), Each(""));
  EXPECT_TRUE(units.Place({{3}}, {})) << "what was taken back is there for others";
  EXPECT_TRUE(units.Place({{0}}, {})) << "and for fewer of the same";
}

TEST_F(UnitsTest, AUnitThatTheQueueHasNoRoomForIsNotTried) {
  model::QueueFacts queue = testutil::Queue("default");
  queue.capability = {{"cpu", 3000}};
  w.cluster.SetQueue(queue);
  for (int i = 0; i < 2; ++i) AddPod(i, 2);
  PlacementTrial trial(w.cluster);
  UnitPlacement units(trial.tasks);
  EXPECT_FALSE(units.Place({{0, 1}}, {}));
  EXPECT_TRUE(units.Place({{0}}, {}));
  EXPECT_FALSE(units.Place({{1}}, {})) << "the queue is full";
}

// Of three, two make the sub-group whole; the third follows them.
TEST_F(UnitsTest, WhatComesAfterAWholeSubGroupWaitsForIt) {
  SetSubGroups(2);
  for (int i = 0; i < 3; ++i) AddPod(i, 1, "p");
  PlacementTrial trial(w.cluster);
  UnitPlacement units(trial.tasks);
  const std::vector<Unit> all = trial.tasks.usable().units;
  ASSERT_EQ(all.size(), 2u);
  EXPECT_FALSE(units.Place(all[1], {}));
  EXPECT_TRUE(units.Place(all[0], {}));
  EXPECT_TRUE(units.Place(all[1], {}));
}

TEST_F(UnitsTest, WhatFindsNothingInTheAreaGoesBeyondIt) {
  for (int i = 0; i < 2; ++i) AddPod(i, 2);
  const model::HyperDomain rack = Domain(w.cluster, "s0", 1, {"one", "two"}),
                           spine = Domain(w.cluster, "s1", 2, {"one", "two", "three"});
  PlacementTrial held(w.cluster);
  UnitPlacement units(held.tasks);
  EXPECT_TRUE(units.Place({{0}}, {Area(rack), std::nullopt}));
  EXPECT_FALSE(units.Place({{1}}, {Area(rack), std::nullopt}));
  EXPECT_THAT(held.Nodes(), ElementsAre("two", ""));
  units.LookAgain();
  EXPECT_TRUE(units.Place({{1}}, {Area(rack), Area(spine)}));
  EXPECT_THAT(held.Nodes(), ElementsAre("two", "three"));
}

TEST_F(UnitsTest, APartLiesInOneHyperNode) {
  for (const char* const name : {"two", "three"})
    w.cluster.SetHyperNode({absl::StrCat("rack-", name), 1, "rack", {}, {{true, HyperNodeFacts::By::kName, name, {}}}});
  const TopologyFacts rack{true, 1, ""}, rather{false, 1, ""};
  SetSubGroups(2, rack);
  for (int i = 0; i < 2; ++i) AddPod(i, 1, "a");
  for (int i = 2; i < 4; ++i) AddPod(i, 2, "b");
  PlacementTrial trial(w.cluster);
  UnitPlacement units(trial.tasks);
  EXPECT_TRUE(units.Place({{0, 1}}, {}));
  EXPECT_THAT(trial.Nodes(), ElementsAre("two", "two", "", ""));
  trial.tasks.DropAll();
  EXPECT_FALSE(units.PlacePart({2, 3}, rack, {})) << "no rack has room for both";
  EXPECT_THAT(trial.Nodes(), Each(""));
  EXPECT_TRUE(units.PlacePart({2, 3}, rather, {}));
  EXPECT_THAT(trial.Nodes(), ElementsAre("", "", "two", "three"));
}

TEST_F(UnitsTest, WhatIsKeptIsLeftAlone) {
  AddPod(0, 3);
  AddPod(1, 2);
  w.cluster.SetGang(testutil::Gang("first", 1));
  w.cluster.SetPod(Pod("first", "w", 0, Cpu(3000)));
  PlacementTrial trial(w.cluster);
  const KeptRoom kept(trial.overlay, {{w.cluster.FindGang("default", "first"), Lacking::kRoom}}, 1000);
  ASSERT_FALSE(kept.empty());
  UnitPlacement units(trial.tasks);
  units.Leave(kept);
  EXPECT_FALSE(units.Place({{0}}, {}));
  EXPECT_EQ(units.kept_for(), w.cluster.FindGang("default", "first"));
  EXPECT_TRUE(units.Place({{1}}, {}));
  EXPECT_THAT(trial.Nodes(), ElementsAre("", "two"));
}

}  // namespace
}  // namespace gangway::gang
