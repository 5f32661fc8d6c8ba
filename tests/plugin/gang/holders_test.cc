// Who holds room, in which order they go, and who is going.
#include "plugin/gang/holders.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plugin/gang/queue_tree.h"
#include "tests/plugin/gang/world.h"
#include "tests/plugin/model/cluster_builder.h"

namespace gangway::gang {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using testutil::At;

struct HoldersTest : testutil::World, ::testing::Test {
  HoldersTest() {
    testutil::AddNodes(cluster, 1);
    cluster.SetPriorityClass({"low", 1});
    cluster.SetPriorityClass({"high", 9});
    cluster.SetPriorityClass({"lower", -1});
  }
  void Runs(const std::string& name, const std::string& priority, int created, int min_member, int pods) {
    model::GangFacts gang = testutil::Gang(name, min_member);
    gang.priority_class = priority;
    gang.created = At(created);
    cluster.SetGang(gang);
    for (int i = 0; i < pods; ++i) cluster.SetPod(Pod(name, i));
  }
  static model::PodFacts Pod(const std::string& gang, int index) {
    model::PodFacts pod = testutil::Pod(gang, "w", index, testutil::Cpu(1000));
    pod.node = "node-000";
    pod.phase = model::PodPhase::kRunning;
    return pod;
  }
  void Starts(const std::string& gang, const std::vector<int>& seconds) {
    for (std::size_t i = 0; i < seconds.size(); ++i) {
      model::PodFacts pod = Pod(gang, static_cast<int>(i));
      pod.started = At(seconds[i]);
      cluster.SetPod(pod);
    }
  }
  model::GangId Id(const std::string& name) const { return cluster.FindGang("default", name); }
  std::vector<std::string> InOrder(std::vector<Candidate> candidates) const {
    std::make_heap(candidates.begin(), candidates.end(), GoesLater(cluster));
    std::vector<std::string> names;
    while (!candidates.empty()) {
      std::pop_heap(candidates.begin(), candidates.end(), GoesLater(cluster));
      names.push_back(cluster.gang(candidates.back().gang).name + (candidates.back().whole ? "" : "+"));
      candidates.pop_back();
    }
    return names;
  }
};

TEST_F(HoldersTest, SomebodyIsMovableWhenAPodOfAHolderIs) {
  Runs("stays", "", 1, 1, 1);
  EXPECT_FALSE(Holders(cluster, QueueTree(cluster), policy, At(10)).AnyMovable());
  model::PodFacts pod = testutil::Pod("stays", "w", 0, testutil::Cpu(1000));
  pod.node = "node-000";
  pod.phase = model::PodPhase::kRunning;
  pod.movable = true;
  cluster.SetPod(pod);
  EXPECT_TRUE(Holders(cluster, QueueTree(cluster), policy, At(10)).AnyMovable());
}

TEST_F(HoldersTest, MembersGoBeforeGangsLowPrioritiesBeforeHighOnesTheYoungestFirst) {
  Runs("mid", "", 1, 1, 1);
  Runs("old", "low", 2, 1, 1);
  Runs("elastic", "low", 3, 1, 2);
  Runs("young", "low", 4, 1, 1);
  Runs("top", "high", 5, 1, 1);
  const Holders holders(cluster, QueueTree(cluster), policy, At(10));
  cluster.SetGang([] {
    model::GangFacts gang = testutil::Gang("waits", 1);
    gang.priority_class = "high";
    return gang;
  }());
  EXPECT_THAT(InOrder(holders.LowerInQueue(Id("waits"))), ElementsAre("elastic+", "mid", "young", "elastic", "old"));
  EXPECT_THAT(InOrder(holders.LowerInQueue(Id("old"))), ElementsAre("mid"));
  EXPECT_THAT(holders.LowerInQueue(Id("mid")), IsEmpty());
  EXPECT_TRUE(holders.AnyLowerInQueue(cluster.gang(Id("old"))));
  EXPECT_FALSE(holders.AnyLowerInQueue(cluster.gang(Id("mid"))));
  EXPECT_FALSE(holders.AnyInOtherQueues(cluster.gang(Id("mid")).queue));
}

TEST_F(HoldersTest, TheMostThatOneOfThemHoldsIsKnownOfEachResource) {
  Runs("one", "low", 1, 1, 1);
  Runs("three", "low", 2, 2, 3);
  Runs("two", "high", 3, 2, 2);
  const Holders holders(cluster, QueueTree(cluster), policy, At(10));
  EXPECT_EQ(holders.most_held()[model::kCpu], 3000);
  EXPECT_EQ(holders.most_held()[model::kPods], 3);
  std::vector<bool> surplus;
  for (const Candidate& candidate : holders.by_queue().begin()->second) surplus.push_back(candidate.has_surplus);
  EXPECT_THAT(surplus, ElementsAre(false, true, false));
}

TEST_F(HoldersTest, OfOnePriorityThoseGoFirstThatHaveStartedLast) {
  Runs("early", "", 4, 2, 2);
  Runs("late", "", 1, 2, 2);
  Runs("between", "", 3, 3, 3);
  Runs("alike", "", 2, 1, 1);
  Runs("not-yet", "", 0, 1, 1);
  Runs("lowest", "lower", 5, 1, 1);
  Starts("early", {10, 50});
  Starts("late", {40, 40});
  Starts("between", {20, 30, 55});  // 35 in the mean
  Starts("alike", {35});
  Starts("lowest", {1});
  const Holders holders(cluster, QueueTree(cluster), policy, At(60));
  EXPECT_THAT(InOrder(holders.by_queue().begin()->second),
              ElementsAre("lowest", "not-yet", "late", "between", "alike", "early"));
}

TEST_F(HoldersTest, APodThatHasEndedDoesNotCountForWhenItsGangStarted) {
  Runs("a", "", 1, 1, 2);
  Runs("b", "", 2, 1, 1);
  Starts("a", {0, 50});  // 25 in the mean
  Starts("b", {30});
  const auto order = [&] {
    return InOrder(Holders(cluster, QueueTree(cluster), policy, At(60)).by_queue().begin()->second);
  };
  EXPECT_THAT(order(), ElementsAre("b", "a"));
  model::PodFacts pod = Pod("a", 0);
  pod.phase = model::PodPhase::kFailed;
  pod.started = At(0);
  cluster.SetPod(pod);
  EXPECT_THAT(order(), ElementsAre("a", "b"));
}

TEST_F(HoldersTest, WhoTerminatesIsGoingUntilItTakesTooLong) {
  Runs("g", "low", 1, 1, 2);
  model::PodFacts pod = testutil::Pod("g", "w", 1, testutil::Cpu(1000));
  pod.node = "node-000";
  pod.phase = model::PodPhase::kRunning;
  pod.terminating = true;
  pod.grace_ends = At(30);
  cluster.SetPod(pod);
  const Holders in_time(cluster, QueueTree(cluster), policy, At(40));
  EXPECT_THAT(in_time.going(), ElementsAre(cluster.FindTask("default", "g-w-1")));
  EXPECT_EQ(in_time.look_again(), At(30) + policy.victims_take);
  const Holders too_late(cluster, QueueTree(cluster), policy, At(30) + policy.victims_take);
  EXPECT_THAT(too_late.going(), IsEmpty());
  EXPECT_EQ(too_late.look_again(), absl::InfiniteFuture());
}

TEST_F(HoldersTest, WhatLowerOnesHoldIsNothingWhereNobodyIsPreempted) {
  Runs("a", "low", 1, 1, 2);
  Runs("b", "", 2, 1, 1);
  Runs("c", "high", 3, 1, 1);
  Holders holders(cluster, QueueTree(cluster), policy, At(10));
  EXPECT_EQ(holders.HeldByLower(Id("c"))[cluster.dims().Find("cpu")], 3000);
  EXPECT_EQ(holders.HeldByLower(Id("a"))[cluster.dims().Find("cpu")], 1000);
  EXPECT_TRUE(holders.HeldByLower(Id("b")).zero());
  policy.preempt = false;
  EXPECT_TRUE(holders.HeldByLower(Id("c")).zero());
}

}  // namespace
}  // namespace gangway::gang
