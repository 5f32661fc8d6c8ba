// After an event only those are tried whom it may let begin, and those that changed.
#include <functional>
#include <map>
#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plugin/gang/carry_out.h"
#include "tests/plugin/gang/evict_world.h"

namespace gangway::gang {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;
using ::testing::Pair;
using testutil::Amounts;
using testutil::At;

struct FewTest : testutil::EvictTest {
  FewTest() {
    policy.preempt = policy.reclaim = policy.consolidate = false;
    policy.keeps_after = absl::Hours(1);
    for (const char* const name : {"n1", "n2"}) Node(name, Amounts(2000));
  }
  // Holds a node.
  void Stranger(const std::string& node) {
    model::PodFacts pod = PodOf("", "on-" + node, Amounts(2000), node);
    pod.ours = false;
    cluster.SetPod(pod);
  }
  void StrangerGoes(const std::string& node) { cluster.RemovePod("default", "on-" + node); }
  void All() {
    const model::Decisions decisions = Schedule(cluster, policy, At(10), scratch_);
    for (const model::Decision& decision : decisions) gang::CarryOut(decision, cluster);
    EndRound(decisions, absl::Minutes(5), At(10), cluster);
  }
  // The pods of each gang that is looked at that have a node now; nullopt: all are to be looked at.
  std::optional<std::map<std::string, int>> Few() {
    const std::optional<model::Decisions> decisions = ScheduleFew(cluster, policy, At(10), scratch_);
    if (!decisions.has_value()) return std::nullopt;
    std::map<std::string, int> placed;
    for (const model::Decision& decision : *decisions) {
      placed[cluster.gang(decision.gang).name] = static_cast<int>(decision.placements.size());
      gang::CarryOut(decision, cluster);
    }
    EndRoundOfFew(*decisions, absl::Minutes(5), At(10), cluster);
    return placed;
  }
  Scratch scratch_;
};

// Two gangs of one pod, and one of two, on two nodes that others hold.
struct ThreeWait : FewTest {
  ThreeWait() {
    for (const char* const name : {"n1", "n2"}) Stranger(name);
    Group("two", "mid", 2);
    for (const char* const name : {"two-0", "two-1"}) Waits("two", name, Amounts(2000));
    OneWaits("one", "mid", "default", Amounts(2000));
    OneWaits("late", "mid", "default", Amounts(2000));
    All();
  }
};

TEST_F(ThreeWait, TheFirstWhoseNeedIsMetBeginsAndNobodyElseIsLookedAt) {
  EXPECT_THAT(Few(), Optional(IsEmpty())) << "nothing has happened";
  StrangerGoes("n1");
  EXPECT_THAT(Few(), Optional(ElementsAre(Pair("one", 1))));
  EXPECT_THAT(Few(), Optional(IsEmpty())) << "it has its node";
  StrangerGoes("n2");
  EXPECT_THAT(Few(), Optional(ElementsAre(Pair("late", 1)))) << "and again, without a look at all";
}

TEST_F(ThreeWait, WhoComesIsLookedAtInItsTurn) {
  OneWaits("first", "high", "default", Amounts(2000));
  EXPECT_THAT(Few(), Optional(ElementsAre(Pair("first", 0)))) << "and told that it has no room";
  StrangerGoes("n1");
  EXPECT_THAT(Few(), Optional(ElementsAre(Pair("first", 1))));
  OneWaits("last", "low", "default", Amounts(2000));
  StrangerGoes("n2");
  EXPECT_THAT(Few(), Optional(ElementsAre(Pair("last", 0), Pair("one", 1))));
}

TEST_F(ThreeWait, WhoseBindingIsRefusedIsLookedAtAgain) {
  StrangerGoes("n1");
  ASSERT_THAT(Few(), Optional(ElementsAre(Pair("one", 1))));
  cluster.Forget(cluster.FindTask("default", "one"));
  EXPECT_THAT(Few(), Optional(ElementsAre(Pair("one", 1))));
}

TEST_F(ThreeWait, AllAreLookedAtWhereMoreThanRoomMayHaveChanged) {
  const auto after = [&](const std::function<void()>& event) {
    All();
    EXPECT_TRUE(Few().has_value());
    event();
    return Few().has_value();
  };
  EXPECT_FALSE(after([&] { Queue("other"); }));
  EXPECT_FALSE(after([&] { cluster.SetPriorityClass({"low", 11}); }));
  EXPECT_FALSE(after([&] { cluster.RemovePod("default", "late"); })) << "who waited and does no more is told so";
  EXPECT_FALSE(after([&] {
    model::GangFacts gang = testutil::Gang("to-be-let-in", 1);
    gang.phase = model::GangPhase::kPending;
    cluster.SetGang(gang);
  }));
  EXPECT_FALSE(after([&] { policy.search_budget += 1; }));
}

// Each is in its queue's turn: the queue that holds nothing goes first, though its gang came last.
TEST_F(FewTest, QueuesHaveTheirTurnByWhatTheyHold) {
  Queue("q1");
  Queue("q2");
  OneRuns("runs", "mid", "q1", Amounts(2000), "n1");
  Stranger("n2");
  OneWaits("a", "mid", "q1", Amounts(2000));
  OneWaits("b", "mid", "q2", Amounts(2000));
  All();
  StrangerGoes("n2");
  EXPECT_THAT(Few(), Optional(ElementsAre(Pair("b", 1))));
}

// Who has nodes kept for it is found among all: after it has begun all are looked at.
TEST_F(FewTest, WhoHasNodesKeptGoesFirst) {
  policy.keeps_after = absl::ZeroDuration();
  for (const char* const name : {"n1", "n2"}) OneRuns(name, "mid", "default", Amounts(2000), name);
  Group("big", "high", 2);
  for (const char* const name : {"big-0", "big-1"}) Waits("big", name, Amounts(2000));
  OneWaits("small", "low", "default", Amounts(2000));
  All();
  ASSERT_TRUE(cluster.reservation().has_value());
  All();
  cluster.RemovePod("default", "n1");
  cluster.RemoveGang("default", "n1");
  EXPECT_THAT(Few(), Optional(IsEmpty())) << "the node is kept for big";
  ASSERT_TRUE(cluster.reservation().has_value());
  cluster.RemovePod("default", "n2");
  cluster.RemoveGang("default", "n2");
  EXPECT_THAT(Few(), Optional(ElementsAre(Pair("big", 2))));
  EXPECT_FALSE(cluster.reservation().has_value());
  EXPECT_FALSE(Few().has_value());
}

TEST_F(FewTest, WhereAPlacedGangLetsAnotherInItsQueueWaitForTheQueueAllAreLookedAt) {
  Queue("q1", {}, Amounts(2000));
  for (const char* const name : {"n1", "n2"}) Stranger(name);
  OneWaits("a", "mid", "q1", Amounts(2000));
  OneWaits("b", "mid", "q1", Amounts(2000));
  All();
  EXPECT_TRUE(Few().has_value());
  StrangerGoes("n1");
  EXPECT_FALSE(Few().has_value());
}

}  // namespace
}  // namespace gangway::gang
