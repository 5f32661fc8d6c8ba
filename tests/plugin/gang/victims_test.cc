// What of a gang may go now, and what of its disruption budget is left beside those who go already.
#include "plugin/gang/victims.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/plugin/gang/world.h"
#include "tests/plugin/model/cluster_builder.h"

namespace gangway::gang {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testutil::At;

struct VictimsTest : testutil::World, ::testing::Test {
  VictimsTest() {
    testutil::AddNodes(cluster, 1);
    cluster.SetGang(testutil::Gang("g", 2));
  }
  void Runs(int index, std::int64_t milli = 1000, bool evictable = true, absl::Time started = absl::InfinitePast()) {
    model::PodFacts pod = testutil::Pod("g", "w", index, testutil::Cpu(milli));
    pod.node = "node-000";
    pod.phase = model::PodPhase::kRunning;
    pod.evictable = evictable;
    pod.started = started;
    pod.labels = {{"app", "a"}};
    cluster.SetPod(pod);
  }
  model::GangId gang() const { return cluster.FindGang("default", "g"); }
  std::vector<std::string> NamesOf(const std::vector<Bundle>& bundles) const {
    std::vector<std::string> names;
    for (const Bundle& bundle : bundles) {
      for (const model::TaskId task : bundle.tasks) names.push_back(cluster.task(task).name);
    }
    return names;
  }
};

TEST_F(VictimsTest, TheLastInOrderAreBeyondTheMinimumEachForItself) {
  for (int i = 0; i < 4; ++i) Runs(i);
  const QueueTree tree(cluster);
  Victims victims(cluster, tree, policy, At(10));
  const std::vector<Bundle> surplus = victims.Surplus(gang(), false);
  EXPECT_THAT(NamesOf(surplus), ElementsAre("g-w-3", "g-w-2"));
  EXPECT_EQ(surplus.size(), 2u);
  const std::optional<Bundle> whole = victims.Whole(gang(), false);
  ASSERT_TRUE(whole.has_value());
  EXPECT_TRUE(whole->whole);
  EXPECT_THAT(NamesOf({*whole}), ElementsAre("g-w-0", "g-w-1", "g-w-2", "g-w-3"));
}

TEST_F(VictimsTest, OneThatMayNotGoKeepsTheWholeGangAndNotItsSurplus) {
  Runs(0, 1000, /*evictable=*/false);
  for (int i = 1; i < 4; ++i) Runs(i);
  const QueueTree tree(cluster);
  Victims victims(cluster, tree, policy, At(10));
  EXPECT_THAT(NamesOf(victims.Surplus(gang(), false)), ElementsAre("g-w-3", "g-w-2"));
  EXPECT_FALSE(victims.Whole(gang(), false).has_value());
}

TEST_F(VictimsTest, WhoGoesByWhatWasDecidedIsNeitherSurplusNorKeepsAnybodyInTheMinimum) {
  for (int i = 0; i < 4; ++i) Runs(i);
  const QueueTree tree(cluster);
  Victims victims(cluster, tree, policy, At(10));
  victims.Evict({cluster.FindTask("default", "g-w-3")});
  EXPECT_THAT(NamesOf(victims.Surplus(gang(), false)), ElementsAre("g-w-2"));
  victims.Evict({cluster.FindTask("default", "g-w-0")});
  EXPECT_THAT(victims.Surplus(gang(), false), IsEmpty());
  const std::optional<Bundle> whole = victims.Whole(gang(), false);
  ASSERT_TRUE(whole.has_value());
  EXPECT_THAT(NamesOf({*whole}), ElementsAre("g-w-1", "g-w-2"));
}

TEST_F(VictimsTest, WhatABundleHoldsIsTheSumOfItsPods) {
  for (int i = 0; i < 3; ++i) Runs(i, 1000 * (i + 1));
  const QueueTree tree(cluster);
  Victims victims(cluster, tree, policy, At(10));
  const std::vector<Bundle> surplus = victims.Surplus(gang(), false);
  ASSERT_EQ(surplus.size(), 1u);
  EXPECT_EQ(surplus[0].amounts[model::kCpu], 3000);
  EXPECT_EQ(victims.Whole(gang(), false)->amounts[model::kCpu], 6000);
  EXPECT_EQ(victims.Whole(gang(), false)->amounts[model::kPods], 3);
}

TEST_F(VictimsTest, AWholeGangIsWhatIsLeftOfItEachTimeItIsAskedFor) {
  for (int i = 0; i < 3; ++i) Runs(i);
  const QueueTree tree(cluster);
  Victims victims(cluster, tree, policy, At(10));
  EXPECT_EQ(victims.Whole(gang(), false)->tasks.size(), 3u);
  EXPECT_FALSE(victims.Whole(gang(), true).has_value()) << "for whoever asks for nothing it is another question";
  victims.Evict({cluster.FindTask("default", "g-w-2")});
  EXPECT_THAT(NamesOf({*victims.Whole(gang(), false)}), ElementsAre("g-w-0", "g-w-1"));
  EXPECT_EQ(victims.Whole(gang(), false)->amounts[model::kPods], 2);
  victims.Evict({cluster.FindTask("default", "g-w-0"), cluster.FindTask("default", "g-w-1")});
  EXPECT_FALSE(victims.Whole(gang(), false).has_value());
}

TEST_F(VictimsTest, ThoseThatAskForNothingGoAloneForOnesThatAskForNothing) {
  for (int i = 0; i < 3; ++i) Runs(i);
  Runs(3, 0);
  model::PodFacts nothing = testutil::Pod("g", "w", 3, model::Wants{});
  nothing.wants.requests = {{"pods", 1}};
  nothing.node = "node-000";
  nothing.phase = model::PodPhase::kRunning;
  cluster.SetPod(nothing);
  const QueueTree tree(cluster);
  Victims victims(cluster, tree, policy, At(10));
  EXPECT_THAT(NamesOf(victims.Surplus(gang(), true)), ElementsAre("g-w-3"));
  EXPECT_FALSE(victims.Whole(gang(), true).has_value());
}

TEST_F(VictimsTest, AMinimumRuntimeSaysWhenToLookAgain) {
  model::QueueFacts queue = testutil::Queue("default");
  queue.min_runtime = absl::Minutes(10);
  cluster.SetQueue(queue);
  for (int i = 0; i < 3; ++i) Runs(i, 1000, true, At(5));
  const QueueTree tree(cluster);
  Victims early(cluster, tree, policy, At(10));
  EXPECT_FALSE(early.Whole(gang(), false).has_value());
  EXPECT_THAT(early.Surplus(gang(), false), IsEmpty()) << "nor what is beyond its minimum";
  EXPECT_EQ(early.look_again(), At(605));
  Victims late(cluster, tree, policy, At(605));
  EXPECT_TRUE(late.Whole(gang(), false).has_value());
  EXPECT_THAT(NamesOf(late.Surplus(gang(), false)), ElementsAre("g-w-2"));
  EXPECT_EQ(late.look_again(), absl::InfiniteFuture());
}

TEST_F(VictimsTest, WithoutAMinimumRuntimeAStartByAClockThatIsAheadProtectsNobody) {
  for (int i = 0; i < 3; ++i) Runs(i, 1000, true, At(100));
  const QueueTree tree(cluster);
  Victims victims(cluster, tree, policy, At(10));
  EXPECT_TRUE(victims.Whole(gang(), false).has_value());
}

TEST_F(VictimsTest, ABudgetConcernsThoseItSelects) {
  for (int i = 0; i < 2; ++i) Runs(i);
  const QueueTree tree(cluster);
  const Victims victims(cluster, tree, policy, At(10));
  const std::vector<model::TaskId> both = cluster.gang(gang()).tasks;
  cluster.SetBudget({"default", "of-others", {{"app", model::Op::kIn, {"b"}}}, 0});
  EXPECT_TRUE(victims.WithinBudgets(both));
  model::PodFacts other = testutil::Pod("g", "w", 1, testutil::Cpu(1000));
  other.node = "node-000";
  other.phase = model::PodPhase::kRunning;
  other.labels = {{"app", "b"}};
  cluster.SetPod(other);
  EXPECT_FALSE(victims.WithinBudgets(both));
}

TEST_F(VictimsTest, ABudgetIsUsedByThoseThatAreCounted) {
  for (int i = 0; i < 4; ++i) Runs(i);
  cluster.SetBudget({"default", "b", {{"app", model::Op::kIn, {"a"}}}, 2});
  const QueueTree tree(cluster);
  Victims victims(cluster, tree, policy, At(10));
  const auto task = [&](int index) { return cluster.FindTask("default", absl::StrCat("g-w-", index)); };
  EXPECT_TRUE(victims.WithinBudgets({task(0), task(1)}));
  EXPECT_FALSE(victims.WithinBudgets({task(0), task(1), task(2)}));
  victims.Count({task(3)}, 1);
  EXPECT_FALSE(victims.WithinBudgets({task(0), task(1)}));
  victims.Count({task(3)}, -1);
  EXPECT_TRUE(victims.WithinBudgets({task(0), task(1)}));
}

}  // namespace
}  // namespace gangway::gang
