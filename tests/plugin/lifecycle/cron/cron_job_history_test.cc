// CronJobs whose controllers die, whose writes are lost, and whose clocks jump: no run twice, none left out.
#include <array>
#include <random>
#include <set>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/plugin/lifecycle/cron/cron_world.h"

namespace gangway::lifecycle {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testutil::At;
using testutil::CronWorld;
using testutil::RunAt;

// Every write of an hour is the last before a crash, and every create's answer is lost once.
TEST(CronJobTest, ACrashAfterAnyWriteMakesNoRunTwiceAndLeavesNoneOut) {
  for (const char* policy : {"Allow", "Forbid", "Replace"}) {
    for (int crash = 0; crash < 30; ++crash) {
      CronWorld world("*/20 * * * *", At("2026-11-21T10:00:00Z"));
      world.cron.spec.concurrency_policy = policy;
      int left = crash;
      for (const char* time : {"2026-11-21T10:20:00.1Z", "2026-11-21T10:40:00.1Z", "2026-11-21T11:00:00.1Z"}) {
        world.now_ = At(time);
        for (int i = 0; i < 20; ++i) {
          const int done = world.Step(left);
          if (done == 0 && left != 0) break;
          if (left >= 0 && (left -= done) == 0) {
            left = -1;  // dead: the caches are filled anew
            world.seen_leaving.clear();
            world.refused.clear();
            world.attempted.clear();
          }
          if (left < 0) left = 1'000'000;
        }
        world.EndAll();
        world.Settle();
      }
      EXPECT_THAT(world.made(), ElementsAre(HasSubstr("10:20"), HasSubstr("10:40"), HasSubstr("11:00")))
          << policy << " " << crash;
      EXPECT_THAT(world.Active(), IsEmpty());
      EXPECT_EQ(world.Names().size(), 3u);
    }
  }
}

TEST(CronJobTest, AJobWhoseCreationIsNotKnownKeepsTheNextFromStarting) {
  CronWorld world("* * * * *", At("2026-11-21T10:00:00Z"));
  world.cron.spec.concurrency_policy = "Forbid";
  world.now_ = At("2026-11-21T10:01:00.1Z");
  ASSERT_EQ(world.Step(), 2);
  const std::string first = RunAt("2026-11-21T10:01:00Z");
  world.hidden.insert(first);  // the answer was lost, and the watch lags
  world.now_ = At("2026-11-21T10:02:00.1Z");
  EXPECT_THAT(world.Active(), ElementsAre(first + " (being made)"));
  ASSERT_EQ(world.Step(), 1);  // asked for again, which finds it
  EXPECT_EQ(world.writes.back(), "create jobs " + first);
  world.Settle();
  EXPECT_THAT(world.Active(), ElementsAre(first));
  EXPECT_EQ(world.made().size(), 1u);
}

TEST(CronJobTest, WhatRanAndWentIsNotMadeAgain) {
  CronWorld world("0 * * * *");
  world.now_ = At("2026-11-21T11:00:00.1Z");
  ASSERT_EQ(world.Step(), 2);
  world.RemoveJob(RunAt("2026-11-21T11:00:00Z"));  // by its TTL, before its UID is in the status
  world.Settle();
  EXPECT_THAT(world.jobs, IsEmpty());
  EXPECT_THAT(world.Active(), IsEmpty());
  EXPECT_EQ(world.cron.status.last_schedule_time.at, At("2026-11-21T11:00:00Z"));
}

TEST(CronJobTest, AJobThatMayBeThereIsNotGivenUpWithForbid) {
  CronWorld world("0 * * * *");
  world.cron.spec.concurrency_policy = "Forbid";
  world.cron.spec.starting_deadline_seconds = 60;
  world.now_ = At("2026-11-21T11:00:00.1Z");
  ASSERT_EQ(world.Step(), 2);
  world.hidden.insert(RunAt("2026-11-21T11:00:00Z"));  // the answer was lost, and the watch lags
  world.cron.spec.suspend = true;
  world.now_ = At("2026-11-21T12:00:00.1Z");
  EXPECT_EQ(world.Step(), 0);
  EXPECT_EQ(world.Active().size(), 1u);
  world.cron.spec.suspend = false;
  world.Settle();
  EXPECT_THAT(world.made(), ElementsAre(HasSubstr("11:00")));
  EXPECT_THAT(world.Active(), ElementsAre(RunAt("2026-11-21T11:00:00Z")));
}

TEST(CronJobTest, WhatAStrangerWroteIntoTheListIsNotMade) {
  CronWorld world("0 * * * *");
  world.RunTo("2026-11-21T10:30:00Z");
  for (const char* name :
       {"nightly-99999999999999", "nightly-1e3", "nightly-", "weekly-29920920", "nightly-+29920920", "nightly--5"}) {
    world.cron.status.active = {{"batch.volcano.sh/v1alpha1", "Job", "default", name, "", {}, {}}};
    world.Settle();
    EXPECT_THAT(world.Active(), IsEmpty()) << name;
  }
  EXPECT_THAT(world.jobs, IsEmpty());
  world.RunTo("2026-11-21T11:00:00.1Z");
  EXPECT_THAT(world.made(), ElementsAre(HasSubstr("11:00")));
}

TEST(CronJobTest, ClocksThatWereAheadMakeNoRunTwice) {
  CronWorld world("0 * * * *");
  world.RunTo("2026-11-21T14:00:00.1Z");
  world.now_ = At("2026-11-21T11:30:00Z");  // put right
  world.Settle();
  EXPECT_THAT(world.events,
              Contains(HasSubstr("ClockSkew: no job starts before the last one, of 2026-11-21T14:00:00Z")));
  EXPECT_EQ(world.look_again, At("2026-11-21T15:00:00Z") + absl::Milliseconds(100));
  world.LiveUntil("2026-11-21T15:30:00Z");
  EXPECT_THAT(world.made(), ElementsAre(HasSubstr("14:00"), HasSubstr("15:00")));
}

// Hours of chance: time that passes, jobs that end or go, answers that are late, deaths after any write, people who
// suspend.
TEST(CronJobProperty, NoHistoryMakesARunTwiceOrTwoAtATimeThatForbid) {
  for (unsigned seed = 0; seed < 150; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned long>(n)); };
    CronWorld world(absl::StrCat("*/", 1 + below(20), " * * * *"));
    const char* const policy = std::array{"Allow", "Forbid", "Replace"}[static_cast<std::size_t>(below(3))];
    world.cron.spec.concurrency_policy = policy;
    if (below(3) == 0) world.cron.spec.starting_deadline_seconds = below(600);
    world.cron.spec.successful_jobs_history_limit = below(4);
    for (int step = 0; step < 60; ++step) {
      SCOPED_TRACE(absl::StrCat("seed ", seed, " step ", step, " ", policy));
      const absl::Time last = world.cron.status.last_schedule_time.at;
      world.now_ += absl::Milliseconds(below(900'000));
      world.cron.spec.suspend = below(8) == 0;
      if (below(4) == 0) {  // it dies, and the next one reads everything anew
        world.Step(below(4));
        world.seen_leaving.clear();
        world.hidden.clear();
        world.attempted.clear();
      } else if (below(4) == 0 && world.Step(2) == 2 && !world.writes.empty() &&
                 absl::StartsWith(world.writes.back(), "create")) {
        world.hidden.insert(world.writes.back().substr(world.writes.back().rfind(' ') + 1));  // its answer is lost
        world.now_ += absl::Seconds(below(200));
        world.Step();
      }
      world.hidden.clear();
      world.Settle();
      EXPECT_GE(world.cron.status.last_schedule_time.at, last);
      EXPECT_EQ(std::set<std::string>(world.made().begin(), world.made().end()).size(), world.made().size());
      int unfinished = 0, completed = 0;
      for (const auto& [name, job] : world.jobs) (job.status.state.phase.empty() ? unfinished : completed) += 1;
      EXPECT_EQ(world.Active().size(), static_cast<std::size_t>(unfinished));
      EXPECT_LE(completed, *world.cron.spec.successful_jobs_history_limit);
      EXPECT_LE(unfinished, absl::string_view(policy) == "Allow" ? 1000 : 1);
      for (const std::string& name : world.Names()) {
        if (below(3) == 0 && world.jobs.at(name).status.state.phase.empty()) world.End(name);
        if (below(10) == 0) world.RemoveJob(name);
      }
      world.Settle();
    }
  }
}

}  // namespace
}  // namespace gangway::lifecycle
