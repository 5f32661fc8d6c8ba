#include "plugin/scheduler/rounds.h"

#include <vector>

#include "base/simulated_loop.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/plugin/model/cluster_builder.h"

namespace gangway::scheduler {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A gang of two pods with a minimum of one; decisions are not carried out, so that each round is as the one before.
class RoundsTest : public ::testing::Test {
 protected:
  RoundsTest() {
    cluster_.SetQueue(testutil::Queue("default"));
    testutil::AddNodes(cluster_, 1);
    testutil::AddGang(cluster_, "g", 1, 2, 1000);
  }
  // When there were rounds, in ms from the start; how many pods were placed in the last.
  std::vector<std::int64_t> rounds_at_;
  std::size_t placed_ = 0, evicted_ = 0;
  int few_ = 0;  // rounds about few
  bool deciding_ = true;
  std::size_t waiting_ = 0;
  gang::Policy policy_;
  absl::Duration round_takes_, thread_time_;

  model::Cluster cluster_;
  SimulatedLoop loop_{1};
  const absl::Time start_ = loop_.Now();
  Owner owner_;
  Rounds rounds_{cluster_,
                 loop_,
                 owner_.token(),
                 {absl::Milliseconds(2), absl::Milliseconds(500), absl::Milliseconds(50)},
                 {[this] { return deciding_; }, [this] { return policy_; },
                  [this](const model::Decisions& decisions, bool of_all, absl::Time now) {
                    few_ += of_all ? 0 : 1;
                    rounds_at_.push_back((now - start_) / absl::Milliseconds(1));
                    placed_ = evicted_ = 0;
                    for (const model::Decision& decision : decisions) {
                      placed_ += decision.placements.size();
                      evicted_ += decision.evicted.size();
                    }
                    return waiting_;
                  },
                  [this] { return thread_time_ += round_takes_; }}};
};

TEST_F(RoundsTest, EventsOfOneMomentShareARound) {
  for (int i = 0; i < 5; ++i) rounds_.Want();
  loop_.RunFor(absl::Seconds(1));
  EXPECT_THAT(rounds_at_, ElementsAre(0));
  EXPECT_EQ(placed_, 2u);
}

// Trials take their time: not at each event.
TEST_F(RoundsTest, WhomToEvictIsLookedAtOnceInAWhile) {
  policy_.reclaim = policy_.consolidate = false;  // one of them is enough
  cluster_.SetPriorityClass({"high", 100});
  model::GangFacts low = testutil::Gang("low", 1);
  cluster_.SetGang(low);
  model::PodFacts runs = testutil::Pod("low", "w", 0, testutil::Cpu(16'000));
  runs.node = "node-000";
  runs.phase = model::PodPhase::kRunning;
  cluster_.SetPod(runs);
  model::GangFacts high = testutil::Gang("high", 1);
  high.priority_class = "high";
  cluster_.SetGang(high);
  cluster_.SetPod(testutil::Pod("high", "w", 0, testutil::Cpu(16'000)));
  waiting_ = 1;
  rounds_.Want();
  loop_.RunFor(absl::Milliseconds(10));
  EXPECT_EQ(evicted_, 1u);
  rounds_.Want();
  loop_.RunFor(absl::Milliseconds(10));
  EXPECT_EQ(evicted_, 0u);
  loop_.RunFor(absl::Milliseconds(30));
  EXPECT_EQ(evicted_, 1u) << "and not forgotten";
  rounds_.PauseEvictions(absl::Seconds(5));
  rounds_.Want();
  loop_.RunFor(absl::Seconds(4));
  EXPECT_EQ(evicted_, 0u);
  loop_.RunFor(absl::Seconds(2));
  EXPECT_EQ(evicted_, 1u);
}

TEST_F(RoundsTest, TheMoreGangsWaitTheRarerTheyAre) {
  rounds_.Want();
  loop_.RunFor(absl::ZeroDuration());
  rounds_.Want();
  loop_.RunFor(absl::Milliseconds(1));
  EXPECT_THAT(rounds_at_, ElementsAre(0));
  waiting_ = 1000;
  loop_.RunFor(absl::Milliseconds(1));
  EXPECT_THAT(rounds_at_, ElementsAre(0, 2));
  rounds_.Want();
  loop_.RunFor(absl::Milliseconds(21));
  EXPECT_THAT(rounds_at_, SizeIs(2));
  waiting_ = 1'000'000;
  loop_.RunFor(absl::Milliseconds(1));
  EXPECT_THAT(rounds_at_, ElementsAre(0, 2, 24));
  rounds_.Want();
  loop_.RunFor(absl::Milliseconds(100));
  EXPECT_THAT(rounds_at_, ElementsAre(0, 2, 24, 124)) << "but never rarer than that";
}

TEST_F(RoundsTest, TheLongerTheyTakeTheRarerTheyAre) {
  const auto want_until = [&](int ms) {
    rounds_.Want();
    loop_.RunFor(start_ + absl::Milliseconds(ms) - loop_.Now());
  };
  round_takes_ = absl::Milliseconds(24);
  want_until(2);
  round_takes_ = absl::Milliseconds(2);
  want_until(2);
  want_until(39);
  EXPECT_THAT(rounds_at_, ElementsAre(0, 2)) << "26 ms, in a fortieth of a second that was quiet and what has passed";
  round_takes_ = absl::Seconds(1);
  want_until(40);
  EXPECT_THAT(rounds_at_, ElementsAre(0, 2, 40));
  want_until(139);
  EXPECT_THAT(rounds_at_, SizeIs(3));
  want_until(140);
  EXPECT_THAT(rounds_at_, ElementsAre(0, 2, 40, 140)) << "but never rarer than that";
  round_takes_ = absl::Milliseconds(8);
  loop_.RunFor(absl::Milliseconds(1100));
  for (const int ms : {1241, 1243, 1245}) want_until(ms);
  EXPECT_THAT(rounds_at_, ElementsAre(0, 2, 40, 140, 1240, 1242, 1244)) << "after a quiet time";
}

// Until a second has passed: then numbers are brought up to date.
TEST_F(RoundsTest, WhatChangesNothingForThoseWhoWaitIsNotDecidedOn) {
  cluster_.RemoveGang("default", "g");
  testutil::AddGang(cluster_, "large", 2, 2, 16'000);
  waiting_ = 1;
  rounds_.Want();
  loop_.RunFor(absl::Milliseconds(100));
  ASSERT_THAT(rounds_at_, ElementsAre(0));
  model::PodFacts other = testutil::Pod("", "other", 0, testutil::Cpu(500));
  other.node = "node-000";
  other.phase = model::PodPhase::kRunning;
  cluster_.SetPod(other);
  rounds_.Want();
  loop_.RunFor(absl::Milliseconds(400));
  EXPECT_THAT(rounds_at_, ElementsAre(0));
  loop_.RunFor(absl::Seconds(5));
  EXPECT_THAT(rounds_at_, ElementsAre(0, 1000));
  testutil::AddNodes(cluster_, 3);
  rounds_.Want();
  loop_.RunFor(absl::Milliseconds(10));
  EXPECT_THAT(rounds_at_, SizeIs(3));
  EXPECT_EQ(placed_, 2u);
}

// The other gang is not looked at, and counts as one that waits.
TEST_F(RoundsTest, WhereAnEventLetsOneBeginItIsDecidedOnForThatOne) {
  Metrics metrics;
  rounds_.CountIn(metrics);
  cluster_.RemoveGang("default", "g");
  for (const char* const name : {"a", "b"}) testutil::AddGang(cluster_, name, 1, 1, 16'000);
  model::PodFacts other = testutil::Pod("", "other", 0, testutil::Cpu(500));
  other.node = "node-000";
  other.phase = model::PodPhase::kRunning;
  cluster_.SetPod(other);
  waiting_ = 2;
  rounds_.Want();
  loop_.RunFor(absl::Milliseconds(100));
  ASSERT_THAT(rounds_at_, ElementsAre(0));
  ASSERT_EQ(few_, 0);
  ASSERT_THAT(metrics.Expose(), HasSubstr("\nvolcano_unschedule_job_count 2\n"));
  cluster_.RemovePod("default", "-other-0");
  rounds_.Want();
  loop_.RunFor(absl::Milliseconds(1));
  EXPECT_THAT(rounds_at_, SizeIs(2));
  EXPECT_EQ(few_, 1);
  EXPECT_EQ(placed_, 1u);
  EXPECT_THAT(metrics.Expose(), HasSubstr("\nvolcano_unschedule_job_count 1\n"));
}

TEST_F(RoundsTest, WhatQueuesUsedOfLateChangesWithTimeAlone) {
  cluster_.RemoveGang("default", "g");
  testutil::AddGang(cluster_, "large", 2, 2, 16'000);
  waiting_ = 1;
  policy_.use_half_life = absl::Hours(1);
  rounds_.Want();
  loop_.RunFor(absl::Minutes(2));
  EXPECT_THAT(rounds_at_, ElementsAre(0, 36'000, 72'000, 108'000)) << "each time that a hundredth is over";
  waiting_ = 0;
  loop_.RunFor(absl::Hours(1));
  EXPECT_THAT(rounds_at_, SizeIs(5)) << "but not when nobody waits";
}

TEST_F(RoundsTest, ThereAreNoneWhileNothingIsDecided) {
  deciding_ = false;
  rounds_.Want();
  loop_.RunFor(absl::Seconds(1));
  EXPECT_THAT(rounds_at_, IsEmpty());
  deciding_ = true;
  rounds_.Want();
  deciding_ = false;
  loop_.RunFor(absl::Seconds(1));
  EXPECT_THAT(rounds_at_, IsEmpty()) << "it ended meanwhile";
  deciding_ = true;
  rounds_.Want();
  loop_.RunFor(absl::Seconds(1));
  EXPECT_THAT(rounds_at_, SizeIs(1));
}

TEST_F(RoundsTest, AfterAGangCameWhatIsBeyondMinimaWaits) {
  rounds_.PauseSurplus();
  rounds_.Want();
  loop_.RunFor(absl::Milliseconds(499));
  EXPECT_THAT(rounds_at_, ElementsAre(0));
  EXPECT_EQ(placed_, 1u);
  loop_.RunFor(absl::Milliseconds(1));
  EXPECT_THAT(rounds_at_, ElementsAre(0, 500)) << "nobody asks for it";
  EXPECT_EQ(placed_, 2u);
}

TEST_F(RoundsTest, GangsThatGoOnComingProlongThePauseToFourTimesAsLong) {
  for (int i = 0; i < 10; ++i) {
    rounds_.PauseSurplus();
    rounds_.Want();
    loop_.RunFor(absl::Milliseconds(300));
    ASSERT_EQ(placed_, i < 6 ? 1u : i == 6 ? 2u : placed_) << i;
  }
  EXPECT_THAT(rounds_at_, ::testing::Contains(2000));
}

TEST_F(RoundsTest, MetricsSayWhoWaits) {
  Metrics metrics;
  rounds_.CountIn(metrics);
  testutil::AddGang(cluster_, "large", 2, 2, 16'000);
  waiting_ = 2;
  rounds_.Want();
  loop_.RunFor(absl::Milliseconds(1));
  EXPECT_THAT(metrics.Expose(), HasSubstr("\ngangway_waiting_gangs 2\n"));
  EXPECT_THAT(metrics.Expose(), HasSubstr("\nvolcano_unschedule_job_count 1\n")) << "g lacks nothing of its minimum";
  EXPECT_THAT(metrics.Expose(), HasSubstr("\ngangway_schedule_rounds_total 1\n"));
}

TEST_F(RoundsTest, AGangThatWasMadeAnewWaitsAnew) {
  Metrics metrics;
  rounds_.CountIn(metrics);
  const auto since = [&](absl::Duration after) {
    return HasSubstr(absl::StrCat("\ngangway_longest_waiting_gang_since_timestamp_seconds ",
                                  absl::ToUnixSeconds(start_ + after), "\n"));
  };
  model::GangFacts large = testutil::Gang("large", 2);
  for (int i = 0; i < 2; ++i) cluster_.SetPod(testutil::Pod("large", "w", i, testutil::Cpu(16'000)));
  const auto made = [&](absl::Time at) {
    large.created = at;
    cluster_.SetGang(large);
    rounds_.Want();
    loop_.RunFor(absl::Seconds(20));
  };
  made(start_);
  EXPECT_THAT(metrics.Expose(), since(absl::ZeroDuration()));
  made(start_);
  EXPECT_THAT(metrics.Expose(), since(absl::ZeroDuration()));
  made(start_ + absl::Seconds(39));
  EXPECT_THAT(metrics.Expose(), since(absl::Seconds(40)));
}

// Where somebody waits it is looked then at whom to evict.
TEST_F(RoundsTest, WhereNobodyWaitsNoRoundComesWhenEvictionsMay) {
  Metrics metrics;
  rounds_.CountIn(metrics);
  cluster_.RemoveGang("default", "g");
  for (int i = 0; i < 2; ++i) cluster_.RemovePod("default", absl::StrCat("g-w-", i));
  rounds_.PauseEvictions(absl::Milliseconds(500));
  rounds_.Want();
  loop_.RunFor(absl::Milliseconds(100));
  rounds_.Want();  // what was decided still holds, for a second
  loop_.RunFor(absl::Milliseconds(850));
  EXPECT_THAT(metrics.Expose(), HasSubstr("\ngangway_schedule_rounds_total 2\n"));
  EXPECT_THAT(rounds_at_, ElementsAre(0));
}

}  // namespace
}  // namespace gangway::scheduler
