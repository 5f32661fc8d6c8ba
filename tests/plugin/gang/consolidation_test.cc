// Gangs that may be moved make room in one piece: who is moved, for whom, and what is kept for them.
#include "plugin/gang/consolidation.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plugin/gang/moved_room.h"
#include "tests/plugin/gang/world.h"
#include "tests/plugin/model/cluster_builder.h"

namespace gangway::gang {
namespace {

using model::Decision;
using model::EvictFor;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;
using testutil::At;

// Nodes of 4 cpu.
struct ConsolidationTest : testutil::World, ::testing::Test {
  ConsolidationTest() {
    cluster.SetPriorityClass({"low", 10});
    cluster.SetPriorityClass({"high", 100});
  }
  void Nodes(int count) { testutil::AddNodes(cluster, count, 4); }
  model::GangFacts& Group(const std::string& name, int min_member) {
    model::GangFacts& gang = gangs_[name];
    gang = testutil::Gang(name, min_member);
    gang.created = At(created_++);
    return gang;
  }
  model::PodFacts& Pod(const std::string& gang, std::int64_t cpu, int node = -1) {
    const int index = indices_[gang]++;
    model::PodFacts pod = testutil::Pod(gang, "w", index, testutil::Cpu(1000 * cpu));
    if (node >= 0) {
      pod.node = NodeName(node);
      pod.phase = model::PodPhase::kRunning;
    }
    pod.movable = node >= 0;
    return pods_[pod.name] = pod;
  }
  static std::string NodeName(int node) { return absl::StrCat("node-", absl::Dec(node, absl::kZeroPad3)); }
  // A gang of one pod on the node.
  void Runs(const std::string& name, std::int64_t cpu, int node) {
    Group(name, 1);
    Pod(name, cpu, node);
  }
  void Waits(const std::string& name, std::int64_t cpu, int pods = 1) {
    Group(name, pods);
    for (int i = 0; i < pods; ++i) Pod(name, cpu);
  }
  void Tell() {
    for (const auto& [name, gang] : gangs_) cluster.SetGang(gang);
    for (const auto& [name, pod] : pods_) cluster.SetPod(pod);
  }
  Decision DecisionOf(const std::string& gang) {
    Tell();
    return Of(gang);
  }
  std::map<std::string, std::string> MovesOf(const Decision& decision) const {
    std::map<std::string, std::string> moves;
    for (const model::Placement& move : decision.moves)
      moves[cluster.task(move.task).name] = std::string(cluster.node_name(move.row));
    return moves;
  }
  std::vector<std::string> Evicted(const Decision& decision) const {
    std::vector<std::string> names;
    for (const model::TaskId task : decision.evicted) names.push_back(cluster.task(task).name);
    return names;
  }

  std::map<std::string, model::GangFacts> gangs_;
  std::map<std::string, model::PodFacts> pods_;
  std::map<std::string, int> indices_;
  int created_ = 0;
};

// Two nodes half used each: 4 cpu are free, 2 and 2.
TEST_F(ConsolidationTest, FreeRoomInPiecesIsBroughtTogether) {
  Nodes(2);
  Runs("a", 2, 0);
  Runs("b", 2, 1);
  Waits("big", 4);
  const Decision decision = DecisionOf("big");
  EXPECT_EQ(decision.evict_for, EvictFor::kRoom);
  EXPECT_THAT(Evicted(decision), ElementsAre("b-w-0"));
  EXPECT_THAT(MovesOf(decision), ElementsAre(Pair("b-w-0", "node-000")));
  ASSERT_TRUE(decision.nominations.has_value());
  ASSERT_THAT(*decision.nominations, SizeIs(1));
  EXPECT_EQ(cluster.node_name(decision.nominations->front().row), "node-001");
  ASSERT_TRUE(decision.reason.has_value());
  EXPECT_EQ(model::Render(*decision.reason),
            "waits for 1 of 1 task: room is kept for it until 1 pod of default/b has ended");
}

TEST_F(ConsolidationTest, NobodyIsMovedWhoDoesNotSaySo) {
  Nodes(2);
  Runs("a", 2, 0);
  Runs("b", 2, 1);
  for (auto& [name, pod] : pods_) pod.movable = false;
  Waits("big", 4);
  EXPECT_THAT(Evicted(DecisionOf("big")), IsEmpty());
}

TEST_F(ConsolidationTest, NorWhenItIsSwitchedOff) {
  Nodes(2);
  Runs("a", 2, 0);
  Runs("b", 2, 1);
  Waits("big", 4);
  policy.consolidate = false;
  EXPECT_THAT(Evicted(DecisionOf("big")), IsEmpty());
}

TEST_F(ConsolidationTest, NorWhereThereWouldBeNoRoomForThemAgain) {
  Nodes(2);
  Runs("a", 3, 0);
  Runs("b", 2, 1);
  Waits("big", 4);
  EXPECT_THAT(Evicted(DecisionOf("big")), IsEmpty());
}

// Where it lies tells what it wants again: here it may be on no other node.
TEST_F(ConsolidationTest, WhatTheyAskOfNodesHoldsAgain) {
  Nodes(2);
  Runs("a", 2, 0);
  Runs("b", 2, 1);
  pods_["b-w-0"].wants.selector = {{"kubernetes.io/hostname", "node-001"}};
  Waits("big", 4);
  EXPECT_THAT(MovesOf(DecisionOf("big")), ElementsAre(Pair("a-w-0", "node-001")));
  pods_["a-w-0"].wants.selector = {{"kubernetes.io/hostname", "node-000"}};
  EXPECT_THAT(Evicted(DecisionOf("big")), IsEmpty());
}

TEST_F(ConsolidationTest, APodThatKeepsOffItsLikesIsNotMovedBesideOne) {
  Nodes(2);
  Runs("a", 2, 0);
  Runs("b", 2, 1);
  for (auto& [name, pod] : pods_) {
    pod.labels = {{"app", "x"}};
    pod.wants.pod_anti_affinity = {
        {"kubernetes.io/hostname", {{"default"}, std::nullopt, {{"app", model::Op::kIn, {"x"}}}}}};
  }
  Waits("big", 4);
  EXPECT_THAT(Evicted(DecisionOf("big")), IsEmpty());
  EXPECT_THAT(cluster.Audit(), IsEmpty());
}

TEST_F(ConsolidationTest, AGangIsMovedWholeWithWhatIsBeyondItsMinimum) {
  Nodes(3);
  Group("g", 1);
  Pod("g", 1, 1);
  Pod("g", 1, 2);
  Runs("a", 2, 0);
  Runs("held", 3, 2);
  pods_["held-w-0"].movable = pods_["a-w-0"].movable = false;
  Waits("big", 4);
  const Decision decision = DecisionOf("big");
  EXPECT_THAT(Evicted(decision), ElementsAre("g-w-0", "g-w-1"));
  EXPECT_THAT(MovesOf(decision), SizeIs(2));
}

// Three nodes of which each has one piece: two small gangs or one large would do.
TEST_F(ConsolidationTest, OneIsMovedRatherThanTwo) {
  Nodes(4);
  Runs("a", 1, 0);
  Runs("b", 1, 0);
  Runs("c", 2, 1);
  Runs("d", 2, 2);
  Runs("e", 4, 3);
  Waits("big", 4);
  EXPECT_THAT(Evicted(DecisionOf("big")), SizeIs(1));
}

// Two pods of two gangs would do, and so would three of one.
TEST_F(ConsolidationTest, OfTwoAlikeTheOneIsMovedThatHasStartedLast) {
  Nodes(3);
  Runs("late", 2, 0);
  Runs("early", 2, 1);
  Runs("fixed", 2, 2);
  pods_["late-w-0"].started = At(9);
  pods_["early-w-0"].started = At(1);
  pods_["fixed-w-0"].movable = false;
  Waits("w", 4);
  EXPECT_THAT(Evicted(DecisionOf("w")), ElementsAre("late-w-0"));
}

TEST_F(ConsolidationTest, OneGangOfMorePodsIsMovedRatherThanTwoOfFewer) {
  Nodes(3);
  Runs("a", 1, 0);
  Runs("b", 1, 0);
  Group("c", 3);
  for (int i = 0; i < 3; ++i) Pod("c", 1, 1);
  Runs("held", 3, 2);
  pods_["held-w-0"].movable = false;
  Waits("big", 4);
  EXPECT_THAT(Evicted(DecisionOf("big")), ElementsAre("c-w-0", "c-w-1", "c-w-2"));
}

// Others that are looked at before it, one by one, help nobody.
TEST_F(ConsolidationTest, TheOneThatIsMovedRatherThanTwoIsTheSixteenthAtMost) {
  Nodes(19);
  Runs("a", 1, 0);
  Runs("b", 1, 0);
  Group("c", 3);
  for (int i = 0; i < 3; ++i) Pod("c", 1, 1);
  Runs("held", 3, 2);
  pods_["held-w-0"].movable = false;
  for (int node = 3; node < 19; ++node) {
    Runs(absl::StrCat("small-", node), 1, node);
    Runs(absl::StrCat("large-", node), 3, node);
    pods_[absl::StrCat("large-", node, "-w-0")].movable = false;
  }
  Waits("big", 4);
  EXPECT_THAT(Evicted(DecisionOf("big")), ElementsAre("a-w-0", "b-w-0"));
  pods_["small-18-w-0"].movable = false;
  EXPECT_THAT(Evicted(DecisionOf("big")), ElementsAre("c-w-0", "c-w-1", "c-w-2"));
}

TEST_F(ConsolidationTest, ForAGangOfSeveralPodsSeveralAreMoved) {
  Nodes(4);
  for (int i = 0; i < 4; ++i) Runs(absl::StrCat("s", i), 2, i);
  Waits("big", 4, 2);
  const Decision decision = DecisionOf("big");
  EXPECT_THAT(decision.evicted, SizeIs(2));
  EXPECT_THAT(decision.moves, SizeIs(2));
  EXPECT_THAT(*decision.nominations, SizeIs(2));
}

TEST_F(ConsolidationTest, APriorityThatIsHigherIsNotMovedForALowerOne) {
  Nodes(2);
  Runs("a", 2, 0);
  Runs("b", 2, 1);
  gangs_["a"].priority_class = gangs_["b"].priority_class = "high";
  Waits("big", 4);
  gangs_["big"].priority_class = "low";
  EXPECT_THAT(Evicted(DecisionOf("big")), IsEmpty());
  gangs_["b"].priority_class = "low";
  EXPECT_THAT(Evicted(DecisionOf("big")), ElementsAre("b-w-0"));
}

// To be moved costs less than to wait.
TEST_F(ConsolidationTest, WhereSomebodyMayBeMovedNobodyIsPreempted) {
  Nodes(2);
  Runs("a", 2, 0);
  Runs("b", 2, 1);
  Runs("c", 1, 1);
  gangs_["c"].priority_class = "low";
  Waits("big", 3);
  gangs_["big"].priority_class = "high";
  EXPECT_EQ(DecisionOf("big").evict_for, EvictFor::kRoom);
}

TEST_F(ConsolidationTest, WhatMayNotBeEvictedIsNotMoved) {
  Nodes(2);
  Runs("a", 2, 0);
  Runs("b", 2, 1);
  pods_["a-w-0"].evictable = false;
  gangs_["b"].evictable = false;
  Waits("big", 4);
  EXPECT_THAT(Evicted(DecisionOf("big")), IsEmpty());
  gangs_["b"].evictable = true;
  pods_["b-w-0"].labels = {{"app", "x"}};
  cluster.SetBudget({"default", "none", {{"app", model::Op::kIn, {"x"}}}, 0});
  EXPECT_THAT(Evicted(DecisionOf("big")), IsEmpty());
}

TEST_F(ConsolidationTest, WhoWasMovedStaysForAWhile) {
  Nodes(2);
  Runs("a", 2, 0);
  pods_["a-w-0"].movable = false;
  Runs("b", 2, 1);
  gangs_["b"].moved = At(0);
  Waits("big", 4);
  const Decision decision = DecisionOf("big");
  EXPECT_THAT(Evicted(decision), IsEmpty());
  EXPECT_EQ(decision.look_again, At(0) + policy.moves_again_after);
  policy.moves_again_after = absl::Seconds(10);
  EXPECT_THAT(Evicted(DecisionOf("big")), ElementsAre("b-w-0"));
}

// Node by node they would go, and may be nowhere else, but for the last.
TEST_F(ConsolidationTest, AfterEightInVainItIsGivenUp) {
  Nodes(10);
  Runs("room", 1, 9);
  pods_["room-w-0"].movable = false;
  Runs("last", 3, 8);
  for (int i = 0; i < 8; ++i) {
    const std::string name = absl::StrCat("pinned-", i);
    Runs(name, 3, i);
    pods_[name + "-w-0"].wants.selector = {{"kubernetes.io/hostname", NodeName(i)}};
  }
  Waits("big", 4);
  EXPECT_THAT(Evicted(DecisionOf("big")), IsEmpty());
  pods_["pinned-0-w-0"].movable = false;  // one less to be tried
  EXPECT_THAT(Evicted(DecisionOf("big")), ElementsAre("last-w-0"));
}

// Later ones wait for another call.
TEST_F(ConsolidationTest, InOneCallSomebodyIsMovedForTheFirstGangs) {
  constexpr int kGangs = 33;
  Nodes(2 * kGangs);
  for (int i = 0; i < 2 * kGangs; ++i) Runs(absl::StrCat("half-", i), 2, i);
  for (int i = 0; i < kGangs; ++i) Waits(absl::StrCat("big-", i), 4);
  Tell();
  std::vector<std::string> moved_for;
  for (const Decision& decision : World::Run()) {
    if (!decision.moves.empty()) moved_for.push_back(cluster.gang(decision.gang).name);
  }
  EXPECT_THAT(moved_for, SizeIs(kGangs - 1));
  EXPECT_THAT(moved_for, ::testing::Not(::testing::Contains(absl::StrCat("big-", kGangs - 1))));
}

// Each of its pods has a place, and both want the same one.
TEST_F(ConsolidationTest, SomebodyIsMovedForPodsThatFindRoomOnlyOneByOne) {
  Nodes(2);
  Runs("a", 1, 0);
  Runs("held", 3, 1);
  pods_["held-w-0"].movable = false;
  Group("pair", 2);
  for (int i = 0; i < 2; ++i) Pod("pair", 2);
  pods_["pair-w-1"].wants = testutil::Cpu(1900);
  EXPECT_THAT(MovesOf(DecisionOf("pair")), ElementsAre(Pair("a-w-0", "node-001")));
}

// "near" stands in the way by what it is, not by what it holds; on node-001 two would have to go.
TEST_F(ConsolidationTest, TheFirstInOrderMayBeTheOneThatIsMovedRatherThanTwo) {
  testutil::AddNodes(cluster, 3, 8);
  Nodes(2);
  Runs("x", 2, 1);
  Runs("y", 2, 1);
  Runs("far", 1, 2);
  pods_["far-w-0"].movable = false;
  Runs("near", 1, 0);
  for (const char* name : {"far-w-0", "near-w-0"}) pods_[name].labels = {{"app", "rival"}};
  Waits("big", 3);
  pods_["big-w-0"].wants.pod_anti_affinity = {
      {"kubernetes.io/hostname", {{"default"}, std::nullopt, {{"app", model::Op::kIn, {"rival"}}}}}};
  EXPECT_THAT(Evicted(DecisionOf("big")), ElementsAre("near-w-0"));
}

// ---- what becomes of it

struct MovedTest : ConsolidationTest {
  // `b` goes from node-001 to node-000; `big` comes to node-001.
  MovedTest() {
    Nodes(2);
    Runs("a", 2, 0);
    Runs("b", 2, 1);
    Waits("big", 4);
    Tell();
    cluster.Nominate(cluster.FindTask("default", "big-w-0"), cluster.FindNode("node-001"));
    model::MovedGang moved{cluster.FindGang("default", "b"), "uid-b", {}, absl::InfiniteFuture()};
    moved.pods = {{"b-w-0", "uid-b-w-0", "node-000", cluster.task(cluster.FindTask("default", "b-w-0")).shape, ""}};
    cluster.SetMoved({moved});
  }
  void Goes() {
    cluster.RemovePod("default", "b-w-0");
    pods_.erase("b-w-0");
  }
  void ComesBack(const std::string& name = "b-w-0") {
    model::PodFacts pod = testutil::Pod("b", "w", 0, testutil::Cpu(2000));
    pod.name = name;
    pod.uid = "uid-again";
    pods_[name] = pod;
  }
};

TEST_F(MovedTest, ItsRoomIsNobodysUntilItsPodsAreMadeAgain) {
  Waits("other", 2);
  Goes();
  Tell();
  EXPECT_THAT(Placed(), ElementsAre(Pair("big-w-0", "node-001")));
  ComesBack();
  Tell();
  EXPECT_THAT(Placed(), ElementsAre(Pair("b-w-0", "node-000"), Pair("big-w-0", "node-001")));
}

TEST_F(MovedTest, ItsRoomIsItsOwnOnceTheyAre) {
  Waits("other", 2);
  gangs_["other"].priority_class = "high";
  Goes();
  ComesBack();
  Tell();
  EXPECT_THAT(Placed(), ElementsAre(Pair("b-w-0", "node-000"), Pair("big-w-0", "node-001")));
}

TEST_F(MovedTest, NorIsWhatItHadOfItsQueue) {
  Nodes(3);
  model::QueueFacts queue = testutil::Queue("default");
  queue.capability = {{"cpu", 8000}};
  cluster.SetQueue(queue);
  Waits("other", 1);
  Goes();
  Tell();
  EXPECT_THAT(Placed(), ElementsAre(Pair("big-w-0", "node-001")));
  cluster.SetMoved({});
  EXPECT_THAT(Placed(), ElementsAre(Pair("big-w-0", "node-001"), Pair("other-w-0", "node-000")));
}

TEST_F(MovedTest, NorIsItWhileItsPodsAreStillThere) {
  Waits("other", 2);
  Tell();
  cluster.SetEvicted(cluster.FindTask("default", "b-w-0"), true);
  EXPECT_THAT(Placed(), IsEmpty());
}

TEST_F(MovedTest, APodOfAnotherNameIsPlacedWhereTheOneWasToBe) {
  Goes();
  ComesBack("b-w-xyz");
  Tell();
  EXPECT_EQ(Placed()["b-w-xyz"], "node-000");
  EXPECT_EQ(cluster.gang(cluster.FindGang("default", "b")).nominated, 1);
}

TEST_F(MovedTest, TheRoomIsGivenUpWhenTheTimeIsOver) {
  Waits("other", 2);
  Goes();
  Tell();
  std::vector<model::MovedGang> moved = cluster.moved();
  moved.front().until = At(11);  // World is at 10
  cluster.SetMoved(moved);
  EXPECT_EQ(Placed().count("other-w-0"), 0u);
  EXPECT_EQ(Of("other").look_again <= At(11) || Of("big").look_again <= At(11), true);
  moved.front().until = At(10);
  cluster.SetMoved(moved);
  EXPECT_EQ(Placed()["other-w-0"], "node-000");
}

// A scheduler that is new, and sees what the PodGroup says.
struct RecallTest : MovedTest {
  RecallTest() {
    cluster.SetMoved({});
    gangs_["b"].moved = At(0);
    gangs_["b"].moved_pods = {{"b-w-0", "uid-b-w-0", "node-000"}};
    Waits("other", 2);
  }
  // Whether room is kept for it.
  bool Recalls(absl::Time now = At(10)) {
    Tell();
    RecallMoved(absl::Minutes(5), now, cluster);
    EXPECT_THAT(cluster.Audit(), IsEmpty());
    return !cluster.moved().empty();
  }
};

TEST_F(RecallTest, WhileItsPodsEndItsRoomIsKept) {
  pods_["b-w-0"].leaving = true;
  EXPECT_FALSE(Recalls()) << "it may still stay";
  pods_["b-w-0"].terminating = true;
  ASSERT_TRUE(Recalls());
  Goes();
  Tell();
  EXPECT_THAT(Placed(), ElementsAre(Pair("big-w-0", "node-001")));
  ComesBack();
  Tell();
  EXPECT_THAT(Placed(), ElementsAre(Pair("b-w-0", "node-000"), Pair("big-w-0", "node-001")));
}

TEST_F(RecallTest, WhoIsMadeAgainAlreadyIsPlacedWhereItWasToBe) {
  gangs_["other"].priority_class = "high";
  Goes();
  ComesBack();
  ASSERT_TRUE(Recalls());
  EXPECT_THAT(Placed(), ElementsAre(Pair("b-w-0", "node-000"), Pair("big-w-0", "node-001")));
}

TEST_F(RecallTest, WhoIsMadeAgainLaterIsToo) {
  for (const char* name : {"b-w-0", "b-w-xyz"}) {
    Goes();
    pods_.erase("other-w-0");
    cluster.RemovePod("default", "other-w-0");
    ASSERT_TRUE(Recalls());
    ComesBack(name);
    Tell();
    EXPECT_EQ(Placed()[name], "node-000");
    EXPECT_THAT(cluster.Audit(), IsEmpty());
    cluster.SetMoved({});
    cluster.RemovePod("default", name);
    pods_.erase(name);
  }
}

TEST_F(RecallTest, WhatIsLongPastIsNotCalledBack) {
  EXPECT_FALSE(Recalls()) << "its pods have not begun to go";
  Goes();
  EXPECT_FALSE(Recalls(At(0) + absl::Minutes(5)));
  ComesBack();
  pods_["b-w-0"].node = "node-000";
  pods_["b-w-0"].phase = model::PodPhase::kRunning;
  EXPECT_FALSE(Recalls()) << "it has its place";
}

// Its PodGroup says Pending again when all its pods are gone.
TEST_F(MovedTest, ItIsLetInAgainWhateverTheOthersHold) {
  Goes();
  gangs_["b"].phase = model::GangPhase::kPending;
  policy.overcommit_percent = 1;
  EXPECT_TRUE(DecisionOf("b").admit);
}

}  // namespace
}  // namespace gangway::gang
