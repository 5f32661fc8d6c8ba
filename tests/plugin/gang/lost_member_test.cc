#include "plugin/gang/lost_member.h"

#include "plugin/gang/carry_out.h"
#include "tests/plugin/gang/evict_world.h"

namespace gangway::gang {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

// Two nodes of 4 cpu. A gang of three pods of 2 runs, two on a and one on b; another holds the rest of b.
struct LostMemberTest : testutil::EvictTest {
  LostMemberTest() {
    Node("a", testutil::Amounts(4000));
    Node("b", testutil::Amounts(4000));
    Began("g", 3);
    Runs("g", "g-0", testutil::Amounts(2000), "a");
    Runs("g", "g-1", testutil::Amounts(2000), "a");
    Runs("g", "g-2", testutil::Amounts(2000), "b");
    OneRuns("other", "mid", "default", testutil::Amounts(2000), "b");
  }
  void Began(const std::string& name, int min_member, const std::string& queue = "default",
             absl::Time short_since = absl::InfiniteFuture()) {
    model::GangFacts gang = testutil::Gang(name, min_member);
    gang.queue = queue;
    gang.phase = short_since == absl::InfiniteFuture() ? model::GangPhase::kRunning : model::GangPhase::kUnknown;
    gang.was_whole = true;
    gang.short_since = short_since;
    gang.created = testutil::At(0);
    cluster.SetGang(gang);
  }
  void Grace(absl::Duration grace) {
    model::QueueFacts queue = testutil::Queue("default");
    queue.lost_member_grace = grace;
    cluster.SetQueue(queue);
  }
  // As the edge does.
  model::Decisions Round(absl::Time now) {
    Scratch scratch;
    const model::Decisions decisions = Schedule(cluster, policy, now, scratch);
    for (const model::Decision& decision : decisions) gang::CarryOut(decision, cluster);
    EndRound(decisions, policy.victims_take, now, cluster);
    EXPECT_THAT(cluster.Audit(), IsEmpty());
    return decisions;
  }
  std::string NodeOf(const std::string& pod) const {
    const model::Task& task = cluster.task(cluster.FindTask("default", pod));
    return task.row == model::kNone ? "" : std::string(cluster.node_name(task.row));
  }
  static std::vector<model::TaskId> EvictedIn(const model::Decisions& decisions) {
    std::vector<model::TaskId> tasks;
    for (const model::Decision& decision : decisions)
      tasks.insert(tasks.end(), decision.evicted.begin(), decision.evicted.end());
    return tasks;
  }
  const model::Gang& Of(const std::string& name) const { return cluster.gang(cluster.FindGang("default", name)); }
};

TEST_F(LostMemberTest, OneThatRunsInPartLostAMember) {
  EXPECT_FALSE(HasLostMember(cluster, Of("g")));
  cluster.RemovePod("default", "g-2");
  EXPECT_TRUE(HasLostMember(cluster, Of("g")));
  Waits("g", "g-2", testutil::Amounts(2000));
  EXPECT_TRUE(HasLostMember(cluster, Of("g")));
}

TEST_F(LostMemberTest, WhoHasFailedOrBeginsAnewOrIsToldToGoDidNot) {
  model::PodFacts failed = PodOf("g", "g-2", testutil::Amounts(2000), "b");
  failed.phase = model::PodPhase::kFailed;
  cluster.SetPod(failed);
  EXPECT_FALSE(HasLostMember(cluster, Of("g")));
  cluster.RemovePod("default", "g-2");
  ASSERT_TRUE(HasLostMember(cluster, Of("g")));
  cluster.SetEvicted(cluster.FindTask("default", "g-0"), true);
  EXPECT_FALSE(HasLostMember(cluster, Of("g")));
  cluster.SetEvicted(cluster.FindTask("default", "g-0"), false);
  for (const model::GangPhase phase : {model::GangPhase::kPending, model::GangPhase::kInqueue}) {
    model::GangFacts gang = testutil::Gang("g", 3);
    gang.was_whole = true;
    gang.phase = phase;
    cluster.SetGang(gang);
    EXPECT_FALSE(HasLostMember(cluster, Of("g")));
  }
}

TEST_F(LostMemberTest, ItsPodIsPlacedBeforeAHigherPriority) {
  OneWaits("vip", "high", "default", testutil::Amounts(2000));
  policy.preempt = false;
  cluster.RemovePod("default", "g-2");
  Waits("g", "g-2", testutil::Amounts(2000));
  Round(testutil::At(10));
  EXPECT_EQ(NodeOf("g-2"), "b");
  EXPECT_EQ(NodeOf("vip"), "");
}

// Two gangs of 2.5 cpu, one on b and one on a node of its own, went for a gang of two pods as large; g-2 is lost when
// they are gone.
struct AwaitedRoomTest : LostMemberTest {
  AwaitedRoomTest() {
    model::GangFacts g = testutil::Gang("g", 3);
    g.phase = model::GangPhase::kRunning;
    g.was_whole = true;
    g.priority_class = "high";
    cluster.SetGang(g);
    Node("b", testutil::Amounts(6500));
    Node("c", testutil::Amounts(2500));
    OneRuns("low-b", "low", "default", testutil::Amounts(2500), "b");
    OneRuns("low-c", "low", "default", testutil::Amounts(2500), "c");
    Group("vip", "high", 2);
    Waits("vip", "vip-0", testutil::Amounts(2500));
    Waits("vip", "vip-1", testutil::Amounts(2500));
    EXPECT_THAT(NamesOf(EvictedIn(Round(testutil::At(10)))), ElementsAre("low-b", "low-c"));
    for (const char* const gone : {"low-b", "low-c"}) cluster.RemovePod("default", gone);
    cluster.RemovePod("default", "g-2");
  }
};

// It fits best on c, and then one of the two would have no room.
TEST_F(AwaitedRoomTest, ItsPodSparesRoomThatOthersWereEvictedFor) {
  Waits("g", "g-2", testutil::Amounts(2000));
  Round(testutil::At(11));
  EXPECT_EQ(NodeOf("g-2"), "b");
  EXPECT_THAT((std::vector{NodeOf("vip-0"), NodeOf("vip-1")}), UnorderedElementsAre("b", "c"));
}

// Before, it went first, and the two had gone in vain.
TEST_F(AwaitedRoomTest, WhereItFindsNoneBesideThatItWaitsUntilTheyHaveBegun) {
  Waits("g", "g-2", testutil::Amounts(2100));
  policy.preempt = false;  // nobody goes for it
  Round(testutil::At(11));
  EXPECT_EQ(NodeOf("g-2"), "");
  EXPECT_THAT((std::vector{NodeOf("vip-0"), NodeOf("vip-1")}), UnorderedElementsAre("b", "c"));
}

// Two go for one pod each; who goes for what was lost is not counted twice, or "vip" would give up what it waits for.
TEST_F(LostMemberTest, RoomThatIsMadeForItsPodLeavesOthersTheirs) {
  model::GangFacts g = testutil::Gang("g", 3);
  g.phase = model::GangPhase::kRunning;
  g.was_whole = true;
  g.priority_class = "high";
  cluster.SetGang(g);
  Node("d", testutil::Amounts(4000));
  for (const char* const low : {"low-1", "low-2"}) OneRuns(low, "low", "default", testutil::Amounts(2000), "d");
  const auto waits_for_d = [&](const std::string& gang, const std::string& name) {
    model::PodFacts pod = PodOf(gang, name, testutil::Amounts(2000));
    pod.wants.selector = {{"kubernetes.io/hostname", "d"}};
    cluster.SetPod(pod);
  };
  Group("vip", "high", 1);
  waits_for_d("vip", "vip");
  EXPECT_THAT(EvictedIn(Round(testutil::At(10))), SizeIs(1));
  cluster.RemovePod("default", "g-2");
  waits_for_d("g", "g-2");
  EXPECT_THAT(EvictedIn(Round(testutil::At(11))), SizeIs(1));
  for (const int second : {12, 13}) {
    EXPECT_THAT(EvictedIn(Round(testutil::At(second))), IsEmpty());
    EXPECT_EQ(Of("vip").nominated, 1);
    EXPECT_EQ(Of("g").nominated, 1);
  }
  for (const char* const low : {"low-1", "low-2"}) cluster.RemovePod("default", low);
  Round(testutil::At(14));
  EXPECT_EQ(NodeOf("vip"), "d");
  EXPECT_EQ(NodeOf("g-2"), "d");
}

// The room of the pod that is going will be that of the one made for it, so evicting 2 cpu more makes no room for 4.
TEST_F(LostMemberTest, NobodyCountsOnTheRoomOfAPodThatIsLostAndStillThere) {
  OneWaits("vip", "high", "default", testutil::Amounts(4000));
  model::PodFacts going = PodOf("g", "g-2", testutil::Amounts(2000), "b");
  going.terminating = true;
  cluster.SetPod(going);
  EXPECT_THAT(EvictedIn(Round(testutil::At(10))), IsEmpty());
}

TEST_F(LostMemberTest, ItsRoomIsKeptUntilThePodIsMadeAnew) {
  policy.preempt = false;
  OneWaits("vip", "high", "default", testutil::Amounts(2000));
  cluster.RemovePod("default", "g-2");
  Round(testutil::At(10));
  EXPECT_EQ(NodeOf("vip"), "");
  Waits("g", "g-2", testutil::Amounts(2000));
  Round(testutil::At(11));
  EXPECT_EQ(NodeOf("g-2"), "b");
  EXPECT_THAT(cluster.lost_room(), IsEmpty());
}

// However often it goes while the gang lacks another one, too.
TEST_F(LostMemberTest, OnePodLeavesOneRoom) {
  cluster.RemovePod("default", "g-0");
  for (const char* const node : {"b", "a"}) {
    Runs("g", "g-2", testutil::Amounts(2000), node);
    cluster.RemovePod("default", "g-2");
  }
  ASSERT_THAT(cluster.lost_room(), SizeIs(2));
  EXPECT_EQ(cluster.lost_room()[1].pod, "g-2");
  EXPECT_EQ(cluster.lost_room()[1].node, "a");
  EXPECT_THAT(cluster.Audit(), IsEmpty());
}

// Two were lost, and one that was made for them, of another name, found room elsewhere.
TEST_F(LostMemberTest, NoMoreRoomIsKeptThanItLacks) {
  Node("c", testutil::Amounts(2000));
  for (const char* const pod : {"g-1", "g-2"}) cluster.RemovePod("default", pod);
  const model::GangId g = cluster.FindGang("default", "g");
  EXPECT_THAT(RoomLeftTo(cluster, g), SizeIs(2));
  Runs("g", "g-3", testutil::Amounts(2000), "c");
  EXPECT_THAT(RoomLeftTo(cluster, g), SizeIs(1));
}

TEST_F(LostMemberTest, ItsRoomIsKeptFromWhatOthersWantBeyondTheirMinimum) {
  Runs("other", "other-1", testutil::Amounts(1), "b");
  Waits("other", "other-2", testutil::Amounts(2000));
  cluster.RemovePod("default", "g-2");
  Round(testutil::At(10));
  EXPECT_EQ(NodeOf("other-2"), "");
}

// Each queue deserves 7. With what is lost lab holds 6, and 3 more would be too much for it: without, one of default's
// had to go, and lab would hold 9 as soon as the pod is made again.
TEST_F(LostMemberTest, ItsQueueHoldsWhatItLost) {
  Node("c", testutil::Amounts(6000));
  Queue("lab");
  policy.preempt = false;
  Began("g", 3, "lab");
  for (const char* const name : {"big-0", "big-1"}) OneRuns(name, "mid", "default", testutil::Amounts(3000), "c");
  OneWaits("more", "mid", "lab", testutil::Amounts(3000));
  EXPECT_THAT(EvictedIn(Round(testutil::At(9))), IsEmpty());
  cluster.RemovePod("default", "g-2");
  EXPECT_THAT(EvictedIn(Round(testutil::At(10))), IsEmpty());
  Waits("g", "g-2", testutil::Amounts(2000));
  EXPECT_THAT(EvictedIn(Round(testutil::At(11))), IsEmpty());
  EXPECT_EQ(NodeOf("g-2"), "b");
}

// Nor does it ask for less: both deserve 7 all the time, and "w" would be too much for default. Else lab would hold
// more than it deserves, and "x" had to go.
TEST_F(LostMemberTest, ItsQueueAsksForWhatItLost) {
  Node("c", testutil::Amounts(6000));
  Queue("lab");
  policy.preempt = false;
  Began("g", 3, "lab");
  OneRuns("x", "mid", "lab", testutil::Amounts(2000), "c");
  OneRuns("big", "mid", "default", testutil::Amounts(4000), "c");
  OneWaits("w", "mid", "default", testutil::Amounts(2000));
  EXPECT_THAT(EvictedIn(Round(testutil::At(9))), IsEmpty());
  cluster.RemovePod("default", "g-2");
  EXPECT_THAT(EvictedIn(Round(testutil::At(10))), IsEmpty());
}

TEST_F(LostMemberTest, RoomOnANodeThatIsGoneIsKeptNowhere) {
  policy.preempt = false;
  OneWaits("vip", "high", "default", testutil::Amounts(2000));
  Node("c", testutil::Amounts(2000));
  cluster.RemovePod("default", "g-2");
  cluster.RemoveNode("b");
  Round(testutil::At(10));
  EXPECT_EQ(NodeOf("vip"), "c");
}

TEST_F(LostMemberTest, WhatIsLeftOfAGangThatEndsKeepsNoRoom) {
  policy.preempt = false;
  OneWaits("vip", "high", "default", testutil::Amounts(2000));
  for (const char* const pod : {"g-2", "g-1", "g-0"}) cluster.RemovePod("default", pod);
  Round(testutil::At(10));
  EXPECT_NE(NodeOf("vip"), "");
  EXPECT_THAT(cluster.lost_room(), IsEmpty());
}

TEST_F(LostMemberTest, TheRoomOfWhoWasEvictedIsNotKept) {
  cluster.SetEvicted(cluster.FindTask("default", "g-2"), true);
  cluster.RemovePod("default", "g-2");
  EXPECT_THAT(cluster.lost_room(), IsEmpty());
}

TEST_F(LostMemberTest, AfterTheGraceItsRoomIsAnybodys) {
  policy.preempt = false;
  OneWaits("vip", "high", "default", testutil::Amounts(2000));
  Began("g", 3, "default", testutil::At(10));
  cluster.RemovePod("default", "g-2");
  const model::Decisions early = Round(testutil::At(309));
  EXPECT_EQ(NodeOf("vip"), "");
  absl::Time again = absl::InfiniteFuture();
  for (const model::Decision& decision : early) again = std::min(again, decision.look_again);
  EXPECT_EQ(again, testutil::At(310));
  EXPECT_THAT(EvictedIn(Round(testutil::At(310))), IsEmpty());
  EXPECT_EQ(NodeOf("vip"), "b");
}

TEST_F(LostMemberTest, NobodyEvictsItInItsGrace) {
  OneWaits("vip", "high", "default", testutil::Amounts(4000));
  Began("g", 3, "default", testutil::At(10));
  cluster.RemovePod("default", "g-2");
  cluster.RemovePod("default", "other");
  cluster.RemoveNode("b");
  EXPECT_THAT(EvictedIn(Round(testutil::At(309))), IsEmpty());
  EXPECT_THAT(NamesOf(EvictedIn(Round(testutil::At(310)))), ElementsAre("g-0", "g-1"));
}

// Its queue says how long; no queue of its own, the one above.
TEST_F(LostMemberTest, AfterAGraceThatIsWrittenItGoesAsAWhole) {
  model::QueueFacts above = testutil::Queue("above");
  above.lost_member_grace = absl::Minutes(1);
  cluster.SetQueue(above);
  Queue("below", {}, {}, "above");
  Began("g", 3, "below", testutil::At(10));
  cluster.RemovePod("default", "g-2");
  OneRuns("third", "mid", "default", testutil::Amounts(2000), "b");
  Waits("g", "g-2", testutil::Amounts(2000));
  EXPECT_THAT(EvictedIn(Round(testutil::At(69))), IsEmpty());
  const model::Decisions decisions = Round(testutil::At(70));
  EXPECT_THAT(NamesOf(EvictedIn(decisions)), ElementsAre("g-0", "g-1"));
  EXPECT_EQ(decisions.front().evict_for, model::EvictFor::kLost);
  EXPECT_THAT(EvictedIn(Round(testutil::At(71))), IsEmpty());
}

TEST_F(LostMemberTest, OneThatFindsRoomAfterItsGraceStays) {
  Grace(absl::Minutes(1));
  Began("g", 3, "default", testutil::At(10));
  cluster.RemovePod("default", "g-2");
  Waits("g", "g-2", testutil::Amounts(2000));
  EXPECT_THAT(EvictedIn(Round(testutil::At(700))), IsEmpty());
  EXPECT_EQ(NodeOf("g-2"), "b");
}

TEST_F(LostMemberTest, WhoIsNotPreemptableStays) {
  Grace(absl::Minutes(1));
  Began("g", 3, "default", testutil::At(10));
  cluster.RemovePod("default", "g-2");
  Runs("g", "g-1", testutil::Amounts(2000), "a", /*evictable=*/false);
  EXPECT_THAT(EvictedIn(Round(testutil::At(700))), IsEmpty());
}

TEST_F(LostMemberTest, WithoutAWrittenGraceItHoldsItsNodes) {
  Began("g", 3, "default", testutil::At(10));
  cluster.RemovePod("default", "g-2");
  EXPECT_THAT(EvictedIn(Round(testutil::At(100'000))), IsEmpty());
}

// Each of g and h holds half of the cluster, and lost the other half to a node that went.
struct TwoLostMembersTest : LostMemberTest {
  TwoLostMembersTest() {
    cluster.RemovePod("default", "g-2");
    cluster.RemovePod("default", "other");
    cluster.RemoveGang("default", "other");
    Runs("h", "h-0", testutil::Amounts(2000), "b");
    Runs("h", "h-1", testutil::Amounts(2000), "b");
    Waits("g", "g-2", testutil::Amounts(2000));
    Waits("h", "h-2", testutil::Amounts(2000));
    Began("g", 3, "default", testutil::At(10));
    Began("h", 3, "default", testutil::At(20));
  }
};

TEST_F(TwoLostMembersTest, OfTwoThatWaitForEachOtherOneGoesSoThatTheOtherIsWhole) {
  EXPECT_THAT(EvictedIn(Round(testutil::At(319))), IsEmpty());
  const model::Decisions decisions = Round(testutil::At(320));
  EXPECT_THAT(NamesOf(EvictedIn(decisions)), ElementsAre("h-0", "h-1"));
  EXPECT_THAT(EvictedIn(Round(testutil::At(321))), IsEmpty());
  for (const char* const pod : {"h-0", "h-1"}) cluster.RemovePod("default", pod);
  Round(testutil::At(322));
  EXPECT_EQ(NodeOf("g-2"), "b");
}

TEST_F(TwoLostMembersTest, NobodyGoesWhileOthersGoWhoseRoomMayDo) {
  Node("c", testutil::Amounts(1000));
  Group("ends", "mid", 1);
  model::PodFacts ends = PodOf("ends", "ends", testutil::Amounts(1000), "c");
  ends.terminating = true;
  cluster.SetPod(ends);
  EXPECT_THAT(EvictedIn(Round(testutil::At(320))), IsEmpty());
  cluster.RemovePod("default", "ends");
  EXPECT_THAT(NamesOf(EvictedIn(Round(testutil::At(321)))), ElementsAre("h-0", "h-1"));
}

TEST_F(TwoLostMembersTest, NobodyGoesInVain) {
  Waits("g", "g-2", testutil::Amounts(5000));
  Waits("h", "h-2", testutil::Amounts(5000));
  EXPECT_THAT(EvictedIn(Round(testutil::At(320))), IsEmpty());
}

TEST_F(TwoLostMembersTest, NobodyGoesWhereNobodyIsEvictedAtAll) {
  policy.preempt = policy.reclaim = false;
  EXPECT_THAT(EvictedIn(Round(testutil::At(320))), IsEmpty());
}

}  // namespace
}  // namespace gangway::gang
