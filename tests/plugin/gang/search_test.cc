#include "plugin/gang/search.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plugin/gang/constraint/asks.h"
#include "tests/plugin/gang/world.h"

namespace gangway::gang {
namespace {

using model::Row;
using model::ShapeId;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;
using testutil::Cpu;
using testutil::Pod;
using testutil::World;

class SearchTest : public ::testing::Test {
 protected:
  ShapeId ShapeOf(std::int64_t milli) {
    return w.cluster.task(w.cluster.SetPod(Pod("g", "w", next++, Cpu(milli)))).shape;
  }
  SearchGroup Group(ShapeId shape, int count) const {
    SearchGroup group{shape, count, {}};
    const constraint::Placed placed(w.cluster);
    for (Row row = 0; row < w.cluster.rows(); ++row) {
      if (placed.AsksOf(shape).At(row).copies > 0) group.rows.push_back(row);
    }
    return group;
  }
  World w;
  int next = 0;
};

// Of the two, the small one goes where the large one cannot.
TEST_F(SearchTest, FindsTheWayThatFillingOneByOneMisses) {
  w.cluster.SetNode(testutil::Node("a", 4));
  w.cluster.SetNode(testutil::Node("b", 2));
  const ShapeId small = ShapeOf(2000), large = ShapeOf(4000);
  Overlay overlay(w.cluster);
  const auto found = SearchPlacement(overlay, {Group(small, 1), Group(large, 1)}, 100);
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_THAT(found[0], ElementsAre(Pair(w.cluster.FindNode("b"), 1)));
  EXPECT_THAT(found[1], ElementsAre(Pair(w.cluster.FindNode("a"), 1)));
  EXPECT_EQ(overlay.free(w.cluster.FindNode("a"), model::kCpu), 4000) << "the overlay is as before";
}

TEST_F(SearchTest, SaysThatThereIsNoWay) {
  testutil::AddNodes(w.cluster, 3, 4);
  const ShapeId small = ShapeOf(2000), large = ShapeOf(4000);
  Overlay overlay(w.cluster);
  EXPECT_THAT(SearchPlacement(overlay, {Group(small, 3), Group(large, 2)}, 10'000), IsEmpty());
  EXPECT_THAT(SearchPlacement(overlay, {Group(small, 2), Group(large, 2)}, 10'000), SizeIs(2));
}

TEST_F(SearchTest, ABudgetEndsIt) {
  w.cluster.SetNode(testutil::Node("a", 4));
  w.cluster.SetNode(testutil::Node("b", 2));
  const ShapeId small = ShapeOf(2000), large = ShapeOf(4000);
  Overlay overlay(w.cluster);
  EXPECT_THAT(SearchPlacement(overlay, {Group(small, 1), Group(large, 1)}, 3), IsEmpty());
}

// The small ones must leave twenty nodes that are alike to the large ones: to try each three of them would take longer.
TEST_F(SearchTest, RowsThatAreAlikeAreTriedOnce) {
  testutil::AddNodes(w.cluster, 20, 4);
  for (const char* const name : {"x", "y", "z"}) w.cluster.SetNode(testutil::Node(name, 2));
  const ShapeId small = ShapeOf(2000), large = ShapeOf(3000);
  Overlay overlay(w.cluster);
  const auto found = SearchPlacement(overlay, {Group(small, 3), Group(large, 20)}, 2000);
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_THAT(found[0], ElementsAre(Pair(20, 1), Pair(21, 1), Pair(22, 1)));
}

}  // namespace
}  // namespace gangway::gang
