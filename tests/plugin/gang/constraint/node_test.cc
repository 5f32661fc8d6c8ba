#include "plugin/gang/constraint/node.h"

#include <gtest/gtest.h>

#include "plugin/gang/constraint/asks.h"
#include "tests/plugin/model/cluster_builder.h"

namespace gangway::constraint {
namespace {

using model::Cluster;
using model::NodeFacts;
using model::Op;
using model::PodFacts;
using model::TaskId;
using model::TermFacts;
using model::Wants;
using testutil::Cpu;
using testutil::Node;
using testutil::Pod;

// What its constraints say in words.
std::string TextOf(const Cluster& cluster, model::ShapeId shape) {
  return Placed(cluster).AsksOf(shape).Explain(false).asks.English();
}

TEST(NodeTest, WhatAPodAsksOfLabelsIsSaidInWords) {
  Cluster cluster;
  const auto text = [&](const Wants& wants) {
    return TextOf(cluster, cluster.task(cluster.SetPod(Pod("g", "w", 0, wants))).shape);
  };
  Wants wants = Cpu(1000);
  EXPECT_EQ(text(wants), "");
  wants.has_affinity = true;
  EXPECT_EQ(text(wants), "an empty node affinity");
  wants.selector = {{"zone", "a"}};
  EXPECT_EQ(text(wants), "zone=a and an empty node affinity");
  wants.affinity = {{{"disk", Op::kIn, {"nvme", "ssd"}}, {"old", Op::kDoesNotExist, {}}},
                    {{"", Op::kIn, {"n1"}}},
                    {{"gen", Op::kGt, {"3"}}, {"gen", Op::kLt, {"9"}}},
                    {{"gpu", Op::kExists, {}}, {"rack", Op::kNotIn, {"r1"}}}};
  EXPECT_EQ(text(wants),
            "zone=a and disk in (nvme,ssd) and no old or name=n1 or gen>3 and gen<9 or gpu and rack not in (r1)");
}

struct MatchCase {
  std::string name;
  Wants wants;
  absl::string_view expected;
};

Wants WithTerms(std::vector<TermFacts> terms) {
  Wants wants = Cpu(1000);
  wants.has_affinity = true;
  wants.affinity = std::move(terms);
  return wants;
}
Wants WithSelector(std::string key, std::string value) {
  Wants wants = Cpu(1000);
  wants.selector = {{std::move(key), std::move(value)}};
  return wants;
}

class MatchTest : public ::testing::TestWithParam<MatchCase> {};

TEST_P(MatchTest, Obstacle) {
  Cluster cluster;
  NodeFacts node = Node("n1");
  node.labels = {{"zone", "a"}, {"gen", "7"}, {"ssd", ""}};
  cluster.SetNode(node);
  PodFacts pod = Pod("g", "w", 0, GetParam().wants);
  const TaskId task = cluster.SetPod(pod);
  EXPECT_EQ(Placed(cluster).AsksOf(cluster.task(task).shape).ObstacleAt(0), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    All, MatchTest,
    ::testing::Values(MatchCase{"Nothing", Cpu(1000), ""}, MatchCase{"SelectorHolds", WithSelector("zone", "a"), ""},
                      MatchCase{"SelectorFails", WithSelector("zone", "b"), kNode},
                      MatchCase{"In", WithTerms({{{"zone", Op::kIn, {"x", "a"}}}}), ""},
                      MatchCase{"NotIn", WithTerms({{{"zone", Op::kNotIn, {"a"}}}}), kNode},
                      MatchCase{"NotInWithoutLabel", WithTerms({{{"rack", Op::kNotIn, {"a"}}}}), ""},
                      MatchCase{"Exists", WithTerms({{{"ssd", Op::kExists, {}}}}), ""},
                      MatchCase{"DoesNotExist", WithTerms({{{"ssd", Op::kDoesNotExist, {}}}}), kNode},
                      MatchCase{"Gt", WithTerms({{{"gen", Op::kGt, {"6"}}}}), ""},
                      MatchCase{"GtIsStrict", WithTerms({{{"gen", Op::kGt, {"7"}}}}), kNode},
                      MatchCase{"Lt", WithTerms({{{"gen", Op::kLt, {"8"}}}}), ""},
                      MatchCase{"GtOfText", WithTerms({{{"zone", Op::kGt, {"1"}}}}), kNode},
                      MatchCase{"AnyTermIsEnough", WithTerms({{{"zone", Op::kIn, {"b"}}}, {{"gen", Op::kExists, {}}}}),
                                ""},
                      MatchCase{"AllOfATerm", WithTerms({{{"zone", Op::kIn, {"a"}}, {"gen", Op::kIn, {"8"}}}}), kNode},
                      MatchCase{"EmptyTermMatchesNothing", WithTerms({{}}), kNode},
                      MatchCase{"NoTermsMatchNothing", WithTerms({}), kNode},
                      MatchCase{"NodeName", WithTerms({{{"", Op::kIn, {"n1"}}}}), ""},
                      MatchCase{"OtherNodeName", WithTerms({{{"", Op::kIn, {"n2"}}}}), kNode}),
    [](const auto& c) { return c.param.name; });

}  // namespace
}  // namespace gangway::constraint
