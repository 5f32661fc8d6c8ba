// What queues say they have allocated (recording queue-states: 03-closing).
#include "plugin/scheduler/queue_status.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/plugin/model/cluster_builder.h"

namespace gangway::scheduler {
namespace {

std::string Text(const api::ResourceList& list) {
  std::string out;
  for (const auto& [name, amount] : list) out += (out.empty() ? "" : " ") + name + "=" + amount.ToString();
  return out;
}

void AddQueue(model::Cluster& cluster, const std::string& name, const std::string& parent) {
  model::QueueFacts queue = testutil::Queue(name);
  queue.parent = parent;
  cluster.SetQueue(queue);
}

void PlacePod(model::Cluster& cluster, const std::string& queue, const std::string& gang, std::int64_t milli) {
  model::GangFacts group = testutil::Gang(gang, 1);
  group.queue = queue;
  cluster.SetGang(group);
  cluster.Assume(cluster.SetPod(testutil::Pod(gang, "w", 0, testutil::Cpu(milli))), 0);
}

TEST(QueueStatusTest, AQueueHasWhatItsPodsAndThoseBelowHold) {
  model::Cluster cluster;
  testutil::AddNodes(cluster, 1);
  AddQueue(cluster, "root", "");
  for (const char* name : {"q", "other"}) AddQueue(cluster, name, "root");
  AddQueue(cluster, "q1", "q");
  PlacePod(cluster, "q1", "a", 1500);
  PlacePod(cluster, "q", "b", 2000);
  const auto lists = AllocatedByQueue(cluster);
  ASSERT_EQ(lists.size(), 3u);
  EXPECT_EQ(Text(lists.at("q1")), "cpu=1500m memory=100000000 pods=1");
  EXPECT_EQ(Text(lists.at("q")), "cpu=3500m memory=200000000 pods=2");
  EXPECT_EQ(Text(lists.at("root")), "cpu=3500m memory=200000000 pods=2");
}

TEST(QueueStatusTest, QueuesInACircleCountForThemselves) {
  model::Cluster cluster;
  testutil::AddNodes(cluster, 1);
  AddQueue(cluster, "a", "b");
  AddQueue(cluster, "b", "a");
  PlacePod(cluster, "a", "g", 1000);
  const auto lists = AllocatedByQueue(cluster);
  ASSERT_EQ(lists.size(), 1u);
  EXPECT_EQ(Text(lists.at("a")), "cpu=1 memory=100000000 pods=1");
}

TEST(QueueStatusTest, WhatDiffersIsWrittenInFull) {
  const model::Cluster cluster;
  const api::ResourceList none = AllocatedList({}, cluster.dims());
  EXPECT_EQ(Text(none), "cpu=0 memory=0");
  EXPECT_EQ(AllocatedPatch(none, none), "");
  api::ResourceList some = none;
  some["pods"] = api::Quantity::FromUnits(2);
  EXPECT_EQ(AllocatedPatch(none, some), R"({"status":{"allocated":{"cpu":"0","memory":"0","pods":"2"}}})");
  EXPECT_EQ(AllocatedPatch(some, none), R"({"status":{"allocated":{"cpu":"0","memory":"0","pods":null}}})");
}

}  // namespace
}  // namespace gangway::scheduler
