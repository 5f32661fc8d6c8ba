#include "plugin/gang/no_room.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "tests/plugin/gang/placement_trial.h"
#include "tests/plugin/gang/world.h"

namespace gangway::gang {
namespace {

using model::HyperNodeFacts;
using model::Reason;
using model::TopologyFacts;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using testutil::Cpu;
using testutil::Domain;
using testutil::Node;
using testutil::PlacementTrial;
using testutil::Pod;

// Nodes of 4 and 2 cpu.
class NoRoomTest : public ::testing::Test {
 protected:
  NoRoomTest() {
    w.cluster.SetNode(Node("a", 4));
    w.cluster.SetNode(Node("b", 2));
    w.cluster.SetGang(testutil::Gang("g", 3));
  }
  void AddPods(const std::string& role, int pods, int cpu) {
    for (int i = 0; i < pods; ++i) w.cluster.SetPod(Pod("g", role, i, Cpu(1000 * cpu)));
  }
  testutil::World w;
};

TEST_F(NoRoomTest, AShapeThatDoesNotFitAloneIsToldWithoutATrial) {
  AddPods("w", 3, 2);
  AddPods("big", 1, 8);
  PlacementTrial trial(w.cluster);
  const NoRoom told = WhyNoRoom(trial.tasks, Area(), trial.Groups());
  EXPECT_EQ(told.reason.kind, Reason::Kind::kNoRoom);
  ASSERT_THAT(told.reason.roles, SizeIs(1));
  EXPECT_EQ(told.reason.roles[0].role, "big");
  EXPECT_EQ(told.reason.roles[0].missing, 1);
  EXPECT_EQ(told.reason.missing, 1);
  EXPECT_EQ(told.reason.existing, 3);
  EXPECT_THAT(trial.Names(told.would_fit), ElementsAre("g-w-0", "g-w-1", "g-w-2"));
}

TEST_F(NoRoomTest, OfShapesThatDoNotFitTogetherATrialTellsWhich) {
  AddPods("ps", 1, 4);
  AddPods("w", 2, 2);
  PlacementTrial trial(w.cluster);
  const NoRoom told = WhyNoRoom(trial.tasks, Area(), trial.Groups());
  ASSERT_THAT(told.reason.roles, SizeIs(1));
  EXPECT_EQ(told.reason.roles[0].role, "w");
  EXPECT_EQ(told.reason.roles[0].missing, 1);
  EXPECT_THAT(trial.Names(told.would_fit), ElementsAre("g-ps-0", "g-w-0"));
  EXPECT_THAT(trial.Nodes(), Each("")) << "the trial is over";
  EXPECT_THAT(trial.overlay.Drop(), IsEmpty());
}

TEST_F(NoRoomTest, WhatIsPlacedAlreadyCountsAndNamesItsHyperNode) {
  AddPods("w", 4, 2);
  const model::HyperDomain rack = Domain(w.cluster, "s0", 1, {"b"});
  PlacementTrial trial(w.cluster);
  const std::size_t first = 0, others[] = {1, 2, 3};
  trial.tasks.Put({&first, 1}, w.cluster.FindNode("a"));
  const NoRoom told = WhyNoRoom(trial.tasks, Area(rack), trial.tasks.GroupByShape(others));
  EXPECT_EQ(told.reason.within.English(), "s0, tier 1");
  EXPECT_EQ(told.reason.missing, 2);
  EXPECT_EQ(told.reason.roles[0].nodes, 1) << "of the rack alone";
  EXPECT_THAT(trial.Names(told.would_fit), ElementsAre("g-w-0", "g-w-1"));
}

TEST_F(NoRoomTest, APartIsToldOfTheHyperNodeThatComesClosestOrThatThereIsNone) {
  for (const char* const name : {"a", "b"})
    w.cluster.SetHyperNode({absl::StrCat("rack-", name), 1, "rack", {}, {{true, HyperNodeFacts::By::kName, name, {}}}});
  AddPods("w", 3, 2);
  PlacementTrial trial(w.cluster);
  EXPECT_EQ(WhyNoRoomForPart(trial.tasks, Area(), trial.All(), {true, 1, ""}).reason.within.English(),
            "rack-a, tier 1");
  EXPECT_EQ(WhyNoRoomForPart(trial.tasks, Area(), trial.All(), {false, 1, ""}).reason.within.English(), "");
  const NoRoom none = WhyNoRoomForPart(trial.tasks, Area(), trial.All(), {true, 0, ""});
  EXPECT_EQ(none.reason.kind, Reason::Kind::kNoHyperNode);
  EXPECT_EQ(none.reason.subject.English(), "0 or less");
  EXPECT_EQ(none.reason.missing, 3);
  EXPECT_THAT(none.would_fit, IsEmpty());
}

TEST_F(NoRoomTest, ATierIsToldAsItWasAskedFor) {
  AddPods("w", 1, 1);
  const PlacementTrial trial(w.cluster);
  const Reason reason = NoHyperNode(trial.tasks.cluster(), trial.gang, {true, std::nullopt, "top"}, {0, 1});
  EXPECT_EQ(reason.subject.English(), "top");
  EXPECT_EQ(reason.existing, 2);
}

}  // namespace
}  // namespace gangway::gang
