// Who waits goes on waiting untried while nothing happens that could let it begin, and is tried again when it might.
#include "plugin/gang/standstill.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/plugin/gang/carried_out.h"
#include "tests/plugin/gang/evict_world.h"

namespace gangway::gang {
namespace {

using testutil::Amounts;
using testutil::At;

// Each event happens after a call that did nothing.
struct StandstillTest : testutil::EvictTest {
  StandstillTest() { policy.keeps_after = absl::Hours(1); }
  void Decide(absl::Time now = At(10)) {
    told_ = testutil::CarryOut(cluster, Schedule(cluster, policy, now, scratch_));
  }
  bool Still(absl::Time now = At(10)) { return StandsStill(cluster, policy, now, scratch_); }
  // A pod of others, which nobody who waits is.
  void Stranger(const std::string& name, std::int64_t milli, const std::string& node) {
    model::PodFacts pod = PodOf("", name, Amounts(milli), node);
    pod.ours = false;
    cluster.SetPod(pod);
  }
  Scratch scratch_;
  testutil::Told told_;
};

TEST_F(StandstillTest, WhileFewerPodsHaveRoomThanAreWanted) {
  Node("n1", Amounts(2000));
  Stranger("s", 2000, "n1");
  Group("g", "mid", 2);
  for (const char* const name : {"g-0", "g-1"}) Waits("g", name, Amounts(2000));
  Decide();
  EXPECT_TRUE(Still());
  cluster.RemovePod("", "s");
  cluster.RemovePod("default", "s");
  EXPECT_TRUE(Still()) << "room for one of two";
  Node("n2", Amounts(2000));
  EXPECT_FALSE(Still());
}

TEST_F(StandstillTest, ForAsLongAsThePolicySaysAndNotBefore) {
  OneWaits("g", "mid", "default", Amounts(2000));
  Decide();
  EXPECT_TRUE(Still(At(10) + policy.keeps_same - absl::Milliseconds(1)));
  EXPECT_FALSE(Still(At(10) + policy.keeps_same));
  EXPECT_FALSE(Still(At(9))) << "the clock was set back";
  policy.packing.weights.emplace();
  EXPECT_FALSE(Still()) << "another policy";
}

TEST_F(StandstillTest, NotWhenAnotherWaitsOrSomethingWasDone) {
  Node("n1", Amounts(2000));
  OneWaits("g", "mid", "default", Amounts(4000));
  Decide();
  ASSERT_TRUE(Still());
  OneWaits("h", "mid", "default", Amounts(2000));
  EXPECT_FALSE(Still());
  Decide();
  EXPECT_FALSE(Still()) << "h was placed";
  Decide();
  EXPECT_TRUE(Still());
}

TEST_F(StandstillTest, WhoWantsMoreThanItsMinimumWaitsForRoomForOne) {
  Node("n1", Amounts(4000));
  Group("g", "mid", 1);
  Runs("g", "g-0", Amounts(2000), "n1");
  for (const char* const name : {"g-1", "g-2"}) Waits("g", name, Amounts(4000));
  Decide();
  EXPECT_TRUE(Still());
  Stranger("s", 1000, "n1");
  EXPECT_TRUE(Still());
  Node("n2", Amounts(4000));
  EXPECT_FALSE(Still());
}

TEST_F(StandstillTest, WhoIsNotLetInHangsOnWhatIsHeld) {
  policy.preempt = false;
  Node("n1", Amounts(2000));
  Node("n2", Amounts(2000));
  OneRuns("r", "mid", "default", Amounts(2000), "n1");
  model::GangFacts gang = testutil::Gang("g", 1);
  gang.phase = model::GangPhase::kPending;
  gang.has_min_resources = true;
  gang.min_resources = Amounts(4000);
  cluster.SetGang(gang);
  Decide();
  model::NodeFacts relabelled;
  relabelled.name = "n2";
  relabelled.allocatable = Amounts(2000, 0, {{"pods", 10}});
  relabelled.labels = {{"kubernetes.io/hostname", "n2"}, {"some", "label"}};
  cluster.SetNode(relabelled);
  EXPECT_TRUE(Still());
  cluster.RemovePod("default", "r");
  EXPECT_FALSE(Still());
}

TEST_F(StandstillTest, NotWhereItsQueueOrAnotherMayGiveRoom) {
  Queue("other");
  Node("n1", Amounts(4000));
  model::GangFacts other = testutil::Gang("r", 1);
  other.queue = "other";
  other.evictable = false;
  cluster.SetGang(other);
  Runs("r", "r", Amounts(4000), "n1");
  OneWaits("g", "mid", "default", Amounts(2000));
  Decide();
  Node("n2", Amounts(1000));
  EXPECT_TRUE(Still());
  other.evictable = true;
  cluster.SetGang(other);
  EXPECT_FALSE(Still()) << "its queue holds less than it deserves";
  policy.reclaim = false;
  Decide();
  Node("n2", Amounts(1500));
  EXPECT_TRUE(Still());
  OneRuns("low", "low", "default", Amounts(500), "n2");
  EXPECT_FALSE(Still()) << "of a lower priority";
}

TEST_F(StandstillTest, NotWhereSomebodyMayBeMovedNow) {
  policy.preempt = policy.reclaim = false;
  for (const char* const node : {"n1", "n2"}) Node(node, Amounts(4000));
  Group("r1", "mid", 1);
  Runs("r1", "r1-0", Amounts(1000), "n1");
  Runs("r1", "r1-1", Amounts(1000), "n1");
  OneRuns("r2", "mid", "default", Amounts(2000), "n2");
  OneWaits("g", "mid", "default", Amounts(4000));
  Decide();
  model::PodFacts pod = PodOf("r1", "r1-1", Amounts(1000), "n1");
  cluster.SetPod(pod);
  EXPECT_TRUE(Still());
  pod.movable = true;
  cluster.SetPod(pod);
  EXPECT_FALSE(Still());
}

// Who has them is not the first that waits.
TEST_F(StandstillTest, WhileTheNodesAreKeptThatWere) {
  policy.preempt = policy.reclaim = false;
  policy.keeps_after = absl::ZeroDuration();
  Node("n1", Amounts(4000));
  Node("n2", Amounts(1000));
  OneRuns("r", "mid", "default", Amounts(3000), "n1");
  OneWaits("never", "high", "default", Amounts(9000));
  OneWaits("big", "mid", "default", Amounts(4000));
  OneWaits("small", "low", "default", Amounts(1500));
  Decide();
  ASSERT_TRUE(told_.kept.has_value());
  Decide();
  EXPECT_TRUE(Still());
  Stranger("s", 1000, "n2");
  EXPECT_TRUE(Still());
  const std::optional<model::Reservation> kept = cluster.reservation();
  cluster.SetReservation(std::nullopt);
  EXPECT_FALSE(Still());
  cluster.SetReservation(kept);
  EXPECT_TRUE(Still());
  Node("n2", Amounts(3000));
  EXPECT_FALSE(Still()) << "room for small beside them";
}

}  // namespace
}  // namespace gangway::gang
