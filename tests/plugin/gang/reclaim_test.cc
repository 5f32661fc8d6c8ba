// Who must leave for another queue; rows of tests/spec/volcano-scheduler.rows about reclaim.
#include "plugin/gang/reclaim.h"

#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "plugin/gang/schedule.h"
#include "tests/plugin/gang/evict_world.h"
#include "tests/plugin/model/cluster_builder.h"

namespace gangway::gang {
namespace {

using model::Decision;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using testutil::Amounts;
using testutil::At;
using testutil::EvictTest;
using testutil::kGpu;

// What the loser of one reclaim cannot do is take it back.
TEST_F(EvictTest, NoTwoQueuesTakeTurns) {
  Node("n1", Amounts(3000));
  for (const char* name : {"q1", "q2"}) Queue(name);
  OneRuns("a", "low", "q1", Amounts(2000), "n1");
  OneWaits("b", "low", "q2", Amounts(2000));
  EXPECT_THAT(Evicted(), IsEmpty());  // both deserve 1.5, and 2 in the one are no better than in the other
  Node("n2", Amounts(1000));
  EXPECT_THAT(Evicted(), IsEmpty());
}

// What is won for the low gang, gpus that its queue lacks, would be lost with it.
TEST_F(EvictTest, NoRoomIsTakenBackForAGangThatAHigherPriorityOfItsQueueWouldEvict) {
  Node("n1", Amounts(6000, 6, {{kGpu, 3}}));
  Queue("lab");
  OneRuns("held", "mid", "default", Amounts(4000), "n1");
  OneRuns("beside", "high", "lab", Amounts(1000), "n1");
  OneWaits("low", "low", "lab", Amounts(3000, 0, {{kGpu, 1}}));
  EXPECT_THAT(Evicted(), ElementsAre("held"));
  OneWaits("mid", "mid", "lab", Amounts(3000));
  EXPECT_THAT(Evicted(), IsEmpty());
}

// "held" would come back where it may evict "low", which holds less than is wanted.
TEST_F(EvictTest, WhoCouldEvictNobodyWhenItComesBackMayGo) {
  Node("n1", Amounts(4000));
  for (const char* name : {"q1", "q2"}) Queue(name);
  OneRuns("low", "low", "q1", Amounts(1000), "n1", /*evictable=*/false);
  OneRuns("held", "mid", "q1", Amounts(3000), "n1");
  OneWaits("b", "low", "q2", Amounts(2000));
  EXPECT_THAT(Evicted(), ElementsAre("held"));
  Runs("low", "low", Amounts(1000), "n1");
  EXPECT_THAT(Evicted(), IsEmpty());
}

// The gpu of "low" is enough for that: nobody takes its cpu.
TEST_F(EvictTest, OnlyWhatIsWantedSaysWhoComesBack) {
  Node("n1", Amounts(16'000, 0, {{kGpu, 4}}));
  for (const char* name : {"q1", "q2"}) Queue(name);
  OneRuns("held", "mid", "q1", Amounts(1000, 0, {{kGpu, 3}}), "n1");
  OneWaits("low", "low", "q1", Amounts(0, 0, {{kGpu, 1}}));
  cluster.Assume(cluster.FindTask("default", "low"), cluster.FindNode("n1"));
  OneWaits("b", "low", "q2", Amounts(0, 0, {{kGpu, 2}}));
  EXPECT_THAT(Evicted(), IsEmpty());
  policy.preempt = false;
  EXPECT_THAT(Evicted(), ElementsAre("held"));
}

// "shop" would hold 4 of the 7.5 that it deserves, and take back from "default" what it lacks then.
TEST_F(EvictTest, NoQueueAboveBothLosesWhatOthersAskFor) {
  Node("n1", Amounts(10'000));
  model::QueueFacts shop = testutil::Queue("shop"), ads = testutil::Queue("ads");
  shop.weight = 3;
  ads.weight = 2;
  ads.parent = "shop";
  for (const model::QueueFacts& queue : {shop, ads}) cluster.SetQueue(queue);
  OneRuns("large", "low", "shop", Amounts(6000), "n1");
  OneRuns("other", "low", "default", Amounts(4000), "n1");
  OneWaits("small", "low", "ads", Amounts(4000));
  OneWaits("more", "low", "default", Amounts(4000));
  EXPECT_THAT(Evicted(), IsEmpty());
  // Nobody beside it asks for more.
  cluster.RemovePod("default", "more");
  EXPECT_THAT(Evicted(), ElementsAre("large"));
}

TEST_F(EvictTest, AQueueThatTookAllGivesBackWhatAnotherDeserves) {
  Node("n1", Amounts(8000), 20);
  for (const char* name : {"q1", "q2"}) Queue(name);
  for (int i = 0; i < 8; ++i) OneRuns(absl::StrCat("a-", i), "low", "q1", Amounts(1000), "n1");
  Group("b", "low", 4, "q2");
  for (int i = 0; i < 4; ++i) Waits("b", absl::StrCat("b-", i), Amounts(1000));
  const Decision decision = Of("b");
  EXPECT_THAT(NamesOf(decision.evicted), ElementsAre("a-4", "a-5", "a-6", "a-7"));
  EXPECT_EQ(decision.evict_for, model::EvictFor::kShare);
  // No more than that: q1 has what it deserves left.
  CarryOut();
  for (int i = 4; i < 8; ++i) cluster.RemovePod("default", absl::StrCat("a-", i));
  CarryOut();
  OneWaits("c", "high", "q2", Amounts(1000));
  EXPECT_THAT(Of("c").evicted, IsEmpty());
}

// In order a-7 to a-4 would go, a half of each node, and then q1 has no more than it deserves.
TEST_F(EvictTest, WholeNodesAreTakenBackWhereThoseWhoGoFirstLieApart) {
  for (const char* name : {"n1", "n2", "n3", "n4"}) Node(name, Amounts(4000));
  for (const char* name : {"q1", "q2"}) Queue(name);
  for (int i = 0; i < 8; ++i) OneRuns(absl::StrCat("a-", i), "low", "q1", Amounts(2000), absl::StrCat("n", 1 + i % 4));
  Group("b", "low", 2, "q2");
  for (int i = 0; i < 2; ++i) Waits("b", absl::StrCat("b-", i), Amounts(4000));
  const Decision decision = Of("b");
  EXPECT_THAT(NamesOf(decision.evicted), ElementsAre("a-2", "a-3", "a-6", "a-7"));
  EXPECT_EQ(decision.evict_for, model::EvictFor::kShare);
  // What q1 deserves does not leave three nodes.
  Group("b", "low", 3, "q2");
  Waits("b", "b-2", Amounts(4000));
  EXPECT_THAT(Of("b").evicted, IsEmpty());
}

// The node of the lower priority, though those on another go first by their start.
TEST_F(EvictTest, OfWholeNodesThoseOfLowerPrioritiesAreTakenBack) {
  for (const char* name : {"n1", "n2"}) Node(name, Amounts(4000));
  for (const char* name : {"q1", "q2"}) Queue(name);
  OneRuns("a", "low", "q1", Amounts(2000), "n1");
  OneRuns("b", "mid", "q1", Amounts(2000), "n1");
  OneRuns("c", "mid", "q1", Amounts(2000), "n2");
  OneRuns("d", "high", "q1", Amounts(2000), "n2");
  OneWaits("w", "low", "q2", Amounts(4000));
  EXPECT_THAT(Evicted(), ElementsAre("a", "b"));
}

// In order "low", "m", "v-4" and "v-3" would go, a half of each node. Those of n3 and n4 would evict "low" when they
// come back: "kept", which its budget keeps, lies on two nodes and is not there for them either, once.
TEST_F(EvictTest, WhoIsKeptOnTwoNodesIsNoneOfThoseWhoCouldBeEvictedOnce) {
  for (const char* name : {"n1", "n2", "n3", "n4"}) Node(name, Amounts(4000));
  for (const char* name : {"q1", "q2"}) Queue(name);
  const auto runs = [&](const std::string& gang, const std::string& node, const std::string& app) {
    model::PodFacts pod = PodOf(gang, absl::StrCat(gang, "-on-", node), Amounts(2000), node);
    pod.labels = {{"app", app}};
    cluster.SetPod(pod);
  };
  Group("kept", "low", 2, "q1");
  for (const char* node : {"n1", "n2"}) runs("kept", node, "kept");
  for (int i = 1; i <= 4; ++i) OneRuns(absl::StrCat("v-", i), "mid", "q1", Amounts(2000), absl::StrCat("n", 3 + i % 2));
  OneRuns("m", "mid", "q1", Amounts(2000), "n2");
  Group("low", "low", 1, "q1");
  runs("low", "n1", "low");
  Group("b", "low", 2, "q2");
  for (int i = 0; i < 2; ++i) Waits("b", absl::StrCat("b-", i), Amounts(4000));
  cluster.SetBudget({"default", "kept", {{"app", model::Op::kIn, {"kept"}}}, 0});
  EXPECT_THAT(Of("b").evicted, IsEmpty());
  cluster.SetBudget({"default", "low", {{"app", model::Op::kIn, {"low"}}}, 0});
  EXPECT_THAT(NamesOf(Of("b").evicted), ElementsAre("v-1", "v-2", "v-3", "v-4"));
}

struct PatientTest : EvictTest {
  PatientTest() {
    policy.reclaim_after = absl::Hours(1);
    Node("n1", Amounts(4000));
    for (const char* name : {"q1", "q2"}) Queue(name);
  }
  void RunsSince(const std::string& name, std::int64_t milli, int second) {
    Group(name, "low", 1, "q1");
    model::PodFacts pod = PodOf(name, name, Amounts(milli), "n1");
    pod.started = At(second);
    cluster.SetPod(pod);
  }
  // As the edge keeps it.
  Decision Round(int second) {
    Scratch scratch;
    Decision of_it;
    for (const Decision& decision : Schedule(cluster, policy, At(second), scratch)) {
      cluster.SetEntitled(decision.gang, decision.entitled_since);
      if (cluster.gang(decision.gang).name == "waits") of_it = decision;
    }
    return of_it;
  }
};

TEST_F(PatientTest, WhoHasRunForLongGoesWhenTheQueueHasWaitedForItsShare) {
  policy.keeps_for = absl::ZeroDuration();  // nor is it looked again for nodes that are kept
  RunsSince("a", 2000, 0);
  RunsSince("b", 2000, 1);
  OneWaits("waits", "low", "q2", Amounts(2000));
  const Decision decision = Round(1000);
  EXPECT_THAT(decision.evicted, IsEmpty());
  EXPECT_EQ(decision.look_again, At(1000 + 3600));
  EXPECT_THAT(Round(1000 + 3599).evicted, IsEmpty());
  EXPECT_THAT(NamesOf(Round(1000 + 3600).evicted), ElementsAre("b"));
}

TEST_F(PatientTest, WhatLosesLittleGoesAtOnce) {
  RunsSince("a", 2000, 0);
  RunsSince("b", 2000, 1000 - 300);
  OneWaits("waits", "low", "q2", Amounts(2000));
  EXPECT_THAT(NamesOf(Round(1000).evicted), ElementsAre("b"));
}

// Four minutes of twice as much are eight of what it would have.
TEST_F(PatientTest, LittleIsLittleOfWhatIsWanted) {
  policy.sharing = Sharing::kAsWritten;  // "q1" deserves nothing, so nothing else keeps who is larger than is wanted
  Queue("q2", Amounts(4000));
  RunsSince("a", 1000, 0);
  RunsSince("b", 1000, 0);
  RunsSince("c", 2000, 1000 - 240);
  OneWaits("waits", "low", "q2", Amounts(1000));
  EXPECT_THAT(Round(1000).evicted, IsEmpty());
  cluster.SetPod(PodOf("waits", "waits", Amounts(2000)));
  EXPECT_THAT(NamesOf(Round(1000).evicted), ElementsAre("c"));
}

// Half of what is wanted for ten minutes is all of it for five.
TEST_F(PatientTest, WhatSeveralLoseCountsTogether) {
  RunsSince("a", 2000, 0);
  RunsSince("b", 1000, 1000 - 590);
  RunsSince("c", 1000, 1000 - 30);
  OneWaits("waits", "low", "q2", Amounts(2000));
  EXPECT_THAT(Round(1000).evicted, IsEmpty());
  model::PodFacts b = PodOf("b", "b", Amounts(1000), "n1");
  b.started = At(1000 - 500);
  cluster.SetPod(b);
  EXPECT_THAT(NamesOf(Round(1000).evicted), ElementsAre("b", "c"));
}

// Also of a gang that no nodes are kept for.
TEST_F(PatientTest, ARoundThatChoosesNoVictimsTakesNoTimeAway) {
  policy.keeps_for = absl::ZeroDuration();
  RunsSince("a", 2000, 0);
  RunsSince("b", 2000, 0);
  OneWaits("waits", "low", "q2", Amounts(2000));
  EXPECT_EQ(Round(1000).entitled_since, At(1000));
  policy.choose_victims = false;
  EXPECT_EQ(Round(2000).entitled_since, At(1000));
  policy.choose_victims = true;
  EXPECT_THAT(Round(1000 + 3600).evicted, SizeIs(1));
}

// A queue that holds what it deserves waits for nothing; the hour begins anew.
TEST_F(PatientTest, TheTimeCountsWhileTheQueueIsEntitled) {
  RunsSince("a", 2000, 0);
  RunsSince("b", 2000, 0);
  OneWaits("waits", "low", "q2", Amounts(2000));
  EXPECT_THAT(Round(1000).evicted, IsEmpty());
  EXPECT_EQ(Round(2000).entitled_since, At(1000));
  policy.choose_victims = false;  // a round in between
  EXPECT_EQ(Round(2001).entitled_since, At(1000));
  policy.choose_victims = true;
  cluster.SetPod(PodOf("waits", "waits", Amounts(3000)));  // with it more than its half
  EXPECT_EQ(Round(3000).entitled_since, absl::InfiniteFuture());
  cluster.SetPod(PodOf("waits", "waits", Amounts(2000)));
  EXPECT_THAT(Round(1000 + 3600).evicted, IsEmpty());
  EXPECT_THAT(Round(1000 + 7200).evicted, SizeIs(1));
}

// "held" runs since 0 and holds what is q2's, of which "b" has no room for two.
class RestTest : public EvictTest {
 protected:
  RestTest() {
    Node("n1", Amounts(4000));
    for (const char* name : {"q1", "q2"}) Queue(name);
    OneRuns("stays", "low", "q1", Amounts(1000), "n1", /*evictable=*/false);
    held_.queue = "q1";
    held_.priority_class = "mid";
    pod_.started = At(0);
    WasEvicted(0, At(0));
    OneWaits("b", "low", "q2", Amounts(2000));
  }
  void WasEvicted(int times, absl::Time last) {
    held_.evictions = times;
    held_.last_evicted = last;
    cluster.SetGang(held_);
    cluster.SetPod(pod_);
  }
  absl::Time StaysUntil(int evictions) {
    WasEvicted(evictions, At(-60));
    EXPECT_THAT(Evicted(), IsEmpty()) << evictions;
    return Of("b").look_again;
  }

  model::GangFacts held_ = testutil::Gang("held", 1);
  model::PodFacts pod_ = PodOf("held", "held", Amounts(3000), "n1");
};

TEST_F(RestTest, WhoWasEvictedStaysLongerEachTime) {
  EXPECT_THAT(Evicted(), ElementsAre("held"));
  EXPECT_EQ(StaysUntil(1), At(600));
  EXPECT_EQ(StaysUntil(2), At(1200));
  EXPECT_EQ(StaysUntil(4), At(4800));
  EXPECT_EQ(StaysUntil(40), At(8 * 3600)) << "at some time everybody may go";
  pod_.started = At(-700);
  StaysUntil(2);
  WasEvicted(1, At(-750));
  EXPECT_THAT(Evicted(), ElementsAre("held"));
  pod_.started = At(0);
  WasEvicted(9, At(-24 * 3600));
  EXPECT_THAT(Evicted(), ElementsAre("held")) << "that is long ago";
}

TEST_F(RestTest, WhoHasNotBegunAgainStaysNoLongerForIt) {
  pod_.started = absl::InfiniteFuture();
  EXPECT_EQ(StaysUntil(1), At(540));
  WasEvicted(1, At(-601));
  EXPECT_THAT(Evicted(), ElementsAre("held"));
}

// "b" went for one at a time.
TEST_F(RestTest, ForWhomOthersWentStaysFromThemForAWhile) {
  model::GangFacts b = testutil::Gang("b", 1);
  b.queue = "q2";
  b.priority_class = "low";
  b.evictions = 1;
  const auto went_for = [&](const std::string& gang, int second) {
    b.evicted_for = gang;
    b.last_evicted = At(second);
    cluster.SetGang(b);
    return Evicted();
  };
  EXPECT_THAT(went_for("default/held", -60), IsEmpty());
  EXPECT_EQ(Of("b").look_again, At(600));
  EXPECT_THAT(went_for("default/other", -60), ElementsAre("held"));
  EXPECT_THAT(went_for("default/held", -24 * 3600), ElementsAre("held")) << "that is long ago";
  went_for("default/held", -60);
  EXPECT_EQ(StaysUntil(2), At(1200)) << "it was evicted itself, too";
  pod_.started = At(-601);
  WasEvicted(0, At(0));
  EXPECT_THAT(Evicted(), ElementsAre("held"));
  pod_.started = absl::InfiniteFuture();
  WasEvicted(0, absl::InfinitePast());
  EXPECT_THAT(Evicted(), IsEmpty());
  EXPECT_EQ(Of("b").look_again, At(540));
}

TEST_F(RestTest, WhoWentForOneWhosePodGroupIsGoneSparesNobody) {
  Node("n2", Amounts(8000));
  Runs("ungrouped", "ungrouped", Amounts(8000), "n2");
  model::GangFacts b = testutil::Gang("b", 1);
  b.queue = "q2";
  b.priority_class = "low";
  b.evictions = 1;
  b.last_evicted = At(-60);
  b.evicted_for = "default/ungrouped";
  cluster.SetGang(b);
  EXPECT_THAT(Evicted(), ElementsAre("held"));
}

// What is in vain for one that went for it is not so for the next, which wants the same.
TEST_F(RestTest, FromOthersForWhomTheyWentGoAsBefore) {
  model::GangFacts went = testutil::Gang("went", 1);
  went.queue = "q2";
  went.priority_class = "low";
  went.evictions = 1;
  went.last_evicted = At(-60);
  went.evicted_for = "default/held";
  Waits("went", "went", Amounts(2000));
  for (const int created : {-40, 40}) {  // first, and last
    went.created = At(created);
    cluster.SetGang(went);
    EXPECT_THAT(Evicted(), ElementsAre("held"));
    EXPECT_THAT(Of("b").evicted, SizeIs(1));
  }
}

TEST_F(RestTest, WhatIsBeyondTheMinimumOfWhomOthersWentForGoes) {
  pod_.wants.requests = Amounts(2000);
  model::PodFacts more = PodOf("held", "more", Amounts(1000), "n1");
  more.started = At(0);
  cluster.SetPod(more);
  WasEvicted(0, At(0));
  cluster.RemovePod("default", "b");
  model::GangFacts small = testutil::Gang("small", 1);
  small.queue = "q2";
  small.evictions = 1;
  small.last_evicted = At(-60);
  small.evicted_for = "default/held";
  cluster.SetGang(small);
  Waits("small", "small", Amounts(1000));
  EXPECT_THAT(Evicted(), ElementsAre("more"));
}

// What its queue says is doubled, too.
TEST_F(RestTest, ForItsQueuesMinimumRuntimeAtLeast) {
  model::QueueFacts queue = testutil::Queue("q1");
  queue.min_runtime = absl::Hours(1);
  cluster.SetQueue(queue);
  EXPECT_EQ(StaysUntil(2), At(2 * 3600));
}

TEST_F(RestTest, ForAHigherPriorityItGoesAtAnyTime) {
  WasEvicted(4, At(-60));
  OneWaits("urgent", "high", "q1", Amounts(2000));
  EXPECT_THAT(Evicted(), ElementsAre("held"));
}

TEST_F(RestTest, WhatIsBeyondItsMinimumGoesAtAnyTime) {
  pod_.wants.requests = Amounts(2000);
  model::PodFacts more = PodOf("held", "more", Amounts(1000), "n1");
  more.started = At(0);
  cluster.SetPod(more);
  WasEvicted(4, At(-60));
  cluster.RemovePod("default", "b");
  OneWaits("small", "low", "q2", Amounts(1000));
  EXPECT_THAT(Evicted(), ElementsAre("more"));
}

TEST_F(EvictTest, AGuaranteeIsNeverTaken) {
  Node("n1", Amounts(4000));
  Queue("q2");
  model::QueueFacts guaranteed = testutil::Queue("q1");
  guaranteed.guarantee = Amounts(4000);
  cluster.SetQueue(guaranteed);
  OneRuns("a", "low", "q1", Amounts(4000), "n1");
  OneWaits("b", "low", "q2", Amounts(2000));
  EXPECT_THAT(Evicted(), IsEmpty());
}

// Pods that are terminating, and that nobody counts on to be gone soon.
struct StuckTest : testutil::CapacityTest {
  // It was told to go and should have been gone for long.
  void OneIsStuck(const std::string& name, const std::string& queue, model::NamedAmounts requests,
                  const std::string& node) {
    Group(name, "low", 1, queue);
    Terminates(name, name, std::move(requests), node, At(10) - policy.victims_take);
  }
  void Terminates(const std::string& gang, const std::string& name, model::NamedAmounts requests,
                  const std::string& node, absl::Time grace_ends) {
    model::PodFacts pod = PodOf(gang, name, std::move(requests), node);
    pod.terminating = true;
    pod.grace_ends = grace_ends;
    cluster.SetPod(pod);
  }
  void Guaranteed(const std::string& name, model::NamedAmounts guarantee, model::NamedAmounts deserved) {
    model::QueueFacts queue = testutil::Queue(name);
    queue.guarantee = std::move(guarantee);
    queue.deserved = std::move(deserved);
    cluster.SetQueue(queue);
  }
};

TEST_F(StuckTest, WhatIsStuckIsNothingOfWhatIsGuaranteed) {
  Node("n1", Amounts(6000));
  Node("n2", Amounts(2000));
  Queue("q2", Amounts(2000));
  Guaranteed("q1", Amounts(6000), {});
  for (const char* name : {"a", "b", "c"}) OneRuns(name, "low", "q1", Amounts(2000), "n1");
  OneIsStuck("stuck", "q1", Amounts(2000), "n2");
  OneWaits("w", "low", "q2", Amounts(2000));
  EXPECT_THAT(Evicted(), IsEmpty());
  Guaranteed("q1", Amounts(4000), {});
  EXPECT_THAT(Evicted(), ElementsAre("c"));
}

TEST_F(StuckTest, NorOfWhatAQueueDeserves) {
  Node("n1", Amounts(6000));
  Node("n2", Amounts(2000));
  for (const char* name : {"q1", "q2"}) Queue(name, Amounts(4000));
  for (const char* name : {"a", "b"}) OneRuns(name, "low", "q1", Amounts(2000), "n1");
  OneRuns("c", "low", "q2", Amounts(2000), "n1");
  OneIsStuck("stuck", "q1", Amounts(2000), "n2");
  OneWaits("w", "low", "q2", Amounts(2000));
  EXPECT_THAT(Evicted(), IsEmpty());
  Queue("q1", Amounts(2000));
  EXPECT_THAT(Evicted(), ElementsAre("b"));
}

TEST_F(StuckTest, NorOfWhatGangsOfAQueueAboveHold) {
  policy.sharing = Sharing::kByWeight;
  Node("n1", Amounts(6000));
  Node("n2", Amounts(2000));
  Queue("above");
  Queue("below", {}, {}, "above");
  for (const char* name : {"a", "b"}) OneRuns(name, "low", "above", Amounts(2000), "n1");
  OneRuns("c", "low", "below", Amounts(2000), "n1");
  OneIsStuck("stuck", "above", Amounts(2000), "n2");
  OneWaits("w", "low", "below", Amounts(2000));
  EXPECT_THAT(Evicted(), IsEmpty());
  OneRuns("stuck", "low", "above", Amounts(2000), "n2");  // it stays
  EXPECT_THAT(Evicted(), ElementsAre("stuck"));
}

TEST_F(StuckTest, NorOfWhatOneHoldsThatTakesSomethingBack) {
  Node("n1", Amounts(8000));
  Node("n2", Amounts(2000));
  for (const char* name : {"q1", "q2"}) Queue(name, Amounts(4000));
  for (const char* name : {"a", "b", "c"}) OneRuns(name, "low", "q1", Amounts(2000), "n1");
  OneRuns("d", "low", "q2", Amounts(2000), "n1");
  OneIsStuck("stuck", "q2", Amounts(2000), "n2");
  OneWaits("w", "low", "q2", Amounts(2000));
  EXPECT_THAT(Evicted(), ElementsAre("c"));
}

// A gang has lost a member, whose room is kept for who is made in its place; when its node is lost, too, that helps
// nobody.
TEST_F(StuckTest, NorIsWhatIsKeptForASuccessorOfWhatIsGuaranteed) {
  Node("n1", Amounts(6000));
  Node("n2", Amounts(2000));
  Queue("q2", Amounts(2000));
  Guaranteed("q1", Amounts(6000), {});
  model::GangFacts gang = testutil::Gang("lost", 2);
  gang.queue = "q1";
  gang.phase = model::GangPhase::kUnknown;
  cluster.SetGang(gang);
  Runs("lost", "stays", Amounts(2000), "n1", /*evictable=*/false);
  Terminates("lost", "goes", Amounts(2000), "n2", At(40));
  for (const char* name : {"a", "b"}) OneRuns(name, "low", "q1", Amounts(2000), "n1");
  OneWaits("w", "low", "q2", Amounts(2000));
  EXPECT_THAT(Evicted(), IsEmpty());
  Guaranteed("q1", Amounts(4000), {});
  EXPECT_THAT(Evicted(), ElementsAre("b"));
}

// Though the cluster would be shared better without.
TEST_F(EvictTest, NorForSomethingElseThatIsNotGuaranteed) {
  policy.sharing = Sharing::kAsWritten;
  Node("n1", Amounts(4000, 0, {{kGpu, 2}}));
  Queue("q2", {{kGpu, 2}});
  model::QueueFacts guaranteed = testutil::Queue("q1");
  cluster.SetQueue(guaranteed);
  OneRuns("a", "low", "q1", Amounts(1000, 0, {{kGpu, 2}}), "n1");
  OneWaits("b", "low", "q2", Amounts(0, 0, {{kGpu, 2}}));
  EXPECT_THAT(Evicted(), ElementsAre("a"));
  guaranteed.guarantee = Amounts(1000);
  cluster.SetQueue(guaranteed);
  EXPECT_THAT(Evicted(), IsEmpty());
}

// One of two sub-groups is more than what is beyond the minimum.
TEST_F(EvictTest, ASubGroupThatTheMinimumNeedsGoesWithAll) {
  Node("n1", Amounts(4000));
  model::GangFacts gang = testutil::Gang("job", 3);
  gang.priority_class = "low";
  gang.sub_groups = {testutil::SubGroupsOfTask("w", 2, 0)};
  cluster.SetGang(gang);
  for (int i = 0; i < 4; ++i) {
    model::PodFacts w = PodOf("job", absl::StrCat("w-", i), Amounts(1000), "n1");
    testutil::SetPartition(w, absl::StrCat(i % 2));
    cluster.SetPod(w);
  }
  OneWaits("high", "high", "default", Amounts(1000));
  EXPECT_THAT(Evicted(), SizeIs(4));
}

TEST_F(EvictTest, AQueueThatIsNotReclaimableKeepsWhatItHas) {
  Node("n1", Amounts(4000));
  Queue("q2");
  model::QueueFacts keeps = testutil::Queue("q1");
  keeps.reclaimable = false;
  cluster.SetQueue(keeps);
  for (const char* name : {"a", "b", "c", "d"}) OneRuns(name, "low", "q1", Amounts(1000), "n1");
  OneWaits("e", "low", "q2", Amounts(1000));
  EXPECT_THAT(Evicted(), IsEmpty());
  keeps.reclaimable = true;
  cluster.SetQueue(keeps);
  EXPECT_THAT(Evicted(), ElementsAre("d"));
}

// But for queues beside it below the same one.
TEST_F(EvictTest, NorWhatIsBelowAQueueThatIsNotReclaimable) {
  Node("n1", Amounts(4000));
  model::QueueFacts keeps = testutil::Queue("shop");
  keeps.reclaimable = false;
  cluster.SetQueue(keeps);
  for (const char* name : {"ads", "maps"}) Queue(name, {}, {}, "shop");
  Queue("lab");
  for (const char* name : {"a", "b", "c", "d"}) OneRuns(name, "low", "ads", Amounts(1000), "n1");
  OneWaits("of-lab", "low", "lab", Amounts(1000));
  EXPECT_THAT(Evicted(), IsEmpty());
  OneWaits("of-maps", "low", "maps", Amounts(1000));
  EXPECT_THAT(NamesOf(Of("of-maps").evicted), ElementsAre("d"));
  cluster.RemovePod("default", "of-maps");
  keeps.reclaimable = true;
  cluster.SetQueue(keeps);
  EXPECT_THAT(NamesOf(Of("of-lab").evicted), ElementsAre("d"));
}

// Of 8 "shop" would keep 3, and "lab" would win more by it than "shop" would lose.
TEST_F(EvictTest, WhatIsGuaranteedToAQueueAboveIsNotTakenFromThoseBelow) {
  Node("n1", Amounts(8000));
  model::QueueFacts shop = testutil::Queue("shop");
  shop.guarantee = Amounts(4000);
  cluster.SetQueue(shop);
  Queue("ads", {}, {}, "shop");
  model::QueueFacts lab = testutil::Queue("lab");
  lab.weight = 9;
  cluster.SetQueue(lab);
  OneRuns("a", "low", "ads", Amounts(3000), "n1", /*evictable=*/false);
  OneRuns("b", "low", "ads", Amounts(5000), "n1");
  OneWaits("c", "low", "lab", Amounts(4000));
  EXPECT_THAT(Evicted(), IsEmpty());
  shop.guarantee = Amounts(3000);
  cluster.SetQueue(shop);
  EXPECT_THAT(Evicted(), ElementsAre("b"));
}

// Whatever its priority class says.
TEST_F(EvictTest, NobodyGoesForAPodThatEvictsNobody) {
  Node("n1", Amounts(2000));
  for (const char* name : {"q1", "q2"}) Queue(name);
  for (const char* name : {"a", "b"}) OneRuns(name, "low", "q1", Amounts(1000), "n1");
  Group("c", "low", 1, "q2");
  model::PodFacts waits = PodOf("c", "c", Amounts(1000));
  waits.preempts = false;
  cluster.SetPod(waits);
  EXPECT_THAT(Evicted(), IsEmpty());
  waits.preempts = true;
  cluster.SetPod(waits);
  EXPECT_THAT(Evicted(), ElementsAre("b"));
}

// ---- 9.6 reclaim

TEST_F(EvictTest, R1OneBeyondTheMinimum) {
  Node("n1", Amounts(3000));
  for (const char* name : {"q1", "q2"}) Queue(name);
  Group("pg1", "low", 1, "q1");
  Runs("pg1", "#1", Amounts(1000), "n1", false);
  Runs("pg1", "#2", Amounts(1000), "n1");
  Runs("pg1", "#3", Amounts(1000), "n1", false);
  OneWaits("b", "low", "q2", Amounts(1000));
  EXPECT_THAT(Evicted(), ElementsAre("#2"));
}

TEST_F(EvictTest, R2TheLowerPriority) {
  Node("n1", Amounts(4000));
  for (const char* name : {"q1", "q2", "q3"}) Queue(name);
  Group("pg1", "mid", 1, "q1");
  for (const char* name : {"a-1", "a-2"}) Runs("pg1", name, Amounts(1000), "n1");
  Group("pg2", "low", 1, "q2");
  Runs("pg2", "b-1", Amounts(1000), "n1");
  Runs("pg2", "b-2", Amounts(1000), "n1", false);
  OneWaits("c", "high", "q3", Amounts(1000));
  EXPECT_THAT(Evicted(), ElementsAre("b-1"));
}

TEST_F(EvictTest, R3TheQueueOfLowerPriority) {
  Node("n1", Amounts(4000));
  Queue("q1", {}, {}, "", 5);
  Queue("q2", {}, {}, "", 10);
  Queue("q3", {}, {}, "", 1);
  for (const auto& [gang, queue] : {std::pair("a", "q1"), std::pair("b", "q2")}) {
    Group(gang, "low", 1, queue);
    Runs(gang, absl::StrCat(gang, "-1"), Amounts(1000), "n1");
    Runs(gang, absl::StrCat(gang, "-2"), Amounts(1000), "n1", false);
  }
  OneWaits("c", "low", "q3", Amounts(1000));
  EXPECT_THAT(Evicted(), ElementsAre("a-1"));
}

TEST_F(EvictTest, R5AClosedQueueTakesNothingBack) {
  Node("n1", Amounts(3000));
  Queue("q1");
  model::QueueFacts closed = testutil::Queue("q2");
  closed.open = false;
  cluster.SetQueue(closed);
  for (const char* name : {"a", "b", "c"}) OneRuns(name, "low", "q1", Amounts(1000), "n1");
  OneWaits("d", "low", "q2", Amounts(1000));
  for (const Sharing sharing : {Sharing::kByWeight, Sharing::kAsWritten}) {
    policy.sharing = sharing;
    EXPECT_THAT(Evicted(), IsEmpty());
  }
}

// And q1's pod, which waits then, evicts nobody: what its queue lacks more is less than what q3 lacked.
TEST_F(EvictTest, R6TheQueueOfTheLowestPriority) {
  Node("n1", Amounts(10000, 2));
  Queue("q1", {}, {}, "", 1);
  Queue("q2", {}, {}, "", 2);
  Queue("q3");
  for (const char* name : {"q1", "q2"}) OneRuns(name, "low", name, Amounts(1000, 1), "n1");
  OneWaits("c", "low", "q3", Amounts(2000, 1));
  EXPECT_THAT(Evicted(), ElementsAre("q1"));
  CarryOut();
  cluster.RemovePod("default", "q1");
  CarryOut();
  Waits("q1", "again", Amounts(1000, 1));
  EXPECT_THAT(Evicted(), IsEmpty());
}

// Volcano evicts for the second pod, which alone is of no use to the gang.
TEST_F(EvictTest, R7APodOfTheMinimumThatEvictsNobody) {
  Node("n1", Amounts(2000));
  for (const char* name : {"q1", "q2"}) Queue(name);
  Group("pg1", "low", 1, "q1");
  Runs("pg1", "a-0", Amounts(1000), "n1", false);
  Runs("pg1", "a-1", Amounts(1000), "n1");
  Group("pg2", "low", 2, "q2");
  model::PodFacts never = PodOf("pg2", "b-0", Amounts(1000));
  never.preempts = false;
  cluster.SetPod(never);
  Waits("pg2", "b-1", Amounts(1000));
  EXPECT_THAT(Evicted(), IsEmpty());
}

TEST_F(EvictTest, R8NotWhereThereIsRoom) {
  Node("n1", Amounts(10000));
  Queue("q1");
  model::QueueFacts heavy = testutil::Queue("q2");
  heavy.weight = 9;
  cluster.SetQueue(heavy);
  OneRuns("a", "low", "q1", Amounts(2000), "n1");
  OneWaits("b", "low", "q2", Amounts(3000));
  EXPECT_THAT(Evicted(), IsEmpty());
}

}  // namespace
}  // namespace gangway::gang
