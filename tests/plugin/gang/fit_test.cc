#include "plugin/gang/fit.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/plugin/gang/world.h"

namespace gangway::gang {
namespace {

using ::testing::ElementsAre;
using testutil::Cpu;
using testutil::Node;
using testutil::Pod;
using testutil::World;

class FitTest : public ::testing::Test {
 protected:
  FitTest() {
    w.cluster.SetNode(Node("large", 8));
    w.cluster.SetNode(Node("small", 2));
    w.cluster.SetNode(Node("tiny", 1));
    w.cluster.SetGang(testutil::Gang("g", 1));
    shape = w.cluster.task(w.cluster.SetPod(Pod("g", "w", 0, Cpu(2000)))).shape;
  }
  std::vector<std::string> Order(Scratch& scratch, const Overlay& overlay) {
    std::vector<std::string> names;
    ShapeFit::Cursor ranks = scratch.Fit(overlay, shape).ranks();
    while (const Rank* const rank = ranks.Next()) names.emplace_back(overlay.cluster().node_name(rank->row));
    return names;
  }
  World w;
  model::ShapeId shape = model::kNone;
};

TEST_F(FitTest, RowsThatFitAreInTheOrderInWhichTheyAreFilled) {
  Scratch scratch;
  scratch.Begin(w.cluster);
  const Overlay overlay(w.cluster);
  EXPECT_THAT(Order(scratch, overlay), ElementsAre("small", "large"));
  EXPECT_EQ(scratch.Fit(overlay, shape).copies(), 5);
  EXPECT_EQ(scratch.Fit(overlay, shape).copies(w.cluster.FindNode("tiny")), 0);
}

TEST_F(FitTest, ARowThatIsToldToHaveChangedIsLookedAtAgain) {
  Scratch scratch;
  scratch.Begin(w.cluster);
  Overlay overlay(w.cluster);
  EXPECT_EQ(scratch.Fit(overlay, shape).copies(), 5);
  overlay.Take(w.cluster.FindNode("small"), shape, 1);
  scratch.RowTouched(w.cluster.FindNode("small"));
  EXPECT_THAT(Order(scratch, overlay), ElementsAre("large"));
  EXPECT_EQ(scratch.Fit(overlay, shape).copies(), 4);
}

TEST_F(FitTest, TheNextCallForgetsTheOverlayAndSeesWhatChanged) {
  Scratch scratch;
  scratch.Begin(w.cluster);
  {
    Overlay overlay(w.cluster);
    overlay.Take(w.cluster.FindNode("small"), shape, 1);
    scratch.RowTouched(w.cluster.FindNode("small"));
    EXPECT_THAT(Order(scratch, overlay), ElementsAre("large"));
  }
  scratch.End();
  w.cluster.SetNode(Node("tiny", 4));
  scratch.Begin(w.cluster);
  EXPECT_THAT(Order(scratch, Overlay(w.cluster)), ElementsAre("small", "tiny", "large"));
}

TEST_F(FitTest, WhatOneFitHasSeenOfACallAndAnotherHasNotIsAsBeforeForBoth) {
  const model::ShapeId half = w.cluster.task(w.cluster.SetPod(Pod("g", "w", 1, Cpu(500)))).shape;
  Scratch scratch;
  for (int call = 0; call < 3; ++call) {
    scratch.Begin(w.cluster);
    Overlay overlay(w.cluster);
    EXPECT_EQ(scratch.Fit(overlay, shape).copies(), 5) << call;
    EXPECT_EQ(scratch.Fit(overlay, half).copies(), 22) << call;
    overlay.Take(w.cluster.FindNode("small"), shape, 1);
    scratch.RowTouched(w.cluster.FindNode("small"));
    if (call == 1) EXPECT_EQ(scratch.Fit(overlay, shape).copies(), 4);
    overlay.Take(w.cluster.FindNode("large"), shape, 1);
    scratch.RowTouched(w.cluster.FindNode("large"));
    if (call == 1) EXPECT_EQ(scratch.FullReason(overlay, shape).lacks.front().best_free, 1000);
    scratch.End();
  }
  w.cluster.SetNode(Node("tiny", 4));
  scratch.Begin(w.cluster);
  EXPECT_EQ(scratch.Fit(Overlay(w.cluster), shape).copies(), 7);
  EXPECT_EQ(scratch.Fit(Overlay(w.cluster), half).copies(), 28);
}

TEST_F(FitTest, AnotherClusterIsAnother) {
  Scratch scratch;
  scratch.Begin(w.cluster);
  EXPECT_EQ(Order(scratch, Overlay(w.cluster)).size(), 2u);
  scratch.End();
  World other;
  other.cluster.SetNode(Node("only", 4));
  other.cluster.SetGang(testutil::Gang("g", 1));
  ASSERT_EQ(other.cluster.task(other.cluster.SetPod(Pod("g", "w", 0, Cpu(2000)))).shape, shape);
  scratch.Begin(other.cluster);
  EXPECT_THAT(Order(scratch, Overlay(other.cluster)), ElementsAre("only"));
}

TEST_F(FitTest, WhatStandsAgainstMoreIsToldAnewWhenRowsChange) {
  const model::ShapeId half = w.cluster.task(w.cluster.SetPod(Pod("g", "w", 1, Cpu(500)))).shape;
  Scratch scratch;
  scratch.Begin(w.cluster);
  Overlay overlay(w.cluster);
  EXPECT_THAT(scratch.FullReason(overlay, shape).lacks, ElementsAre(model::Lack{"cpu", 2000, 1000, 3}));
  overlay.Take(w.cluster.FindNode("tiny"), half, 1);
  scratch.RowTouched(w.cluster.FindNode("tiny"));
  EXPECT_THAT(scratch.FullReason(overlay, shape).lacks, ElementsAre(model::Lack{"cpu", 2000, 500, 3}));
}

// What comes after a node has left takes its place among the names, on the row of another: for a moment both have that
// place.
TEST_F(FitTest, NodesThatTakeEachOthersPlacesAreAllThere) {
  for (const char* const name : {"a", "d", "e", "b"}) w.cluster.SetNode(Node(name, 2));
  const model::Row b = w.cluster.FindNode("b"), e = w.cluster.FindNode("e");
  const std::uint64_t place = w.cluster.node_order(b);
  Scratch scratch;
  const auto order = [&] { return Order(scratch, Overlay(w.cluster)); };
  scratch.Begin(w.cluster);
  EXPECT_THAT(order(), ElementsAre("a", "b", "d", "e", "small", "large"));
  scratch.End();
  for (const int cpu : {1, 2}) {  // it leaves the order in which the fit was built, and comes back
    w.cluster.SetNode(Node("b", cpu));
    scratch.Begin(w.cluster);
    order();
    scratch.RowTouched(e);
    scratch.RowTouched(b);
    scratch.End();
  }
  w.cluster.RemoveNode("b");
  w.cluster.RemoveNode("e");
  w.cluster.SetNode(Node("c", 2));
  ASSERT_EQ(w.cluster.FindNode("c"), e);
  ASSERT_EQ(w.cluster.node_order(e), place);
  scratch.Begin(w.cluster);
  EXPECT_THAT(order(), ElementsAre("a", "c", "d", "small", "large"));
}

}  // namespace
}  // namespace gangway::gang
