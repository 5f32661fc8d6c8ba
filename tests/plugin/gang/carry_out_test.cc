#include "plugin/gang/carry_out.h"

#include <gtest/gtest.h>

#include "tests/plugin/model/cluster_builder.h"

namespace gangway::gang {
namespace {

// Of three of which two must be there none is given a node alone, and the third may be once they are.
TEST(CarryOutDeathTest, NoPartOfAGangIsPlaced) {
  model::Cluster cluster;
  cluster.SetNode(testutil::Node("n"));
  testutil::AddGang(cluster, "g", 2, 3, 1000);
  const auto place = [&](std::initializer_list<const char*> pods) {
    model::Decision decision;
    decision.gang = cluster.FindGang("default", "g");
    for (const char* const pod : pods)
      decision.placements.push_back({cluster.FindTask("default", pod), cluster.FindNode("n")});
    CarryOut(decision, cluster);
  };
  EXPECT_DEATH(place({"g-w-0"}), "min_member");
  place({"g-w-0", "g-w-1"});
  place({"g-w-2"});
  EXPECT_EQ(cluster.gang(cluster.FindGang("default", "g")).ready(), 3);
}

}  // namespace
}  // namespace gangway::gang
