#include "plugin/extender/session/session_plan.h"

#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "plugin/extender/session/changed_gangs.h"
#include "tests/plugin/model/cluster_builder.h"

namespace gangway::extender {
namespace {

using model::Cluster;
using testutil::At;
using Verdict = PlannedGang::Verdict;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class SessionPlanTest : public ::testing::Test {
 protected:
  SessionPlanTest() {
    cluster_.SetQueue(testutil::Queue("default"));
    testutil::AddNodes(cluster_, 4);  // of 16 cpu
  }
  std::shared_ptr<const SessionPlan> Plan(int second = 10, const SessionPlan* previous = nullptr) {
    gang::Scratch scratch;
    return SessionPlan::Make(cluster_, options_, At(second), scratch, previous);
  }
  // As a vcjob of one task has it before its pods are made.
  void AddPending(const std::string& name, int members, int milli,
                  model::GangPhase phase = model::GangPhase::kPending) {
    model::GangFacts gang = testutil::Gang(name, members);
    gang.phase = phase;
    gang.min_task_member = {{"w", members}};
    gang.has_min_resources = true;
    gang.min_resources = {{"cpu", std::int64_t{members} * milli}, {"pods", members}};
    cluster_.SetGang(gang);
  }
  void Bind(const std::string& gang, int index, const std::string& node) {
    model::PodFacts pod = testutil::Pod(gang, "w", index, testutil::Cpu(9000));
    pod.node = node;
    pod.phase = model::PodPhase::kRunning;
    cluster_.SetPod(pod);
  }
  static std::string Uid(const std::string& gang, int index) { return absl::StrCat("uid-", gang, "-w-", index); }

  Cluster cluster_;
  SessionPlanOptions options_;
};

// Anybody may say so; it makes no room.
TEST_F(SessionPlanTest, APodThatRunsAndHasNoNodeGoesForNobody) {
  for (const auto& [name, value] : {std::pair("low", 10), std::pair("high", 1000)}) {
    model::PriorityClassFacts facts;
    facts.name = name;
    facts.value = value;
    cluster_.SetPriorityClass(facts);
    model::GangFacts gang = testutil::Gang(name, 1);
    gang.priority_class = name;
    cluster_.SetGang(gang);
  }
  for (int i = 0; i < 5; ++i) Bind("low", i, i == 4 ? "" : absl::StrCat("node-00", i));
  cluster_.SetPod(testutil::Pod("high", "w", 0, testutil::Cpu(9000)));
  const auto plan = Plan();
  ASSERT_THAT(plan->Find("default/high")->victims, SizeIs(1));
  EXPECT_NE(plan->Find("default/high")->victims[0], Uid("low", 4));
}

TEST_F(SessionPlanTest, AGangIsPlacedWholeAndItsPodsGoNowhereElse) {
  testutil::AddGang(cluster_, "ga", 4, 4, 9000);
  const auto plan = Plan();
  ASSERT_NE(plan->Find("default/ga"), nullptr);
  EXPECT_EQ(plan->Find("default/ga")->verdict, Verdict::kPlaced);
  EXPECT_EQ(plan->placed(), 4);
  std::set<std::string> nodes;
  for (int i = 0; i < 4; ++i) {
    const std::string node(plan->NodeOf(Uid("ga", i)));
    nodes.insert(node);
    EXPECT_TRUE(plan->Predicate("default/ga", Uid("ga", i), node).fits);
    const PredicateAnswer elsewhere =
        plan->Predicate("default/ga", Uid("ga", i), node == "node-000" ? "node-001" : "node-000");
    EXPECT_FALSE(elsewhere.fits);
    EXPECT_EQ(elsewhere.why, "its gang is placed with this pod on " + node);
  }
  EXPECT_EQ(nodes.size(), 4u);  // of 9 cpu one fits a node
}

TEST_F(SessionPlanTest, AGangWithoutRoomIsTurnedAwayFromEveryNode) {
  testutil::AddGang(cluster_, "ga", 5, 5, 9000);
  const auto plan = Plan();
  EXPECT_EQ(plan->Find("default/ga")->verdict, Verdict::kWaits);
  const PredicateAnswer answer = plan->Predicate("default/ga", Uid("ga", 0), "node-000");
  EXPECT_FALSE(answer.fits);
  EXPECT_THAT(answer.why, HasSubstr("waits for 1 of 5 tasks"));
  EXPECT_TRUE(plan->MayStart("default/ga"));  // nobody else has its nodes
}

TEST_F(SessionPlanTest, AGangThatCannotBePlacedIsKeptOut) {
  AddPending("ga", 3, 9000);
  AddPending("gb", 3, 9000);  // in sums there is room, 54 of 64 cpu; but a node takes one of 9
  const auto plan = Plan();
  EXPECT_EQ(plan->JobEnqueueable("default/ga"), Vote::kAbstain);
  EXPECT_EQ(plan->JobEnqueueable("default/gb"), Vote::kReject);
  EXPECT_THAT(plan->Find("default/gb")->why, HasSubstr("cpu 9"));
  EXPECT_EQ(plan->tasks(), 0) << "members that are awaited are no pods";
  EXPECT_TRUE(cluster_.gang(cluster_.FindGang("default", "gb")).tasks.empty());  // as before
  EXPECT_TRUE(cluster_.Audit().empty());
}

// It is told for every node that is asked about.
TEST_F(SessionPlanTest, AReasonIsOfBoundedLength) {
  model::PodFacts pod = testutil::Pod("ga", "w", 0, testutil::Cpu(1000));
  for (int i = 0; i < 1000; ++i) pod.wants.selector.emplace_back(absl::StrCat("key", i), "v");
  cluster_.SetGang(testutil::Gang("ga", 1));
  cluster_.SetPod(pod);
  const std::string why = Plan()->Predicate("default/ga", Uid("ga", 0), "node-000").why;
  EXPECT_GT(why.size(), 100u);
  EXPECT_LE(why.size(), 1003u);
}

TEST_F(SessionPlanTest, BySumsAGangWithoutRoomIsLetIn) {
  options_.whole_gangs = false;
  AddPending("ga", 3, 9000);
  AddPending("gb", 3, 9000);
  AddPending("gc", 9, 9000);  // more than the cluster
  const auto plan = Plan();
  EXPECT_EQ(plan->JobEnqueueable("default/gb"), Vote::kAbstain);
  EXPECT_EQ(plan->JobEnqueueable("default/gc"), Vote::kReject);
}

// Nothing is known of the parts that several tasks have in the sum.
TEST_F(SessionPlanTest, AGangOfSeveralTasksIsLetInBySums) {
  model::GangFacts gang = testutil::Gang("ctr", 4);
  gang.phase = model::GangPhase::kPending;
  gang.min_task_member = {{"pserver", 2}, {"trainer", 2}};
  gang.has_min_resources = true;
  gang.min_resources = {{"cpu", 60'000}};
  cluster_.SetGang(gang);
  EXPECT_EQ(Plan()->JobEnqueueable("default/ctr"), Vote::kAbstain);
}

// A template may allow what is tainted or cordoned: who could run is not kept out.
TEST_F(SessionPlanTest, MembersThatAreAwaitedGoWhereverThereIsRoom) {
  for (int i = 0; i < 4; ++i) {
    model::NodeFacts node = testutil::Node(absl::StrCat("node-00", i));
    node.taints = {{"gpu", "true", model::TaintEffect::kNoSchedule}};
    cluster_.SetNode(node);
  }
  AddPending("ga", 4, 9000);
  EXPECT_EQ(Plan()->JobEnqueueable("default/ga"), Vote::kAbstain);
}

TEST_F(SessionPlanTest, AGangOfMoreMembersThanAreTriedIsJudgedBySums) {
  AddPending("ga", 1, 1000);
  AddPending("gb", std::numeric_limits<std::int32_t>::max(), 1000);
  EXPECT_EQ(Plan()->JobEnqueueable("default/gb"), Vote::kReject);
}

TEST_F(SessionPlanTest, WhatIsNotKnownIsLeftAlone) {
  const auto plan = Plan();
  EXPECT_EQ(plan->JobEnqueueable("default/other"), Vote::kAbstain);
  EXPECT_TRUE(plan->MayStart("default/other"));
  EXPECT_TRUE(plan->Predicate("default/other", "u", "node-000").fits);
  EXPECT_EQ(plan->NodeOf("u"), "");
  EXPECT_FALSE(plan->QueueOverused("default"));
  EXPECT_EQ(plan->Victims(EvictAction::kPreempt, "default/other", {{"u"}}).vote, Vote::kAbstain);
}

TEST_F(SessionPlanTest, WhatIsNotModelledIsNotJudged) {
  model::Wants wants = testutil::Cpu(1000);
  wants.not_modelled = "spec.resourceClaims[gpu]";
  cluster_.SetGang(testutil::Gang("ga", 1));
  cluster_.SetPod(testutil::Pod("ga", "w", 0, wants));
  model::Wants claims = testutil::Cpu(1000);
  claims.claims = {"default/data"};
  cluster_.SetGang(testutil::Gang("gb", 1));
  cluster_.SetPod(testutil::Pod("gb", "w", 0, claims));
  const auto plan = Plan();
  for (const char* gang : {"ga", "gb"}) {
    EXPECT_EQ(plan->Find(absl::StrCat("default/", gang))->verdict, Verdict::kNotJudged) << gang;
    EXPECT_TRUE(plan->Predicate(absl::StrCat("default/", gang), Uid(gang, 0), "node-000").fits) << gang;
    EXPECT_EQ(plan->Victims(EvictAction::kPreempt, absl::StrCat("default/", gang), {{"u"}}).vote, Vote::kAbstain);
  }
}

class SessionPlanVictimsTest : public SessionPlanTest {
 protected:
  // One gang of low priority holds every node; each of its members but one is beyond its minimum.
  SessionPlanVictimsTest() {
    for (const auto& [name, value] : {std::pair("low-class", 10), std::pair("high-class", 1000)}) {
      model::PriorityClassFacts facts;
      facts.name = name;
      facts.value = value;
      cluster_.SetPriorityClass(facts);
    }
    model::GangFacts low = testutil::Gang("low", 1);
    low.priority_class = "low-class";
    low.phase = model::GangPhase::kRunning;
    cluster_.SetGang(low);
    for (int i = 0; i < 4; ++i) Bind("low", i, absl::StrCat("node-00", i));
    model::GangFacts high = testutil::Gang("high", 2);
    high.priority_class = "high-class";
    cluster_.SetGang(high);
    for (int i = 0; i < 2; ++i) cluster_.SetPod(testutil::Pod("high", "w", i, testutil::Cpu(9000)));
  }
};

TEST_F(SessionPlanVictimsTest, WhomThePlanEvictsAndNobodyElse) {
  const auto plan = Plan();
  const PlannedGang& high = *plan->Find("default/high");
  EXPECT_EQ(high.verdict, Verdict::kMakesRoom);
  ASSERT_EQ(high.victims.size(), 2u);
  const std::string other = [&] {
    for (int i = 0; i < 4; ++i) {
      if (std::count(high.victims.begin(), high.victims.end(), Uid("low", i)) == 0) return Uid("low", i);
    }
    return std::string();
  }();
  const VictimsAnswer some = plan->Victims(EvictAction::kPreempt, "default/high", {{other, high.victims[1]}});
  EXPECT_EQ(some.vote, Vote::kPermit);
  EXPECT_THAT(some.victims, ElementsAre(1));
  const VictimsAnswer none = plan->Victims(EvictAction::kPreempt, "default/high", {{other}});
  EXPECT_EQ(none.vote, Vote::kReject);
  EXPECT_THAT(none.victims, IsEmpty());
  EXPECT_EQ(plan->Victims(EvictAction::kReclaim, "default/high", {{high.victims[0]}}).vote, Vote::kReject);
  EXPECT_EQ(plan->Victims(EvictAction::kPreempt, "default/low", {{high.victims[0]}}).vote, Vote::kReject);
}

TEST_F(SessionPlanVictimsTest, ThePodsGoWhereRoomIsMade) {
  const auto plan = Plan();
  const std::string node(plan->NodeOf(Uid("high", 0)));
  EXPECT_NE(node, "");
  EXPECT_TRUE(plan->Predicate("default/high", Uid("high", 0), node).fits);
  EXPECT_FALSE(plan->Predicate("default/high", Uid("high", 0), node == "node-000" ? "node-001" : "node-000").fits);
}

TEST_F(SessionPlanTest, AGangPlacedInVainIsNotPinnedAgain) {
  testutil::AddGang(cluster_, "ga", 2, 2, 9000);
  const auto first = Plan(10);
  EXPECT_TRUE(first->Find("default/ga")->pinned);
  const auto second = Plan(11, first.get());
  EXPECT_FALSE(second->Find("default/ga")->pinned);
  EXPECT_TRUE(second->Predicate("default/ga", Uid("ga", 0), "node-003").fits);
  EXPECT_NE(second->NodeOf(Uid("ga", 0)), "");  // it still says where
  for (int i = 0; i < 2; ++i) Bind("ga", i, absl::StrCat("node-00", i));
  EXPECT_EQ(Plan(12, second.get())->Find("default/ga")->verdict, Verdict::kSettled);
}

// Nodes that are kept for the large gang stay kept in the plans that follow, so that who comes later does not take
// them.
TEST_F(SessionPlanTest, NodesAreKeptOnFromPlanToPlan) {
  cluster_.SetGang([] {
    model::GangFacts busy = testutil::Gang("busy", 3);
    busy.phase = model::GangPhase::kRunning;
    return busy;
  }());
  for (int i = 0; i < 3; ++i) Bind("busy", i, absl::StrCat("node-00", i));
  testutil::AddGang(cluster_, "large", 4, 4, 16000);
  const auto first = Plan(100);  // it has waited for more than a minute
  ASSERT_EQ(first->Find("default/large")->verdict, Verdict::kWaits);
  testutil::AddGang(cluster_, "small", 1, 1, 9000);
  const auto second = Plan(101, first.get());
  EXPECT_EQ(second->Find("default/small")->verdict, Verdict::kWaits);
  EXPECT_FALSE(second->MayStart("default/small"));
  EXPECT_THAT(second->Find("default/small")->why, HasSubstr("default/large"));
}

// What its queue may hold is kept for it in the plans that follow.
TEST_F(SessionPlanTest, RoomOfAQueueIsKeptOnFromPlanToPlan) {
  model::QueueFacts queue = testutil::Queue("default");
  queue.capability = {{"cpu", 36'000}};
  cluster_.SetQueue(queue);
  model::GangFacts busy = testutil::Gang("busy", 2);
  busy.phase = model::GangPhase::kRunning;
  cluster_.SetGang(busy);
  for (int i = 0; i < 2; ++i) Bind("busy", i, absl::StrCat("node-00", i));
  testutil::AddGang(cluster_, "large", 3, 3, 9000);
  const auto first = Plan(100);  // it has waited for more than a minute
  EXPECT_NE(first->Find("default/large")->verdict, Verdict::kPlaced);
  model::GangFacts older = testutil::Gang("small", 1);
  older.created = At(1);
  cluster_.SetGang(older);
  cluster_.SetPod(testutil::Pod("small", "w", 0, testutil::Cpu(9000)));
  const auto second = Plan(101, first.get());
  EXPECT_EQ(second->Find("default/small")->verdict, Verdict::kWaits);
  EXPECT_FALSE(second->MayStart("default/small"));
  cluster_.SetPriorityClass({"high", 100});
  older.priority_class = "high";
  cluster_.SetGang(older);
  EXPECT_EQ(Plan(101, first.get())->Find("default/small")->verdict, Verdict::kPlaced) << "it goes before it";
}

TEST_F(SessionPlanTest, AQueueThatHasAllItDeservesIsOverused) {
  cluster_.SetQueue(testutil::Queue("other"));
  for (int i = 0; i < 4; ++i) Bind("busy", i, absl::StrCat("node-00", i));
  cluster_.SetGang(testutil::Gang("busy", 4));
  model::GangFacts waiting = testutil::Gang("waiting", 2);
  waiting.queue = "other";
  cluster_.SetGang(waiting);
  for (int i = 0; i < 2; ++i) cluster_.SetPod(testutil::Pod("waiting", "w", i, testutil::Cpu(9000)));
  options_.policy.reclaim = false;
  const auto plan = Plan();
  EXPECT_TRUE(plan->QueueOverused("default"));
  EXPECT_FALSE(plan->QueueOverused("other"));
  options_.policy.sharing = gang::Sharing::kAsWritten;  // volcano: plugins/capacity says nothing of it
  EXPECT_FALSE(Plan()->QueueOverused("default"));
}

TEST_F(SessionPlanTest, ALineForEachGangThatIsJudgedOtherwise) {
  testutil::AddGang(cluster_, "ga", 5, 5, 9000);
  testutil::AddGang(cluster_, "gb", 2, 2, 1000);
  const auto first = Plan();
  const auto names = [](const std::vector<const PlannedGang*>& gangs) {
    std::vector<std::string> out;
    for (const PlannedGang* gang : gangs) out.push_back(gang->job);
    return out;
  };
  EXPECT_THAT(names(ChangedGangs(nullptr, *first)), ElementsAre("default/ga"));
  EXPECT_THAT(names(ChangedGangs(first.get(), *first)), IsEmpty());
  cluster_.SetNode(testutil::Node("node-004"));
  EXPECT_THAT(names(ChangedGangs(first.get(), *Plan())), ElementsAre("default/ga"));
}

TEST_F(SessionPlanTest, TheSameClusterGivesTheSamePlan) {
  testutil::AddGang(cluster_, "ga", 3, 6, 5000);
  testutil::AddGang(cluster_, "gb", 3, 6, 5000);
  const auto a = Plan(), b = Plan();
  for (const std::string gang : {"ga", "gb"}) {
    for (int i = 0; i < 6; ++i) EXPECT_EQ(a->NodeOf(Uid(gang, i)), b->NodeOf(Uid(gang, i)));
  }
}

}  // namespace
}  // namespace gangway::extender
