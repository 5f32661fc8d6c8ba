#include "plugin/gang/area.h"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/plugin/gang/placement_trial.h"
#include "tests/plugin/gang/world.h"

namespace gangway::gang {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testutil::Domain;
using testutil::Node;
using testutil::PlacementTrial;

// Room for 1, 2, 3 and no pods; the rack has the first, the third and the last.
class AreaTest : public ::testing::Test {
 protected:
  AreaTest() {
    for (const auto& [name, cpu] :
         {std::pair("three", 3), std::pair("two", 2), std::pair("one", 1), std::pair("zero", 0)})
      w.cluster.SetNode(Node(name, cpu));
    testutil::AddGang(w.cluster, "g", 1, 1, 1000);
    rack = Domain(w.cluster, "s0", 1, {"three", "one", "zero"});
  }
  static std::vector<std::string> Order(const PlacementTrial& trial, const Area& area) {
    std::vector<std::string> order;
    for (const Rank& rank : area.Ranks(trial.tasks.Fit(trial.tasks[0].shape)))
      order.emplace_back(trial.tasks.cluster().node_name(rank.row));
    return order;
  }
  testutil::World w;
  model::HyperDomain rack;
};

TEST_F(AreaTest, TheWholeClusterIsAllThatFits) {
  const PlacementTrial trial(w.cluster);
  const ShapeFit& fit = trial.tasks.Fit(trial.tasks[0].shape);
  EXPECT_EQ(Area().Copies(fit), 6);
  EXPECT_EQ(Area().First(fit)->row, w.cluster.FindNode("one"));
  EXPECT_THAT(Order(trial, Area()), ElementsAre("one", "two", "three"));
  EXPECT_EQ(Area().rows(), nullptr);
  EXPECT_EQ(Area().Text().English(), "");
}

TEST_F(AreaTest, AHyperNodeIsItsOwnNodes) {
  const PlacementTrial trial(w.cluster);
  const Area area(rack);
  const ShapeFit& fit = trial.tasks.Fit(trial.tasks[0].shape);
  EXPECT_EQ(area.Copies(fit), 4);
  EXPECT_EQ(area.First(fit)->row, w.cluster.FindNode("one"));
  EXPECT_THAT(Order(trial, area), ElementsAre("one", "three"));
  EXPECT_EQ(area.Text().English(), "s0, tier 1");
  const model::HyperDomain none = Domain(w.cluster, "s1", 1, {"zero"});
  EXPECT_EQ(Area(none).First(fit), nullptr);
  EXPECT_THAT(Order(trial, Area(none)), IsEmpty());
}

TEST_F(AreaTest, RowsAreToldUntilNoMoreAreWanted) {
  const PlacementTrial trial(w.cluster);
  for (const Area& area : {Area(), Area(rack)}) {
    int told = 0;
    area.ForEachRank(trial.tasks.Fit(trial.tasks[0].shape), [&](const Rank&) { return ++told < 1; });
    EXPECT_EQ(told, 1);
  }
}

TEST_F(AreaTest, AChoiceIsAmongItsNodes) {
  const PlacementTrial trial(w.cluster);
  const model::HyperDomain far = Domain(w.cluster, "s1", 1, {"three"});
  const model::ShapeId shape = trial.tasks[0].shape;
  EXPECT_EQ(Area().ChoiceOf(trial.tasks.AsksOf(shape), trial.tasks.Fit(shape)).Next(), w.cluster.FindNode("one"));
  EXPECT_EQ(Area(far).ChoiceOf(trial.tasks.AsksOf(shape), trial.tasks.Fit(shape)).Next(), w.cluster.FindNode("three"));
}

TEST_F(AreaTest, OneHoldsAnotherByItsNodes) {
  const model::HyperDomain part = Domain(w.cluster, "p", 1, {"one"}), beside = Domain(w.cluster, "b", 1, {"two"});
  EXPECT_TRUE(Area(rack).Contains(Area(part)));
  EXPECT_FALSE(Area(part).Contains(Area(rack)));
  EXPECT_FALSE(Area(rack).Contains(Area(beside)));
  EXPECT_TRUE(Area().Contains(Area(rack)));
  EXPECT_TRUE(Area().Contains(Area()));
  EXPECT_FALSE(Area(rack).Contains(Area()));
}

}  // namespace
}  // namespace gangway::gang
