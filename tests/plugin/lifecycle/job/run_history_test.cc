#include "plugin/lifecycle/job/run_history.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gangway::lifecycle {
namespace {

using api::volcano::Job;
using api::volcano::PastRuns;
using ::testing::Optional;

const absl::Time kBegin = absl::FromUnixSeconds(1'767'225'600);

Job JobOf(const std::string& name, const std::string& image = "paddle") {
  Job job;
  job.metadata.ns = "ads";
  job.metadata.name = name;
  job.metadata.uid = absl::StrCat("uid-", name);
  api::volcano::TaskSpec task;
  task.name = "w";
  task.replicas = 2;
  task.pod_template.json = absl::StrCat(R"({"spec":{"containers":[{"name":"c","image":")", image, R"("}]}})");
  job.spec.tasks = {task};
  return job;
}
// It waited for an hour and was restarted before that.
Job Ran(Job job, absl::Duration from, absl::Duration took, const char* phase = "Completed") {
  const absl::Time began = kBegin + from;
  job.metadata.creation_timestamp = {began - absl::Hours(1)};
  job.status.conditions = {{"Pending", {began - absl::Hours(1)}}, {"Restarting", {began}}, {"Running", {began}}};
  job.status.conditions.push_back({phase, {began + took}});
  job.status.state.phase = phase;
  job.status.state.last_transition_time = {began + took};
  return job;
}
void Put(RunHistory& history, const Job& job) { history.Put({job.metadata.ns, job.metadata.name}, &job); }

TEST(RunHistoryTest, ARunIsFromWhenItRanLastUntilItHadCompleted) {
  EXPECT_THAT(HowLongItRan(Ran(JobOf("a"), {}, absl::Minutes(10))), Optional(absl::Minutes(10) + absl::Seconds(1)));
  for (const char* phase : {"Failed", "Terminated", "Aborted", "Completing", "Running"})
    EXPECT_EQ(HowLongItRan(Ran(JobOf("a"), {}, absl::Minutes(10), phase)), std::nullopt) << phase;
  Job never_ran = Ran(JobOf("a"), {}, absl::Minutes(10));
  never_ran.status.conditions.resize(2);
  EXPECT_EQ(HowLongItRan(never_ran), std::nullopt);
  EXPECT_EQ(HowLongItRan(Ran(JobOf("a"), {}, -absl::Minutes(10))), std::nullopt) << "a clock that went back";
}

TEST(RunHistoryTest, TheLongestOfThoseOfTheSameSpecAndNamespace) {
  RunHistory history;
  Put(history, Ran(JobOf("a"), {}, absl::Minutes(10)));
  Put(history, Ran(JobOf("b"), absl::Hours(1), absl::Minutes(12)));
  Put(history, Ran(JobOf("c"), absl::Hours(2), absl::Minutes(8)));
  Put(history, Ran(JobOf("failed"), absl::Hours(3), absl::Minutes(50), "Failed"));
  Put(history, Ran(JobOf("other", "other"), absl::Hours(3), absl::Minutes(50)));
  Job elsewhere = Ran(JobOf("elsewhere"), absl::Hours(3), absl::Minutes(50));
  elsewhere.metadata.ns = "lab";
  Put(history, elsewhere);
  EXPECT_EQ(history.Before(JobOf("d")), (PastRuns{3, absl::Minutes(12) + absl::Seconds(1)}));
  EXPECT_EQ(history.Before(JobOf("d", "new")), PastRuns());
  Job larger = JobOf("d");
  larger.spec.tasks[0].replicas = 3;
  EXPECT_EQ(history.Before(larger), PastRuns()) << "more pods are other work";
}

TEST(RunHistoryTest, WhoIsGoneOrMadeAnewCountsNoMore) {
  RunHistory history;
  Put(history, Ran(JobOf("a"), {}, absl::Minutes(10)));
  Put(history, Ran(JobOf("b"), absl::Hours(1), absl::Minutes(12)));
  history.Put({"ads", "b"}, nullptr);
  EXPECT_EQ(history.Before(JobOf("c")), (PastRuns{1, absl::Minutes(10) + absl::Seconds(1)}));
  Job again = JobOf("a");
  again.metadata.uid = "another";
  Put(history, again);
  EXPECT_EQ(history.Before(JobOf("c")), PastRuns());
  history.Put({"ads", "never"}, nullptr);
}

TEST(RunHistoryTest, TheLastTenWhicheverComesFirst) {
  std::vector<Job> jobs;
  for (int i = 0; i < 12; ++i)
    jobs.push_back(Ran(JobOf(absl::StrCat("job-", i)), absl::Hours(i), absl::Minutes(100 - i)));
  for (int turn = 0; turn < 12; ++turn) {
    std::rotate(jobs.begin(), jobs.begin() + 5, jobs.end());
    RunHistory history;
    for (const Job& job : jobs) Put(history, job);
    EXPECT_EQ(history.Before(JobOf("next")), (PastRuns{10, absl::Minutes(98) + absl::Seconds(1)}));
  }
}

TEST(RunHistoryTest, AJobDoesNotCountForItself) {
  RunHistory history;
  const Job job = Ran(JobOf("a"), {}, absl::Minutes(10));
  Put(history, job);
  EXPECT_EQ(history.Before(job), PastRuns());
}

TEST(PastRunsTest, TextAndBack) {
  const PastRuns past{3, absl::Minutes(12) + absl::Seconds(30)};
  EXPECT_EQ(api::volcano::FormatPastRuns(past), "runs=3 longest=12m30s");
  EXPECT_THAT(api::volcano::ParsePastRuns("runs=3 longest=12m30s"), Optional(past));
  for (const char* wrong : {"", "runs=3", "runs=0 longest=1m", "runs=-1 longest=1m", "runs=3 longest=-1m",
                            "runs=3 longest=0s", "runs=x longest=1m", "longest=1m runs=3", "runs=3 longest=ever"})
    EXPECT_EQ(api::volcano::ParsePastRuns(wrong), std::nullopt) << wrong;
}

}  // namespace
}  // namespace gangway::lifecycle
