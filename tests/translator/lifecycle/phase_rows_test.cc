// The rows B of spec paddle 8: the phase of a PaddleJob, from its Job and its pods, both controllers at work.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/translator/lifecycle/paddle_world.h"

namespace gangway::testutil {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string TwoAndTwo(const std::string& extra = "", const std::string& annotations = "") {
  return PaddleJobText("wd", {{"ps", RoleText(2)}, {"worker", RoleText(2)}}, extra, annotations);
}
std::string TwoWorkers(const std::string& extra = "", const std::string& spec = "",
                       const std::string& annotations = "") {
  return PaddleJobText("wd", {{"worker", RoleText(2, spec)}}, extra, annotations);
}
constexpr char kWaitsForDns[] = R"({"phase":"Pending","startTime":"2026-01-01T00:00:00Z",
    "initContainerStatuses":[{"name":"wait-dns","ready":false,"state":{"running":{"startedAt":"2026-01-01T00:00:00Z"}}}]})";

TEST(PaddlePhase, B1ANewJobIsPending) {
  PaddleWorld world(TwoAndTwo());
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Pending");
  EXPECT_THAT(world.Names("pods"), IsEmpty());
  EXPECT_EQ(world.status().mode, "PS");
  EXPECT_EQ(world.status().ps->ready, "0/2");  // zeros included
  EXPECT_EQ(world.status().worker->ready, "0/2");
  EXPECT_FALSE(world.status().heter.has_value());
  EXPECT_EQ(world.status().observed_generation, 1);
  EXPECT_EQ(world.Told("Translated").status, "True");
}

TEST(PaddlePhase, B2AllRun) {
  PaddleWorld world(TwoAndTwo());
  world.Pass(absl::Seconds(5));
  ASSERT_TRUE(world.Start());
  EXPECT_EQ(world.phase(), "Running");
  EXPECT_EQ(world.status().worker->ready, "2/2");
  EXPECT_EQ(world.status().worker->refs[1].name, "wd-worker-1");
  EXPECT_EQ(world.status().start_time.at, world.now());
  EXPECT_EQ(world.Told("Scheduled").status, "True");
}

TEST(PaddlePhase, B3OneIsPending) {
  PaddleWorld world(TwoAndTwo());
  ASSERT_TRUE(world.Start());
  world.SetPodStatus("wd-worker-1", R"({"phase":"Pending"})");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Pending");
}

TEST(PaddlePhase, B4OneWaitsForNames) {
  PaddleWorld world(TwoAndTwo());
  ASSERT_TRUE(world.Start());
  world.SetPodStatus("wd-worker-1", kWaitsForDns);
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Starting");
  EXPECT_EQ(world.status().worker->starting, 1);
}

TEST(PaddlePhase, B5AWorkerThatCrashesInPlace) {
  PaddleWorld world(TwoWorkers("", R"("restartPolicy":"OnFailure")"));
  ASSERT_TRUE(world.Start());
  const auto crashed = [](int times) {
    return absl::StrCat(
        R"({"phase":"Running","startTime":"2026-01-01T00:00:00Z","containerStatuses":[{"name":"paddle","ready":false,"restartCount":)",
        times, R"(,"state":{"waiting":{"reason":"CrashLoopBackOff"}},"lastState":{"terminated":{"exitCode":1}}}]})");
  };
  world.SetPodStatus("wd-worker-1", crashed(2));
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Starting");
  EXPECT_EQ(world.status().message, "wd-worker-1 CrashLoopBackOff (restarted 2 times)");
  world.SetPodStatus("wd-worker-1", crashed(6));  // 3 for each of the two pods: TaskFailed
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Failed");
}

TEST(PaddlePhase, B6WorkersSucceedAndServersRun) {
  PaddleWorld world(TwoAndTwo());
  ASSERT_TRUE(world.Start());
  world.SetPod("wd-worker-0", "Succeeded");
  world.SetPod("wd-worker-1", "Succeeded");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Running");
  world.Pass(absl::Seconds(10));  // the servers' grace
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Completing");
  world.DeletedPodsGo();
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Completed");
  EXPECT_TRUE(world.status().completion_time.set());
}

TEST(PaddlePhase, B7AllSucceed) {
  PaddleWorld world(TwoAndTwo());
  ASSERT_TRUE(world.Start());
  world.SetAll("Succeeded");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Completed");
}

TEST(PaddlePhase, B8OnePendingAndOneFailed) {
  PaddleWorld world(TwoAndTwo());
  ASSERT_TRUE(world.Start());
  world.SetPodStatus("wd-ps-1", R"({"phase":"Pending"})");
  world.SetPod("wd-worker-1", "Failed", 1, "Error");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Pending");
  EXPECT_EQ(world.status().worker->failed, 1);
  world.Pass(absl::Seconds(10));  // until Volcano decides
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Failed");
}

TEST(PaddlePhase, B9WhatHasFailedStaysFailed) {
  PaddleWorld world(TwoAndTwo("\"cleanPodPolicy\":\"Never\""));
  ASSERT_TRUE(world.Start());
  world.SetPod("wd-worker-1", "Failed", 1);
  ASSERT_TRUE(world.Settle());
  world.Pass(absl::Seconds(10));
  ASSERT_TRUE(world.Settle());
  world.DeletedPodsGo();
  ASSERT_TRUE(world.Settle());
  ASSERT_EQ(world.phase(), "Failed");
  world.SetJobPhase("Completed");
  world.SetAll("Succeeded");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Failed");
}

TEST(PaddlePhase, B10APodOfACompletedJobIsNotMadeAnew) {
  PaddleWorld world(TwoAndTwo("\"cleanPodPolicy\":\"Never\""));
  ASSERT_TRUE(world.Start());
  world.SetAll("Succeeded");
  ASSERT_TRUE(world.Settle());
  world.DeletePod("wd-worker-0");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Completed");
  EXPECT_THAT(world.Pods(), ElementsAre("ps-0 Succeeded", "ps-1 Succeeded", "worker-1 Succeeded"));
  EXPECT_EQ(world.status().worker->succeeded, 2);  // stays counted
}

TEST(PaddlePhase, B11ACompletedJobThatIsDeleted) {
  PaddleWorld world(TwoAndTwo());
  ASSERT_TRUE(world.Start());
  world.SetAll("Succeeded");
  ASSERT_TRUE(world.Settle());
  ASSERT_EQ(world.phase(), "Completed");
  world.DeletePaddleJob();
  world.Step();
  EXPECT_EQ(world.phase(), "Terminating");
}

TEST(PaddlePhase, B12NoServersAtAll) {
  PaddleWorld world(PaddleJobText("wd", {{"ps", RoleText(0)}, {"worker", RoleText(2)}}));
  ASSERT_TRUE(world.Start());
  EXPECT_EQ(world.phase(), "Running");
  EXPECT_EQ(world.status().mode, "Collective");
  EXPECT_EQ(world.status().ps->ready, "0/0");
  EXPECT_THAT(world.Told("Translated").message, HasSubstr("W-ZERO-REPLICAS"));
  world.SetAll("Succeeded");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Completed");
  EXPECT_THAT(world.Told("Translated").message, HasSubstr("W-ZERO-REPLICAS")) << "also after the end";
}

TEST(PaddlePhase, B13NoWorkersAtAll) {
  PaddleWorld world(PaddleJobText("wd", {{"worker", RoleText(0)}}));
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Failed");
  EXPECT_THAT(world.status().message, HasSubstr("E-EMPTY"));
  EXPECT_EQ(world.Told("Translated").status, "False");
  EXPECT_FALSE(world.Exists("jobs", "wd"));
  // Corrected, it goes on.
  world.Edit(R"({"spec":{"worker":{"replicas":1}}})");
  ASSERT_TRUE(world.Start());
  EXPECT_EQ(world.phase(), "Running");
  EXPECT_EQ(world.Told("Translated").status, "True");
}

TEST(PaddlePhase, B14SucceededBeforeAnybodySawItRun) {
  PaddleWorld world(TwoWorkers());
  ASSERT_TRUE(world.Settle());
  world.SetGroupPhase("Inqueue");
  ASSERT_TRUE(world.Settle());
  world.Pass(absl::Seconds(3));
  world.SetPod("wd-worker-1", "Succeeded");
  const absl::Time earliest = world.now();
  world.Pass(absl::Seconds(3));
  world.SetPod("wd-worker-0", "Succeeded");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Completed");
  EXPECT_EQ(world.status().start_time.at, earliest);
}

TEST(PaddlePhase, B15ANodeThatDoesNotAnswer) {
  PaddleWorld world(TwoWorkers());
  ASSERT_TRUE(world.Start());
  world.SetPodStatus("wd-worker-1", R"({"phase":"Unknown"})");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Running");
  EXPECT_EQ(world.status().worker->unknown, 1);
  EXPECT_EQ(world.status().message, "wd-worker-1: node lost");
}

TEST(PaddlePhase, B16TheJobRestarts) {
  PaddleWorld world(TwoWorkers());
  ASSERT_TRUE(world.Start());
  world.SetPod("wd-worker-1", "Failed", 143);
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.JobPhase(), "Restarting");
  EXPECT_EQ(world.phase(), "Restarting");
  EXPECT_EQ(world.status().restarts, 1);
  EXPECT_THAT(world.status().message, HasSubstr("wd-worker-1 exit 143"));
}

TEST(PaddlePhase, B17TheJobIsTerminated) {
  PaddleWorld world(TwoWorkers());
  ASSERT_TRUE(world.Start());
  world.has_job_controller = false;
  world.SetJobPhase("Terminating");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Failed");  // decided when it begins
  EXPECT_FALSE(world.status().completion_time.set());
  world.Pass(absl::Seconds(20));
  world.SetJobPhase("Terminated");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Failed");
  EXPECT_EQ(world.status().completion_time.at, world.now());
}

// Two pods start one after the other, and the Job counts them a moment later.
TEST(PaddlePhase, NeverGoesBackWhileItStarts) {
  PaddleWorld world(TwoWorkers());
  ASSERT_TRUE(world.Settle());
  world.SetGroupPhase("Inqueue");
  ASSERT_TRUE(world.Settle());
  world.SetPodStatus("wd-worker-0", kWaitsForDns);
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Starting");
  world.SetPod("wd-worker-0", "Running");  // the other one has no node yet
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Starting");
  world.SetPodStatus("wd-worker-1", kWaitsForDns);
  ASSERT_TRUE(world.Settle());
  world.SetPod("wd-worker-1", "Running");
  ASSERT_EQ(world.JobPhase(), "Pending");
  world.Step();
  EXPECT_EQ(world.phase(), "Starting");
  ASSERT_TRUE(world.Settle());
  EXPECT_THAT(world.phases(), ElementsAre("Pending", "Starting", "Running"));
  // Until every pod is lost: then none of it has begun.
  world.SetJobPhase("Pending");
  world.Step();
  EXPECT_EQ(world.phase(), "Running");
  for (const char* pod : {"wd-worker-0", "wd-worker-1"}) world.SetPodStatus(pod, R"({"phase":"Pending"})");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Pending");
}

TEST(PaddlePhase, EveryPhaseOfTheJob) {
  for (const auto& [of_job, expected] : std::vector<std::pair<std::string, std::string>>{{"Running", "Running"},
                                                                                         {"Restarting", "Restarting"},
                                                                                         {"Aborting", "Aborting"},
                                                                                         {"Aborted", "Aborted"},
                                                                                         {"Completing", "Completing"},
                                                                                         {"Completed", "Completed"},
                                                                                         {"Terminated", "Failed"}}) {
    PaddleWorld world(TwoWorkers("\"cleanPodPolicy\":\"Never\""));
    ASSERT_TRUE(world.Start());
    world.has_job_controller = false;
    world.SetJobPhase(of_job);
    ASSERT_TRUE(world.Settle()) << of_job;
    EXPECT_EQ(world.phase(), expected) << of_job;
  }
}

}  // namespace
}  // namespace gangway::testutil
