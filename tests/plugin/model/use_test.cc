#include "plugin/model/use.h"

#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/plugin/model/cluster_builder.h"

namespace gangway::model {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::Pair;
using testutil::At;

constexpr absl::Duration kHour = absl::Hours(1);

TEST(UseAtTest, WhatWasHeldAHalfLifeAgoCountsHalf) {
  const Use begun{At(0), {}};
  const Use held = UseAt(begun, {{"cpu", 8}}, kHour, At(3600));
  EXPECT_THAT(held.held, ElementsAre(Pair("cpu", DoubleNear(4, 1e-9))));
  EXPECT_EQ(held.as_of, At(3600));
  EXPECT_THAT(UseAt(held, {}, kHour, At(3 * 3600)).held, ElementsAre(Pair("cpu", DoubleNear(1, 1e-9))));
  EXPECT_THAT(UseAt(held, {{"cpu", 4}}, kHour, At(100'000)).held, ElementsAre(Pair("cpu", DoubleNear(4, 1e-9))));
  EXPECT_THAT(UseAt(begun, {{"cpu", 8}}, kHour, At(1'000'000)).held, ElementsAre(Pair("cpu", DoubleNear(8, 1e-9))));
}

TEST(UseAtTest, ManyLooksAreAsOne) {
  Use use{At(0), {{"cpu", 2}}};
  const std::map<std::string, double> held = {{"cpu", 5}, {"nvidia.com/gpu", 8}};
  const Use once = UseAt(use, held, kHour, At(7200));
  for (int second = 100; second <= 7200; second += 100) use = UseAt(use, held, kHour, At(second));
  for (const auto& [name, amount] : once.held) EXPECT_NEAR(use.held.at(name), amount, 1e-9) << name;
}

TEST(UseAtTest, TimeThatGoesBackChangesNothing) {
  const Use use{At(100), {{"cpu", 2}}};
  EXPECT_EQ(UseAt(use, {{"cpu", 2}}, kHour, At(0)), use);
}

TEST(UseTest, IsInTheUnitsOfKubernetesOfAllButPods) {
  Cluster cluster;
  cluster.SetNode(testutil::Node("n"));
  cluster.SetQueue(testutil::Queue("default"));
  const GangId gang = cluster.SetGang(testutil::Gang("g", 1));
  PodFacts pod = testutil::Pod("g", "w", 0, testutil::Cpu(2500));
  pod.node = "n";
  pod.phase = PodPhase::kRunning;
  cluster.SetPod(pod);
  const std::map<std::string, double> held = HeldNow(cluster, cluster.queue(cluster.gang(gang).queue));
  EXPECT_THAT(held, ElementsAre(Pair("cpu", 2.5), Pair("memory", 1e8)));
  std::vector<double> by_dim(static_cast<std::size_t>(cluster.dims().count()));
  by_dim[kCpu] = 2500;
  by_dim[static_cast<std::size_t>(cluster.dims().Find("memory"))] = 1e8;
  EXPECT_EQ(UsedByDim({At(0), {{"cpu", 2.5}, {"memory", 1e8}, {"nobody.knows/it", 1}}}, cluster.dims()), by_dim);
}

}  // namespace
}  // namespace gangway::model
