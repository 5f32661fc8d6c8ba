#include "plugin/gang/in_vain.h"

#include <gtest/gtest.h>

#include "plugin/gang/schedule.h"
#include "tests/plugin/model/cluster_builder.h"

namespace gangway::gang {
namespace {

using model::EvictFor;

class InVainTest : public ::testing::Test {
 protected:
  InVainTest() {
    cluster_.SetQueue(testutil::Queue("default"));
    cluster_.SetQueue(testutil::Queue("other"));
    cluster_.SetPriorityClass({"high", 9});
    cluster_.SetNode(testutil::Node("n"));
  }
  Preemptor Add(model::GangFacts gang, int tasks, const model::Wants& wants = testutil::Cpu(1000)) {
    cluster_.SetGang(gang);
    for (int i = 0; i < tasks; ++i) cluster_.SetPod(testutil::Pod(gang.name, "w", i, wants));
    Overlay overlay(cluster_);
    return *FindPreemptor(overlay, cluster_.FindGang("default", gang.name));
  }
  model::Cluster cluster_;
  InVain in_vain_{cluster_};
};

TEST_F(InVainTest, WhoWantsNoLessInTheSameQueueOfTheSamePriority) {
  in_vain_.Note(EvictFor::kPriority, Add(testutil::Gang("a", 2), 2));
  const auto knows = [&](const Preemptor& other) { return in_vain_.Knows(EvictFor::kPriority, other); };
  EXPECT_TRUE(knows(Add(testutil::Gang("same", 2), 2)));
  EXPECT_TRUE(knows(Add(testutil::Gang("more", 3), 4)));
  EXPECT_FALSE(knows(Add(testutil::Gang("less", 1), 1)));
  EXPECT_FALSE(knows(Add(testutil::Gang("smaller", 2), 2, testutil::Cpu(500))));
  model::GangFacts gang = testutil::Gang("elsewhere", 2);
  gang.queue = "other";
  EXPECT_FALSE(knows(Add(gang, 2)));
  gang = testutil::Gang("higher", 2);
  gang.priority_class = "high";
  EXPECT_FALSE(knows(Add(gang, 2)));
}

TEST_F(InVainTest, BetweenQueuesOnlyWhoWantsTheSame) {
  in_vain_.Note(EvictFor::kShare, Add(testutil::Gang("a", 2), 2));
  EXPECT_TRUE(in_vain_.Knows(EvictFor::kShare, Add(testutil::Gang("same", 2), 2)));
  EXPECT_FALSE(in_vain_.Knows(EvictFor::kShare, Add(testutil::Gang("more", 3), 3)));
  EXPECT_FALSE(in_vain_.Knows(EvictFor::kPriority, Add(testutil::Gang("again", 2), 2)));
}

TEST_F(InVainTest, WithSpreadOnlyWhoWantsTheSame) {
  model::Wants wants = testutil::Cpu(1000);
  model::SpreadFacts spread;
  spread.term = {"kubernetes.io/hostname", {{"default"}, std::nullopt, {}}};
  wants.spreads = {spread};
  in_vain_.Note(EvictFor::kPriority, Add(testutil::Gang("a", 2), 2, wants));
  EXPECT_TRUE(in_vain_.Knows(EvictFor::kPriority, Add(testutil::Gang("same", 2), 2, wants)));
  EXPECT_FALSE(in_vain_.Knows(EvictFor::kPriority, Add(testutil::Gang("more", 3), 3, wants)));
}

TEST_F(InVainTest, WhoLiesInHyperNodesOrRunsInPartIsLikeNobody) {
  model::GangFacts gang = testutil::Gang("a", 2);
  gang.topology = {true, 1, ""};
  const Preemptor in_hyper_nodes = Add(gang, 2);
  in_vain_.Note(EvictFor::kPriority, in_hyper_nodes);
  EXPECT_FALSE(in_vain_.Knows(EvictFor::kPriority, in_hyper_nodes));
  model::PodFacts pod = testutil::Pod("b", "w", 0, testutil::Cpu(1000));
  pod.node = "n";
  pod.phase = model::PodPhase::kRunning;
  Add(testutil::Gang("b", 3), 3);
  cluster_.SetPod(pod);
  Overlay overlay(cluster_);
  const Preemptor in_part = *FindPreemptor(overlay, cluster_.FindGang("default", "b"));
  in_vain_.Note(EvictFor::kPriority, in_part);
  EXPECT_FALSE(in_vain_.Knows(EvictFor::kPriority, in_part));
}

TEST_F(InVainTest, WhatIsTakenSinceMakesAmountsNoFreerAndWhatIsFreedMayHelpAll) {
  const Preemptor a = Add(testutil::Gang("a", 2), 2);
  for (const EvictFor what_for : {EvictFor::kPriority, EvictFor::kShare}) in_vain_.Note(what_for, a);
  in_vain_.RoomTaken();
  EXPECT_TRUE(in_vain_.Knows(EvictFor::kPriority, a));
  EXPECT_FALSE(in_vain_.Knows(EvictFor::kShare, a));
  in_vain_.RoomFreed();
  EXPECT_FALSE(in_vain_.Knows(EvictFor::kPriority, a));
}

}  // namespace
}  // namespace gangway::gang
