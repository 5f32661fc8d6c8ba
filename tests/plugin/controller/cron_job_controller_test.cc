// CronJobs on the sandbox's API server, on a simulated loop; the test says when the Jobs end.
#include <algorithm>
#include <set>

#include "api/volcano/cron_job.h"
#include "gmock/gmock.h"
#include "kube/client/status.h"
#include "plugin/lifecycle/cron/reconcile_cron_job.h"
#include "tests/plugin/controller/controllers_fixture.h"

namespace gangway::controller {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class CronJobControllerTest : public ControllersTest {
 protected:
  CronJobControllerTest() {
    const absl::Time midnight = absl::UnixEpoch() + absl::Ceil(loop_.Now() - absl::UnixEpoch(), absl::Hours(24));
    loop_.RunFor(midnight - loop_.Now());
  }
  void Apply(const std::string& schedule, const std::string& more = "") {
    Create(
        api::kCronJobs,
        absl::StrCat(
            R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"CronJob","metadata":{"name":"nightly"},"spec":{"schedule":")",
            schedule, "\",", more,
            R"("jobTemplate":{"metadata":{"labels":{"team":"ads"}},"spec":{"tasks":[{"name":"w","replicas":1,)",
            R"("template":{"spec":{"containers":[{"name":"c","image":"i"}]}}}]}}}})"));
  }
  api::volcano::CronJob Cron() {
    return *api::Decode<api::volcano::CronJob>(*Ask("GET", api::PathOf(api::kCronJobs, "default", "nightly")).body);
  }
  std::vector<std::string> Active() {
    std::vector<std::string> names;
    for (const api::ObjectReference& entry : Cron().status.active)
      names.push_back(entry.uid.empty() ? absl::StrCat(entry.name, " (being made)") : entry.name);
    return names;
  }
  void End(const std::string& job, const std::string& phase = "Completed") {
    Patch(api::kJobs, job,
          absl::StrCat(R"({"status":{"state":{"phase":")", phase, R"(","lastTransitionTime":")",
                       api::FormatTime(loop_.Now()), "\"}}}"),
          "status");
  }
  void EndAll() {
    for (const std::string& job : Names(api::kJobs)) {
      if (Phase(job) != "Completed") End(job);
    }
    Run();
  }
  // What was ever made, by the journal.
  void Remember() {
    for (const std::string& job : Names(api::kJobs)) {
      const std::string uid = Job(job).metadata.uid;
      if (seen_.insert(uid).second) made_.push_back(job);
    }
  }

  std::set<std::string> seen_;
  std::vector<std::string> made_;
};

TEST_F(CronJobControllerTest, AStartMakesAJobThatRuns) {
  Start();
  Apply("30 8 * * *", R"("timeZone":"Asia/Shanghai",)");  // half past midnight
  Run(absl::Minutes(31));
  ASSERT_THAT(Names(api::kJobs), SizeIs(1));
  const api::volcano::Job job = Job(Names(api::kJobs)[0]);
  EXPECT_THAT(job.metadata.annotations.at("volcano.sh/cronjob-scheduled-timestamp"), HasSubstr("T08:30:00+08:00"));
  EXPECT_EQ(job.metadata.labels.at("team"), "ads");
  EXPECT_EQ(job.spec.queue, "default");
  EXPECT_EQ(job.spec.min_available, 1);  // its own defaults
  EXPECT_THAT(Active(), ElementsAre(job.metadata.name));
  EXPECT_THAT(Names(api::kPodGroups), SizeIs(1));
  EXPECT_THAT(Events(), Contains("SuccessfulCreate: created job " + job.metadata.name));
  LetIn(job.metadata.name);
  RunPods(job.metadata.name);
  SetPod(job.metadata.name + "-w-0", "Succeeded");
  EXPECT_EQ(Phase(job.metadata.name), "Completed");
  EXPECT_THAT(Active(), IsEmpty());
  EXPECT_TRUE(Cron().status.last_successful_time.set());
}

TEST_F(CronJobControllerTest, ADayOfRunsWithRestartsOfTheController) {
  Start();
  Apply("*/30 * * * *", R"("concurrencyPolicy":"Forbid",)");
  for (int half = 1; half <= 48; ++half) {
    if (half % 3 == 1) Crash();
    Run(absl::Minutes(half % 3 == 1 ? 31 : 30));  // it comes back a minute late
    if (half % 3 == 1) Start();
    Run(absl::Seconds(1));
    Remember();
    EndAll();
    if (half % 3 == 1)
      loop_.RunFor(absl::UnixEpoch() + absl::Floor(loop_.Now() - absl::UnixEpoch(), absl::Minutes(30)) +
                   absl::Seconds(5) + absl::Minutes(2) - loop_.Now());
  }
  // Each time has its run, and none has two.
  EXPECT_EQ(std::set<std::string>(made_.begin(), made_.end()).size(), made_.size());
  ASSERT_GE(made_.size(), 47u);
  std::vector<int> minutes;
  for (const std::string& name : made_) minutes.push_back(std::stoi(name.substr(name.rfind('-') + 1)));
  for (std::size_t i = 1; i < minutes.size(); ++i) EXPECT_EQ(minutes[i] - minutes[i - 1], 30) << made_[i];
  EXPECT_LE(Names(api::kJobs).size(), 3u);
  EXPECT_THAT(Active(), IsEmpty());
}

// Each write of a start is lost, or its answer is, or the controller dies with it.
TEST_F(CronJobControllerTest, NoFaultMakesARunTwiceOrLeavesItOut) {
  using Loss = sandbox::RequestFate::Loss;
  Start();
  Apply("0 * * * *", R"("concurrencyPolicy":"Forbid",)");
  int hour = 0;
  for (const Loss loss : {Loss::kRequest, Loss::kReply}) {
    for (int at = 0; at < 4; ++at) {
      for (const bool crash : {false, true}) {
        int write = 0;
        bool hit = false;
        fate_ = [&](const kube::Request& request) {
          sandbox::RequestFate fate;
          const bool ours = absl::StrContains(request.path, "cronjobs") || absl::StrContains(request.path, "/jobs");
          if (request.method != "GET" && ours && !absl::StrContains(request.path, "/jobs/") && write++ == at) {
            fate.loss = loss;
            hit = true;
          }
          return fate;
        };
        ++hour;
        Run(absl::UnixEpoch() + absl::Ceil(loop_.Now() - absl::UnixEpoch(), absl::Hours(1)) + absl::Milliseconds(150) -
            loop_.Now());
        if (crash) {
          Crash();
          Run(absl::Seconds(5));
          fate_ = nullptr;
          Start();
        }
        Run(absl::Seconds(70));
        fate_ = nullptr;
        Remember();
        EXPECT_EQ(made_.size(), static_cast<std::size_t>(hour))
            << "write " << at << (hit ? " lost" : "") << (crash ? ", crash" : "");
        EXPECT_THAT(Active(), SizeIs(1));
        EndAll();
        Run(absl::Seconds(10));
        EXPECT_THAT(Active(), IsEmpty());
      }
    }
  }
  EXPECT_EQ(std::set<std::string>(made_.begin(), made_.end()).size(), made_.size());
}

TEST_F(CronJobControllerTest, TwoControllersMakeOneJob) {
  Start();
  sandbox::InProcessClient client(loop_, server_, "second", {});
  const auto second = MakeControllers(loop_, client);
  second->Start();
  Run();
  Apply("0 * * * *");
  Run(absl::Hours(3) + absl::Minutes(1));
  EXPECT_THAT(Names(api::kJobs), SizeIs(3));
  EXPECT_THAT(Active(), SizeIs(3));
}

TEST_F(CronJobControllerTest, ATemplateThatIsRefusedIsToldAndTheNextStartIsTried) {
  Start();
  Create(
      api::kCronJobs,
      R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"CronJob","metadata":{"name":"nightly"},"spec":{"schedule":"0 * * * *",)"
      R"("jobTemplate":{"spec":{"minAvailable":5,"tasks":[{"name":"w","replicas":1,"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}}]}}}})");
  Run(absl::Hours(2) + absl::Minutes(1));
  EXPECT_THAT(Names(api::kJobs), IsEmpty());
  EXPECT_THAT(Active(), SizeIs(1));  // one at a time
  EXPECT_THAT(Events(), Contains(HasSubstr("FailedCreate: Job nightly-")));
  EXPECT_THAT(Events(), Contains(HasSubstr("must not be greater than the replicas of all tasks together")));
  Patch(api::kCronJobs, "nightly", R"({"spec":{"jobTemplate":{"spec":{"minAvailable":1}}}})");
  Run();
  EXPECT_THAT(Names(api::kJobs), SizeIs(1));
}

TEST_F(CronJobControllerTest, NewsOfAnEarlierRunGivesARefusedStartNoSecondTurn) {
  Start();
  Apply("0 * * * *");
  Run(absl::Hours(1) + absl::Minutes(1));
  ASSERT_THAT(Names(api::kJobs), SizeIs(1));
  const std::string first = Names(api::kJobs)[0];
  Patch(api::kCronJobs, "nightly", R"({"spec":{"jobTemplate":{"spec":{"minAvailable":5}}}})");
  const absl::Time third =
      absl::UnixEpoch() + absl::Floor(loop_.Now() - absl::UnixEpoch(), absl::Hours(1)) + absl::Hours(2);
  loop_.RunFor(third + absl::Milliseconds(50) - loop_.Now());
  Patch(api::kJobs, first, R"({"metadata":{"labels":{"seen":"again"}}})");
  Run(absl::Seconds(1));
  EXPECT_THAT(Active(), Contains(lifecycle::CronJobRunName("nightly", third) + " (being made)"));
}

TEST_F(CronJobControllerTest, WhatIsRefusedIsToldByWhatItWas) {
  Start();
  Apply("0 * * * *", R"("concurrencyPolicy":"Replace",)");
  Run(absl::Hours(1) + absl::Minutes(1));
  ASSERT_THAT(Names(api::kJobs), SizeIs(1));
  const std::string first = Names(api::kJobs)[0];
  const auto refuse = [this](const std::string& method, const std::string& path) {
    fate_ = [method, path](const kube::Request& request) {
      sandbox::RequestFate fate;
      if (request.method != method || !absl::StrContains(request.path, path)) return fate;
      fate.answer.emplace();
      fate.answer->code = 403;
      fate.answer->content_type = "application/json";
      fate.answer->body = MakeBytes(kube::StatusBody(403, "Forbidden", "not you"));
      return fate;
    };
  };
  refuse("DELETE", "/jobs/");
  Run(absl::Hours(1));
  EXPECT_THAT(Events(), Contains(absl::StrCat("FailedDelete: Job ", first, ": not you")));
  refuse("PATCH", "/cronjobs/");
  Run(absl::Hours(1));
  EXPECT_THAT(Events(), Contains("FailedUpdate: CronJob nightly: not you"));
}

TEST_F(CronJobControllerTest, AJobOfAnotherUnderTheNameIsLeftAlone) {
  Start();
  Apply("0 * * * *");
  const std::string name = lifecycle::CronJobRunName("nightly", loop_.Now() + absl::Hours(1));
  Create(
      api::kJobs,
      absl::StrCat(
          R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":")", name,
          R"("},"spec":{"tasks":[{"name":"w","replicas":1,"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}}]}})"));
  const std::string uid = Job(name).metadata.uid;
  Run(absl::Hours(2));
  EXPECT_EQ(Job(name).metadata.uid, uid);
  EXPECT_THAT(Job(name).metadata.owner_references, IsEmpty());
  EXPECT_THAT(Events(), Contains(absl::StrCat("ForeignJob: Job ", name,
                                              ": it is there already, and this CronJob does not control it")));
  EXPECT_THAT(Active(), SizeIs(1));
  EXPECT_THAT(Active(), Not(Contains(HasSubstr(name))));
}

TEST_F(CronJobControllerTest, ANewScheduleStartsWithItsNextTime) {
  Start();
  Apply("0 12 * * *");
  Run(absl::Hours(15));
  EXPECT_THAT(Names(api::kJobs), SizeIs(1));
  Patch(api::kCronJobs, "nightly", R"({"spec":{"schedule":"0 14 * * *"}})");
  Run(absl::Hours(1));
  EXPECT_THAT(Names(api::kJobs), SizeIs(1));
  Run(absl::Hours(23));
  EXPECT_THAT(Names(api::kJobs), SizeIs(2));
}

TEST_F(CronJobControllerTest, AWarningIsToldOnce) {
  Start();
  Apply("0 * * * *", R"("concurrencyPolicy":"Forbid",)");
  Run(absl::Hours(2) + absl::Minutes(1));
  const std::string job = Names(api::kJobs)[0];
  for (int i = 0; i < 5; ++i) {
    Patch(api::kJobs, job, absl::StrCat(R"({"metadata":{"labels":{"n":")", i, "\"}}}"));
    Run(absl::Seconds(5));
  }
  const json::value events = *api::ParseJson(*Ask("GET", api::PathOf(api::kEvents, "default")).body);
  int told = 0;
  for (const json::value& event : events.at("items").as_array()) {
    if (event.at("reason") == json::value("ForbidConcurrent")) told += static_cast<int>(event.at("count").as_int64());
  }
  EXPECT_EQ(told, 1);
}

TEST_F(CronJobControllerTest, ItsJobsGoWithIt) {
  Start();
  Apply("0 * * * *");
  Run(absl::Hours(2) + absl::Minutes(1));
  EXPECT_THAT(Names(api::kJobs), SizeIs(2));
  Delete(api::kCronJobs, "nightly");
  Run(absl::Hours(2));
  EXPECT_THAT(Names(api::kJobs), IsEmpty());
}

TEST_F(CronJobControllerTest, ItRunsWithoutTheControllerOfJobs) {
  Options options;
  options.only = {"cronjob", "jobflow"};
  Start(options);
  Apply("0 * * * *");
  Run(absl::Hours(1) + absl::Minutes(1));
  ASSERT_THAT(Names(api::kJobs), SizeIs(1));
  EXPECT_EQ(Phase(Names(api::kJobs)[0]), "");
  EXPECT_THAT(Names(api::kPodGroups), IsEmpty());
  EXPECT_THAT(controllers_->Dump(), HasSubstr(R"("cronjobs":1)"));
}

TEST_F(CronJobControllerTest, NobodyWritesWhileNothingIsDue) {
  Start();
  Apply("0 * * * *");
  Run(absl::Minutes(5));
  const int writes = writes_;
  Run(absl::Minutes(50));
  EXPECT_EQ(writes_, writes);
}

}  // namespace
}  // namespace gangway::controller
