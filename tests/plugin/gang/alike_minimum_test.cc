#include "plugin/gang/alike_minimum.h"

#include <functional>
#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/plugin/gang/world.h"

namespace gangway::gang {
namespace {

using ::testing::ElementsAre;
using testutil::Cpu;
using testutil::Node;
using testutil::Pod;

// One node of 4 cpu, and a gang that needs 3 pods of 2.
class AlikeMinimumTest : public ::testing::Test {
 protected:
  AlikeMinimumTest() {
    w.cluster.SetNode(Node("n", 4));
    w.cluster.SetGang(gang);
    for (int i = 0; i < 4; ++i) w.cluster.SetPod(Pod("g", "w", i, Cpu(2000)));
  }
  const model::Gang& Waiting() const { return w.cluster.gang(w.cluster.FindGang("default", "g")); }
  std::optional<AlikeMinimum> Found() const { return FindAlikeMinimum(Overlay(w.cluster), Waiting()); }
  bool FoundWith(const std::function<void(model::GangFacts&)>& change) {
    model::GangFacts changed = gang;
    change(changed);
    w.cluster.SetGang(changed);
    return Found().has_value();
  }
  bool FoundWith(const std::function<void(model::PodFacts&)>& change) {
    model::PodFacts pod = Pod("g", "w", 3, Cpu(2000));
    change(pod);
    w.cluster.SetPod(pod);
    return Found().has_value();
  }
  const model::GangFacts gang = testutil::Gang("g", 3);
  testutil::World w;
};

TEST_F(AlikeMinimumTest, IsWhatThePodsThatWaitAndTheMinimumSay) {
  ASSERT_TRUE(Found().has_value());
  EXPECT_EQ(Found()->shape, w.cluster.task(Waiting().tasks.front()).shape);
  EXPECT_EQ(Found()->count, 3);
  model::PodFacts bound = Pod("g", "w", 0, Cpu(1000));  // how others were does not matter
  bound.node = "n";
  bound.phase = model::PodPhase::kRunning;
  w.cluster.SetPod(bound);
  ASSERT_TRUE(Found().has_value());
  EXPECT_EQ(Found()->count, 2);
}

TEST_F(AlikeMinimumTest, WhatAsksForMoreIsNotAlike) {
  EXPECT_TRUE(FoundWith([](model::GangFacts&) {}));
  EXPECT_FALSE(FoundWith([](model::GangFacts& g) { g.min_member = 5; })) << "too few pods";
  EXPECT_FALSE(FoundWith([](model::GangFacts& g) { g.min_member = 0; })) << "it has its minimum";
  EXPECT_FALSE(FoundWith([](model::GangFacts& g) { g.min_task_member = {{"w", 1}}; }));
  EXPECT_FALSE(FoundWith([](model::GangFacts& g) { g.sub_groups = {testutil::SubGroupsOfTask("w", 2, 1)}; }));
  EXPECT_FALSE(FoundWith([](model::GangFacts& g) { g.topology = model::TopologyFacts{true, 1, ""}; }));
  EXPECT_FALSE(FoundWith([](model::GangFacts& g) { g.not_modelled = "spec.x"; }));
  EXPECT_FALSE(FoundWith([](model::GangFacts& g) { g.queue = "nowhere"; }));
  EXPECT_TRUE(FoundWith([](model::GangFacts&) {}));
}

TEST_F(AlikeMinimumTest, PodsThatDifferAreNotAlike) {
  EXPECT_TRUE(FoundWith([](model::PodFacts&) {}));
  EXPECT_FALSE(FoundWith([](model::PodFacts& pod) { pod.wants = Cpu(1000); }));
  EXPECT_FALSE(FoundWith([](model::PodFacts& pod) { pod.ours = false; }));
  EXPECT_FALSE(FoundWith([](model::PodFacts& pod) { pod.gated = true; }));
  EXPECT_FALSE(FoundWith([](model::PodFacts& pod) { pod.nominated = "n"; }));
  EXPECT_FALSE(FoundWith([](model::PodFacts& pod) { pod.wants.claims = {"default/c"}; }));
}

TEST_F(AlikeMinimumTest, WhereQueuesHaveLimitsTheyMayBeInTheWayFirst) {
  model::QueueFacts queue = testutil::Queue("default");
  queue.capability = {{"cpu", 1000}};
  w.cluster.SetQueue(queue);
  EXPECT_FALSE(Found().has_value());
  EXPECT_EQ(w.Of("g").reason->kind, model::Reason::Kind::kQueueFull);
}

TEST_F(AlikeMinimumTest, WhoHasNoRoomIsToldHowManyPodsOfItHave) {
  const model::Decision decision = w.Of("g");
  ASSERT_TRUE(decision.reason.has_value());
  EXPECT_EQ(model::Render(*decision.reason),
            "waits for 1 of 3 tasks: w needs cpu 2; with 2 placed, 1 node has 0 free, 0 fit");
  EXPECT_TRUE(decision.short_of_minimum);
  const model::Cluster& cluster = w.cluster;
  EXPECT_THAT(decision.would_fit,
              ElementsAre(cluster.FindTask("default", "g-w-0"), cluster.FindTask("default", "g-w-1")));
}

}  // namespace
}  // namespace gangway::gang
