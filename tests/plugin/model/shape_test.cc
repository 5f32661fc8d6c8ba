#include "plugin/model/shape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/plugin/model/cluster_builder.h"

namespace gangway::model {
namespace {

TEST(ShapeTest, WhatIsAskedOfLabelsIsToldInTheSameWordsOfNodesAndOfPods) {
  EXPECT_EQ(RequirementText({"app", Op::kIn, {"web"}}).English(), "app=web");
  EXPECT_EQ(RequirementText({"app", Op::kIn, {"web", "db"}}).English(), "app in (web,db)");
  EXPECT_EQ(RequirementText({"app", Op::kNotIn, {"web"}}).English(), "app not in (web)");
  EXPECT_EQ(RequirementText({"app", Op::kExists, {}}).English(), "app");
  EXPECT_EQ(RequirementText({"app", Op::kDoesNotExist, {}}).English(), "no app");
  EXPECT_EQ(RequirementText({"cores", Op::kGt, {"7"}}).English(), "cores>7");
  EXPECT_EQ(RequirementText({"cores", Op::kLt, {"7"}}).English(), "cores<7");
  Names names;
  EXPECT_EQ(TermText(MakeTerm({{"", Op::kIn, {"n1"}}, {"zone", Op::kNotIn, {"a"}}}, names), names).English(),
            "name=n1 and zone not in (a)");
}

TEST(ShapeTest, ATermHoldsForPodsOfTheShapeOrNot) {
  Cluster cluster;
  PodFacts pod = testutil::Pod("g", "w", 0, testutil::Cpu(1000));
  pod.labels = {{"app", "web"}};
  for (const char* const app : {"web", "db"})
    pod.wants.pod_anti_affinity.push_back({"zone", {{"default"}, {}, {{"app", Op::kIn, {app}}}}});
  const Shape& shape = cluster.shape(cluster.task(cluster.SetPod(pod)).shape);
  ASSERT_EQ(shape.away.size(), 2u);
  EXPECT_TRUE(shape.Matches(shape.away[0]));
  EXPECT_FALSE(shape.Matches(shape.away[1]));
}

}  // namespace
}  // namespace gangway::model
