#include "plugin/gang/narrowing.h"

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
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testutil::Cpu;
using testutil::Domain;
using testutil::Node;
using testutil::PlacementTrial;
using testutil::Pod;

// Racks with room for 2, 4, 3 and 1 of the pods, and a spine over all of them. The gang has four pods in two parts.
class NarrowingTest : public ::testing::Test {
 protected:
  NarrowingTest() {
    HyperNodeFacts spine{"spine", 2, "top", {}, {}};
    for (const auto& [name, cpu] :
         {std::pair("two", 2), std::pair("four", 4), std::pair("three", 3), std::pair("one", 1)}) {
      w.cluster.SetNode(Node(name, cpu));
      w.cluster.SetHyperNode(
          {absl::StrCat("rack-", name), 1, "rack", {}, {{true, HyperNodeFacts::By::kName, name, {}}}});
      spine.members.push_back({false, HyperNodeFacts::By::kName, absl::StrCat("rack-", name), {}});
    }
    w.cluster.SetHyperNode(spine);
    model::GangFacts gang = testutil::Gang("g", 2);
    gang.sub_groups = {testutil::SubGroupsOfTask("w", 1, 0, TopologyFacts{true, 1, ""})};
    w.cluster.SetGang(gang);
    for (int i = 0; i < 4; ++i) SetPod(i, "");
  }
  void SetPod(int index, const std::string& node, bool terminating = false) {
    model::PodFacts pod = Pod("g", "w", index, Cpu(1000));
    testutil::SetPartition(pod, absl::StrCat(index / 2));
    pod.node = node;
    if (!node.empty()) pod.phase = model::PodPhase::kRunning;
    pod.terminating = terminating;
    w.cluster.SetPod(pod);
  }
  static TopologyFacts Within(std::int64_t tier) { return {true, tier, ""}; }
  static std::vector<std::string> Names(const std::vector<Area>& areas) {
    std::vector<std::string> names;
    for (const Area& area : areas) names.push_back(area.Text().English());
    return names;
  }
  // For the first `pods` of them.
  static std::vector<std::string> ToTry(const PlacementTrial& trial, const TopologyFacts& topology, std::size_t pods,
                                        const std::vector<model::Row>& there = {}, const Area& area = Area()) {
    const std::vector<std::size_t> all = trial.All();
    return Names(HyperNodesToTry(trial.tasks, topology, there, absl::MakeSpan(all).subspan(0, pods), area));
  }
  testutil::World w;
};

TEST_F(NarrowingTest, TheNarrowestThatHoldsThemThenTheRoomiestOfThoseThatDoNot) {
  const PlacementTrial trial(w.cluster);
  EXPECT_THAT(ToTry(trial, Within(1), 3),
              ElementsAre("rack-three, tier 1", "rack-four, tier 1", "rack-two, tier 1", "rack-one, tier 1"));
}

TEST_F(NarrowingTest, WiderOnesComeAfterAndNoneThatIsTooWide) {
  const PlacementTrial trial(w.cluster);
  EXPECT_EQ(ToTry(trial, Within(2), 3).back(), "spine, tier 2");
  EXPECT_EQ(ToTry(trial, {true, std::nullopt, "top"}, 3).size(), 5u);
  EXPECT_EQ(ToTry(trial, {true, std::nullopt, "rack"}, 3).size(), 4u);
  EXPECT_THAT(ToTry(trial, {true, std::nullopt, "nobody's"}, 3), IsEmpty());
  EXPECT_EQ(ToTry(trial, {false, 1, ""}, 3).size(), 5u) << "preferred: of any tier";
}

TEST_F(NarrowingTest, ItHasWhatIsThereAndLiesWithinWhatPlacementIsHeldTo) {
  const PlacementTrial trial(w.cluster);
  const model::Row two = w.cluster.FindNode("two"), four = w.cluster.FindNode("four");
  EXPECT_THAT(ToTry(trial, Within(2), 2, {two}), ElementsAre("rack-two, tier 1", "spine, tier 2"));
  EXPECT_THAT(ToTry(trial, Within(2), 2, {two, four}), ElementsAre("spine, tier 2"));
  const model::HyperDomain pair = Domain(w.cluster, "pair", 1, {"two", "one"});
  EXPECT_THAT(ToTry(trial, Within(2), 2, {}, Area(pair)), ElementsAre("rack-two, tier 1", "rack-one, tier 1"));
}

TEST_F(NarrowingTest, TheClosestHasRoomForMostOfThemAndNoMore) {
  const PlacementTrial trial(w.cluster);
  const std::vector<std::size_t> three = {0, 1, 2};
  const std::vector<Area> areas = HyperNodesToTry(trial.tasks, Within(1), {}, three, Area());
  EXPECT_EQ(Closest(trial.tasks, areas, trial.Groups()).Text().English(), "rack-four, tier 1");
  EXPECT_EQ(Closest(trial.tasks, areas, trial.tasks.GroupByShape(three)).Text().English(), "rack-three, tier 1")
      << "four have room for no more of three: the first stays";
}

TEST_F(NarrowingTest, OfThoseAsCloseTheOneAroundTellsOfMoreNodes) {
  for (const char* const name : {"four", "three", "one"}) w.cluster.SetNode(Node(name, 0));
  const PlacementTrial trial(w.cluster);
  const std::vector<Area> areas = HyperNodesToTry(trial.tasks, Within(2), {}, trial.All(), Area());
  EXPECT_EQ(Closest(trial.tasks, areas, trial.Groups()).Text().English(), "spine, tier 2");
  const std::vector<std::size_t> two = {0, 1};
  EXPECT_EQ(Closest(trial.tasks, areas, trial.tasks.GroupByShape(two)).Text().English(), "rack-two, tier 1")
      << "it has room for all of them";
}

TEST_F(NarrowingTest, TheWidestAroundIsTheLastThatHoldsIt) {
  const PlacementTrial trial(w.cluster);
  const std::vector<Area> areas = HyperNodesToTry(trial.tasks, Within(2), {}, trial.All(), Area());
  EXPECT_EQ(WidestAround(areas, areas.front()).Text().English(), "spine, tier 2");
  const std::vector<Area> racks = HyperNodesToTry(trial.tasks, Within(1), {}, trial.All(), Area());
  EXPECT_EQ(WidestAround(racks, racks[1]).Text(), racks[1].Text());
}

TEST_F(NarrowingTest, APartIsWhereItsPodsRunOrArePlacedNow) {
  SetPod(0, "four");
  SetPod(2, "one", /*terminating=*/true);
  PlacementTrial trial(w.cluster);
  ASSERT_EQ(trial.tasks.size(), 2u);  // 1 and 3
  const model::Row four = w.cluster.FindNode("four"), three = w.cluster.FindNode("three");
  EXPECT_THAT(RowsOfGang(trial.tasks), ElementsAre(four)) << "not where one ends";
  EXPECT_FALSE(SamePart(trial.tasks, 0, 1));
  EXPECT_THAT(RowsOfPart(trial.tasks, 0), ElementsAre(four));
  EXPECT_THAT(RowsOfPart(trial.tasks, 1), IsEmpty());
  const std::size_t first = 0;
  trial.tasks.Put({&first, 1}, three);
  EXPECT_THAT(RowsOfPart(trial.tasks, 0), ElementsAre(four, three));
  EXPECT_THAT(RowsOfPart(trial.tasks, 1), IsEmpty());
}

TEST_F(NarrowingTest, WhatItsSubGroupAsksFor) {
  const PlacementTrial parts(w.cluster);
  ASSERT_NE(TopologyOf(parts.tasks, 0), nullptr);
  EXPECT_EQ(*TopologyOf(parts.tasks, 0), Within(1));
  testutil::AddGang(w.cluster, "plain", 1, 1, 1000);
  const PlacementTrial plain(w.cluster, "plain");
  EXPECT_EQ(TopologyOf(plain.tasks, 0), nullptr);
}

}  // namespace
}  // namespace gangway::gang
