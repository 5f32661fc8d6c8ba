// CronJobs as a pure function.
#include "plugin/lifecycle/cron/reconcile_cron_job.h"

#include <map>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/plugin/lifecycle/cron/cron_world.h"

namespace gangway::lifecycle {
namespace {

using api::volcano::Job;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testutil::At;
using testutil::CronWorld;
using testutil::RunAt;

TEST(CronJobTest, TheJobOfAStart) {
  CronWorld world("30 18 * * *", At("2026-11-21T10:00:00Z"));
  world.cron.spec.time_zone = "Asia/Shanghai";
  world.Settle();
  EXPECT_THAT(world.jobs, IsEmpty());
  EXPECT_EQ(world.look_again, At("2026-11-21T10:30:00Z") + absl::Milliseconds(100));
  world.RunTo("2026-11-21T10:30:00.1Z");
  ASSERT_THAT(world.Names(), ElementsAre("nightly-29920950"));  // minutes since 1970
  const Job& job = world.jobs.begin()->second;
  EXPECT_EQ(job.metadata.ns, "default");
  EXPECT_EQ(job.metadata.labels, (std::map<std::string, std::string>{{"team", "ads"}}));
  EXPECT_EQ(job.metadata.annotations,
            (std::map<std::string, std::string>{
                {"note", "kept"}, {"volcano.sh/cronjob-scheduled-timestamp", "2026-11-21T18:30:00+08:00"}}));
  ASSERT_EQ(job.metadata.owner_references.size(), 1u);
  EXPECT_EQ(job.metadata.owner_references[0],
            (api::OwnerReference{"batch.volcano.sh/v1alpha1", "CronJob", "nightly", "cron-uid", true, true}));
  EXPECT_EQ(job.spec.min_available, 2);
  EXPECT_EQ(world.cron.status.last_schedule_time.at, At("2026-11-21T10:30:00Z"));
  ASSERT_EQ(world.cron.status.active.size(), 1u);
  EXPECT_EQ(world.cron.status.active[0],
            (api::ObjectReference{
                "batch.volcano.sh/v1alpha1", "Job", "default", job.metadata.name, job.metadata.uid, {}, {}}));
  EXPECT_THAT(world.events, ElementsAre(absl::StrCat("SuccessfulCreate: created job ", job.metadata.name)));
}

TEST(CronJobTest, WithoutAZoneItIsUtc) {
  CronWorld world("0 12 * * *");
  world.RunTo("2026-11-21T12:00:00.1Z");
  ASSERT_EQ(world.jobs.size(), 1u);
  EXPECT_EQ(world.jobs.begin()->second.metadata.annotations.at(std::string(kCronScheduledKey)), "2026-11-21T12:00:00Z");
}

TEST(CronJobTest, TheStatusDecidesBeforeTheJobIsMade) {
  CronWorld world("0 * * * *");
  world.RunTo("2026-11-21T11:00:00.1Z");
  const std::string run = RunAt("2026-11-21T11:00:00Z");
  EXPECT_THAT(world.writes,
              ElementsAre("patch cronjobs/status nightly", "create jobs " + run, "patch cronjobs/status nightly"));
}

TEST(CronJobTest, ADayOfRuns) {
  CronWorld world("*/30 * * * *", At("2026-11-21T00:00:00Z"));
  world.cron.spec.concurrency_policy = "Forbid";
  for (int half = 1; half <= 48; ++half) {
    world.now_ = At("2026-11-21T00:00:00Z") + absl::Minutes(30 * half) + absl::Milliseconds(100);
    world.Settle();
    world.EndAll(half % 4 == 0 ? "Failed" : "Completed");
    world.Settle();
  }
  EXPECT_EQ(world.made().size(), 48u);
  EXPECT_EQ(std::set<std::string>(world.made().begin(), world.made().end()).size(), 48u);
  EXPECT_EQ(world.jobs.size(), 4u);  // three Completed, one Failed
  EXPECT_THAT(world.Active(), IsEmpty());
}

TEST(CronJobTest, AllowRunsSeveralAtATime) {
  CronWorld world("0 * * * *");
  world.LiveUntil("2026-11-21T13:30:00Z");
  EXPECT_THAT(world.Active(),
              ElementsAre(RunAt("2026-11-21T11:00:00Z"), RunAt("2026-11-21T12:00:00Z"), RunAt("2026-11-21T13:00:00Z")));
}

TEST(CronJobTest, ForbidWaitsForTheLastAndThenStartsTheMostRecent) {
  CronWorld world("0 * * * *");
  world.cron.spec.concurrency_policy = "Forbid";
  world.LiveUntil("2026-11-21T13:30:00Z");
  EXPECT_THAT(world.made(), ElementsAre(HasSubstr("11:00")));
  EXPECT_THAT(world.events, Contains(absl::StrCat("ForbidConcurrent: the start of 2026-11-21T13:00:00Z waits: job ",
                                                  RunAt("2026-11-21T11:00:00Z"), " has not ended")));
  world.EndAll();
  world.Settle();
  EXPECT_THAT(world.made(), ElementsAre(HasSubstr("11:00"), HasSubstr("13:00")));
}

TEST(CronJobTest, ReplaceRemovesTheLastFirst) {
  CronWorld world("0 * * * *");
  world.cron.spec.concurrency_policy = "Replace";
  world.RunTo("2026-11-21T11:00:00.1Z");
  world.writes.clear();
  world.RunTo("2026-11-21T12:00:00.1Z");
  const std::string old_run = RunAt("2026-11-21T11:00:00Z"), new_run = RunAt("2026-11-21T12:00:00Z");
  EXPECT_THAT(world.Names(), ElementsAre(new_run));
  EXPECT_THAT(world.Active(), ElementsAre(new_run));
  EXPECT_EQ(world.writes[1], "delete jobs " + old_run);
  EXPECT_EQ(world.writes[2], "create jobs " + new_run);
  EXPECT_THAT(world.events, Contains("SuccessfulDelete: deleted job " + old_run));
}

TEST(CronJobTest, ReplaceLeavesWhatHasEnded) {
  CronWorld world("0 * * * *");
  world.cron.spec.concurrency_policy = "Replace";
  world.RunTo("2026-11-21T11:00:00.1Z");
  world.EndAll();
  world.RunTo("2026-11-21T12:00:00.1Z");
  EXPECT_EQ(world.Names().size(), 2u);
}

TEST(CronJobTest, SuspendedNothingStartsAndTheRestGoesOn) {
  CronWorld world("0 * * * *");
  world.RunTo("2026-11-21T11:00:00.1Z");
  world.cron.spec.suspend = true;
  world.Settle();
  EXPECT_EQ(world.look_again, absl::InfiniteFuture());
  world.EndAll();
  world.RunTo("2026-11-21T13:30:00Z");
  EXPECT_EQ(world.made().size(), 1u);
  EXPECT_THAT(world.Active(), IsEmpty());
  EXPECT_TRUE(world.cron.status.last_successful_time.set());
  world.cron.spec.suspend = false;
  world.Settle();
  EXPECT_THAT(world.made(), ElementsAre(HasSubstr("11:00"), HasSubstr("13:00")));
}

TEST(CronJobTest, SuspendedAfterTheDecisionTheJobIsNotMade) {
  CronWorld world("0 * * * *");
  world.now_ = At("2026-11-21T11:00:00.1Z");
  ASSERT_EQ(world.Step(1), 1);  // and dies
  world.cron.spec.suspend = true;
  world.Settle();
  EXPECT_THAT(world.jobs, IsEmpty());
  EXPECT_THAT(world.Active(), IsEmpty());
}

TEST(CronJobTest, AfterAnOutageOnlyTheMostRecentStarts) {
  CronWorld world("0 * * * *");
  world.RunTo("2026-11-22T09:20:00Z");
  EXPECT_THAT(world.made(), ElementsAre(HasSubstr("09:00")));
  EXPECT_THAT(world.events, Not(Contains(HasSubstr("TooManyMissedTimes"))));
}

TEST(CronJobTest, MoreThanAHundredMissedStartsAreTold) {
  CronWorld world("* * * * *", At("2026-11-21T10:00:00Z"));
  world.RunTo("2026-11-21T11:40:30Z");
  EXPECT_THAT(world.events, Not(Contains(HasSubstr("TooManyMissedTimes"))));
  CronWorld more("* * * * *", At("2026-11-21T10:00:00Z"));
  more.RunTo("2026-11-21T11:41:30Z");
  EXPECT_THAT(more.events, Contains(HasSubstr("TooManyMissedTimes: more than 100 starts were missed")));
  EXPECT_THAT(more.made(), ElementsAre(HasSubstr("11:41")));
  // Those beyond the deadline are not missed but left out.
  CronWorld bounded("* * * * *", At("2026-11-21T10:00:00Z"));
  bounded.cron.spec.starting_deadline_seconds = 600;
  bounded.RunTo("2026-11-21T11:41:30Z");
  EXPECT_THAT(bounded.events, Not(Contains(HasSubstr("TooManyMissedTimes"))));
}

TEST(CronJobTest, AStartBeyondItsDeadlineIsLeftOut) {
  CronWorld world("0 * * * *");
  world.cron.spec.starting_deadline_seconds = 60;
  world.RunTo("2026-11-21T11:01:00.9Z");
  EXPECT_EQ(world.made().size(), 1u);  // 60 seconds late
  world.RunTo("2026-11-21T12:01:01Z");
  EXPECT_EQ(world.made().size(), 1u);
  EXPECT_THAT(world.events, Contains("MissSchedule: the start of 2026-11-21T12:00:00Z is left out: it is more than "
                                     "startingDeadlineSeconds, 60, ago"));
  world.LiveUntil("2026-11-21T13:30:00Z");
  EXPECT_THAT(world.made(), ElementsAre(HasSubstr("11:00"), HasSubstr("13:00")));
}

TEST(CronJobTest, ADeadlineOfNothingIsOneSecondsTime) {
  CronWorld world("0 * * * *");
  world.cron.spec.starting_deadline_seconds = 0;
  world.LiveUntil("2026-11-21T12:30:00Z");
  EXPECT_EQ(world.made().size(), 2u);
}

TEST(CronJobTest, ADecidedStartIsGivenUpWhenItsDeadlineIsOver) {
  CronWorld world("0 * * * *");
  world.cron.spec.starting_deadline_seconds = 60;
  world.now_ = At("2026-11-21T11:00:00.1Z");
  ASSERT_EQ(world.Step(1), 1);  // and dies
  world.RunTo("2026-11-21T11:30:00Z");
  EXPECT_THAT(world.jobs, IsEmpty());
  EXPECT_THAT(world.Active(), IsEmpty());
  EXPECT_THAT(world.events, Contains(HasSubstr("MissSchedule: job nightly-")));
}

TEST(CronJobTest, WithEveryADeadlineMovesNothing) {
  CronWorld world("@every 1h", At("2026-11-21T10:00:00Z"));
  world.cron.spec.starting_deadline_seconds = 60;
  world.LiveUntil("2026-11-21T12:30:00Z");
  EXPECT_THAT(world.made(), ElementsAre(HasSubstr("11:00"), HasSubstr("12:00")));
}

TEST(CronJobTest, OneStartAMinute) {
  CronWorld world("@every 20s", At("2026-11-21T10:00:05Z"));
  world.LiveUntil("2026-11-21T10:03:00Z");
  EXPECT_EQ(std::set<std::string>(world.made().begin(), world.made().end()).size(), world.made().size());
  EXPECT_EQ(world.made().size(), 3u);
}

TEST(CronJobTest, AJobThatIsRefusedMakesWayForTheNext) {
  CronWorld world("0 * * * *");
  world.cron.spec.concurrency_policy = "Forbid";
  world.refusing = true;
  world.now_ = At("2026-11-21T11:00:00.1Z");
  EXPECT_EQ(world.Step(), 1);
  EXPECT_THAT(world.Active(), ElementsAre(RunAt("2026-11-21T11:00:00Z") + " (being made)"));
  EXPECT_EQ(world.Step(), 0);  // still tried
  world.now_ = At("2026-11-21T12:00:00.1Z");
  EXPECT_EQ(world.Step(), 1);
  EXPECT_THAT(world.Active(), ElementsAre(RunAt("2026-11-21T12:00:00Z") + " (being made)"));
  world.refusing = false;
  world.Settle();
  EXPECT_THAT(world.made(), ElementsAre(HasSubstr("12:00")));
}

TEST(CronJobTest, TheHistoryKeepsTheNewestAndAllThatWereTerminated) {
  CronWorld world("0 * * * *");
  world.cron.spec.successful_jobs_history_limit = 1;
  world.cron.spec.failed_jobs_history_limit = 0;
  const char* phases[] = {"Completed", "Terminated", "Failed", "Completed", "Terminated", "Failed"};
  for (int hour = 0; hour < 6; ++hour) {
    world.now_ = At("2026-11-21T11:00:00Z") + absl::Hours(hour) + absl::Milliseconds(100);
    world.Settle();
    world.EndAll(phases[hour]);
    world.Settle();
  }
  EXPECT_THAT(world.Names(),
              ElementsAre(RunAt("2026-11-21T12:00:00Z"), RunAt("2026-11-21T14:00:00Z"), RunAt("2026-11-21T15:00:00Z")));
  EXPECT_THAT(world.events, Contains("SuccessfulDelete: deleted job " + RunAt("2026-11-21T13:00:00Z")));
}

TEST(CronJobTest, ByDefaultThreeAndOneStay) {
  CronWorld world("0 * * * *");
  for (int hour = 0; hour < 10; ++hour) {
    world.now_ = At("2026-11-21T11:00:00Z") + absl::Hours(hour) + absl::Milliseconds(100);
    world.Settle();
    world.EndAll(hour % 2 == 0 ? "Completed" : "Failed");
    world.Settle();
  }
  EXPECT_EQ(world.jobs.size(), 4u);
}

TEST(CronJobTest, WhatEndedLeavesTheActiveAndSuccessIsRemembered) {
  CronWorld world("0 * * * *");
  world.RunTo("2026-11-21T11:00:00.1Z");
  world.now_ = At("2026-11-21T11:07:00Z");
  world.EndAll();
  world.Settle();
  EXPECT_THAT(world.Active(), IsEmpty());
  EXPECT_EQ(world.cron.status.last_successful_time.at, At("2026-11-21T11:07:00Z"));
  EXPECT_THAT(world.events,
              Contains(absl::StrCat("SawCompletedJob: job ", RunAt("2026-11-21T11:00:00Z"), " is Completed")));
  world.RunTo("2026-11-21T12:00:00.1Z");
  world.EndAll("Failed");
  world.Settle();
  EXPECT_EQ(world.cron.status.last_successful_time.at, At("2026-11-21T11:07:00Z"));
}

TEST(CronJobTest, AnActiveJobThatIsGoneLeavesTheList) {
  CronWorld world("0 * * * *");
  world.RunTo("2026-11-21T11:00:00.1Z");
  world.jobs.clear();
  world.runs_current = false;  // the Jobs may be read from before
  EXPECT_EQ(world.Step(), 0);
  EXPECT_EQ(world.Active().size(), 1u);
  EXPECT_LT(world.look_again, world.now_ + absl::Minutes(1));
  world.runs_current = true;
  world.Settle();
  EXPECT_THAT(world.Active(), IsEmpty());
  EXPECT_EQ(world.made().size(), 1u);
}

TEST(CronJobTest, AJobItControlsIsTakenIntoTheList) {
  CronWorld world("0 * * * *");
  Job job;
  job.metadata.name = RunAt("2026-11-21T11:00:00Z");
  job.metadata.uid = "made-by-volcano";
  job.metadata.annotations[std::string(kCronScheduledKey)] = "2026-11-21T19:00:00+08:00";
  world.jobs[job.metadata.name] = job;
  world.RunTo("2026-11-21T11:00:00.1Z");
  EXPECT_THAT(world.Active(), ElementsAre(job.metadata.name));
  EXPECT_EQ(world.cron.status.last_schedule_time.at, At("2026-11-21T11:00:00Z"));
  EXPECT_THAT(world.made(), IsEmpty());
}

TEST(CronJobTest, ACronJobWithoutACreationTimeStartsTheMostRecent) {
  CronWorld world("0 * * * *");
  world.cron.metadata.creation_timestamp = {};
  world.RunTo("2026-11-21T11:00:00.1Z");
  EXPECT_THAT(world.made(), ElementsAre(HasSubstr("11:00")));
}

TEST(CronJobTest, ANewScheduleDoesNotCountFromBeforeItWasThere) {
  CronWorld world("0 12 * * *");
  world.RunTo("2026-11-21T12:00:00.1Z");
  world.EndAll();
  world.now_ = At("2026-11-21T15:00:00Z");
  world.cron.spec.schedule = "0 14 * * *";
  world.schedule_changed = world.now_;
  world.Settle();
  EXPECT_EQ(world.made().size(), 1u);
  world.LiveUntil("2026-11-22T14:30:00Z");
  EXPECT_THAT(world.made(), ElementsAre(HasSubstr("12:00"), HasSubstr("14:00")));
}

TEST(CronJobTest, WhatDoesNotReadIsToldAndStartsNothing) {
  CronWorld schedule("every now and then");
  schedule.RunTo("2026-11-22T11:00:00Z");
  EXPECT_THAT(
      schedule.events,
      ElementsAre(HasSubstr(
          "UnParseableCronJobSchedule: no job starts: spec.schedule \"every now and then\": must have 5 fields")));
  CronWorld zone("0 * * * *");
  zone.cron.spec.time_zone = "Mars/Olympus";
  zone.RunTo("2026-11-22T11:00:00Z");
  EXPECT_THAT(zone.events,
              ElementsAre(HasSubstr("UnknownTimeZone: no job starts: spec.timeZone: time zone \"Mars/Olympus\"")));
  CronWorld never("0 0 30 2 *");
  never.RunTo("2026-11-22T11:00:00Z");
  EXPECT_THAT(never.events, ElementsAre(HasSubstr("InvalidSchedule: no more jobs start")));
  EXPECT_EQ(never.look_again, absl::InfiniteFuture());
  for (CronWorld* world : {&schedule, &zone, &never}) EXPECT_THAT(world->writes, IsEmpty());
}

TEST(CronJobTest, OneThatIsBeingDeletedStartsNothing) {
  CronWorld world("0 * * * *");
  world.cron.metadata.deletion_timestamp = {world.now_};
  world.RunTo("2026-11-22T11:00:00Z");
  EXPECT_THAT(world.writes, IsEmpty());
}

TEST(CronJobTest, NothingIsWrittenWhenNothingHappens) {
  CronWorld world("0 * * * *");
  world.RunTo("2026-11-21T11:00:00.1Z");
  const std::size_t writes = world.writes.size();
  for (int i = 0; i < 5; ++i) world.Settle();
  EXPECT_EQ(world.writes.size(), writes);
}

}  // namespace
}  // namespace gangway::lifecycle
