#include "plugin/explain/explain.h"

#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plugin/gang/carry_out.h"
#include "plugin/gang/schedule.h"
#include "plugin/model/reason.h"
#include "tests/plugin/explain/facts_builder.h"

namespace gangway::explain {
namespace {

using model::NamedAmounts;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;
using testutil::At;
using testutil::Cpu;
using testutil::Explained;
using testutil::FactsBuilder;
using testutil::kGi;
using testutil::Queue;

constexpr std::int64_t kMemory = 100'000'000;  // of a pod of the builder

// Eight pods of 9 cpu on six nodes of 16: one on each, two are left.
TEST(ExplainGangTest, AGangThatDoesNotFitTellsOfNodesInNumbers) {
  const Explanation tight = Explained(FactsBuilder().Nodes(6).AddGang("tight", 8, 8, 9000)).Of("tight");
  EXPECT_EQ(tight.state, State::kWaits);
  EXPECT_EQ(tight.sentence.English(),
            "waits for 2 of 8 tasks: w needs cpu 9; with 6 placed, 6 nodes have at most 7 free, 0 fit");
  EXPECT_EQ(tight.min_member, 8);
  EXPECT_EQ(tight.pods, 8);
  EXPECT_EQ(tight.placed, 0);
  EXPECT_EQ(tight.cluster_nodes, 6);
  EXPECT_THAT(tight.asks, ElementsAre(Ask{"w", 8, 0, 0, 0, {{"cpu", 9000}, {"memory", kMemory}}, {}}));
  ASSERT_THAT(tight.nodes, SizeIs(1));
  EXPECT_EQ(tight.nodes[0].pods, 8);
  ASSERT_THAT(tight.nodes[0].groups, SizeIs(1));
  const NodeGroup& group = tight.nodes[0].groups[0];
  EXPECT_EQ(group.obstacle, "");
  EXPECT_EQ(group.words.English(), "have room");
  EXPECT_EQ(group.copies, 6);
  EXPECT_EQ(group.example, "node-000");
  EXPECT_THAT(group.nodes, SizeIs(6));
  EXPECT_THAT(group.amounts,
              ElementsAre(NodeAmount{"cpu", 9000, 16000, 16000}, NodeAmount{"memory", kMemory, 64 * kGi, 64 * kGi}));
  EXPECT_THAT(tight.cluster,
              ElementsAre(ClusterAmount{"cpu", 96000, 0, 0}, ClusterAmount{"memory", 6 * 64 * kGi, 0, 0}));
  EXPECT_THAT(tight.before, IsEmpty());
  EXPECT_THAT(tight.holders, IsEmpty());
  EXPECT_THAT(tight.spots, IsEmpty());
}

// As a Job's PodGroup has it whose own minimum is smaller than those of its tasks.
TEST(ExplainGangTest, AMinimumOfARoleThatDoesNotCountIsNotTold) {
  FactsBuilder builder;
  builder.Nodes(1).AddGang("g", 64, 64, 1000);
  builder.GangOf("g").min_task_member = {{"w", 64}};
  Explained explained(builder);
  ASSERT_THAT(explained.Of("g").asks, SizeIs(1));
  EXPECT_EQ(explained.Of("g").asks[0].min, 64);
  const Explanation one = *explained.trial.ExplainWith({"default", "g"}, {Minimum{1}});
  EXPECT_EQ(one.state, State::kStarts) << "any pod is enough";
  ASSERT_THAT(one.asks, SizeIs(1));
  EXPECT_EQ(one.asks[0].min, 0);
}

// Its queue is below its share, and of those above theirs one may never go, and one not yet.
TEST(ExplainGangTest, WhyNobodyGoesIsTold) {
  FactsBuilder builder;
  builder.Nodes(2).AddGang("a", 1, 1, 16000, 1).AddGang("b", 1, 1, 16000, 1).AddGang("wants", 1, 1, 8000);
  builder.facts.queues.push_back(Queue("lab"));
  builder.facts.queues.back().min_runtime = absl::Minutes(1);
  builder.GangOf("a").queue = builder.GangOf("b").queue = "lab";
  builder.facts.pods[0].evictable = false;
  builder.facts.pods[1].node = "node-001";
  builder.facts.pods[1].started = At(0);
  gang::Policy policy;
  policy.reclaim = true;
  Trial trial(builder.facts, policy, At(10));
  EXPECT_THAT(trial.Explain({"default", "wants"})->sentence.English(),
              ::testing::EndsWith("; queue default holds less than its share, and nobody leaves for it: of 2 gangs in "
                                  "queues above their share 1 may never be evicted, 1 may leave later"));
  builder.facts.pods[0].evictable = true;
  Trial dear(builder.facts, policy, At(10));
  EXPECT_THAT(
      dear.Explain({"default", "wants"})->sentence.English(),
      ::testing::EndsWith("of 2 gangs in queues above their share 1 may leave later, 1 would cost its queue more "
                          "of its share than this one gains"));
}

// What of it runs has a node already, though it was not let in as we do.
TEST(ExplainGangTest, WhoHasItsMinimumStartsAtOnce) {
  FactsBuilder builder;
  builder.Nodes(1).AddGang("part", 1, 2, 12000, 1);
  builder.GangOf("part").phase = model::GangPhase::kPending;
  Explained explained(builder);
  const Outcome outcome = *explained.trial.Try({"default", "part"}, {});
  EXPECT_TRUE(outcome.at_once) << outcome.sentence.English();
  EXPECT_TRUE(outcome.starts);
  EXPECT_FALSE(outcome.complete);
}

TEST(FindQueueTest, AQueueThatIsGoneIsNone) {
  model::Cluster cluster;
  cluster.SetQueue(Queue("ads"));
  EXPECT_NE(FindQueue(cluster, "ads"), model::kNone);
  cluster.RemoveQueue("ads");
  EXPECT_EQ(FindQueue(cluster, "ads"), model::kNone);
  EXPECT_EQ(FindQueue(cluster, ""), model::kNone);
}

// Why nobody goes for one that waits may be a budget of those who hold the room.
TEST(ExplainGangTest, WhoMayNotGoForADisruptionBudgetIsToldOf) {
  FactsBuilder builder;
  builder.Nodes(2).AddGang("holds", 2, 2, 16000, 2).AddGang("wants", 1, 1, 8000);
  const model::RequirementFacts holders{"app", model::Op::kIn, {"holds"}};
  builder.facts.pods[0].labels = builder.facts.pods[1].labels = {{"app", "holds"}};
  builder.facts.budgets = {{"default", "kept", {holders}, 1}, {"other", "away", {holders}, 0}};
  Explained explained(builder);
  ASSERT_THAT(explained.Of("wants").holders, SizeIs(1));
  EXPECT_EQ(explained.Of("wants").holders[0].sentence.English(),
            "runs: 2 of 2 pods have a node (minimum 2), on 2 nodes; disruption budget kept lets 1 of 2 pods go");
  builder.facts.budgets[0].allowed = 2;
  EXPECT_THAT(Explained(builder).Of("holds").sentence.English(), ::testing::EndsWith("on 2 nodes"));
  FactsBuilder partly;
  partly.Nodes(2).AddGang("holds", 1, 3, 16000, 2);
  partly.facts.budgets = {{"default", "kept", {}, 0}};
  EXPECT_THAT(Explained(partly).Of("holds").sentence.English(),
              ::testing::AllOf(::testing::StartsWith("runs with 2 of 3 pods"),
                               ::testing::EndsWith("; disruption budget kept lets 0 of 2 pods go")));
}

// Nodes are kept for it, and the pod there says how long it may run.
TEST(ExplainGangTest, WhenAStartIsKnownItIsTold) {
  FactsBuilder builder;
  builder.Nodes(1).AddGang("holds", 1, 1, 12000, 1).AddGang("wants", 1, 1, 8000);
  builder.GangOf("wants").created = At(-100);
  EXPECT_THAT(Explained(builder).Of("wants").sentence.English(),
              ::testing::EndsWith("room is kept for it until 1 pod ends"));
  builder.facts.pods.front().ends = absl::FromCivil(absl::CivilSecond(2026, 12, 24, 18, 0, 0), absl::UTCTimeZone());
  EXPECT_THAT(Explained(builder).Of("wants").sentence.English(),
              ::testing::EndsWith("room is kept for it until 1 pod ends; by 2026-12-24T18:00:00Z the pods there must "
                                  "have ended, and it starts"));
}

TEST(ExplainGangTest, WhoWouldBeMovedIsTold) {
  FactsBuilder builder;
  builder.Nodes(2).AddGang("a", 1, 1, 8000, 1).AddGang("b", 1, 1, 8000).AddGang("big", 1, 1, 16000);
  builder.facts.pods[1].node = "node-001";
  builder.facts.pods[1].phase = model::PodPhase::kRunning;
  builder.facts.pods[0].movable = true;
  EXPECT_EQ(Explained(builder).Of("big").sentence.English(),
            "waits for 1 of 1 task: room is kept for it until 1 pod of default/a has ended; the scheduler's next round "
            "moves 1 pod of default/a to other nodes, so that it finds room");
}

// One node of 16 cpu, of which a gang of low priority has 12; the pod takes 20 s at most to end.
struct WhoGoesTest : ::testing::Test {
  WhoGoesTest() {
    builder.Nodes(1).AddGang("low", 1, 1, 12000, 1).AddGang("wants", 1, 1, 8000);
    builder.GangOf("low").priority_class = "low";
    builder.facts.priority_classes = {{"high", 100, false}, {"low", 10, false}};
    builder.GangOf("wants").priority_class = "low";
    builder.facts.pods[0].grace = absl::Seconds(20);
  }
  const GangKey wants{"default", "wants"};
  const std::vector<Change> high{Priority{"high", std::nullopt}};
  FactsBuilder builder;
};

TEST_F(WhoGoesTest, AWhatIfForWhichOthersAreEvictedSaysWhoAndWhenItStarts) {
  Explained explained(builder);
  const Outcome outcome = *explained.trial.Try(wants, high);
  EXPECT_TRUE(outcome.starts);
  EXPECT_FALSE(outcome.at_once);
  EXPECT_FALSE(outcome.complete);
  EXPECT_EQ(outcome.evicts.English(), "1 pod of default/low");
  const Explanation then = *explained.trial.ExplainWith(wants, high);
  EXPECT_EQ(then.state, State::kWaits);
  EXPECT_EQ(then.sentence.English(),
            "waits for 1 of 1 task: room is kept for it until 1 pod of default/low has ended; the scheduler's next "
            "round evicts 1 pod of default/low for its priority");
  EXPECT_THAT(then.evicted, ElementsAre(Evicted{{"default", "low"}, "default", 10, 1, {"low-w-0"}}));
  EXPECT_EQ(then.evict_for, model::EvictFor::kPriority);
  EXPECT_EQ(then.expected_start, At(30)) << "asked at 10, and its grace is 20 s";
  // As things are it waits, and nobody knows how long.
  const Explanation now = explained.Of("wants");
  EXPECT_THAT(now.evicted, IsEmpty());
  EXPECT_EQ(now.expected_start, std::nullopt);
}

TEST_F(WhoGoesTest, APriorityThatWouldEvictHelps) {
  std::vector<std::string> texts;
  for (const Suggestion& suggestion : Explained(builder).Of("wants").suggestions) {
    if (suggestion.what_if.rfind("priority=", 0) == 0) texts.push_back(suggestion.text.English());
  }
  EXPECT_THAT(texts, ElementsAre("priority class high (evicts 1 pod of default/low)"));
  // Of its own priority nobody is evicted: no class is high enough.
  builder.facts.priority_classes = {{"low", 10, false}};
  texts.clear();
  for (const Suggestion& suggestion : Explained(builder).Of("wants").suggestions) {
    if (suggestion.what_if.rfind("priority=", 0) == 0) texts.push_back(suggestion.what_if);
  }
  EXPECT_THAT(texts, ElementsAre("priority=11"));
}

TEST_F(WhoGoesTest, WhoMayNotBeEvictedIsNotSuggested) {
  builder.facts.pods[0].evictable = false;
  Explained explained(builder);
  EXPECT_FALSE(explained.trial.Try(wants, high)->starts);
  for (const Suggestion& suggestion : explained.Of("wants").suggestions)
    EXPECT_THAT(suggestion.what_if, ::testing::Not(::testing::StartsWith("priority=")));
}

// Another queue deserves 4, and this one holds all 16; of its gangs the small one is enough. It has the 30 s of a pod
// that says nothing.
TEST_F(WhoGoesTest, AnotherQueueMayReclaim) {
  builder.AddGang("late", 1, 1, 4000, 1);
  builder.facts.pods[1].wants = Cpu(4000);
  builder.facts.queues.push_back(Queue("ads"));
  Explained explained(builder);
  const std::vector<Change> ads{OtherQueue{"ads"}};
  const Explanation then = *explained.trial.ExplainWith(wants, ads);
  EXPECT_EQ(then.evict_for, model::EvictFor::kShare);
  EXPECT_THAT(then.sentence.English(), ::testing::EndsWith("; the scheduler's next round evicts 1 pod of default/late "
                                                           "for what its queue deserves"));
  EXPECT_EQ(then.expected_start, At(40));
  EXPECT_TRUE(explained.trial.Try(wants, ads)->starts);
}

// The next round evicts without any change: its start is known, too, and so is that of the one that comes after.
TEST_F(WhoGoesTest, WhenTheNextRoundEvictsAStartIsExpected) {
  builder.GangOf("wants").priority_class = "high";
  Explained explained(builder);
  const Explanation now = explained.Of("wants");
  EXPECT_THAT(now.evicted, SizeIs(1));
  EXPECT_EQ(now.expected_start, At(30));
  EXPECT_EQ(explained.trial.ExplainQueue("default")->waiting[0].expected_start, At(30));
}

// `low` says that it ends; a smaller minimum changes nothing, and a smaller request starts at once.
TEST_F(WhoGoesTest, AWhatIfThatWaitsSaysWhenItStarts) {
  builder.facts.pods[0].ends = At(500);
  builder.AddGang("before", 1, 1, 8000);
  builder.GangOf("before").priority_class = "low";
  builder.GangOf("before").created = At(-5);
  builder.facts.pods.back().lasts = absl::Seconds(100);
  builder.NodeAt(0) = testutil::Node("node-000", 12);
  Explained explained(builder);
  EXPECT_EQ(explained.Of("wants").expected_start, At(600));
  const Explanation without = *explained.trial.ExplainWith(wants, {GangEnds{{"default", "before"}}});
  EXPECT_EQ(without.state, State::kWaits);
  EXPECT_EQ(without.expected_start, At(500));
  EXPECT_EQ(explained.Of("wants").expected_start, At(600)) << "what was tried left nothing behind";
}

TEST(ExplainGangTest, AGangThatLiesInOneHyperNodeTellsOfTheOneThatComesClosest) {
  FactsBuilder builder;
  builder.Nodes(3).AddGang("near", 3, 3, 9000);
  builder.facts.gangs.back().topology = {true, 1, ""};
  EXPECT_EQ(Explained(builder).Of("near").sentence.English(),
            "waits for 3 of 3 tasks: no HyperNode of tier 1 or less has nodes");
  model::HyperNodeFacts rack;
  rack.name = "rack";
  rack.tier = 1;
  rack.members = {{true, model::HyperNodeFacts::By::kPattern, "[01]$", {}}};
  builder.facts.hyper_nodes = {rack};
  EXPECT_EQ(Explained(builder).Of("near").sentence.English(),
            "waits for 1 of 3 tasks: in HyperNode rack, tier 1, w needs cpu 9; with 2 placed, 2 nodes have at most 7 "
            "free, 0 fit");
}

// The scheduler waits for a volume before it binds; nothing but the claim says so.
TEST(ExplainGangTest, AVolumeThatIsBeingMadeIsWhatItWaitsFor) {
  FactsBuilder builder;
  builder.Nodes(2).AddGang("wants", 1, 1, 1000);
  builder.facts.pods.back().wants.claims = {"default/data"};
  model::StorageClassFacts wffc;
  wffc.name = "wffc";
  wffc.waits_for_pod = wffc.makes_volumes = true;
  builder.facts.storage_classes = {wffc};
  model::ClaimFacts claim;
  claim.ns = "default";
  claim.name = "data";
  claim.storage_class = "wffc";
  builder.facts.claims = {claim};
  EXPECT_EQ(Explained(builder).Of("wants").sentence.English(),
            "starts with the scheduler's next round: there is room for 1 pod, on 1 node");
  EXPECT_FALSE(Explained(builder).Of("wants").awaits_volume);
  builder.facts.claims.back().selected_node = "node-001";
  EXPECT_EQ(Explained(builder).Of("wants").sentence.English(),
            "waits for the volume that is to be made for claim data on node node-001; kubectl describe pvc data says "
            "by whom");
  EXPECT_TRUE(Explained(builder).Of("wants").awaits_volume);
}

// One node each: taken, too small, cordoned, tainted, of another zone, and one that takes a pod.
TEST(ExplainGangTest, NodesAreGroupedByWhatStandsInTheWay) {
  FactsBuilder builder;
  builder.Nodes(6).AddGang("holds", 1, 1, 12000, 1).AddGang("wants", 2, 2, 8000);
  builder.NodeAt(1) = testutil::Node("node-001", 4);
  builder.NodeAt(2).unschedulable = true;
  builder.NodeAt(3).taints = {{"dedicated", "x", model::TaintEffect::kNoSchedule}};
  for (const std::size_t i : {0u, 1u, 2u, 3u, 5u}) builder.NodeAt(i).labels.emplace_back("zone", "a");
  builder.NodeAt(5) = testutil::Node("node-005", 15);
  builder.NodeAt(5).labels.emplace_back("zone", "a");
  for (model::PodFacts& pod : builder.facts.pods) {
    if (pod.gang == "wants") pod.wants.selector = {{"zone", "a"}};
  }
  const Explanation wants = Explained(builder).Of("wants");
  ASSERT_THAT(wants.nodes, SizeIs(1));
  std::vector<std::pair<std::string, std::string>> told;
  for (const NodeGroup& group : wants.nodes[0].groups) told.emplace_back(group.example, group.words.English());
  EXPECT_THAT(told, ElementsAre(Pair("node-005", "has room"), Pair("node-002", "is cordoned"),
                                Pair("node-004", "does not match zone=a"), Pair("node-001", "is too small: cpu"),
                                Pair("node-000", "lacks cpu"), Pair("node-003", "is tainted with dedicated")));
  const auto amounts = [&](std::size_t i) { return wants.nodes[0].groups[i].amounts; };
  EXPECT_THAT(amounts(3), ElementsAre(NodeAmount{"cpu", 8000, 4000, 4000}));
  EXPECT_TRUE(wants.nodes[0].groups[3].too_small);
  EXPECT_THAT(amounts(4), ElementsAre(NodeAmount{"cpu", 8000, 4000, 16000}));
  EXPECT_FALSE(wants.nodes[0].groups[4].too_small);
  EXPECT_EQ(wants.asks[0].wants.English(), "zone=a");
  ASSERT_THAT(wants.holders, SizeIs(1));
  EXPECT_EQ(wants.holders[0].gang.ToString(), "default/holds");
  EXPECT_EQ(wants.holders[0].holds, (NamedAmounts{{"cpu", 12000}, {"memory", kMemory}}));
  EXPECT_EQ(wants.holders[0].state, State::kRuns);
}

// Two pods that keep away from each other, and a node that takes either: nothing is said of how many go there together.
TEST(ExplainGangTest, WherePodsKeepOthersAwayNoNumberIsPromised) {
  FactsBuilder builder;
  builder.Nodes(1).AddGang("apart", 2, 2, 1000);
  for (model::PodFacts& pod : builder.facts.pods) {
    pod.labels = {{"app", "apart"}};
    pod.wants.pod_anti_affinity = {
        {"kubernetes.io/hostname", {{"default"}, std::nullopt, {{"app", model::Op::kIn, {"apart"}}}}}};
  }
  const Explanation apart = Explained(builder).Of("apart");
  EXPECT_EQ(apart.state, State::kWaits);
  ASSERT_THAT(apart.nodes, SizeIs(1));
  ASSERT_THAT(apart.nodes[0].groups, SizeIs(1));
  EXPECT_EQ(apart.nodes[0].groups[0].obstacle, "");
  EXPECT_EQ(apart.nodes[0].groups[0].copies, 0);
  ASSERT_FALSE(apart.suggestions.empty());
  EXPECT_EQ(apart.suggestions[0].text.English(), "1 more node like node-000 (cpu 16, memory 64Gi)");
}

TEST(ExplainGangTest, AGangThatRunsSaysWhere) {
  const Explanation runs = Explained(FactsBuilder().Nodes(2).AddGang("runs", 2, 2, 8000, 2)).Of("runs");
  EXPECT_EQ(runs.state, State::kRuns);
  EXPECT_EQ(runs.sentence.English(), "runs: 2 of 2 pods have a node (minimum 2), on 2 nodes");
  EXPECT_THAT(runs.spots, ElementsAre(Spot{"node-000", "w", 1}, Spot{"node-001", "w", 1}));
  EXPECT_THAT(runs.suggestions, IsEmpty());
  EXPECT_EQ(runs.asks[0].placed, 2);
}

TEST(TrialTest, WhoRunsIsCompleteWhateverElseThereWouldBe) {
  Explained explained(FactsBuilder().Nodes(2).AddGang("runs", 2, 2, 8000, 2));
  const absl::StatusOr<Outcome> outcome = explained.trial.Try({"default", "runs"}, {Change(MoreNodes{1, "node-000"})});
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_TRUE(outcome->complete);
}

TEST(ExplainGangTest, AGangThatHasRoomStarts) {
  const Explanation starts = Explained(FactsBuilder().Nodes(2).AddGang("starts", 2, 2, 8000)).Of("starts");
  EXPECT_EQ(starts.state, State::kStarts);
  EXPECT_EQ(starts.sentence.English(), "starts with the scheduler's next round: there is room for 2 pods, on 1 node");
  EXPECT_THAT(starts.spots, ElementsAre(Spot{"node-000", "w", 2}));
}

TEST(ExplainGangTest, AGangThatRunsPartlySaysWhatTheRestLacks) {
  FactsBuilder builder;
  builder.Nodes(1).AddGang("elastic", 1, 2, 9000, 1);
  const Explanation elastic = Explained(builder).Of("elastic");
  EXPECT_EQ(elastic.state, State::kRunsPartly);
  EXPECT_EQ(elastic.sentence.English(),
            "runs with 1 of 2 pods (minimum 1) and waits for 1 of 2 tasks: w needs cpu 9; with 1 placed, 1 node has 7 "
            "free, 0 fit");
}

TEST(ExplainGangTest, WhoIsServedBeforeStandsInOrder) {
  FactsBuilder builder;
  builder.Nodes(1).AddGang("late", 1, 1, 9000).AddGang("first", 1, 1, 9000).AddGang("urgent", 1, 1, 9000);
  builder.GangOf("late").created = At(5);
  builder.GangOf("urgent").created = At(9);
  builder.GangOf("urgent").priority_class = "high";
  builder.facts.priority_classes.push_back({"high", 100, false});
  const Explanation late = Explained(builder).Of("late");
  ASSERT_THAT(late.before, SizeIs(2));
  EXPECT_EQ(late.before[0].gang.name, "urgent");
  EXPECT_EQ(late.before[0].state, State::kStarts);
  EXPECT_EQ(late.before[0].priority, 100);
  EXPECT_EQ(late.before[0].asks, (NamedAmounts{{"cpu", 9000}, {"memory", kMemory}}));
  EXPECT_EQ(late.before[1].gang.name, "first");
  EXPECT_EQ(late.before[1].state, State::kWaits);
  // The node is as it will be when its turn comes.
  EXPECT_THAT(late.nodes[0].groups[0].amounts, ElementsAre(NodeAmount{"cpu", 9000, 7000, 16000}));
}

TEST(ExplainGangTest, AThousandthOfACpuIsTold) {
  FactsBuilder builder;
  builder.Nodes(1).AddGang("first", 1, 1, 1).AddGang("late", 1, 1, 16'000);
  builder.GangOf("late").created = At(5);
  const Explanation late = Explained(builder).Of("late");
  ASSERT_THAT(late.before, SizeIs(1));
  EXPECT_EQ(late.before[0].asks, (NamedAmounts{{"cpu", 1}, {"memory", kMemory}}));
}

// It was let in, and its pods are not made yet: no decision is about it.
TEST(ExplainGangTest, AGangThatWasLetInAndHasNoPodsWaitsForThem) {
  FactsBuilder builder;
  builder.Nodes(1).AddGang("let-in", 2, 0, 0);
  Explained explained(builder);
  const Explanation let_in = explained.Of("let-in");
  EXPECT_EQ(let_in.state, State::kWaits);
  const absl::StatusOr<Outcome> outcome = explained.trial.Try({"default", "let-in"}, {Change(Minimum{1})});
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_FALSE(outcome->at_once);
  EXPECT_FALSE(outcome->complete);
}

TEST(ExplainGangTest, WhoCouldLeaveLaterIsTold) {
  FactsBuilder builder;
  builder.Nodes(1).AddGang("low", 1, 1, 16000, 1).AddGang("high", 1, 1, 16000);
  builder.facts.queues[0].min_runtime = absl::Minutes(10);
  builder.facts.pods[0].started = At(5);
  builder.facts.priority_classes = {{"high", 100}};
  builder.GangOf("high").priority_class = "high";
  EXPECT_EQ(Explained(builder).Of("high").sentence.English(),
            "waits for 1 of 1 task: w needs cpu 16; 1 node has 0 free, 0 fit; 1 gang of queue default could leave for "
            "it from 2026-09-21T14:23:25Z on");
}

// 16 cpu; gangs are let in for up to 19.2: 9 are held, 9 promised to `promised`.
TEST(ExplainGangTest, WhatIsPromisedIsNoPartOfWhatIsHeld) {
  FactsBuilder builder;
  builder.Nodes(1).AddGang("holds", 1, 1, 9000, 1).AddGang("promised", 1, 0, 0).AddGang("queued", 1, 0, 0);
  for (const char* const name : {"promised", "queued"}) {
    builder.GangOf(name).has_min_resources = true;
    builder.GangOf(name).min_resources = {{"cpu", 9000}};
  }
  builder.GangOf("queued").phase = model::GangPhase::kPending;
  const Explanation queued = Explained(builder).Of("queued");
  EXPECT_EQ(queued.state, State::kQueued);
  EXPECT_FALSE(queued.admitted);
  EXPECT_EQ(queued.sentence.English(),
            "is not let in: needs cpu 9, pods hold 9 of the cluster's 16, 9 more are promised to gangs that come "
            "before it, gangs are let in for up to 19.2: 7.8 too many");
  EXPECT_THAT(queued.cluster, ElementsAre(ClusterAmount{"cpu", 16000, 9000, 0}));
  EXPECT_THAT(queued.queue.amounts,
              ElementsAre(QueueAmount{"cpu", std::nullopt, std::nullopt, 0, 9000, 9000, 16000},
                          QueueAmount{"memory", std::nullopt, std::nullopt, 0, kMemory, 0, 64 * kGi}));
}

// 12 cpu of which 9 are held, and 9 were promised before somebody lowered the capability: it never holds 18 of 12.
TEST(ExplainGangTest, WhatAQueueHasPromisedIsNoPartOfWhatItHolds) {
  FactsBuilder builder;
  builder.Nodes(4).AddGang("holds", 1, 1, 9000, 1).AddGang("promised", 1, 0, 0).AddGang("queued", 1, 0, 0);
  builder.facts.queues[0].capability = {{"cpu", 12000}};
  for (const char* const name : {"promised", "queued"}) {
    builder.GangOf(name).has_min_resources = true;
    builder.GangOf(name).min_resources = {{"cpu", 9000}};
  }
  builder.GangOf("queued").phase = model::GangPhase::kPending;
  const Explanation queued = Explained(builder).Of("queued");
  EXPECT_EQ(queued.sentence.English(),
            "is not let in: needs cpu 9, queue default holds 9 of 12, 9 more are promised to gangs that come before "
            "it: 9 too many");
  EXPECT_EQ(queued.queue.amounts[0], (QueueAmount{"cpu", 12000, std::nullopt, 0, 9000, 9000, 12000}));
}

// Queue `lab` may hold 8 cpu: two pods of 4 run there, and `big`, which is not let in yet, claims all of it. `small`
// was let in and has come since.
struct ClaimedQueueTest : ::testing::Test {
  ClaimedQueueTest() {
    builder.Nodes(2).AddGang("r0", 1, 1, 4000, 1).AddGang("r1", 1, 1, 4000, 1);
    builder.AddGang("big", 2, 0, 0).AddGang("small", 1, 1, 4000);
    model::QueueFacts& lab = builder.facts.queues.emplace_back(Queue("lab"));
    lab.capability = {{"cpu", 8000}};
    for (const char* const name : {"r0", "r1", "big", "small"}) builder.GangOf(name).queue = "lab";
    model::GangFacts& big = builder.GangOf("big");
    big.phase = model::GangPhase::kPending;
    big.has_min_resources = true;
    big.min_resources = {{"cpu", 8000}};
    big.created = At(-200);
    builder.GangOf("small").created = At(-100);
  }
  void End(const std::string& gang) {
    std::erase_if(builder.facts.pods, [&](const model::PodFacts& pod) { return pod.gang == gang; });
    std::erase_if(builder.facts.gangs, [&](const model::GangFacts& each) { return each.name == gang; });
  }
  // What a scheduler that was there all along decides, when `r0` has ended: as it writes it on PodGroups.
  std::map<std::string, std::string> WrittenOnceR0HasEnded() {
    model::Cluster cluster;
    Tell(builder.facts, cluster);
    gang::Scratch scratch;
    gang::EndRound(gang::Schedule(cluster, {}, At(5), scratch), absl::Minutes(5), At(5), cluster);
    End("r0");
    cluster.RemovePod("default", "r0-w-0");
    std::map<std::string, std::string> written;
    for (const model::Decision& decision : gang::Schedule(cluster, {}, At(10), scratch)) {
      EXPECT_TRUE(decision.reason.has_value()) << cluster.gang(decision.gang).name;
      written[std::string(cluster.gang(decision.gang).name)] = model::Render(*decision.reason);
    }
    return written;
  }
  FactsBuilder builder;
};

// Before, its turn came first, and it was to start in the next round, which the scheduler never did.
TEST_F(ClaimedQueueTest, WhoWasLetInIsToldWhoseRoomItIs) {
  const std::map<std::string, std::string> written = WrittenOnceR0HasEnded();
  Explained explained(builder);
  const Explanation small = explained.Of("small"), big = explained.Of("big");
  EXPECT_EQ(small.state, State::kWaits);
  EXPECT_EQ(
      small.sentence.English(),
      "waits for 1 of 1 task: needs cpu 4, queue lab uses 4 of 8, and what is free of it is kept for default/big");
  EXPECT_THAT(small.spots, IsEmpty());
  EXPECT_EQ(big.state, State::kQueued);
  EXPECT_EQ(big.sentence.English(),
            "is not let in: needs cpu 8, queue lab holds 4 of 8: 4 too many; what becomes free there is kept for it "
            "until 1 pod ends");
  // The same as its PodGroup says.
  ASSERT_TRUE(small.reason.has_value() && big.reason.has_value());
  EXPECT_THAT(written,
              ElementsAre(Pair("big", model::Render(*big.reason)), Pair("small", model::Render(*small.reason))));
  const QueueExplanation lab = *explained.trial.ExplainQueue("lab");
  ASSERT_THAT(lab.waiting, SizeIs(2));
  EXPECT_EQ(lab.waiting[0].sentence, small.sentence);
  EXPECT_EQ(lab.waiting[1].sentence, big.sentence);
}

TEST_F(ClaimedQueueTest, SoIsWhoIsNotLetIn) {
  model::GangFacts& small = builder.GangOf("small");
  small.phase = model::GangPhase::kPending;
  small.has_min_resources = true;
  small.min_resources = {{"cpu", 4000}};
  const std::map<std::string, std::string> written = WrittenOnceR0HasEnded();
  const Explanation seen = Explained(builder).Of("small");
  EXPECT_EQ(seen.state, State::kQueued);
  EXPECT_EQ(seen.sentence.English(),
            "is not let in: needs cpu 4, queue lab holds 4 of 8, and what is free of it is kept for default/big");
  EXPECT_EQ(written.at("small"), model::Render(*seen.reason));
}

// Before, `small` was to have half of it at once, and `big` to wait on.
TEST_F(ClaimedQueueTest, WhoClaimsItIsLetInWhenTheLastHasEnded) {
  WrittenOnceR0HasEnded();
  End("r1");
  Explained explained(builder);
  EXPECT_EQ(explained.Of("big").state, State::kStarts);
  EXPECT_EQ(explained.Of("small").state, State::kWaits);
}

TEST_F(ClaimedQueueTest, AWhatIfKnowsOfIt) {
  WrittenOnceR0HasEnded();
  Explained explained(builder);
  const GangKey small{"default", "small"};
  EXPECT_FALSE(explained.trial.Try(small, {Minimum{1}})->starts);
  EXPECT_TRUE(explained.trial.Try(small, {GangEnds{{"default", "big"}}})->at_once);
  EXPECT_FALSE(explained.trial.Try(small, {Minimum{1}})->starts) << "what was tried left nothing behind";
  EXPECT_TRUE(explained.trial.Try(small, {Capability{"lab", {{"cpu", 16000}}}})->at_once);
}

// `r1` says when it ends: then `big` begins, and `small` when nobody knows.
TEST_F(ClaimedQueueTest, ExpectedStartsKnowOfIt) {
  WrittenOnceR0HasEnded();
  builder.facts.pods.front().ends = At(500);
  Explained explained(builder);
  EXPECT_EQ(explained.Of("big").expected_start, At(500));
  EXPECT_EQ(explained.Of("small").expected_start, std::nullopt);
}

TEST(ExplainGangTest, RoomOfPodsWithoutAGangIsToldApart) {
  FactsBuilder builder;
  builder.Nodes(1).AddGang("wants", 1, 1, 16000);
  model::PodFacts daemon = testutil::Pod("", "", 0, Cpu(500));
  daemon.node = "node-000";
  daemon.phase = model::PodPhase::kRunning;
  builder.facts.pods.push_back(daemon);
  const Explanation wants = Explained(builder).Of("wants");
  ASSERT_THAT(wants.cluster, SizeIs(2));
  EXPECT_EQ(wants.cluster[0], (ClusterAmount{"cpu", 16000, 500, 500}));
}

// Of a Job that is not let in there are no pods yet: what they will ask for is known.
TEST(ExplainGangTest, PodsToComeAreTold) {
  FactsBuilder builder;
  builder.Nodes(1).AddGang("job", 2, 0, 0);
  builder.GangOf("job").phase = model::GangPhase::kPending;
  builder.GangOf("job").queue = "none";
  for (int i = 0; i < 2; ++i) builder.facts.to_come.push_back(testutil::Pod("job", "w", i, Cpu(9000)));
  const Explanation job = Explained(builder).Of("job");
  EXPECT_EQ(job.state, State::kQueued);
  EXPECT_EQ(job.sentence.English(), "is not let in and waits for 2 of 2 tasks: there is no queue none");
  EXPECT_EQ(job.pods, 0);
  EXPECT_EQ(job.to_come, 2);
  EXPECT_THAT(job.asks, ElementsAre(Ask{"w", 2, 0, 2, 0, {{"cpu", 9000}, {"memory", kMemory}}, {}}));
  ASSERT_THAT(job.nodes, SizeIs(1));
  EXPECT_EQ(job.nodes[0].groups[0].copies, 1);
  EXPECT_FALSE(job.queue.known);
}

// One of two pods is there.
TEST(ExplainGangTest, OfPodsToComeThoseThatAreThereAreNone) {
  FactsBuilder builder;
  builder.Nodes(1).AddGang("job", 2, 1, 3000);
  builder.facts.to_come.push_back(testutil::Pod("job", "w", 1, Cpu(3000)));
  const Explanation job = Explained(builder).Of("job");
  EXPECT_EQ(job.sentence.English(), "waits for 1 of 2 tasks: 1 pod exists");
  EXPECT_THAT(job.asks, ElementsAre(Ask{"w", 2, 0, 1, 0, {{"cpu", 3000}, {"memory", kMemory}}, {}}));
}

TEST(ExplainGangTest, AGangThatHasEndedAsksForNothing) {
  FactsBuilder builder;
  builder.Nodes(1).AddGang("done", 1, 1, 1000, 1);
  builder.GangOf("done").phase = model::GangPhase::kCompleted;
  for (model::PodFacts& pod : builder.facts.pods) pod.phase = model::PodPhase::kSucceeded;
  EXPECT_EQ(Explained(builder).Of("done").state, State::kEnded);
}

TEST(ExplainGangTest, AGangThatIsNotThere) {
  Explained explained{FactsBuilder()};
  EXPECT_EQ(explained.trial.Explain({"default", "nobody"}).status().message(), "there is no podgroup default/nobody");
  EXPECT_EQ(explained.trial.ExplainQueue("nobody").status().message(), "there is no queue nobody");
}

// Three gangs of one name, of three kinds.
TEST(ExplainGangTest, EachKindIsExplainedAsItself) {
  FactsBuilder builder;
  builder.Nodes(1, 4);
  for (const model::GangKind kind :
       {model::GangKind::kVolcano, model::GangKind::kKubernetes, model::GangKind::kCoscheduling}) {
    model::GangFacts& gang = builder.facts.gangs.emplace_back(testutil::Gang("g", 1 + static_cast<int>(kind)));
    gang.kind = kind;
    for (int i = 0; i < gang.min_member; ++i) {
      model::PodFacts pod = testutil::Pod("g", "w", i, testutil::Cpu(3000));
      pod.name = absl::StrCat("p-", static_cast<int>(kind), "-", i);
      pod.gang_kind = kind;
      builder.facts.pods.push_back(std::move(pod));
    }
  }
  Explained explained(builder);
  EXPECT_EQ(explained.trial.Explain({"default", "g"})->min_member, 1);
  const GangKey kubernetes{"default", "g", model::GangKind::kKubernetes};
  const Explanation seen = *explained.trial.Explain(kubernetes);
  EXPECT_EQ(seen.min_member, 2);
  EXPECT_EQ(seen.gang, kubernetes);
  ASSERT_THAT(seen.before, SizeIs(1));
  EXPECT_EQ(seen.before[0].gang.ToString(), "default/g");
  EXPECT_EQ(explained.trial.Explain({"default", "g", model::GangKind::kCoscheduling})->pods, 3);
  // What is tried of one leaves the others as they are.
  EXPECT_TRUE(explained.trial.Try(kubernetes, {MoreNodes{3, "node-000"}})->starts);
  EXPECT_TRUE(explained.trial.Try(kubernetes, {GangEnds{{"default", "g"}}, Minimum{1}})->starts);
  EXPECT_EQ(explained.trial.Explain(kubernetes)->sentence.English(), seen.sentence.English());
  EXPECT_EQ(explained.trial.Try(kubernetes, {OtherQueue{"ads"}}).status().message(),
            "a PodGroup of scheduling.k8s.io has no queue");
  EXPECT_EQ(explained.trial.Try({"default", "g", model::GangKind::kCoscheduling}, {Priority{"", 5}}).status().message(),
            "a PodGroup of scheduling.x-k8s.io has no priority class");
}

// A queue of 12 cpu of which 8 are held; a queue below it counts.
TEST(ExplainQueueTest, WhoHoldsAndWhoWaits) {
  FactsBuilder builder;
  builder.Nodes(2)
      .AddGang("small", 1, 1, 2000, 1)
      .AddGang("large", 2, 2, 3000, 2)
      .AddGang("wants", 1, 1, 5000)
      .AddGang("below", 1, 1, 1000, 1);
  model::QueueFacts& queue = builder.facts.queues.emplace_back(Queue("ads"));
  queue.capability = {{"cpu", 12000}};
  queue.weight = 3;
  model::QueueFacts& child = builder.facts.queues.emplace_back(Queue("ads-night"));
  child.parent = "ads";
  for (const char* const name : {"small", "large", "wants"}) builder.GangOf(name).queue = "ads";
  builder.GangOf("below").queue = "ads-night";
  Explained explained(builder);
  const QueueExplanation ads = *explained.trial.ExplainQueue("ads");
  EXPECT_EQ(ads.sentence.English(), "is open: 3 gangs hold room in it, 1 waits");
  EXPECT_EQ(ads.queue.weight, 3);
  ASSERT_THAT(ads.queue.amounts, SizeIs(2 + 1)) << "cpu, memory and the disk of nodes";
  EXPECT_EQ(ads.queue.amounts[0], (QueueAmount{"cpu", 12000, std::nullopt, 0, 9000, 0, 12000}));
  ASSERT_THAT(ads.children, SizeIs(1));
  EXPECT_EQ(ads.children[0].name, "ads-night");
  EXPECT_EQ(ads.children[0].amounts[0].held, 1000);
  ASSERT_THAT(ads.holders, SizeIs(3));
  EXPECT_EQ(ads.holders[0].gang.name, "large");
  EXPECT_EQ(ads.holders[1].gang.name, "small");
  EXPECT_EQ(ads.holders[2].queue, "ads-night") << "what it holds, the queue above holds";
  ASSERT_THAT(ads.waiting, SizeIs(1));
  EXPECT_EQ(ads.waiting[0].sentence.English(),
            "waits for 1 of 1 task: needs cpu 5, queue ads uses 9 of 12, 2 too many");
}

TEST(ExplainQueueTest, WhoHoldsMoreThanItsShareIsToldOfIt) {
  FactsBuilder builder;
  builder.Nodes(1).AddGang("runs", 1, 1, 12000, 1).AddGang("wants", 1, 1, 12000);
  for (const char* const name : {"ads", "maps"}) builder.facts.queues.push_back(Queue(name));
  builder.GangOf("runs").queue = "ads";
  builder.GangOf("wants").queue = "maps";
  Explained explained(builder);
  EXPECT_EQ(explained.trial.ExplainQueue("ads")->queue.amounts[0].share, 8000) << "of 16 cpu";
  EXPECT_EQ(explained.trial.ExplainQueue("maps")->queue.amounts[0].share, 8000);
  EXPECT_EQ(explained.trial.ExplainQueue("default")->queue.amounts[0].share, std::nullopt);
}

// At(10), as trials are.
TEST(ExplainQueueTest, WhatItHeldOfLateIsToldAndCounts) {
  FactsBuilder builder;
  builder.Nodes(1).AddGang("runs", 1, 1, 12000, 1).AddGang("wants", 1, 1, 12000);
  for (const char* const name : {"ads", "maps"}) builder.facts.queues.push_back(Queue(name));
  builder.facts.queues[1].use = model::Use{testutil::At(10), {{"cpu", 6}}};
  builder.GangOf("runs").queue = "ads";
  builder.GangOf("wants").queue = "maps";
  gang::Policy policy;
  policy.use_half_life = absl::Hours(1);
  Trial trial(builder.facts, policy, testutil::At(10));
  const QueueAccount ads = trial.ExplainQueue("ads")->queue;
  EXPECT_EQ(ads.amounts[0].used, 6000);
  EXPECT_EQ(ads.amounts[0].share, 4000) << "all of the use: a quarter of its weight, and maps asks for 12 of the 16";
  Trial later(builder.facts, policy, testutil::At(3610));
  EXPECT_EQ(later.ExplainQueue("ads")->queue.amounts[0].used, 9000) << "it holds 12";
  EXPECT_EQ(Trial(builder.facts, {}, testutil::At(10)).ExplainQueue("ads")->queue.amounts[0].used, std::nullopt);
}

// One node of 16 cpu; `runs` holds 12 of them until At(100).
TEST(ExpectedStartTest, WhenPodsThatSayHowLongTheyRunHaveEnded) {
  FactsBuilder builder;
  builder.Nodes(1).AddGang("runs", 1, 1, 12000, 1).AddGang("first", 1, 1, 14000).AddGang("second", 2, 2, 3000);
  builder.GangOf("first").created = testutil::At(1);
  builder.GangOf("second").created = testutil::At(2);
  for (model::PodFacts& pod : builder.facts.pods) {
    if (pod.gang == "runs") pod.ends = testutil::At(100);
    if (pod.gang == "first") pod.lasts = absl::Seconds(50);
  }
  Explained explained(builder);
  EXPECT_EQ(explained.Of("first").expected_start, testutil::At(100));
  EXPECT_EQ(explained.Of("second").expected_start, testutil::At(150));
  const std::vector<GangLine> waiting = explained.trial.ExplainQueue("default")->waiting;
  ASSERT_THAT(waiting, SizeIs(2));
  EXPECT_EQ(waiting[0].expected_start, testutil::At(100));
  EXPECT_EQ(waiting[1].expected_start, testutil::At(150));
  EXPECT_EQ(explained.Of("runs").expected_start, std::nullopt);
}

// `runs` says nothing of its end, or that it may take until At(500); three before it took 90 s at most. It has run 20.
struct PastRunsTest : ::testing::Test {
  PastRunsTest() {
    builder.Nodes(1).AddGang("runs", 1, 1, 12000, 1).AddGang("first", 1, 1, 14000).AddGang("second", 1, 1, 14000);
    builder.GangOf("runs").past_runs = {3, absl::Seconds(90)};
    builder.GangOf("first").past_runs = {1, absl::Seconds(50)};
    builder.GangOf("first").created = testutil::At(1);
    builder.GangOf("second").created = testutil::At(2);
    builder.facts.pods[0].started = testutil::At(-20);
  }
  FactsBuilder builder;
};

TEST_F(PastRunsTest, SayWhenAGangLikelyStarts) {
  Explained explained(builder);
  EXPECT_EQ(explained.Of("first").expected_start, std::nullopt) << "nobody said so";
  EXPECT_EQ(explained.Of("first").likely_start, testutil::At(70));
  EXPECT_EQ(explained.Of("second").likely_start, testutil::At(120));
  EXPECT_EQ(explained.trial.ExplainQueue("default")->waiting[0].likely_start, testutil::At(70));
  EXPECT_EQ(explained.Of("runs").likely_start, std::nullopt);
}

TEST_F(PastRunsTest, StandBesideWhatIsKnown) {
  builder.facts.pods[0].ends = testutil::At(500);
  Explained explained(builder);
  EXPECT_EQ(explained.Of("first").expected_start, testutil::At(500));
  EXPECT_EQ(explained.Of("first").likely_start, testutil::At(70));
  builder.facts.pods[0].ends = testutil::At(60);
  Explained sooner(builder);
  EXPECT_EQ(sooner.Of("first").expected_start, testutil::At(60));
  EXPECT_EQ(sooner.Of("first").likely_start, std::nullopt) << "it is known as well";
}

TEST_F(PastRunsTest, SayNothingOfARunThatTakesLonger) {
  builder.facts.pods[0].started = testutil::At(-200);
  Explained explained(builder);
  EXPECT_EQ(explained.Of("first").likely_start, std::nullopt);
  EXPECT_EQ(explained.Of("second").likely_start, std::nullopt) << "not after a first that would begin now";
}

TEST_F(PastRunsTest, AreToldOfWhoRuns) {
  EXPECT_EQ(Explained(builder).Of("runs").sentence.English(),
            "runs: 1 of 1 pod have a node (minimum 1), on 1 node; the last 3 runs like it took at most 1m30s, which is "
            "until 2026-09-21T14:14:30Z");
  builder.facts.pods[0].ends = testutil::At(500);
  EXPECT_THAT(Explained(builder).Of("runs").sentence.English(),
              HasSubstr("; it says that it ends by 2026-09-21T14:21:40Z; the last 3 runs like it took at most"));
}

// `wants` is older than a minute, so that nodes are kept for it.
TEST_F(PastRunsTest, SayWhenKeptNodesAreLikelyFree) {
  builder.facts.pods[0].started = testutil::At(100);
  Trial trial(builder.facts, {}, testutil::At(120));
  EXPECT_THAT(
      trial.Explain({"default", "first"})->sentence.English(),
      HasSubstr("on 1 node room is kept for it until 1 pod ends; as past runs took, about 2026-09-21T14:16:30Z"));
}

// Each has the node for a second; after 200 of them nobody looks further.
TEST(ExpectedStartTest, NobodyLooksFurtherThanSoManyEnds) {
  FactsBuilder builder;
  builder.Nodes(1).AddGang("runs", 1, 1, 12000, 1);
  for (int i = 0; i < 220; ++i) {
    const std::string name = absl::StrCat("g", i);
    builder.AddGang(name, 1, 1, 14000);
    builder.facts.gangs.back().created = testutil::At(i);
  }
  for (model::PodFacts& pod : builder.facts.pods) {
    pod.lasts = absl::Seconds(1);
    if (pod.gang == "runs") pod.ends = testutil::At(1000);
  }
  const ClusterFacts facts = builder.facts;
  Trial trial(facts, {}, testutil::At(300));
  EXPECT_EQ(trial.Explain({"default", "g198"})->expected_start, testutil::At(1198));
  EXPECT_EQ(trial.Explain({"default", "g199"})->expected_start, std::nullopt);
}

TEST(ExpectedStartTest, NotWhereWhoIsInTheWayMayRunForEver) {
  FactsBuilder builder;
  builder.Nodes(2).AddGang("runs", 1, 1, 12000, 1).AddGang("for-ever", 1, 2, 12000, 2).AddGang("wants", 2, 2, 14000);
  builder.facts.pods.front().ends = testutil::At(100);
  Explained explained(builder);
  EXPECT_EQ(explained.Of("wants").expected_start, std::nullopt);
}

// `before` has no pods yet, and takes the room first.
TEST(ExpectedStartTest, GangsWhosePodsAreToComeTakePart) {
  FactsBuilder builder;
  builder.Nodes(1).AddGang("runs", 1, 1, 12000, 1).AddGang("wants", 1, 1, 14000);
  builder.facts.pods.front().ends = testutil::At(100);
  builder.GangOf("wants").created = testutil::At(2);
  model::GangFacts& before = builder.GangOf("before");
  before.min_member = 2;
  before.has_min_resources = true;
  before.min_resources = {{"cpu", 10000}};
  EXPECT_EQ(Explained(builder).Of("wants").expected_start, std::nullopt);
  builder.GangOf("before").phase = model::GangPhase::kCompleted;
  EXPECT_EQ(Explained(builder).Of("wants").expected_start, testutil::At(100));
}

TEST(ExpectedStartTest, NoPodsAreMadeUpForAGangThatWantsMillions) {
  FactsBuilder builder;
  builder.Nodes(1).AddGang("runs", 1, 1, 12000, 1).AddGang("wants", 1, 1, 14000);
  builder.facts.pods.front().ends = testutil::At(100);
  model::GangFacts& huge = builder.GangOf("huge");
  huge.min_member = 2'000'000'000;
  huge.has_min_resources = true;
  huge.min_resources = {{"cpu", std::numeric_limits<std::int64_t>::max()}};
  EXPECT_EQ(Explained(builder).Of("wants").expected_start, testutil::At(100));
}

// By its use, `ads` comes after `maps`, which came later; without, it would be first.
TEST(ExpectedStartTest, WhatQueuesUsedOfLateCounts) {
  FactsBuilder builder;
  builder.Nodes(1).AddGang("runs", 1, 1, 16000, 1).AddGang("first", 1, 1, 10000).AddGang("second", 1, 1, 10000);
  for (const char* const queue : {"ads", "maps"}) builder.facts.queues.push_back(testutil::Queue(queue));
  builder.facts.queues[1].use = model::Use{testutil::At(0), {{"cpu", 16}}};
  builder.GangOf("first").queue = "ads";
  builder.GangOf("first").created = testutil::At(1);
  builder.GangOf("second").queue = "maps";
  builder.GangOf("second").created = testutil::At(2);
  builder.facts.pods[0].ends = testutil::At(100);
  builder.facts.pods[2].lasts = absl::Seconds(50);
  gang::Policy policy;
  policy.use_half_life = absl::Hours(24);
  Trial trial(builder.facts, policy, testutil::At(10));
  EXPECT_EQ(trial.Explain({"default", "second"})->expected_start, testutil::At(100));
  EXPECT_EQ(trial.Explain({"default", "first"})->expected_start, testutil::At(150));
}

TEST(TrialTest, NothingIsTriedForSomebodyWhoIsGone) {
  FactsBuilder builder;
  builder.Nodes(1).AddGang("runs", 1, 1, 12000, 1).AddGang("wants", 1, 1, 14000);
  bool wanted = true;
  const auto still_wanted = [&] { return wanted ? absl::OkStatus() : absl::CancelledError("gone"); };
  Trial trial(builder.facts, {}, testutil::At(10), still_wanted);
  const Explanation seen = *trial.Explain({"default", "wants"});
  wanted = false;
  EXPECT_TRUE(absl::IsCancelled(trial.Explain({"default", "wants"}).status()));
  EXPECT_TRUE(absl::IsCancelled(trial.Try({"default", "wants"}, {Minimum{0}}).status()));
  EXPECT_TRUE(absl::IsCancelled(trial.ExplainQueue("default").status()));
  EXPECT_THAT(Suggest(trial, seen), SizeIs(0));
}

}  // namespace
}  // namespace gangway::explain
