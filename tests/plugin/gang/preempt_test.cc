// Rows of tests/spec/volcano-scheduler.rows about preemption, as decisions about a cluster.
#include "plugin/gang/evict.h"

#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/plugin/gang/evict_world.h"
#include "tests/plugin/model/cluster_builder.h"

namespace gangway::gang {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testutil::Amounts;
using testutil::EvictTest;

// ---- 9.5 preempt

TEST_F(EvictTest, P1TheRestOfAJobEvictsNobody) {
  Node("n1", Amounts(2000));
  Group("pg1", "high", 2);
  for (const char* name : {"p-0", "p-1"}) Runs("pg1", name, Amounts(1000), "n1");
  Waits("pg1", "p-2", Amounts(1000));
  EXPECT_THAT(Evicted(), IsEmpty());
}

TEST_F(EvictTest, P2NorDoesWhoHasItsMinimum) {
  Node("n1", Amounts(3000));
  Group("pg1", "low", 1);
  for (const char* name : {"a-0", "a-1"}) Runs("pg1", name, Amounts(1000), "n1");
  Group("pg2", "high", 1);
  Runs("pg2", "b-0", Amounts(1000), "n1");
  Waits("pg2", "b-1", Amounts(1000));
  EXPECT_THAT(Evicted(), IsEmpty());
}

TEST_F(EvictTest, P3OnlyWhoMayGo) {
  Node("n1", Amounts(2000));
  Group("pg1", "low", 1);
  Runs("pg1", "#1", Amounts(1000), "n1");
  Runs("pg1", "#2", Amounts(1000), "n1", false);
  Group("pg2", "high", 1);
  for (const char* name : {"h-0", "h-1"}) Waits("pg2", name, Amounts(1000));
  EXPECT_THAT(Evicted(), ElementsAre("#1"));
}

TEST_F(EvictTest, P4SeveralForOne) {
  Node("n1", Amounts(6000));
  Group("pg1", "low", 1);
  for (const char* name : {"#1", "#2"}) Runs("pg1", name, Amounts(1000), "n1");
  Runs("pg1", "#3", Amounts(1000), "n1", false);
  OneWaits("high", "high", "default", Amounts(5000));
  EXPECT_THAT(Evicted(), ElementsAre("#1", "#2"));
}

TEST_F(EvictTest, P5P6WhereTheQueueIsFull) {
  Node("n1", Amounts(12000));
  Queue("q", {}, Amounts(4000));
  Group("pg1", "low", 0, "q");
  Runs("pg1", "#1", Amounts(3000), "n1");
  OneWaits("high", "high", "q", Amounts(3000));
  EXPECT_THAT(Evicted(), ElementsAre("#1"));
  Queue("q", {}, Amounts(6000));
  EXPECT_THAT(Evicted(), IsEmpty());
}

TEST_F(EvictTest, P7ThePriorityOfTheGangCounts) {
  Node("n1", Amounts(12000));
  Queue("q", {}, Amounts(3000));
  Group("pg1", "low", 1, "q");
  Runs("pg1", "#1", Amounts(1000), "n1", false);
  Runs("pg1", "#2", Amounts(1000), "n1");
  model::PodFacts third = PodOf("pg1", "#3", Amounts(1000), "n1");
  third.priority = 100;
  cluster.SetPod(third);
  OneWaits("high", "high", "q", Amounts(1000));
  EXPECT_THAT(Evicted(), ElementsAre("#2"));
}

TEST_F(EvictTest, P8P9WhereThereIsNoPlaceForMorePods) {
  Node("n1", Amounts(12000), 1);
  Group("pg1", "low", 0);
  Runs("pg1", "#1", {}, "n1");
  OneWaits("high", "high", "default", Amounts(3000));
  EXPECT_THAT(Evicted(), ElementsAre("#1"));
  cluster.SetPod(PodOf("high", "high", {}));
  EXPECT_THAT(Evicted(), ElementsAre("#1"));
  cluster.SetPod(PodOf("pg1", "#1", Amounts(1000), "n1"));
  EXPECT_THAT(Evicted(), IsEmpty());  // who asks for nothing evicts nobody who does
}

TEST_F(EvictTest, P10R4PolicyNever) {
  Node("n1", Amounts(1000));
  Queue("q2");
  OneRuns("low", "low", "default", Amounts(1000), "n1");
  Group("high", "high", 1);
  model::PodFacts high = PodOf("high", "high", Amounts(1000));
  high.preempts = false;
  cluster.SetPod(high);
  Group("other", "low", 1, "q2");
  model::PodFacts other = PodOf("other", "other", Amounts(1000));
  other.preempts = false;
  cluster.SetPod(other);
  EXPECT_THAT(Evicted(), IsEmpty());
  high.preempts = true;
  cluster.SetPod(high);
  cluster.SetPriorityClass({"high", 100, false, /*preempts=*/false});
  EXPECT_THAT(Evicted(), IsEmpty());
}

TEST_F(EvictTest, P11WhatTheQueueNeverHolds) {
  Node("n1", Amounts(10000));
  Queue("q", {}, Amounts(3000));
  Group("pg1", "low", 1, "q");
  for (const char* name : {"#1", "#2"}) Runs("pg1", name, Amounts(1000), "n1");
  OneWaits("high", "high", "q", Amounts(4000));
  EXPECT_THAT(Evicted(), IsEmpty());
}

TEST_F(EvictTest, P12WhoHelpsBothTheNodeAndTheQueue) {
  Node("n1", Amounts(3000));
  Node("n2", Amounts(4000));
  Queue("q", {}, Amounts(6000));
  Group("pg1", "low", 0, "q");
  Runs("pg1", "a", Amounts(1000), "n1");
  Group("pg3", "low", 0, "q");
  Runs("pg3", "b", Amounts(4000), "n2");
  OneWaits("high", "high", "q", Amounts(3000));
  EXPECT_THAT(Evicted(), ElementsAre("b"));
}

TEST_F(EvictTest, P13OnlyInItsQueue) {
  Node("n1", Amounts(2000));
  Queue("q1");
  Queue("q2", {}, Amounts(4000));
  OneRuns("a", "low", "q1", Amounts(1000), "n1");
  Group("pg2", "low", 0, "q2");
  Runs("pg2", "b", Amounts(1000), "n1");
  OneWaits("high", "high", "q2", Amounts(1000));
  EXPECT_THAT(Evicted(), ElementsAre("b"));
}

TEST_F(EvictTest, P14P16WhoStandsInTheWayThoughThereIsRoom) {
  Node("n1", Amounts(2000), 2);
  Group("pg1", "low", 0);
  Runs("pg1", "#1", Amounts(500), "n1");
  model::PodFacts second = PodOf("pg1", "#2", Amounts(500), "n1");
  second.labels = {{"app", "rival"}};
  second.priority = 7;
  cluster.SetPod(second);
  Node("n1", Amounts(2000), 3);
  Group("high", "high", 1);
  model::PodFacts high = PodOf("high", "high", Amounts(1000));
  high.wants.pod_anti_affinity = {
      {"kubernetes.io/hostname", {{"default"}, std::nullopt, {{"app", model::Op::kIn, {"rival"}}}}}};
  cluster.SetPod(high);
  EXPECT_THAT(Evicted(), ElementsAre("#2"));
}

TEST_F(EvictTest, P17NotWhoHasTheSamePriority) {
  Node("n1", Amounts(2000), 2);
  Queue("q1", Amounts(1000), Amounts(1000), "", 1);
  Queue("q2", Amounts(1000), Amounts(1000), "", 10);
  OneRuns("#1", "low", "q1", Amounts(1000), "n1");
  OneRuns("#2", "high", "q2", Amounts(1000), "n1");
  OneWaits("high", "high", "q1", Amounts(1000));
  EXPECT_THAT(Evicted(), ElementsAre("#1"));
}

TEST_F(EvictTest, P18OnlyWhenAsked) {
  Node("n1", Amounts(1000));
  OneRuns("low", "low", "default", Amounts(1000), "n1");
  OneWaits("high", "high", "default", Amounts(1000));
  EXPECT_THAT(Evicted(), ElementsAre("low"));
  policy.preempt = false;
  EXPECT_THAT(Evicted(), IsEmpty());
}

}  // namespace
}  // namespace gangway::gang
