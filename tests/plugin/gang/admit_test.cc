// Who is let in, and who is refused by a queue.
#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/plugin/gang/world.h"

namespace gangway::gang {
namespace {

using model::Decision;
using model::PodFacts;
using model::Reason;
using ::testing::ElementsAre;
using testutil::AddGang;
using testutil::AddNodes;
using testutil::Cpu;
using testutil::Gang;
using testutil::Pod;
using testutil::Queue;
using testutil::World;

model::GangFacts Asking(const std::string& name, std::int64_t milli) {
  model::GangFacts gang = Gang(name, 1);
  gang.phase = model::GangPhase::kPending;
  gang.has_min_resources = true;
  gang.min_resources = {{"cpu", milli}};
  return gang;
}
PodFacts Running(PodFacts pod, const std::string& node) {
  pod.node = node;
  pod.phase = model::PodPhase::kRunning;
  return pod;
}

TEST(AdmitTest, AQueueOverItsLimitRefusesOnlyWhatIsAskedOfIt) {
  World w;
  AddNodes(w.cluster, 1);
  AddGang(w.cluster, "holds", 1, 0, 0);
  w.cluster.SetPod(Running(Pod("holds", "w", 0, Cpu(1000)), "node-000"));
  model::QueueFacts queue = Queue("default");
  queue.capability = {{"memory", 1}};
  w.cluster.SetQueue(queue);
  w.cluster.SetGang(Gang("g", 1));
  model::Wants wants;
  wants.requests = {{"cpu", 1000}, {"pods", 1}};
  w.cluster.SetPod(Pod("g", "w", 0, wants));
  EXPECT_EQ(w.Placed().size(), 1u);
  w.cluster.SetGang(Asking("asks", 1000));
  EXPECT_TRUE(w.Of("asks").admit);
}

// It would be let in, and wait for another reason; and no queue keeps what becomes free for it.
TEST(AdmitTest, AFieldThatNobodyKnowsIsToldBeforeTheSumsThatRefuse) {
  World w;
  AddNodes(w.cluster, 1);
  model::Wants wants = Cpu(1000);
  wants.not_modelled = "spec.containers[0].resources.limits[volcano.sh/vgpu-number]";
  w.cluster.SetGang(Asking("g", 1000000));
  w.cluster.SetPod(Pod("g", "w", 0, wants));
  EXPECT_THAT(model::Render(*w.Of("g").reason), ::testing::HasSubstr("resources.limits[volcano.sh/vgpu-number] asks"));
  w.cluster.SetPod(Pod("g", "w", 1, Cpu(1000)));
  EXPECT_THAT(model::Render(*w.Of("g").reason), ::testing::HasSubstr("needs cpu 1000"))
      << "the others are enough for its minimum";
}

TEST(AdmitTest, WhatNoNodeHasIsToldSo) {
  World w;
  AddNodes(w.cluster, 1);
  model::GangFacts gang = Asking("g", 1000);
  gang.min_resources = {{"example.com/fpga", 2}};
  w.cluster.SetGang(gang);
  EXPECT_EQ(model::Render(*w.Of("g").reason),
            "waits for 1 of 1 task: needs example.com/fpga 2, which no node of the cluster has");
}

// As much as their pods that are still to come would take; what the quota itself counts is of those that are there.
TEST(AdmitTest, QuotasOfTheirNamespaceLetGangsInOneAfterTheOther) {
  World w;
  AddNodes(w.cluster, 2);
  w.policy.admit_by_quotas = true;
  w.cluster.SetQuota({"default", "q", {{"count/pods", 100, 0}, {"requests.cpu", 8000, 2000}}});
  for (const auto& [name, milli] : {std::pair("a", 4000), {"b", 3000}, {"c", 2000}}) {
    model::GangFacts gang = Asking(name, 1000);
    gang.min_member = 2;
    gang.quota_asks = {{"requests.cpu", milli}};
    w.cluster.SetGang(gang);
  }
  EXPECT_TRUE(w.Of("a").admit);
  EXPECT_EQ(model::Render(*w.Of("b").reason),
            "waits for 2 of 2 tasks: needs requests.cpu 3, quota q uses 2 of 8, 4 more are promised to gangs let in "
            "before, 1 too many");
  EXPECT_TRUE(w.Of("c").admit) << "it asks for what is left";
  w.cluster.SetPod(Pod("b", "w", 0, Cpu(1500)));
  EXPECT_TRUE(w.Of("b").admit) << "half of it is there";
  EXPECT_FALSE(w.Of("c").admit);
  w.cluster.RemoveQuota("default", "q");
  EXPECT_TRUE(w.Of("c").admit);
}

// ---- who waits for long

// 10 cpus, of which 9 are held, so that the sums leave room for 3 more.
struct ByAgeTest : World, ::testing::Test {
  ByAgeTest() {
    AddNodes(cluster, 1, 10);
    AddGang(cluster, "holds", 1, 0, 0);
    cluster.SetPod(Running(Pod("holds", "w", 0, Cpu(9000)), "node-000"));
    model::QueueFacts other = Queue("other");
    cluster.SetQueue(other);
  }
  void Asks(const std::string& name, int cpus, int second, const std::string& queue = "default") {
    model::GangFacts gang = Asking(name, cpus * 1000);
    gang.created = testutil::At(second);
    gang.queue = queue;
    cluster.SetGang(gang);
  }
  // After so many seconds, in order.
  std::vector<std::string> LetIn(int second) {
    Scratch scratch;
    std::vector<std::string> names;
    for (const Decision& decision : Schedule(cluster, policy, testutil::At(second), scratch)) {
      if (decision.admit) names.push_back(cluster.gang(decision.gang).name);
    }
    return names;
  }
  void IsLetIn(const std::string& name, int cpus, int second) {
    Asks(name, cpus, second);
    model::GangFacts gang = Asking(name, cpus * 1000);
    gang.created = testutil::At(second);
    gang.phase = model::GangPhase::kInqueue;
    cluster.SetGang(gang);
  }
};

TEST_F(ByAgeTest, WhoWaitsForAMinuteIsLetInThoughTheSumsRefuseIt) {
  Asks("large", 8, 0);
  EXPECT_THAT(LetIn(59), ElementsAre());
  EXPECT_THAT(LetIn(60), ElementsAre("large"));
  Scratch scratch;
  const model::Decisions before = Schedule(cluster, policy, testutil::At(59), scratch);
  ASSERT_EQ(before.size(), 1u);
  EXPECT_EQ(before.front().look_again, testutil::At(60));
  policy.keeps_for = absl::ZeroDuration();
  EXPECT_THAT(LetIn(60), ElementsAre());
}

// 8 and 6 are more than 12; the small one would be let in beside, and waits for its turn.
TEST_F(ByAgeTest, NoMoreThanTheSumsAllowAndNobodyBeforeWhoIsEarlier) {
  Asks("large", 8, 0);
  Asks("second", 6, 1);
  Asks("third", 4, 2);
  EXPECT_THAT(LetIn(100), ElementsAre("large"));
  IsLetIn("large", 8, 0);
  EXPECT_THAT(LetIn(100), ElementsAre());
}

TEST_F(ByAgeTest, WhoNeverFitsHoldsNobodyUp) {
  Asks("huge", 11, 0);
  Asks("large", 8, 1);
  EXPECT_THAT(LetIn(100), ElementsAre("large"));
}

// Its nodes were kept for an hour, in vain.
TEST_F(ByAgeTest, WhoWasLetInLongAgoCountsNoMore) {
  IsLetIn("first", 8, 0);
  Asks("large", 8, 1);
  EXPECT_THAT(LetIn(60 + 3599), ElementsAre());
  EXPECT_THAT(LetIn(60 + 3600), ElementsAre("large"));
}

TEST_F(ByAgeTest, ACapabilityIsKept) {
  model::QueueFacts small = Queue("other");
  small.capability = {{"cpu", 7000}};
  cluster.SetQueue(small);
  Asks("large", 8, 0, "other");
  Asks("next", 8, 1);
  EXPECT_THAT(LetIn(100), ElementsAre("next"));
}

// Else smaller ones would pass it for ever.
TEST_F(ByAgeTest, ThenNodesAreKeptForIt) {
  IsLetIn("large", 8, 0);
  cluster.SetPod(Pod("large", "w", 0, Cpu(8000)));
  Scratch scratch;
  const model::Decisions decisions = Schedule(cluster, policy, testutil::At(100), scratch);
  EXPECT_TRUE(std::any_of(decisions.begin(), decisions.end(),
                          [](const Decision& decision) { return decision.kept.has_value(); }));
}

// Its bindings were sent, and who sent them died before the phase was written: others have the room by now.
TEST(AdmitTest, AGangOfWhichPodsHaveNodesWasLetIn) {
  World w;
  AddNodes(w.cluster, 1, 2);
  model::GangFacts begun = Asking("begun", 3000);
  begun.min_member = 2;
  w.cluster.SetGang(begun);
  w.cluster.SetPod(Pod("begun", "w", 1, Cpu(1000)));
  EXPECT_FALSE(w.Of("begun").admit) << "3 is more than the 2.4 that may be let in";
  w.cluster.SetPod(Running(Pod("begun", "w", 0, Cpu(500)), "node-000"));
  const Decision decision = w.Of("begun");
  EXPECT_TRUE(decision.admit);
  EXPECT_EQ(decision.placements.size(), 1u);
}

TEST(AdmitTest, ThatAQueueIsClosedIsSaidBeforeWhatWeDoNotKnowOfIt) {
  World w;
  AddNodes(w.cluster, 1);
  model::QueueFacts queue = Queue("default");
  queue.open = false;
  queue.not_modelled = "spec.affinity";
  w.cluster.SetQueue(queue);
  AddGang(w.cluster, "g", 3, 3, 1000);
  w.cluster.SetPod(Running(Pod("g", "w", 0, Cpu(1000)), "node-000"));
  EXPECT_EQ(model::Render(*w.Of("g").reason), "waits for 2 of 3 tasks: queue default is closed");
}

TEST(AdmitTest, WhatAGangHoldsIsNotAskedForAgain) {
  World w;
  AddNodes(w.cluster, 1);
  w.cluster.SetGang(Asking("g", 12'000));
  w.cluster.SetPod(Running(Pod("g", "w", 0, Cpu(8000)), "node-000"));
  EXPECT_TRUE(w.Of("g").admit);
}

// 120 % of 1099 is 1318.8.
TEST(AdmitTest, TheCeilingIsRoundedDown) {
  World w;
  model::NodeFacts node = testutil::Node("n");
  node.allocatable = {{"cpu", 1099}, {"pods", 110}};
  w.cluster.SetNode(node);
  w.cluster.SetGang(Asking("g", 1319));
  const Decision decision = w.Of("g");
  ASSERT_TRUE(decision.reason.has_value());
  EXPECT_EQ(decision.reason->kind, Reason::Kind::kClusterFull);
  EXPECT_THAT(decision.reason->sums, ElementsAre(model::SumLack{"cpu", 1319, 1318, 0, 1099}));
}

TEST(AdmitTest, WhoKnowsWhyIsNotToldByHowMuch) {
  World w;
  AddNodes(w.cluster, 1);  // 16 cpu, so 19.2
  model::QueueFacts queue = Queue("small");
  queue.capability = {{"cpu", 1000}};
  w.cluster.SetQueue(queue);
  w.cluster.SetGang(Asking("too-large", 20'000));
  model::GangFacts gang = Asking("in-small", 2000);
  gang.queue = "small";
  w.cluster.SetGang(gang);
  const auto of = [&](const std::string& name, Reason::Kind told) {
    Scratch scratch;
    for (const Decision& decision : Schedule(w.cluster, w.policy, testutil::At(10), scratch,
                                             [&](model::GangId, Reason::Kind kind) { return kind == told; })) {
      if (w.cluster.gang(decision.gang).name == name) return decision;
    }
    return Decision();
  };
  for (const auto& [name, kind, other] :
       {std::tuple("too-large", Reason::Kind::kClusterFull, Reason::Kind::kQueueFull),
        std::tuple("in-small", Reason::Kind::kQueueFull, Reason::Kind::kClusterFull)}) {
    SCOPED_TRACE(name);
    const Decision known = of(name, kind);
    ASSERT_TRUE(known.reason.has_value());
    EXPECT_EQ(known.reason->kind, kind);
    EXPECT_THAT(known.reason->sums, ::testing::IsEmpty());
    EXPECT_TRUE(known.short_of_minimum);
    EXPECT_EQ(of(name, other), w.Of(name)) << "who knows something else is told";
    EXPECT_EQ(w.Of(name).reason->sums.size(), 1u);
  }
}

// Each of two queues may have all there is; together they may have 120 % of it.
TEST(AdmitTest, WhatIsPlacedAndWhatIsLetInCountsForTheCluster) {
  World w;
  AddNodes(w.cluster, 2);  // 32 cpu, so 38.4
  w.cluster.SetQueue(Queue("other"));
  model::GangFacts runs = Gang("runs", 1);
  runs.queue = "other";
  w.cluster.SetGang(runs);
  w.cluster.SetPod(Running(Pod("runs", "w", 0, Cpu(6000)), "node-000"));
  AddGang(w.cluster, "starts", 1, 1, 5000);
  model::GangFacts awaited = Asking("awaited", 4000);
  awaited.phase = model::GangPhase::kInqueue;
  awaited.queue = "other";
  w.cluster.SetGang(awaited);
  w.cluster.SetGang(Asking("g", 23'400));
  EXPECT_TRUE(w.Of("g").admit);
  w.cluster.SetGang(Asking("g", 23'401));
  EXPECT_THAT(w.Of("g").reason->sums, ElementsAre(model::SumLack{"cpu", 23'401, 38'400, 15'000, 32'000, 4000}));
}

TEST(AdmitTest, WhatIsPlacedAndWhatIsLetInCountsForTheQueue) {
  World w;
  AddNodes(w.cluster, 2);
  model::QueueFacts queue = Queue("default");
  queue.capability = {{"cpu", 10'000}};
  w.cluster.SetQueue(queue);
  AddGang(w.cluster, "starts", 1, 1, 3000);
  model::GangFacts awaited = Asking("awaited", 4000);
  awaited.phase = model::GangPhase::kInqueue;
  w.cluster.SetGang(awaited);
  w.cluster.SetGang(Asking("g", 3000));
  EXPECT_TRUE(w.Of("g").admit);
  w.cluster.SetGang(Asking("g", 3001));
  EXPECT_EQ(w.Of("g").reason->kind, Reason::Kind::kQueueFull);
  EXPECT_THAT(w.Of("g").reason->sums, ElementsAre(model::SumLack{"cpu", 3001, 10'000, 7000, 0, 4000}));
}

// All of them together: with both its queue has what it deserves, with one of them not.
TEST(AdmitTest, WhoAwaitsPodsCountsForTheTurnOfItsQueue) {
  World w;
  AddNodes(w.cluster, 1, 4);
  model::QueueFacts first = Queue("first");
  first.priority = 10;
  w.cluster.SetQueue(first);
  w.cluster.SetQueue(Queue("second"));
  const auto add = [&](const std::string& name, const std::string& queue, int milli, model::GangPhase phase) {
    model::GangFacts gang = Asking(name, milli);
    gang.queue = queue;
    gang.phase = phase;
    w.cluster.SetGang(gang);
  };
  add("awaited-1", "first", 1000, model::GangPhase::kInqueue);
  add("awaited-2", "first", 1000, model::GangPhase::kInqueue);
  add("next", "first", 1000, model::GangPhase::kPending);
  add("other", "second", 2000, model::GangPhase::kPending);
  EXPECT_TRUE(w.Of("other").admit);
  EXPECT_FALSE(w.Of("next").admit);
  w.cluster.RemoveGang("default", "awaited-1");
  EXPECT_TRUE(w.Of("next").admit);
}

TEST(AdmitTest, OfQueuesThatHoldAsMuchTheElderIsServedFirst) {
  World w;
  AddNodes(w.cluster, 1, 1);
  model::QueueFacts young = Queue("a"), old = Queue("b");
  young.created = testutil::At(-1);
  old.created = testutil::At(-2);
  for (const model::QueueFacts& queue : {young, old}) {
    w.cluster.SetQueue(queue);
    model::GangFacts gang = Gang("of-" + queue.name, 1);
    gang.queue = queue.name;
    w.cluster.SetGang(gang);
    w.cluster.SetPod(Pod(gang.name, "w", 0, Cpu(1000)));
  }
  EXPECT_THAT(w.Placed(), ElementsAre(::testing::Pair("of-b-w-0", "node-000")));
}

TEST(AdmitTest, AQueueThatHoldsLessIsServedBeforeAnElder) {
  World w;
  AddNodes(w.cluster, 1, 2);
  model::QueueFacts young = Queue("a"), old = Queue("b");
  old.created = testutil::At(-200);
  for (const model::QueueFacts& queue : {young, old}) {
    w.cluster.SetQueue(queue);
    model::GangFacts gang = Gang("of-" + queue.name, 1);
    gang.queue = queue.name;
    w.cluster.SetGang(gang);
    w.cluster.SetPod(Pod(gang.name, "w", 0, Cpu(1000)));
  }
  model::GangFacts holds = Gang("holds", 1);
  holds.queue = "b";
  w.cluster.SetGang(holds);
  w.cluster.SetPod(Running(Pod("holds", "w", 0, Cpu(1000)), "node-000"));
  EXPECT_THAT(w.Placed(), ElementsAre(::testing::Pair("of-a-w-0", "node-000")));
}

TEST(AdmitTest, ACircleOfAllQueuesIsNobodysTree) {
  World w;
  AddNodes(w.cluster, 1);
  model::QueueFacts one = Queue("default"), two = Queue("two");
  one.parent = "two";
  two.parent = "default";
  w.cluster.SetQueue(one);
  w.cluster.SetQueue(two);
  AddGang(w.cluster, "g", 1, 1, 1000);
  EXPECT_EQ(w.Placed().size(), 1u);
}

}  // namespace
}  // namespace gangway::gang
