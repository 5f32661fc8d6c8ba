#include "cmd/vcctl/job_answers.h"

#include "gtest/gtest.h"

namespace gangway::cmd {
namespace {

using api::core::Pod;
using api::volcano::Job;
using api::volcano::PodGroup;

Pod PodOf(const std::string& json) { return api::Decode<Pod>(json).value(); }

Job JobIn(const std::string& phase, int retries = 0) {
  Job job;
  job.metadata.name = "a";
  job.spec.max_retry = 3;
  job.status.state.phase = phase;
  job.status.retry_count = retries;
  return job;
}

PodGroup GroupIn(const std::string& phase, const std::string& message = "") {
  PodGroup group;
  group.spec.queue = "ads";
  group.status.phase = phase;
  if (message.empty()) return group;
  group.status.conditions.resize(1);
  group.status.conditions[0].type = "Unschedulable";
  group.status.conditions[0].status = "True";
  group.status.conditions[0].message = message;
  return group;
}

const Pod kKilled = PodOf(R"({"metadata": {"name": "a-w-0"}, "status": {"phase": "Failed", "containerStatuses": [
  {"name": "w", "state": {"terminated": {"exitCode": 137, "reason": "OOMKilled", "finishedAt": "2026-11-21T05:00:02Z"}}}]}})");
const Pod kFailedLater = PodOf(R"({"metadata": {"name": "a-w-1"}, "status": {"phase": "Failed", "containerStatuses": [
  {"name": "w", "state": {"terminated": {"exitCode": 1, "reason": "Error", "finishedAt": "2026-11-21T05:00:03Z"}}}]}})");
const Pod kSucceeded = PodOf(R"({"metadata": {"name": "a-w-2"}, "status": {"phase": "Succeeded", "containerStatuses": [
  {"name": "w", "state": {"terminated": {"exitCode": 0, "reason": "Completed", "finishedAt": "2026-11-21T05:00:01Z"}}}]}})");

TEST(FirstFailureTest, TheEarliestContainerThatEndedBadly) {
  EXPECT_EQ(FirstFailure({kFailedLater, kSucceeded, kKilled}),
            "pod a-w-0: container w ended with exit code 137 (OOMKilled)");
  EXPECT_EQ(FirstFailure({kSucceeded}), "");
  EXPECT_EQ(FirstFailure({}), "");
}

TEST(FirstFailureTest, AContainerThatWasRestartedInItsPod) {
  const Pod pod = PodOf(
      R"({"metadata": {"name": "a-w-0"}, "status": {"phase": "Running", "containerStatuses": [{"name": "w", "restartCount": 1,
    "state": {"running": {}}, "lastState": {"terminated": {"exitCode": 3, "message": "no data\n"}}}]}})");
  EXPECT_EQ(FirstFailure({pod}), "pod a-w-0: container w ended with exit code 3: no data");
}

TEST(FirstFailureTest, AnInitContainer) {
  const Pod pod = PodOf(R"({"metadata": {"name": "a-w-0"}, "status": {"phase": "Failed", "initContainerStatuses": [
    {"name": "fetch", "state": {"terminated": {"exitCode": 2}}}]}})");
  EXPECT_EQ(FirstFailure({pod}), "pod a-w-0: container fetch ended with exit code 2");
}

TEST(FirstFailureTest, APodThatFailedWithoutAContainer) {
  const Pod pod = PodOf(
      R"({"metadata": {"name": "a-w-0"}, "status": {"phase": "Failed", "reason": "Evicted", "message": "the node was low on memory"}})");
  EXPECT_EQ(FirstFailure({pod}), "pod a-w-0: Evicted: the node was low on memory");
}

TEST(WhyItWaitsTest, ByJobAndPodGroup) {
  const PodGroup full = GroupIn("Inqueue", "waits for 1 of 7 tasks: worker needs cpu 12"), shut = GroupIn("Pending"),
                 let_in = GroupIn("Inqueue"), placed = GroupIn("Running", "an old reason");
  EXPECT_EQ(WhyItWaits(JobIn("Pending"), &full), "waits for 1 of 7 tasks: worker needs cpu 12");
  EXPECT_EQ(WhyItWaits(JobIn("Pending"), &shut), "queue ads has not let it in yet");
  EXPECT_EQ(WhyItWaits(JobIn("Pending"), &let_in), "it is let in and not placed yet");
  EXPECT_EQ(WhyItWaits(JobIn("Pending"), &placed), "its pods are placed and start");
  EXPECT_EQ(WhyItWaits(JobIn("Pending"), nullptr), "it has no PodGroup yet; its events say why");
  EXPECT_EQ(WhyItWaits(JobIn(""), nullptr),
            "no controller has seen it yet: is gangway controller (or Volcano's) running?");
  EXPECT_EQ(WhyItWaits(JobIn("Running"), &full), "");
}

const absl::Time kNow = absl::FromCivil(absl::CivilSecond(2026, 11, 21, 5, 5, 2), absl::UTCTimeZone());

TEST(JobAnswersTest, RetriesFailureAndReason) {
  const PodGroup full = GroupIn("Inqueue", "waits for 1 of 7 tasks");
  EXPECT_EQ(JobAnswersText(JobIn("Pending", 1), {kKilled}, &full, {}, kNow),
            "Restarts:\t1 of 2 (maxRetry 3), 1 left\n"
            "Failure:\tpod a-w-0: container w ended with exit code 137 (OOMKilled), 5m ago\n"
            "Waits:\twaits for 1 of 7 tasks\n");
  EXPECT_EQ(JobAnswersText(JobIn("Failed", 3), {}, nullptr, {}, kNow), "Restarts:\t2 of 2 (maxRetry 3), none left\n");
}

TEST(JobAnswersTest, WhenTheFailedPodsAreGoneTheEventOfTheLastRestartSpeaks) {
  std::vector<JobEvent> events(3);
  for (JobEvent& event : events) event.reason = "ExecuteAction";
  events[0].message = "Start to execute action RestartJob: an older one";
  events[1].message = "Start to execute action RestartJob: pod a-w-1 failed with exit code 7 ";
  events[2].message = "Start to execute action CompleteJob: all pods of task w succeeded";
  EXPECT_EQ(JobAnswersText(JobIn("Running", 2), {}, nullptr, events, kNow),
            "Restarts:\t2 of 2 (maxRetry 3), none left\n"
            "Failure:\tStart to execute action RestartJob: pod a-w-1 failed with exit code 7\n");
  EXPECT_EQ(JobAnswersText(JobIn("Running", 0), {}, nullptr, events, kNow), "Restarts:\t0 of 2 (maxRetry 3), 2 left\n");
}

Job Recorded(const std::string& phase, const std::string& record) {
  Job job = JobIn(phase, 1);
  job.status.controlled_resources["gangway.io/last-failure"] = record;
  return job;
}
constexpr char kRecord[] =
    R"({"event":"PodFailed","action":"RestartJob","policy":"spec.tasks[1].policies[0]","task":"w","pod":"a-w-0","container":"w",)"
    R"("exitCode":137,"reason":"OOMKilled","version":0,"at":"2026-11-21T05:00:02Z","message":"loss is nan\nkilled"})";

TEST(JobAnswersTest, TheRecordOutlivesThePod) {
  EXPECT_EQ(JobAnswersText(Recorded("Running", kRecord), {}, nullptr, {}, kNow),
            "Restarts:\t1 of 2 (maxRetry 3), 1 left\n"
            "Failure:\tpod a-w-0: container w ended with exit code 137 (OOMKilled), 5m ago\n"
            "Answer:\tRestartJob, by spec.tasks[1].policies[0] for PodFailed\n"
            "Last lines:\n\t| loss is nan\n\t| killed\n");
  EXPECT_EQ(LogOfFailure(Recorded("Running", kRecord), {}), std::nullopt);
}

TEST(JobAnswersTest, WhatWasDoneAboutIt) {
  const auto answer = [](const std::string& record) {
    const std::string text = JobAnswersText(Recorded("Failed", record), {}, nullptr, {}, kNow);
    return text.substr(text.find("Failure:"));
  };
  EXPECT_EQ(
      answer(
          R"({"event":"PodEvicted","action":"RestartJob","policy":"spec.policies[0]","pod":"a-w-0","reason":"DeletionByTaintManager","message":"node n1 is gone"})"),
      "Failure:\tpod a-w-0 was deleted (DeletionByTaintManager): node n1 is gone\nAnswer:\tRestartJob, by "
      "spec.policies[0] for PodEvicted\n");
  EXPECT_EQ(answer(R"({"event":"PodFailed","pod":"a-w-0","container":"w","exitCode":1,"reason":"Error"})"),
            "Failure:\tpod a-w-0: container w ended with exit code 1\nAnswer:\tno policy for PodFailed; the job ended "
            "by itself\n");
  EXPECT_EQ(
      answer(
          R"({"event":"TaskFailed","action":"AbortJob","policy":"spec.policies[0]","task":"w","pod":"a-w-0","container":"w","exitCode":1})"),
      "Failure:\tthe containers of task w restarted too often; pod a-w-0: container w ended with exit code 1\n"
      "Answer:\tAbortJob, by spec.policies[0] for TaskFailed\n");
  EXPECT_EQ(answer(R"({"event":"Unknown","action":"RestartJob","policy":"spec.policies[0]"})"),
            "Failure:\ta part of its running gang was lost\nAnswer:\tRestartJob, by spec.policies[0] for Unknown\n");
}

Pod OfVersion(Pod pod, const std::string& version) {
  pod.metadata.annotations["volcano.sh/job-version"] = version;
  return pod;
}

TEST(JobAnswersTest, ThePodThatIsStillThereGivesItsLog) {
  const Job job = Recorded("Failed", kRecord);
  const std::vector<Pod> pods{OfVersion(kFailedLater, "0"), OfVersion(kKilled, "0")};
  EXPECT_EQ(LogOfFailure(job, pods), (FailedLog{"a-w-0", "w", false}));
  const std::string text = JobAnswersText(job, pods, nullptr, {}, kNow, "step 1\nout of memory");
  EXPECT_EQ(text.substr(text.find("Failure:")),
            "Failure:\tpod a-w-0: container w ended with exit code 137 (OOMKilled), 5m ago\n"
            "Answer:\tRestartJob, by spec.tasks[1].policies[0] for PodFailed\n"
            "Last lines:\n\t| step 1\n\t| out of memory\n");
}

TEST(JobAnswersTest, APodMadeSinceThenIsTheNews) {
  const Job job = Recorded("Running", kRecord);
  const std::vector<Pod> pods{OfVersion(kFailedLater, "1")};
  EXPECT_EQ(LogOfFailure(job, pods), (FailedLog{"a-w-1", "w", false}));
  const std::string text = JobAnswersText(job, pods, nullptr, {}, kNow);
  EXPECT_EQ(text.substr(text.find("Failure:")), "Failure:\tpod a-w-1: container w ended with exit code 1, 4m59s ago\n");
}

TEST(JobAnswersTest, ARecordThatDoesNotReadIsNone) {
  EXPECT_EQ(JobAnswersText(Recorded("Running", "{"), {}, nullptr, {}, kNow),
            "Restarts:\t1 of 2 (maxRetry 3), 1 left\n");
}

}  // namespace
}  // namespace gangway::cmd
