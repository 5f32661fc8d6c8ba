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
  testutil::SetPartition(pod, absl::StrCat(index / 2));
  return pod;
}
model::GangFacts Partitioned(const std::string& name, int min_member, int min_groups) {
  model::GangFacts gang = Gang(name, min_member);
  gang.min_task_member = {{"w", min_member}};
  gang.sub_groups = {testutil::SubGroupsOfTask("w", 2, min_groups)};
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
  EXPECT_EQ(model::Render(*decision.reason), "waits for 1 of 1 sub-group of w: 0 have all of 2 pods");
  w.cluster.SetGang(Partitioned("g", 2, 2));
  EXPECT_EQ(model::Render(*w.Of("g").reason), "waits for 1 of 2 sub-groups of w: 1 has all of 2 pods");
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
    testutil::SetPartition(pod, "0");
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

// ---- policies of any labels

// `labels`: "key=value" of each.
PodFacts Labelled(const std::string& role, int index, std::vector<std::pair<std::string, std::string>> labels) {
  PodFacts pod = Pod("g", role, index, Cpu(1000));
  pod.labels = std::move(labels);
  return pod;
}
model::GangFacts Of(int min_member, std::vector<model::SubGroupFacts> policies) {
  model::GangFacts gang = Gang("g", min_member);
  gang.sub_groups = std::move(policies);
  return gang;
}
model::SubGroupFacts Policy(const std::string& name, std::vector<model::RequirementFacts> selector,
                            std::vector<std::string> keys, int size, int min_groups = 0) {
  return {name, std::move(selector), std::move(keys), size, min_groups};
}
const model::RequirementFacts kGpu{"tier", model::Op::kIn, {"gpu"}};

TEST(SubGroupTest, APolicyChoosesPodsByAnyLabelsAndPartsThem) {
  World w;
  AddNodes(w.cluster, 1, 4);
  w.cluster.SetGang(Of(2, {Policy("rings", {kGpu}, {"ring"}, 2, 1)}));
  w.cluster.SetPod(Labelled("a", 0, {{"tier", "gpu"}, {"ring", "x"}}));
  w.cluster.SetPod(Labelled("a", 1, {{"tier", "cpu"}, {"ring", "x"}}));
  w.cluster.SetPod(Labelled("a", 2, {{"tier", "gpu"}, {"ring", "y"}}));
  const Decision decision = w.Of("g");
  EXPECT_EQ(model::Render(*decision.reason), "waits for 1 of 1 sub-group of rings: 0 have all of 2 pods");
  w.cluster.SetPod(Labelled("b", 3, {{"tier", "gpu"}, {"ring", "y"}}));
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-a-1", "node-000"), Pair("g-a-2", "node-000"), Pair("g-b-3", "node-000")))
      << "whatever task they are of; the half of x stays out";
}

TEST(SubGroupTest, APodThatLacksAKeyOrHasItEmptyIsInNone) {
  World w;
  AddNodes(w.cluster, 1, 4);
  w.cluster.SetGang(Of(0, {Policy("rings", {}, {"ring", "half"}, 3)}));
  w.cluster.SetPod(Labelled("w", 0, {{"ring", "x"}}));
  w.cluster.SetPod(Labelled("w", 1, {{"ring", "x"}, {"half", ""}}));
  w.cluster.SetPod(Labelled("w", 2, {{"ring", "x"}, {"half", "l"}}));
  w.cluster.SetPod(Labelled("w", 3, {{"ring", "x"}, {"half", "r"}}));
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-0", "node-000"), Pair("g-w-1", "node-000")))
      << "the others differ in one of the keys";
}

TEST(SubGroupTest, WithoutKeysAllThatItChoosesAreOne) {
  World w;
  AddNodes(w.cluster, 1, 2);
  w.cluster.SetGang(Of(1, {Policy("all", {kGpu}, {}, 3, 1)}));
  for (int i = 0; i < 3; ++i) w.cluster.SetPod(Labelled("w", i, {{"tier", "gpu"}}));
  EXPECT_THAT(w.Placed(), IsEmpty());
  w.cluster.SetNode(Node("node-000", 3));
  EXPECT_EQ(w.Placed().size(), 3u);
}

TEST(SubGroupTest, TheFirstPolicyThatChoosesAPodHasIt) {
  World w;
  AddNodes(w.cluster, 1, 3);
  const model::SubGroupFacts pairs = Policy("pairs", {kGpu}, {"pair"}, 2), all = Policy("all", {}, {}, 4);
  const auto set = [&](model::GangFacts gang) { w.cluster.SetGang(gang); };
  set(Of(0, {pairs, all}));
  for (int i = 0; i < 2; ++i) w.cluster.SetPod(Labelled("w", i, {{"tier", "gpu"}, {"pair", "x"}}));
  w.cluster.SetPod(Labelled("w", 2, {{"tier", "gpu"}}));
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-0", "node-000"), Pair("g-w-1", "node-000")));
  EXPECT_THAT(w.cluster.Audit(), IsEmpty());
  set(Of(0, {all, pairs}));
  EXPECT_THAT(w.Placed(), IsEmpty()) << "the three are part of one of four";
  EXPECT_THAT(w.cluster.Audit(), IsEmpty());
  w.cluster.RemoveGang("default", "g");
  EXPECT_THAT(w.cluster.Audit(), IsEmpty());
  set(Of(0, {}));
  EXPECT_EQ(w.Placed().size(), 3u);
}

// Its labels say so, though nobody knew of the policy while it ran.
TEST(SubGroupTest, APodThatSucceededCountsForItsSubGroup) {
  World w;
  AddNodes(w.cluster, 1);
  PodFacts done = Labelled("w", 0, {{"ring", "x"}});
  done.node = "node-000";
  done.phase = PodPhase::kSucceeded;
  w.cluster.SetPod(done);
  w.cluster.SetPod(Labelled("w", 1, {{"ring", "x"}}));
  w.cluster.SetGang(Of(2, {Policy("rings", {}, {"ring"}, 2, 1)}));
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-1", "node-000")));
  model::Wants near = Cpu(1000);
  near.pod_affinity = {{"kubernetes.io/hostname", {{"default"}, std::nullopt, {{"ring", model::Op::kIn, {"x"}}}}}};
  w.cluster.RemovePod("default", "g-w-1");
  PodFacts beside = Pod("other", "w", 0, near);
  w.cluster.SetGang(Gang("other", 1));
  w.cluster.SetPod(beside);
  EXPECT_EQ(w.Of("other").placements.size(), 0u) << "for nobody else it is there";
  EXPECT_THAT(w.cluster.Audit(), IsEmpty());
}

// Two of task a are wanted, and each comes with one of b.
TEST(SubGroupTest, ASubGroupOfTwoTasksCountsForTheMinimumOfEach) {
  World w;
  AddNodes(w.cluster, 1, 4);
  model::GangFacts gang = Of(4, {Policy("pairs", {}, {"pair"}, 2, 2)});
  gang.min_task_member = {{"a", 2}, {"b", 2}};
  w.cluster.SetGang(gang);
  for (int i = 0; i < 6; ++i) w.cluster.SetPod(Labelled(i % 2 == 0 ? "a" : "b", i, {{"pair", absl::StrCat(i / 2)}}));
  EXPECT_EQ(w.Placed().size(), 4u);
}

}  // namespace
}  // namespace gangway::gang
