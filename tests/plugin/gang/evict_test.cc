// For whom others go: the room that is made, and who has it.
#include "plugin/gang/evict.h"

#include <map>
#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "tests/plugin/gang/evict_world.h"
#include "tests/plugin/model/cluster_builder.h"

namespace gangway::gang {
namespace {

using model::Decision;
using model::Reason;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;
using testutil::Amounts;
using testutil::At;
using testutil::EvictTest;

TEST_F(EvictTest, AHighPriorityDoesNotWaitBehindALowOneThatRuns) {
  Node("n1", Amounts(4000));
  Group("low", "low", 2);
  for (const char* name : {"low-0", "low-1"}) Runs("low", name, Amounts(2000), "n1");
  Group("high", "high", 2);
  for (const char* name : {"high-0", "high-1"}) Waits("high", name, Amounts(2000));
  const Decision decision = Of("high");
  EXPECT_THAT(NamesOf(decision.evicted), ElementsAre("low-0", "low-1"));
  EXPECT_EQ(decision.evict_for, model::EvictFor::kPriority);
  EXPECT_THAT(decision.placements, IsEmpty());
  ASSERT_TRUE(decision.nominations.has_value());
  EXPECT_THAT(*decision.nominations, SizeIs(2));
  ASSERT_TRUE(decision.reason.has_value());
  EXPECT_EQ(model::Render(*decision.reason),
            "waits for 2 of 2 tasks: room is kept for it until 2 pods of default/low have ended");
}

// A pod beyond its minimum that began now would be alone in a moment.
TEST_F(EvictTest, AGangThatGoesAsAWholeGrowsNoMore) {
  Node("n1", Amounts(4000));
  Node("n2", Amounts(1000));
  Group("elastic", "low", 2);
  for (const char* name : {"e-0", "e-1"}) Runs("elastic", name, Amounts(2000), "n1");
  Waits("elastic", "e-2", Amounts(1000));
  OneWaits("high", "high", "default", Amounts(4000));
  EXPECT_THAT(NamesOf(Of("high").evicted), ElementsAre("e-0", "e-1"));
  const Decision decision = Of("elastic");
  EXPECT_THAT(decision.placements, IsEmpty());
  ASSERT_TRUE(decision.reason.has_value());
  EXPECT_EQ(model::Render(*decision.reason),
            "waits for 1 of 3 tasks: room is kept for gangs that lack their minimum, the first is default/high");
}

// It goes, too, until its pods are deleted.
TEST_F(EvictTest, AGangThatWasToldToGoAsAWholeGetsNoPod) {
  Node("n1", Amounts(4000));
  Node("n2", Amounts(2000));
  Group("elastic", "low", 2);
  for (const char* name : {"e-0", "e-1"}) Runs("elastic", name, Amounts(2000), "n1");
  OneWaits("high", "high", "default", Amounts(4000));
  CarryOut();
  Waits("elastic", "e-2", Amounts(1000));
  Decision decision = Of("elastic");
  EXPECT_THAT(decision.placements, IsEmpty());
  ASSERT_TRUE(decision.reason.has_value());
  EXPECT_EQ(model::Render(*decision.reason), "waits for 1 of 3 tasks: 1 pod exists, 2 are ending");
  Waits("elastic", "e-3", Amounts(1000));
  EXPECT_THAT(Of("elastic").placements, IsEmpty());
  for (const char* name : {"e-0", "e-1"}) {
    model::PodFacts pod = PodOf("elastic", name, Amounts(2000), "n1");
    pod.terminating = true;
    cluster.SetPod(pod);
    decision = Of("elastic");
    EXPECT_EQ(decision.placements.size(), name[2] == '0' ? 0 : 2) << "those made anew have room elsewhere";
  }
}

// Until the pods are gone nobody else is evicted for it, and nobody else is placed where they were.
TEST_F(EvictTest, TheRoomIsKeptForWhomItWasMadeUntilThePodsAreGone) {
  Node("n1", Amounts(4000));
  for (const char* name : {"a", "b"}) OneRuns(name, "low", "default", Amounts(2000), "n1");
  OneWaits("high", "high", "default", Amounts(2000));
  EXPECT_THAT(Evicted(), ElementsAre("b"));  // the younger one
  CarryOut();
  Queue("other");
  OneWaits("rival", "high", "other", Amounts(1000));
  policy.reclaim = false;
  EXPECT_THAT(Evicted(), IsEmpty());
  EXPECT_EQ(Of("high").reason->kind, Reason::Kind::kRoomAwaited);
  model::PodFacts going = PodOf("b", "b", Amounts(2000), "n1");
  going.terminating = true;
  cluster.SetPod(going);
  EXPECT_THAT(Evicted(), IsEmpty());
  cluster.RemovePod("default", "b");
  EXPECT_THAT(Placed(), ElementsAre(Pair("high", "n1")));
  // It goes; so does what was kept for it.
  cluster.RemovePod("default", "high");
  cluster.RemoveGang("default", "high");
  EXPECT_THAT(Placed(), ElementsAre(Pair("rival", "n1")));
}

TEST_F(EvictTest, OfThoseWhoseEndIsAwaitedTheFirstByNameIsToldAndHowManyTheyAre) {
  Node("n1", Amounts(4000));
  for (const char* gang : {"b", "a"}) {
    Group(gang, "low", 1);
    for (const char* pod : {"-0", "-1"}) Runs(gang, absl::StrCat(gang, pod), Amounts(1000), "n1");
  }
  OneWaits("high", "high", "default", Amounts(4000));
  const auto expect = [this] {
    const Reason reason = *Of("high").reason;
    EXPECT_EQ(reason.kind, Reason::Kind::kRoomAwaited);
    EXPECT_EQ(reason.ending, 4);
    EXPECT_EQ(reason.size, 2) << "gangs";
    EXPECT_EQ(reason.subject, Words::Name("default/a"));
  };
  expect();
  CarryOut();
  expect();
}

// Its own node will be free, but its queue holds too much until those end, too, who lie elsewhere.
TEST_F(EvictTest, RoomIsKeptForWhomItWasMadeWhileItsQueueIsFullUntilOthersEnd) {
  Queue("default", {}, Amounts(6000));
  for (const char* name : {"n1", "n2"}) Node(name, Amounts(4000));
  for (const char* name : {"v1", "v2"}) {
    OneRuns(name, "low", "default", Amounts(4000), absl::StrCat("n", name + 1));
    cluster.SetEvicted(cluster.FindTask("default", name), true);
  }
  OneWaits("high", "high", "default", Amounts(4000));
  cluster.Nominate(cluster.FindTask("default", "high"), cluster.FindNode("n1"));
  EXPECT_EQ(Of("high").reason->kind, Reason::Kind::kRoomAwaited);
  EXPECT_FALSE(Of("high").nominations.has_value()) << "another than it has";
  cluster.RemovePod("default", "v2");
  EXPECT_EQ(Of("high").reason->kind, Reason::Kind::kRoomAwaited);
  cluster.RemovePod("default", "v1");
  EXPECT_THAT(Placed(), ElementsAre(Pair("high", "n1")));
}

// It was evicted before, and its PodGroup is written Pending, as of all whose pods are gone, when others go for it.
TEST_F(EvictTest, TheRoomIsKeptForWhomItWasMadeThoughItIsPendingAgain) {
  Node("n1", Amounts(4000));
  OneRuns("low", "low", "default", Amounts(4000), "n1");
  model::GangFacts again = testutil::Gang("again", 1);
  again.priority_class = "high";
  again.phase = model::GangPhase::kRunning;
  cluster.SetGang(again);
  Waits("again", "again", Amounts(4000));
  EXPECT_THAT(Evicted(), ElementsAre("low"));
  CarryOut();
  again.phase = model::GangPhase::kPending;
  cluster.SetGang(again);
  OneWaits("rival", "high", "default", Amounts(4000));
  EXPECT_TRUE(Of("again").admit);
  cluster.RemovePod("default", "low");
  EXPECT_THAT(Placed(), ElementsAre(Pair("again", "n1")));
}

// Neither he whose own room is not free yet, and comes first in order; nor where only a part of it is free.
// Others may have it, and are not told that it is somebody's.
TEST_F(EvictTest, WhoseQueueIsClosedMeanwhileHasNoRoomKept) {
  Node("n1", Amounts(1000));
  model::QueueFacts closes = testutil::Queue("closes");
  cluster.SetQueue(closes);
  OneRuns("r", "low", "closes", Amounts(1000), "n1");
  OneWaits("g", "high", "closes", Amounts(1000));
  CarryOut();
  EXPECT_EQ(cluster.gang(cluster.FindGang("default", "g")).nominated, 1);
  closes.open = false;
  cluster.SetQueue(closes);
  policy.choose_victims = false;  // a round in between
  CarryOut();
  EXPECT_EQ(cluster.gang(cluster.FindGang("default", "g")).nominated, 1);
  policy.choose_victims = true;
  CarryOut();
  EXPECT_EQ(cluster.gang(cluster.FindGang("default", "g")).nominated, 0);
}

TEST_F(EvictTest, WhoWaitsForHisRoomDoesNotTakeThatOfAnother) {
  for (const char* name : {"n1", "n2", "n3"}) Node(name, Amounts(4000));
  for (const char* name : {"v1", "v2", "v3"})
    OneRuns(name, "low", "default", Amounts(4000), absl::StrCat("n", name + 1));
  OneWaits("first", "high", "default", Amounts(4000));
  Group("second", "high", 2);
  for (const char* name : {"s-0", "s-1"}) Waits("second", name, Amounts(4000));
  for (const auto& [pod, node] : std::map<std::string, std::string>{{"first", "n1"}, {"s-0", "n2"}, {"s-1", "n3"}})
    cluster.Nominate(cluster.FindTask("default", pod), cluster.FindNode(node));
  for (const char* name : {"v1", "v2", "v3"}) cluster.SetEvicted(cluster.FindTask("default", name), true);
  cluster.RemovePod("default", "v2");
  EXPECT_THAT(Placed(), IsEmpty());
  EXPECT_EQ(Of("first").reason->kind, Reason::Kind::kRoomAwaited);
  cluster.RemovePod("default", "v3");
  EXPECT_THAT(Placed(), UnorderedElementsAre(Pair("s-0", "n2"), Pair("s-1", "n3")));
  // What is nobody's it takes.
  Node("n4", Amounts(4000));
  EXPECT_THAT(Placed(), UnorderedElementsAre(Pair("first", "n4"), Pair("s-0", "n2"), Pair("s-1", "n3")));
}

// On a node of which both wait for a part, what is free goes to him whom it is enough for.
TEST_F(EvictTest, WhoFindsAllHisRoomFreeDoesNotWaitForWhoDoesNot) {
  Node("n1", Amounts(8000), 20);
  Node("n2", Amounts(4000));
  for (const char* name : {"v1", "v2"}) {
    OneRuns(name, "low", "default", Amounts(4000), absl::StrCat("n", name + 1));
    cluster.SetEvicted(cluster.FindTask("default", name), true);
  }
  Group("first", "high", 2);
  for (const char* name : {"f-0", "f-1"}) Waits("first", name, Amounts(4000));
  OneWaits("second", "high", "default", Amounts(4000));
  for (const auto& [pod, node] : std::map<std::string, std::string>{{"f-0", "n1"}, {"f-1", "n2"}, {"second", "n1"}})
    cluster.Nominate(cluster.FindTask("default", pod), cluster.FindNode(node));
  EXPECT_THAT(Placed(), ElementsAre(Pair("second", "n1")));
}

// A gang has begun, and the binding of its last pod was refused. Another one waits for what two pods leave; both are
// for the same node, and what is free there is the former's.
TEST_F(EvictTest, WhoWaitsForPodsToEndLeavesTheRoomOfARefusedBinding) {
  Node("n1", Amounts(6000));
  Node("n2", Amounts(1000));
  Node("n3", Amounts(2000));
  for (const auto& [name, node] : std::map<std::string, std::string>{{"v1", "n1"}, {"v2", "n3"}}) {
    OneRuns(name, "low", "default", Amounts(2000), node);
    cluster.SetEvicted(cluster.FindTask("default", name), true);
  }
  Group("begun", "low", 2);
  Runs("begun", "b-0", Amounts(1000), "n2");
  Waits("begun", "b-1", Amounts(4000));
  Group("awaits", "high", 2);
  for (const char* name : {"a-0", "a-1"}) Waits("awaits", name, Amounts(2000));
  for (const auto& [pod, node] : std::map<std::string, std::string>{{"b-1", "n1"}, {"a-0", "n1"}, {"a-1", "n3"}})
    cluster.Nominate(cluster.FindTask("default", pod), cluster.FindNode(node));
  const model::GangId begun = cluster.FindGang("default", "begun");
  cluster.SetHeldBack(begun, "refused");
  EXPECT_THAT(Placed(), IsEmpty());
  cluster.SetHeldBack(begun, "");
  EXPECT_THAT(Placed(), ElementsAre(Pair("b-1", "n1")));
  cluster.RemovePod("default", "v1");
  EXPECT_THAT(Placed(), ElementsAre(Pair("b-1", "n1"))) << "v2 is not gone";
  cluster.RemovePod("default", "v2");
  EXPECT_THAT(Placed(), UnorderedElementsAre(Pair("b-1", "n1"), Pair("a-0", "n1"), Pair("a-1", "n3")));
}

// What is beyond what pods leave there is kept for who waits for both.
TEST_F(EvictTest, WhoWaitsForPodsToEndKeepsWhatTheyLeaveItShortOf) {
  Node("n1", Amounts(6000));
  Node("n2", Amounts(1000));
  OneRuns("v1", "low", "default", Amounts(2000), "n1");
  cluster.SetEvicted(cluster.FindTask("default", "v1"), true);
  Group("begun", "low", 2);
  Runs("begun", "b-0", Amounts(1000), "n2");
  Waits("begun", "b-1", Amounts(3000));
  OneWaits("awaits", "high", "default", Amounts(4000));
  cluster.Nominate(cluster.FindTask("default", "awaits"), cluster.FindNode("n1"));
  EXPECT_THAT(Placed(), ElementsAre(Pair("awaits", "n1")));
}

// What pods leave is for whom they went, though a gang that has begun could wait for it, too.
TEST_F(EvictTest, WhatPodsLeaveIsNobodyElses) {
  Node("n1", Amounts(4000));
  Node("n2", Amounts(1000));
  OneRuns("v1", "low", "default", Amounts(4000), "n1");
  cluster.SetEvicted(cluster.FindTask("default", "v1"), true);
  Group("begun", "mid", 2);
  Runs("begun", "b-0", Amounts(1000), "n2");
  Waits("begun", "b-1", Amounts(4000));
  OneWaits("awaits", "high", "default", Amounts(4000));
  EXPECT_TRUE(Of("begun").nominations.has_value()) << "nobody else waits for it";
  cluster.Nominate(cluster.FindTask("default", "awaits"), cluster.FindNode("n1"));
  EXPECT_FALSE(Of("begun").nominations.has_value());
  EXPECT_EQ(Of("awaits").reason->kind, Reason::Kind::kRoomAwaited);
}

// A pod is nominated still, but its gang lost members since and cannot begin with that alone.
TEST_F(EvictTest, RoomThatIsNotEnoughForAGangIsNotKeptForIt) {
  Node("n1", Amounts(4000));
  OneRuns("goes", "low", "default", Amounts(4000), "n1");
  cluster.SetEvicted(cluster.FindTask("default", "goes"), true);
  OneWaits("whole", "high", "default", Amounts(4000));
  Group("part", "high", 2);
  for (const char* name : {"p-0", "p-1"}) Waits("part", name, Amounts(4000));
  for (const char* pod : {"whole", "p-0"}) cluster.Nominate(cluster.FindTask("default", pod), cluster.FindNode("n1"));
  EXPECT_EQ(Of("whole").reason->kind, Reason::Kind::kRoomAwaited);
}

// Of which one has a node already.
TEST_F(EvictTest, ForAGangThatHasSomeOfItsMinimumRoomForTheRestIsKept) {
  Node("n1", Amounts(4000));
  Node("n2", Amounts(1000));
  OneRuns("goes", "low", "default", Amounts(2000), "n1");
  cluster.SetEvicted(cluster.FindTask("default", "goes"), true);
  model::GangFacts gang = testutil::Gang("part", 2);
  gang.priority_class = "low";
  gang.was_whole = true;
  cluster.SetGang(gang);
  Runs("part", "p-0", Amounts(1000), "n2");
  Waits("part", "p-1", Amounts(4000));
  cluster.Nominate(cluster.FindTask("default", "p-1"), cluster.FindNode("n1"));
  OneWaits("other", "high", "default", Amounts(2000));
  cluster.Nominate(cluster.FindTask("default", "other"), cluster.FindNode("n2"));
  EXPECT_THAT(Placed(), IsEmpty());
}

// A pod more that its spread counts on n2 would leave it no second node.
TEST_F(EvictTest, NorDoOthersTakeWhatItsSpreadNeeds) {
  for (const char* name : {"n1", "n2", "n3"}) Node(name, Amounts(name[1] == '3' ? 2000 : 4000));
  OneRuns("stays", "high", "default", Amounts(2000), "n3");
  OneRuns("goes", "low", "default", Amounts(4000), "n1");
  Group("spread", "mid", 2);
  for (int i = 0; i < 2; ++i) {
    model::PodFacts pod = PodOf("spread", absl::StrCat("spread-", i), Amounts(2000));
    pod.labels = {{"app", "a"}};
    pod.wants.spreads = {{{"kubernetes.io/hostname", {{"default"}, std::nullopt, {{"app", model::Op::kIn, {"a"}}}}}}};
    cluster.SetPod(pod);
  }
  Group("counted", "low", 1);
  for (int i = 0; i < 2; ++i) {
    model::PodFacts pod = PodOf("counted", absl::StrCat("counted-", i), Amounts(1000));
    pod.labels = {{"app", "a"}};
    cluster.SetPod(pod);
  }
  EXPECT_THAT(Evicted(), ElementsAre("goes"));
  EXPECT_THAT(Placed(), IsEmpty());
  EXPECT_EQ(model::Render(*Of("counted").reason),
            "waits for 1 of 1 task: room is kept for gangs that lack their minimum, the first is default/spread");
  // What is beyond a minimum neither.
  Runs("stays", "stays", Amounts(1000), "n3");
  model::PodFacts runs = PodOf("counted", "counted-0", Amounts(1000), "n3");
  runs.labels = {{"app", "a"}};
  cluster.SetPod(runs);
  EXPECT_THAT(Evicted(), ElementsAre("goes"));
  EXPECT_THAT(Placed(), IsEmpty());
}

TEST_F(EvictTest, WhoItsSpreadDoesNotCountIsPlacedBesideIt) {
  for (const char* name : {"n1", "n2"}) Node(name, Amounts(4000));
  OneRuns("goes", "low", "default", Amounts(4000), "n1");
  Group("spread", "mid", 2);
  for (int i = 0; i < 2; ++i) {
    model::PodFacts pod = PodOf("spread", absl::StrCat("spread-", i), Amounts(2000));
    pod.labels = {{"app", "a"}};
    pod.wants.spreads = {{{"kubernetes.io/hostname", {{"default"}, std::nullopt, {{"app", model::Op::kIn, {"a"}}}}}}};
    cluster.SetPod(pod);
  }
  OneWaits("stranger", "low", "default", Amounts(1000));
  EXPECT_THAT(Evicted(), ElementsAre("goes"));
  EXPECT_THAT(Placed(), ElementsAre(Pair("stranger", "n2")));
}

TEST_F(EvictTest, NobodyIsEvictedForAGangThatWouldNotFitThen) {
  Node("n1", Amounts(4000));
  OneRuns("low", "low", "default", Amounts(4000), "n1");
  OneWaits("high", "high", "default", Amounts(5000));
  EXPECT_THAT(Evicted(), IsEmpty());
  EXPECT_EQ(Of("high").reason->kind, Reason::Kind::kNoRoom);
}

TEST_F(EvictTest, NobodyIsEvictedWhereEnoughEndsAnyhow) {
  Node("n1", Amounts(4000));
  OneRuns("low", "low", "default", Amounts(2000), "n1");
  Group("ends", "low", 1);
  model::PodFacts going = PodOf("ends", "ends", Amounts(2000), "n1");
  going.terminating = true;
  going.grace_ends = At(30);
  cluster.SetPod(going);
  OneWaits("high", "high", "default", Amounts(2000));
  EXPECT_THAT(Evicted(), IsEmpty());
  const Decision decision = Of("high");
  EXPECT_EQ(decision.reason->kind, Reason::Kind::kRoomAwaited);
  EXPECT_EQ(decision.look_again, At(30) + policy.victims_take);
  // One that never ends is not waited for.
  going.grace_ends = At(10) - policy.victims_take;
  cluster.SetPod(going);
  EXPECT_THAT(Evicted(), ElementsAre("low"));
}

// Where its pods are nominated already there is nothing to write.
TEST_F(EvictTest, WhoGoesOnWaitingForItsRoomIsNotNominatedAgain) {
  Node("n1", Amounts(4000));
  OneRuns("low", "low", "default", Amounts(4000), "n1");
  OneWaits("high", "high", "default", Amounts(2000));
  EXPECT_TRUE(Of("high").nominations.has_value());
  CarryOut();
  const Decision decision = Of("high");
  EXPECT_EQ(decision.reason->kind, Reason::Kind::kRoomAwaited);
  EXPECT_FALSE(decision.nominations.has_value());
}

// It was nominated while its gang lacked its minimum, and another pod, made since, took the room.
TEST_F(EvictTest, AGangThatHasItsMinimumIsNominatedForNoMore) {
  Node("n1", Amounts(2000));
  Group("wide", "low", 1);
  Runs("wide", "wide-0", Amounts(2000), "n1");
  Waits("wide", "wide-1", Amounts(2000));
  cluster.Nominate(cluster.FindTask("default", "wide-1"), cluster.FindNode("n1"));
  OneWaits("high", "high", "default", Amounts(2000));
  CarryOut();
  EXPECT_TRUE(cluster.task(cluster.FindTask("default", "wide-0")).goes());
  EXPECT_EQ(cluster.task(cluster.FindTask("default", "wide-1")).nominated, model::kNone);
  EXPECT_NE(cluster.task(cluster.FindTask("default", "high")).nominated, model::kNone);
  EXPECT_FALSE(Of("wide").nominations.has_value());
}

// Here because its node is gone.
TEST_F(EvictTest, WhoWaitsForOtherRoomThanBeforeIsNominatedThere) {
  for (const char* name : {"n1", "n2"}) Node(name, Amounts(4000));
  for (const char* name : {"v1", "v2"}) OneRuns(name, "low", "default", Amounts(4000), absl::StrCat("n", name + 1));
  OneWaits("high", "high", "default", Amounts(4000));
  EXPECT_THAT(Evicted(), ElementsAre("v2"));
  CarryOut();
  cluster.SetEvicted(cluster.FindTask("default", "v1"), true);
  cluster.RemoveNode("n2");
  const Decision decision = Of("high");
  EXPECT_EQ(decision.reason->kind, Reason::Kind::kRoomAwaited);
  ASSERT_TRUE(decision.nominations.has_value());
  EXPECT_EQ(cluster.node_name(decision.nominations->front().row), "n1");
}

// Not only with those on the nodes that it has, which another of them makes enough room on.
TEST_F(EvictTest, WhoseNodeBecameTooSmallReckonsWithAllThatEnd) {
  for (const char* name : {"n0", "n1", "n2"}) Node(name, Amounts(8000));
  for (const char* name : {"v0", "v1", "v2"}) {
    OneRuns(name, "low", "default", Amounts(8000), absl::StrCat("n", name + 1));
    cluster.SetEvicted(cluster.FindTask("default", name), true);
  }
  Group("waits", "high", 2);
  for (const char* name : {"w-0", "w-1"}) Waits("waits", name, Amounts(4000));
  for (const auto& [pod, node] : std::map<std::string, std::string>{{"w-0", "n1"}, {"w-1", "n2"}})
    cluster.Nominate(cluster.FindTask("default", pod), cluster.FindNode(node));
  EXPECT_EQ(Of("waits").reason->kind, Reason::Kind::kRoomAwaited);
  EXPECT_FALSE(Of("waits").nominations.has_value());
  Node("n1", Amounts(2000));
  const Decision decision = Of("waits");
  ASSERT_TRUE(decision.nominations.has_value());
  for (const model::Placement& placement : *decision.nominations) EXPECT_EQ(cluster.node_name(placement.row), "n0");
}

TEST_F(EvictTest, RoomIsGivenBackWhenItWillNotComeAnyMore) {
  Node("n1", Amounts(4000));
  Group("ends", "low", 1);
  model::PodFacts going = PodOf("ends", "ends", Amounts(4000), "n1");
  going.terminating = true;
  going.grace_ends = At(10) - policy.victims_take;
  cluster.SetPod(going);
  OneWaits("high", "high", "default", Amounts(2000));
  cluster.Nominate(cluster.FindTask("default", "high"), cluster.FindNode("n1"));
  const Decision decision = Of("high");
  ASSERT_TRUE(decision.nominations.has_value());
  EXPECT_THAT(*decision.nominations, IsEmpty());
  EXPECT_EQ(decision.reason->kind, Reason::Kind::kNoRoom);
}

}  // namespace
}  // namespace gangway::gang
