// CronJobs as a pure function, and with their plans carried out write by write.
#include "plugin/lifecycle/reconcile_cron_job.h"

#include <array>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <boost/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/json_value.h"
#include "api/volcano/defaults.h"
#include "base/check.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gangway::lifecycle {
namespace {

namespace json = boost::json;
using api::volcano::CronJob;
using api::volcano::Job;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

absl::Time At(const std::string& text) { return *api::ParseTime(text); }

// An API server with one CronJob and its Jobs, and a controller whose caches are always fresh unless said otherwise.
class CronWorld {
 public:
  explicit CronWorld(const std::string& schedule, absl::Time created = At("2026-11-21T10:00:30Z")) : now_(created) {
    cron.metadata.name = "nightly";
    cron.metadata.ns = "default";
    cron.metadata.uid = "cron-uid";
    cron.metadata.resource_version = "1";
    cron.metadata.creation_timestamp = {created};
    cron.spec.schedule = schedule;
    cron.spec.job_template.metadata.labels = {{"team", "ads"}};
    cron.spec.job_template.metadata.annotations = {{"note", "kept"}};
    cron.spec.job_template.spec.min_available = 2;
  }

  kube::Plan Decide() const {
    CronJob filled = cron;
    api::volcano::ApplyDefaults(filled);
    CronJobView view;
    view.cron = &filled;
    for (const auto& [name, job] : jobs) {
      if (!hidden.contains(name)) view.runs.push_back(RunOf(job));
    }
    view.runs_current = runs_current;
    view.seen_leaving = &seen_leaving;
    view.refused = refused;
    view.attempted = attempted;
    view.schedule_changed = schedule_changed;
    return ReconcileCronJob(view, now_);
  }

  // Decides and carries out; the process dies after so many writes. Returns how many were carried out.
  int Step(int most_writes = 1'000'000) {
    const kube::Plan plan = Decide();
    look_again = plan.look_again;
    int done = 0;
    for (const auto& stage : plan.stages) {
      for (const kube::Write& write : stage) {
        if (done == most_writes) return done;
        if (write.verb == kube::Verb::kCreate) attempted = write.name;
        if (write.verb == kube::Verb::kCreate && refusing) {
          refused = write.name;
          return done;
        }
        CarryOut(write);
        ++done;
      }
    }
    for (const kube::EventNote& note : plan.events) events.push_back(absl::StrCat(note.reason, ": ", note.message));
    return done;
  }
  // Until nothing is left to do.
  void Settle() {
    for (int i = 0; Step() > 0; ++i) ASSERT_LT(i, 20);
  }
  void RunTo(const std::string& time) {
    now_ = At(time);
    Settle();
  }
  // As time goes by with a controller that looks when it said it would.
  void LiveUntil(const std::string& time) {
    const absl::Time end = At(time);
    Settle();
    while (look_again <= end) {
      now_ = look_again;
      Settle();
    }
    now_ = end;
    Settle();
  }

  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& [name, job] : jobs) names.push_back(name);
    return names;
  }
  // "nightly-123 10:30" of each Job ever made, in order.
  const std::vector<std::string>& made() const { return made_; }
  std::vector<std::string> Active() const {
    std::vector<std::string> names;
    for (const api::ObjectReference& entry : cron.status.active) names.push_back(entry.uid.empty() ? absl::StrCat(entry.name, " (being made)") : entry.name);
    return names;
  }
  void End(const std::string& name, const std::string& phase = "Completed") {
    Job& job = jobs.at(name);
    job.status.state.phase = phase;
    job.status.state.last_transition_time = {absl::FromUnixSeconds(absl::ToUnixSeconds(now_))};
  }
  void EndAll(const std::string& phase = "Completed") {
    for (auto& [name, job] : jobs) {
      if (job.status.state.phase.empty()) End(name, phase);
    }
  }
  void RemoveJob(const std::string& name) {
    jobs.erase(name);
    seen_leaving.insert(name);
  }

  CronJob cron;
  std::map<std::string, Job> jobs;
  std::vector<std::string> events;
  std::vector<std::string> writes;
  absl::Time look_again = absl::InfiniteFuture();
  // What the controller knows.
  bool runs_current = true;
  std::set<std::string> hidden;  // the watch has not told of these yet
  absl::flat_hash_set<std::string> seen_leaving;
  std::string refused, attempted;
  bool refusing = false;  // the API server refuses Jobs for good
  absl::Time schedule_changed = absl::InfinitePast();
  absl::Time now_;

 private:
  void CarryOut(const kube::Write& write) {
    writes.push_back(absl::StrCat(write.verb == kube::Verb::kCreate ? "create" : write.verb == kube::Verb::kDelete ? "delete" : "patch", " ",
                                  std::string(write.resource->plural), write.subresource.empty() ? "" : "/", write.subresource, " ", write.name));
    if (write.resource == &api::kCronJobs) {
      GW_CHECK(write.verb == kube::Verb::kMergePatch && write.subresource == "status" && write.uid == cron.metadata.uid);
      GW_CHECK(write.resource_version == cron.metadata.resource_version);
      json::value object = *api::ParseJson(api::Encode(cron));
      api::ApplyMergePatch(object, *api::ParseJson(write.body));
      cron = *api::Decode<CronJob>(api::ToJson(object));
      cron.metadata.resource_version = absl::StrCat(++version_);
      return;
    }
    if (write.verb == kube::Verb::kDelete) {
      GW_CHECK(jobs.at(write.name).metadata.uid == write.uid);
      RemoveJob(write.name);
      return;
    }
    hidden.erase(write.name);  // the answer tells of it, also when it was there already
    if (jobs.contains(write.name)) return;
    Job job = *api::Decode<Job>(write.body);
    GW_CHECK(job.metadata.name == write.name);
    job.metadata.uid = absl::StrCat("uid-", ++version_);
    job.metadata.creation_timestamp = {absl::FromUnixSeconds(absl::ToUnixSeconds(now_))};
    jobs[write.name] = std::move(job);
    made_.push_back(absl::StrCat(write.name, " ", jobs[write.name].metadata.annotations.at(std::string(kCronScheduledKey)).substr(11, 5)));
  }

  int version_ = 1;
  std::vector<std::string> made_;
};

std::string RunAt(const std::string& time) { return CronJobRunName("nightly", At(time)); }

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
  EXPECT_EQ(job.metadata.annotations, (std::map<std::string, std::string>{{"note", "kept"}, {"volcano.sh/cronjob-scheduled-timestamp", "2026-11-21T18:30:00+08:00"}}));
  ASSERT_EQ(job.metadata.owner_references.size(), 1u);
  EXPECT_EQ(job.metadata.owner_references[0], (api::OwnerReference{"batch.volcano.sh/v1alpha1", "CronJob", "nightly", "cron-uid", true, true}));
  EXPECT_EQ(job.spec.min_available, 2);
  EXPECT_EQ(world.cron.status.last_schedule_time.at, At("2026-11-21T10:30:00Z"));
  ASSERT_EQ(world.cron.status.active.size(), 1u);
  EXPECT_EQ(world.cron.status.active[0], (api::ObjectReference{"batch.volcano.sh/v1alpha1", "Job", "default", job.metadata.name, job.metadata.uid, {}, {}}));
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
  EXPECT_THAT(world.writes, ElementsAre("patch cronjobs/status nightly", "create jobs " + run, "patch cronjobs/status nightly"));
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
      EXPECT_THAT(world.made(), ElementsAre(HasSubstr("10:20"), HasSubstr("10:40"), HasSubstr("11:00"))) << policy << " " << crash;
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

TEST(CronJobTest, AllowRunsSeveralAtATime) {
  CronWorld world("0 * * * *");
  world.LiveUntil("2026-11-21T13:30:00Z");
  EXPECT_THAT(world.Active(), ElementsAre(RunAt("2026-11-21T11:00:00Z"), RunAt("2026-11-21T12:00:00Z"), RunAt("2026-11-21T13:00:00Z")));
}

TEST(CronJobTest, ForbidWaitsForTheLastAndThenStartsTheMostRecent) {
  CronWorld world("0 * * * *");
  world.cron.spec.concurrency_policy = "Forbid";
  world.LiveUntil("2026-11-21T13:30:00Z");
  EXPECT_THAT(world.made(), ElementsAre(HasSubstr("11:00")));
  EXPECT_THAT(world.events, Contains(absl::StrCat("ForbidConcurrent: the start of 2026-11-21T13:00:00Z waits: job ", RunAt("2026-11-21T11:00:00Z"), " has not ended")));
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
  EXPECT_THAT(world.events, Contains("MissSchedule: the start of 2026-11-21T12:00:00Z is left out: it is more than startingDeadlineSeconds, 60, ago"));
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
  EXPECT_THAT(world.Names(), ElementsAre(RunAt("2026-11-21T12:00:00Z"), RunAt("2026-11-21T14:00:00Z"), RunAt("2026-11-21T15:00:00Z")));
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
  EXPECT_THAT(world.events, Contains(absl::StrCat("SawCompletedJob: job ", RunAt("2026-11-21T11:00:00Z"), " is Completed")));
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

TEST(CronJobTest, WhatAStrangerWroteIntoTheListIsNotMade) {
  CronWorld world("0 * * * *");
  world.RunTo("2026-11-21T10:30:00Z");
  for (const char* name : {"nightly-99999999999999", "nightly-1e3", "nightly-", "weekly-29920920", "nightly-+29920920", "nightly--5"}) {
    world.cron.status.active = {{"batch.volcano.sh/v1alpha1", "Job", "default", name, "", {}, {}}};
    world.Settle();
    EXPECT_THAT(world.Active(), IsEmpty()) << name;
  }
  EXPECT_THAT(world.jobs, IsEmpty());
  world.RunTo("2026-11-21T11:00:00.1Z");
  EXPECT_THAT(world.made(), ElementsAre(HasSubstr("11:00")));
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

TEST(CronJobTest, ClocksThatWereAheadMakeNoRunTwice) {
  CronWorld world("0 * * * *");
  world.RunTo("2026-11-21T14:00:00.1Z");
  world.now_ = At("2026-11-21T11:30:00Z");  // put right
  world.Settle();
  EXPECT_THAT(world.events, Contains(HasSubstr("ClockSkew: no job starts before the last one, of 2026-11-21T14:00:00Z")));
  EXPECT_EQ(world.look_again, At("2026-11-21T15:00:00Z") + absl::Milliseconds(100));
  world.LiveUntil("2026-11-21T15:30:00Z");
  EXPECT_THAT(world.made(), ElementsAre(HasSubstr("14:00"), HasSubstr("15:00")));
}

TEST(CronJobTest, WhatDoesNotReadIsToldAndStartsNothing) {
  CronWorld schedule("every now and then");
  schedule.RunTo("2026-11-22T11:00:00Z");
  EXPECT_THAT(schedule.events, ElementsAre(HasSubstr("UnParseableCronJobSchedule: no job starts: spec.schedule \"every now and then\": must have 5 fields")));
  CronWorld zone("0 * * * *");
  zone.cron.spec.time_zone = "Mars/Olympus";
  zone.RunTo("2026-11-22T11:00:00Z");
  EXPECT_THAT(zone.events, ElementsAre(HasSubstr("UnknownTimeZone: no job starts: spec.timeZone: time zone \"Mars/Olympus\"")));
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

// Hours of chance: time that passes, jobs that end or go, answers that are late, deaths after any write, people who suspend.
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
      } else if (below(4) == 0 && world.Step(2) == 2 && !world.writes.empty() && absl::StartsWith(world.writes.back(), "create")) {
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
