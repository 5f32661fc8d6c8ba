// What keeps a queue within its share while others wait for theirs, and jobs of a queue within theirs.
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "tests/plugin/gang/world.h"

namespace gangway::gang {
namespace {

using model::Decision;
using ::testing::ElementsAre;
using ::testing::Pair;
using testutil::AddNodes;
using testutil::At;
using testutil::Cpu;

// 16 nodes of 1 cpu.
struct HeldToTest : testutil::World, ::testing::Test {
  HeldToTest() {
    AddNodes(cluster, 16, 1);
    for (const char* name : {"a", "b"}) Set(name);
    policy.overcommit_percent = 120;
  }
  void Set(const std::string& name, const std::string& parent = "", int weight = 1, std::int64_t guarantee = 0) {
    model::QueueFacts queue = testutil::Queue(name);
    queue.parent = parent;
    queue.weight = weight;
    if (guarantee > 0) queue.guarantee = {{"cpu", guarantee}};
    cluster.SetQueue(queue);
  }
  // `min_member` of `pods` pods of 1 cpu; of them `running` on nodes from `first_node` on.
  void Add(const std::string& queue, const std::string& name, int min_member, int pods, int running = 0,
           int first_node = 0, const std::string& priority = "") {
    model::GangFacts gang = testutil::Gang(name, min_member);
    gang.queue = queue;
    gang.created = At(created_++);
    gang.priority_class = priority;
    if (running > 0) gang.phase = model::GangPhase::kRunning;
    gang.was_whole = running >= min_member;
    cluster.SetGang(gang);
    for (int i = 0; i < pods; ++i) {
      model::PodFacts pod = testutil::Pod(name, "w", i, Cpu(1000));
      if (i < running) {
        pod.node = absl::StrCat("node-", absl::Dec(first_node + i, absl::kZeroPad3));
        pod.phase = model::PodPhase::kRunning;
      }
      cluster.SetPod(pod);
    }
  }
  // One without pods that is not let in.
  void AddOutside(const std::string& queue, const std::string& name, std::int64_t cpu) {
    model::GangFacts gang = testutil::Gang(name, 1);
    gang.queue = queue;
    gang.created = At(created_++);
    gang.phase = model::GangPhase::kPending;
    gang.has_min_resources = true;
    gang.min_resources = {{"cpu", cpu * 1000}};
    cluster.SetGang(gang);
  }
  // Pods placed, by gang.
  std::map<std::string, int> PlacedByGang() {
    std::map<std::string, int> placed;
    for (const Decision& decision : World::Run()) {
      if (!decision.placements.empty())
        placed[cluster.gang(decision.gang).name] = static_cast<int>(decision.placements.size());
    }
    return placed;
  }
  std::vector<std::string> LetIn() {
    std::vector<std::string> names;
    for (const Decision& decision : World::Run()) {
      if (decision.admit) names.push_back(cluster.gang(decision.gang).name);
    }
    return names;
  }
  int created_ = 0;
};

// Before, the queue that came first had its gang of 10, and the other's two of 4 found no room for the second.
TEST_F(HeldToTest, WhoWouldGetPastItsShareComesAfterWhoKeepsWithinIt) {
  Add("a", "a1", 10, 10);
  Add("b", "b1", 4, 4);
  Add("b", "b2", 4, 4);
  EXPECT_THAT(PlacedByGang(), ElementsAre(Pair("b1", 4), Pair("b2", 4)));
}

TEST_F(HeldToTest, WhatNobodyElseCanUseIsUsed) {
  Add("a", "a1", 10, 10);
  Add("b", "b1", 4, 4);
  EXPECT_THAT(PlacedByGang(), ElementsAre(Pair("a1", 10), Pair("b1", 4)));
  Add("b", "large", 20, 20);  // fits nowhere
  EXPECT_THAT(PlacedByGang(), ElementsAre(Pair("a1", 10), Pair("b1", 4)));
}

TEST_F(HeldToTest, OfTwoThatMustGetPastTheirsTheOneWithLessGoesFirst) {
  Add("a", "runs", 2, 2, 2);
  Add("a", "a1", 10, 10);
  Add("b", "b1", 10, 10);
  EXPECT_THAT(PlacedByGang(), ElementsAre(Pair("b1", 10)));
}

TEST_F(HeldToTest, ASmallerGangOfItsQueueGoesBeforeOneThatIsBeyondTheShareAndNoneOfALowerPriority) {
  cluster.SetPriorityClass({"high", 10, false});
  Add("a", "a1", 10, 10);
  Add("a", "a2", 8, 8);
  Add("b", "b1", 8, 8);
  EXPECT_THAT(PlacedByGang(), ElementsAre(Pair("a2", 8), Pair("b1", 8)));
  Add("a", "a1", 10, 10, 0, 0, "high");
  Add("b", "b1", 6, 6);
  EXPECT_THAT(PlacedByGang(), ElementsAre(Pair("a1", 10), Pair("b1", 6)));
}

TEST_F(HeldToTest, AnElasticGangIsHeldByItsMinimum) {
  Add("a", "a1", 4, 16);
  Add("b", "b1", 8, 8);
  EXPECT_THAT(PlacedByGang(), ElementsAre(Pair("a1", 8), Pair("b1", 8)));
}

// Before, the first gang took all that was left: 14 to 2.
TEST_F(HeldToTest, SurplusIsSharedBetweenTheJobsOfAQueue) {
  Add("a", "a1", 1, 100);
  Add("a", "a2", 1, 100);
  EXPECT_THAT(PlacedByGang(), ElementsAre(Pair("a1", 8), Pair("a2", 8)));
  Add("a", "a1", 1, 100, 6);  // has some
  EXPECT_THAT(PlacedByGang(), ElementsAre(Pair("a1", 2), Pair("a2", 8)));
  cluster.SetPriorityClass({"high", 10, false});
  Add("a", "a1", 1, 100, 6, 0, "high");
  EXPECT_THAT(PlacedByGang(), ElementsAre(Pair("a1", 9), Pair("a2", 1)));
}

TEST_F(HeldToTest, SurplusIsSharedBetweenQueuesByWeight) {
  Set("b", "", 3);
  for (const char* name : {"a1", "a2"}) Add("a", name, 1, 100);
  Add("b", "b1", 1, 100);
  EXPECT_THAT(PlacedByGang(), ElementsAre(Pair("a1", 2), Pair("a2", 2), Pair("b1", 12)));
}

// Before, the first queue was let in up to all that the sums leave, and the other not at all.
TEST_F(HeldToTest, EachQueueIsLetInForItsShare) {
  for (int i = 0; i < 4; ++i) {
    AddOutside("a", absl::StrCat("a", i), 4);
    AddOutside("b", absl::StrCat("b", i), 4);
  }
  EXPECT_THAT(LetIn(), ElementsAre("a0", "b0", "a1", "b1"));
}

// Before, it was let in when all that ran and that was let in before had gone.
// Volcano puts all queues below one that is called root.
TEST_F(HeldToTest, WhatIsAboveAllQueuesKeepsNobodyOut) {
  for (const char* const name : {"a", "b", "default"}) Set(name, "root");
  Add("a", "runs", 16, 16, 16);
  AddOutside("b", "b1", 8);
  AddOutside("b", "b2", 8);
  EXPECT_THAT(LetIn(), ElementsAre("b1"));
}

TEST_F(HeldToTest, AFullClusterKeepsNobodyOutWhoIsOwedItsShare) {
  Add("a", "runs", 16, 16, 16);
  AddOutside("b", "b1", 8);
  AddOutside("b", "b2", 8);
  EXPECT_THAT(LetIn(), ElementsAre("b1"));
  EXPECT_EQ(model::Render(*Of("b2").reason),
            "waits for 1 of 1 task: needs cpu 8, the cluster uses 16 of 16, 8 more are promised to gangs let in "
            "before, gangs are let in for up to 19.2, 8 too many");
}

TEST_F(HeldToTest, LetInOrNotWhoKeepsWithinItsShareComesFirst) {
  Add("a", "runs", 8, 8, 8);
  Add("a", "a1", 8, 8);
  Add("b", "b1", 8, 8);
  model::GangFacts outside = testutil::Gang("b1", 8);
  outside.queue = "b";
  outside.phase = model::GangPhase::kPending;
  cluster.SetGang(outside);
  EXPECT_THAT(PlacedByGang(), ElementsAre(Pair("b1", 8)));
}

// Before, only who was let in was held to it.
TEST_F(HeldToTest, AGuaranteeIsNotGivenAway) {
  Set("b", "", 1, 6000);
  Add("a", "a1", 11, 11);
  EXPECT_EQ(model::Render(*Of("a1").reason),
            "waits for 11 of 11 tasks: needs cpu 11, queue a uses 0 of 10, 1 too many");
  Add("a", "a2", 1, 16);
  EXPECT_THAT(PlacedByGang(), ElementsAre(Pair("a2", 10)));
  Add("b", "b1", 1, 16);
  EXPECT_THAT(PlacedByGang(), ElementsAre(Pair("a2", 8), Pair("b1", 8)));
}

TEST_F(HeldToTest, ABranchIsHeldToItsShareToo) {
  Set("lab");
  Set("a", "lab");
  Set("mate", "lab");
  Add("mate", "runs", 8, 8, 8);  // all that lab deserves
  Add("a", "a1", 4, 4);
  Add("b", "b1", 8, 8);
  EXPECT_THAT(PlacedByGang(), ElementsAre(Pair("b1", 8)));
}

TEST_F(HeldToTest, WhatIsWrittenCountsByConfiguration) {
  model::QueueFacts queue = testutil::Queue("a");
  queue.deserved = {{"cpu", 12000}};
  cluster.SetQueue(queue);
  for (int i = 0; i < 4; ++i) {
    Add("a", absl::StrCat("a", i), 4, 4);
    Add("b", absl::StrCat("b", i), 4, 4);
  }
  EXPECT_THAT(PlacedByGang(), ElementsAre(Pair("a0", 4), Pair("a1", 4), Pair("b0", 4), Pair("b1", 4)));
  policy.sharing = Sharing::kAsWritten;
  EXPECT_THAT(PlacedByGang(), ElementsAre(Pair("a0", 4), Pair("a1", 4), Pair("a2", 4), Pair("b0", 4)));
}

}  // namespace
}  // namespace gangway::gang
