#include "plugin/gang/constraint/placed_terms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/plugin/model/cluster_builder.h"

namespace gangway::constraint {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

// A pod that keeps others off, and for which its term does not hold, counts in no spread of that term: not where it is
// placed, and not when it goes.
TEST(PlacedTermsTest, WhoKeepsOthersOffIsNoneOfThem) {
  model::Cluster cluster;
  model::NodeFacts node = testutil::Node("n");
  node.labels.emplace_back("zone", "a");
  cluster.SetNode(node);
  const model::Row row = cluster.FindNode("n");
  model::Wants wants = testutil::Cpu(1000);
  wants.pod_anti_affinity = {{"zone", {{"default"}, {}, {{"app", model::Op::kIn, {"web"}}}}}};
  model::PodFacts pod = testutil::Pod("g", "w", 0, wants);
  pod.labels = {{"app", "other"}};
  const model::Shape& shape = cluster.shape(cluster.task(cluster.SetPod(pod)).shape);
  ASSERT_THAT(shape.away, SizeIs(1));
  const model::TermId term = *shape.away.begin();
  const int value = cluster.pod_terms().ValueOn(term, row);
  PlacedTerms placed(cluster.pod_terms());
  placed.Add(row, shape, 1);
  EXPECT_EQ(placed.KeepersIn(term, value), 1);
  EXPECT_EQ(placed.PodsIn(term, value), 0);
  EXPECT_THAT(placed.steps(term), IsEmpty());
  placed.Release({row, &shape, {}, true}, 1);
  EXPECT_EQ(placed.KeepersIn(term, value), 0);
  EXPECT_THAT(placed.steps(term), IsEmpty());
}

}  // namespace
}  // namespace gangway::constraint
