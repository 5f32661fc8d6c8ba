// Minima of sub-groups, without a topology.
#include "plugin/gang/schedule.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "tests/plugin/gang/world.h"

namespace gangway::gang {
namespace {

using model::Decision;
using model::PodFacts;
using model::PodPhase;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using testutil::AddNodes;
using testutil::Cpu;
using testutil::Gang;
using testutil::Node;
using testutil::Pod;
using testutil::Queue;
using testutil::World;

// A task of `partitions` times two pods that start together, each partition whole.
PodFacts PartitionPod(const std::string& gang, int index, std::int64_t milli) {
  PodFacts pod = Pod(gang, "w", index, Cpu(milli));
  pod.partition = absl::StrCat(index / 2);
  return pod;
}
model::GangFacts Partitioned(const std::string& name, int min_member, int min_groups) {
  model::GangFacts gang = Gang(name, min_member);
  gang.min_task_member = {{"w", min_member}};
  gang.sub_groups = {{"w", 2, min_groups}};
  return gang;
}

// Two partitions of two, no topology.
TEST(SubGroupTest, WithoutTopologyTheyAreAPlainGang) {
  World w;
  AddNodes(w.cluster, 1);
  w.cluster.SetGang(Partitioned("g", 4, 0));
  for (int i = 0; i < 4; ++i) w.cluster.SetPod(PartitionPod("g", i, 1000));
  EXPECT_EQ(w.Placed().size(), 4u);
}

TEST(SubGroupTest, TheMinimumTakesWholeSubGroups) {
  World w;
  AddNodes(w.cluster, 1, 6);
  w.cluster.SetGang(Partitioned("g", 4, 2));
  for (int i = 0; i < 8; ++i) {
    if (i != 1) w.cluster.SetPod(PartitionPod("g", i, 1000));  // g-w-1 is being made again
  }
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-2", "node-000"), Pair("g-w-3", "node-000"), Pair("g-w-4", "node-000"),
                                      Pair("g-w-5", "node-000"), Pair("g-w-6", "node-000"), Pair("g-w-7", "node-000")));
}

TEST(SubGroupTest, WhatRunsOfASubGroupCountsForIt) {
  World w;
  AddNodes(w.cluster, 1, 3);
  w.cluster.SetGang(Partitioned("g", 4, 2));
  for (const int i : {0, 1, 3}) {
    PodFacts running = PartitionPod("g", i, 1000);
    running.node = "node-other";
    running.phase = PodPhase::kRunning;
    w.cluster.SetPod(running);
  }
  for (const int i : {2, 4, 5}) w.cluster.SetPod(PartitionPod("g", i, 1000));
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-2", "node-000"), Pair("g-w-4", "node-000"), Pair("g-w-5", "node-000")));
  w.cluster.SetNode(Node("node-000", 2));
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-2", "node-000"))) << "no half of the third";
}

// Four of any pods would do for the gang, but not one pod of each partition.
TEST(SubGroupTest, TooFewWholeOnesWaitAndSaySo) {
  World w;
  AddNodes(w.cluster, 1);
  w.cluster.SetGang(Partitioned("g", 4, 2));
  for (const int i : {0, 2, 4, 5}) w.cluster.SetPod(PartitionPod("g", i, 1000));
  const Decision decision = w.Of("g");
  EXPECT_THAT(decision.placements, IsEmpty());
  EXPECT_TRUE(decision.short_of_minimum);
  EXPECT_EQ(model::Render(*decision.reason), "waits for 1 of 1 sub-group of task w: 0 have all of 2 pods");
  w.cluster.SetGang(Partitioned("g", 2, 2));
  EXPECT_EQ(model::Render(*w.Of("g").reason), "waits for 1 of 2 sub-groups of task w: 1 has all of 2 pods");
}

// Its two pods are the two of the task.
TEST(SubGroupTest, OneThatTheTasksMinimumNeedsIsOneOfThoseTheGangNeeds) {
  World w;
  AddNodes(w.cluster, 1, 2);
  w.cluster.SetGang(Partitioned("g", 2, 1));
  for (int i = 0; i < 4; ++i) w.cluster.SetPod(PartitionPod("g", i, 1000));
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-0", "node-000"), Pair("g-w-1", "node-000")));
}

TEST(SubGroupTest, TheRestComesInWholeSubGroups) {
  World w;
  AddNodes(w.cluster, 1, 5);
  w.cluster.SetGang(Partitioned("g", 2, 1));
  for (int i = 0; i < 6; ++i) w.cluster.SetPod(PartitionPod("g", i, 1000));
  EXPECT_EQ(w.Placed().size(), 4u);
  EXPECT_EQ(w.Of("g").reason->missing, 2);
}

TEST(SubGroupTest, WhatIsBeyondTheSizeComesAfterTheWhole) {
  World w;
  AddNodes(w.cluster, 1, 1);
  w.cluster.SetGang(Partitioned("g", 0, 0));
  for (int i = 0; i < 3; ++i) {
    PodFacts pod = PartitionPod("g", i, 1000);
    pod.partition = "0";
    w.cluster.SetPod(pod);
  }
  EXPECT_THAT(w.Placed(), IsEmpty());
  w.cluster.SetNode(Node("node-000", 3));
  EXPECT_EQ(w.Placed().size(), 3u);
}

TEST(SubGroupTest, NoHalfIsPlacedForAQueueThatHasRoomForOne) {
  World w;
  AddNodes(w.cluster, 1);
  model::QueueFacts queue = Queue("default");
  queue.capability = {{"cpu", 3000}};
  w.cluster.SetQueue(queue);
  w.cluster.SetGang(Partitioned("g", 2, 1));
  for (int i = 0; i < 4; ++i) w.cluster.SetPod(PartitionPod("g", i, 1000));
  EXPECT_EQ(w.Placed().size(), 2u);
  EXPECT_EQ(model::Render(*w.Of("g").reason),
            "waits for 2 of 4 tasks: needs cpu 2, queue default uses 2 of 3, 1 too many");
}

}  // namespace
}  // namespace gangway::gang
