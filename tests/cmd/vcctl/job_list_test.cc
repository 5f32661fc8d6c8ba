// The expected tables are what vcctl printed when it was recorded (tests/golden/volcano/bus-commands).
#include "cmd/vcctl/job_list.h"

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace gangway::cmd {
namespace {

using api::volcano::Job;

Job MakeJob(const std::string& name, const std::string& phase, int retries) {
  Job job;
  job.metadata.name = name;
  job.metadata.ns = "g-bus-commands";
  job.metadata.creation_timestamp.at = api::ParseTime("2026-11-21T05:15:56Z").value();
  job.spec.scheduler_name = "volcano";
  job.spec.queue = "default";
  job.spec.tasks.resize(1);
  job.spec.tasks[0].replicas = 2;
  job.status.min_available = 2;
  job.status.state.phase = phase;
  job.status.retry_count = retries;
  return job;
}

std::vector<Job> Recorded() {
  return {MakeJob("cmd", "Completed", 2), MakeJob("cmd2", "Terminated", 0), MakeJob("cmd3", "Aborted", 0)};
}

TEST(JobListTest, AsRecorded) {
  EXPECT_EQ(JobListText(Recorded(), {}),
            "Name   Creation       Phase       JobType     Replicas    Min   Pending   Running   Succeeded   Failed    "
            "Unknown     RetryCount\n"
            "cmd    2026-11-21     Completed   Batch       2           2     0         0         0           0         "
            "0           2         \n"
            "cmd2   2026-11-21     Terminated  Batch       2           2     0         0         0           0         "
            "0           0         \n"
            "cmd3   2026-11-21     Aborted     Batch       2           2     0         0         0           0         "
            "0           0         \n");
}

TEST(JobListTest, AllNamespacesHaveAColumnAsWideAsTheLongest) {
  const std::string text = JobListText(Recorded(), {.all_namespaces = true});
  EXPECT_EQ(text.substr(0, text.find('J')), "Namespace        Name   Creation       Phase       ");
  EXPECT_NE(text.find("\ng-bus-commands   cmd    2026-11-21"), std::string::npos) << text;
}

TEST(JobListTest, CountsAndTypeComeFromTheJob) {
  Job job = MakeJob("a-long-job-name", "Running", 1);
  job.metadata.labels["volcano.sh/job-type"] = "Train";
  job.spec.tasks.push_back(job.spec.tasks[0]);
  job.status.pending = 3;
  job.status.running = 4;
  job.status.succeeded = 5;
  job.status.failed = 6;
  job.status.unknown = 7;
  EXPECT_EQ(JobListText({job}, {}),
            "Name              Creation       Phase       JobType     Replicas    Min   Pending   Running   Succeeded  "
            " Failed    Unknown     RetryCount\n"
            "a-long-job-name   2026-11-21     Running     Train       4           2     3         4         5          "
            " 6         7           1         \n");
}

TEST(JobListTest, OnlyWhatIsAskedFor) {
  std::vector<Job> jobs = Recorded();
  jobs[0].spec.scheduler_name = "other";
  jobs[1].spec.queue = "";  // default
  jobs[2].spec.queue = "ads";
  const auto rows = [&](const JobListOptions& options) {
    std::string names;
    const std::string text = JobListText(jobs, options);
    for (const Job& job : jobs) {
      if (text.find(absl::StrCat("\n", job.metadata.name, " ")) != std::string::npos)
        absl::StrAppend(&names, job.metadata.name, " ");
    }
    return names;
  };
  EXPECT_EQ(rows({.scheduler = "volcano"}), "cmd2 cmd3 ");
  EXPECT_EQ(rows({.queue = "default"}), "cmd cmd2 ");
  EXPECT_EQ(rows({.queue = "ads"}), "cmd3 ");
  EXPECT_EQ(rows({.name_part = "d2"}), "cmd2 ");
}

TEST(JobListTest, NothingThere) {
  EXPECT_EQ(JobListText({}, {}), "No resources found\n");
  EXPECT_EQ(JobListText(Recorded(), {.queue = "ads"}), "No resources found\n");
}

}  // namespace
}  // namespace gangway::cmd
