#include "cmd/simulate/jobs.h"

#include <string>

#include "api/volcano/defaults.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gangway::cmd {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

const absl::Time kSimulatedFrom = absl::FromUnixSeconds(1'795'503'600);

constexpr char kTable[] =
    "job,arrives,runs,queue,replicas,cpu,nvidia.com/gpu\n"
    "train, 1h30m, 2h, ads, 4, 8, 2\n"
    "\n"
    "eval,,,,,500m,\n";

std::string RefusalOf(const std::string& text) { return std::string(ReadJobs(text, "jobs.csv").status().message()); }

TEST(SimulatedJobsTest, ARowIsAJob) {
  const auto jobs = ReadJobs(kTable, "jobs.csv");
  ASSERT_TRUE(jobs.ok()) << jobs.status();
  ASSERT_EQ(jobs->size(), 2u);
  const auto train = ArrivalOf((*jobs)[0], 1, kSimulatedFrom, {}, "volcano");
  ASSERT_TRUE(train.ok()) << train.status();
  EXPECT_EQ(train->comes, kSimulatedFrom + absl::Minutes(90));
  EXPECT_EQ(train->gang.ns, "default");
  EXPECT_EQ(train->gang.queue, "ads");
  EXPECT_EQ(train->gang.min_member, 4);
  ASSERT_EQ(train->pods.size(), 4u);
  for (int i = 0; i < 4; ++i) {
    const model::PodFacts& pod = train->pods[static_cast<std::size_t>(i)];
    EXPECT_EQ(pod.name, "train-worker-" + std::to_string(i));
    EXPECT_EQ(pod.index, i);
    EXPECT_EQ(pod.gang, train->gang.name);
    EXPECT_EQ(pod.lasts, absl::Hours(2));
    EXPECT_TRUE(pod.ours);
    EXPECT_THAT(pod.wants.requests, UnorderedElementsAre(std::pair<std::string, std::int64_t>("cpu", 8000),
                                                         std::pair<std::string, std::int64_t>("nvidia.com/gpu", 2),
                                                         std::pair<std::string, std::int64_t>("pods", 1)));
  }
  const auto eval = ArrivalOf((*jobs)[1], 2, kSimulatedFrom, {}, "volcano");
  ASSERT_TRUE(eval.ok()) << eval.status();
  EXPECT_EQ(eval->comes, kSimulatedFrom);
  EXPECT_EQ(eval->pods.size(), 1u);
  EXPECT_EQ(eval->gang.queue, "default");
  EXPECT_EQ(eval->pods[0].lasts, absl::InfiniteDuration());
}

TEST(SimulatedJobsTest, FilesOfObjectsAreReadAsGangwayReadsThem) {
  const auto jobs = ReadJobs(R"(
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata:
  name: two
  namespace: ads
  annotations: {gangway.io/arrives: "2026-11-24T08:00:00Z", gangway.io/expected-runtime: 3h}
spec:
  minAvailable: 3
  tasks:
  - name: ps
    replicas: 1
    template: {spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}}
  - name: w
    replicas: 2
    template: {spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 2}}}]}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: other}
---
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {name: wd}
spec:
  worker: {replicas: 2, template: {spec: {containers: [{name: p, image: i}]}}}
)",
                             "jobs.yaml");
  ASSERT_TRUE(jobs.ok()) << jobs.status();
  ASSERT_EQ(jobs->size(), 2u);
  const auto two = ArrivalOf((*jobs)[0], 1, kSimulatedFrom, {}, "volcano");
  ASSERT_TRUE(two.ok()) << two.status();
  EXPECT_EQ(two->comes, kSimulatedFrom + absl::Hours(1));
  EXPECT_EQ(two->gang.ns, "ads");
  ASSERT_EQ(two->pods.size(), 3u);
  EXPECT_EQ(two->pods[2].name, "two-w-1");
  EXPECT_EQ(two->pods[2].lasts, absl::Hours(3));
  EXPECT_EQ((*jobs)[1].metadata.name, "wd");
}

TEST(SimulatedJobsTest, AJobKnowsHowLongOthersOfItsSpecTook) {
  const auto jobs = ReadJobs(kTable, "jobs.csv");
  ASSERT_TRUE(jobs.ok());
  api::volcano::Job before = (*jobs)[0];
  api::volcano::ApplyDefaults(before);
  before.metadata.name = "before";
  before.status.conditions = {{"Running", {kSimulatedFrom}}};
  before.status.state.phase = "Completed";
  before.status.state.last_transition_time = {kSimulatedFrom + absl::Minutes(20)};
  lifecycle::RunHistory history;
  history.Put({"default", "before"}, &before);
  const auto train = ArrivalOf((*jobs)[0], 1, kSimulatedFrom, {}, "volcano", history);
  EXPECT_EQ(train->gang.past_runs, (model::PastRuns{1, absl::Minutes(20) + absl::Seconds(1)}));
  EXPECT_EQ(ArrivalOf((*jobs)[1], 2, kSimulatedFrom, {}, "volcano", history)->gang.past_runs, model::PastRuns());
}

TEST(SimulatedJobsTest, WhatIsWrongIsToldWithItsPlace) {
  EXPECT_EQ(RefusalOf("name,cpu\na,1\n"),
            "jobs.csv:1: a table of jobs begins with the names of its columns, of which one is job");
  EXPECT_EQ(RefusalOf("job,cpu\na\n"), "jobs.csv:2: has 1 cells, the first line 2");
  EXPECT_EQ(RefusalOf("job,cpu\n,1\n"), "jobs.csv:2: has no job");
  EXPECT_EQ(RefusalOf("job,cpu\na,many\n"), "jobs.csv:2: cpu many: must be an amount, such as 8 or 64Gi");
  EXPECT_EQ(RefusalOf("job,replicas\na,0\n"), "jobs.csv:2: replicas 0: must be a number from 1");
  EXPECT_EQ(RefusalOf("job,runs\na,long\n"), "jobs.csv:2: runs long: write a number and a unit, such as 2h");
  EXPECT_EQ(RefusalOf("job,cpu\n"), "jobs.csv: there is no job in it");
  EXPECT_THAT(RefusalOf("kind: [\n"), HasSubstr("jobs.csv"));
  const auto jobs = ReadJobs("job,arrives\na,soon\n", "jobs.csv");
  ASSERT_TRUE(jobs.ok());
  EXPECT_THAT(std::string(ArrivalOf((*jobs)[0], 1, kSimulatedFrom, {}, "volcano").status().message()),
              AllOf(HasSubstr("job default/a: gangway.io/arrives soon: write a time"), HasSubstr("such as 2h30m")));
}

}  // namespace
}  // namespace gangway::cmd
