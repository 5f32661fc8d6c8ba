#include "plugin/extender/calls/decide.h"

#include <functional>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/plugin/extender/requests.h"
#include "tests/testing/status_matchers.h"

namespace gangway::extender {
namespace {

using ::testing::StartsWith;
using testutil::AddPolicy;
using testutil::RunningSeed;
using testutil::StatusIs;

TEST(DecideTest, PodEvictedRestartsTheJob) {
  v1::DecideRequest request = RunningSeed("PodEvicted", "pserver");
  request.mutable_event()->set_pod("ctr-volcano-pserver-0");
  const auto reply = Decide(request);
  GW_ASSERT_OK(reply);
  EXPECT_EQ(reply->action(), "RestartJob");
  EXPECT_EQ(reply->phase(), "Restarting");
  EXPECT_EQ(reply->version(), 1);
  EXPECT_EQ(reply->retry_count(), 1);
  EXPECT_EQ(reply->rule().of(), "job");
  EXPECT_EQ(reply->rule().path(), "job.policies[0]");
  EXPECT_EQ(reply->reason(), "pod ctr-volcano-pserver-0 was deleted; restart 1 of 2 (maxRetry 3)");
}

TEST(DecideTest, TaskCompletedCompletesTheJob) {
  const auto reply = Decide(RunningSeed("TaskCompleted", "trainer"));
  GW_ASSERT_OK(reply);
  EXPECT_EQ(reply->action(), "CompleteJob");
  EXPECT_EQ(reply->phase(), "Completing");
  EXPECT_EQ(reply->version(), 1);
  EXPECT_EQ(reply->retry_count(), 0);
  EXPECT_EQ(reply->rule().of(), "task");
  EXPECT_EQ(reply->rule().path(), "job.tasks[1].policies[0]");
  EXPECT_EQ(reply->reason(), "all pods of task trainer succeeded");
}

TEST(DecideTest, ThePolicyOfAnotherTaskDecidesNothing) {
  const auto reply = Decide(RunningSeed("TaskCompleted", "pserver"));
  GW_ASSERT_OK(reply);
  EXPECT_EQ(reply->action(), "SyncJob");
  EXPECT_EQ(reply->phase(), "Running");
  EXPECT_EQ(reply->rule().of(), "none");
  EXPECT_EQ(reply->reason(), "no policy answers TaskCompleted of task pserver");
}

TEST(DecideTest, TheThirdRestartEndsInFailed) {
  v1::DecideRequest request = RunningSeed("PodFailed", "trainer");
  request.mutable_event()->set_exit_code(1);
  request.mutable_job()->set_retry_count(2);
  auto reply = Decide(request);
  GW_ASSERT_OK(reply);
  EXPECT_EQ(reply->phase(), "Restarting");
  EXPECT_EQ(reply->retry_count(), 3);
  EXPECT_EQ(reply->reason(), "a pod of task trainer failed with exit code 1; no restart left of maxRetry 3");
  request.mutable_job()->set_phase("Restarting");
  request.mutable_job()->set_retry_count(3);
  request.clear_event();
  reply = Decide(request);
  GW_ASSERT_OK(reply);
  EXPECT_EQ(reply->phase(), "Failed");
}

TEST(DecideTest, ADelayedActionIsDueWhenItsEventHasHeldLongEnough) {
  v1::DecideRequest request = RunningSeed("PodPending", "trainer");
  request.mutable_job()->clear_policies();
  AddPolicy(*request.mutable_job()->mutable_policies(), "PodPending", "AbortJob");
  request.mutable_job()->mutable_policies(0)->mutable_timeout()->set_seconds(600);
  request.mutable_event()->mutable_held()->set_seconds(599);
  request.mutable_event()->mutable_held()->set_nanos(500'000'000);
  auto reply = Decide(request);
  GW_ASSERT_OK(reply);
  EXPECT_EQ(reply->action(), "SyncJob");
  EXPECT_EQ(reply->asked(), "AbortJob");
  EXPECT_EQ(reply->delay().seconds(), 0);
  EXPECT_EQ(reply->delay().nanos(), 500'000'000);
  request.mutable_event()->mutable_held()->set_seconds(600);
  reply = Decide(request);
  GW_ASSERT_OK(reply);
  EXPECT_EQ(reply->action(), "AbortJob");
  EXPECT_EQ(reply->phase(), "Aborting");
  EXPECT_FALSE(reply->has_delay());
}

TEST(DecideTest, WhatHappensToATaskOrItsPodsNamesTheTask) {
  for (const char* const event : {"PodEvicted", "PodFailed", "PodPending", "TaskCompleted", "TaskFailed"})
    EXPECT_THAT(Decide(RunningSeed(event, "")), StatusIs(absl::StatusCode::kInvalidArgument,
                                                         absl::StrCat("event.task: must not be empty with ", event)));
  GW_EXPECT_OK(Decide(RunningSeed("Unknown", "")));
}

TEST(DecideTest, ADurationMayBeLessThanASecond) {
  v1::DecideRequest request = RunningSeed("PodPending", "trainer");
  request.mutable_job()->clear_policies();
  AddPolicy(*request.mutable_job()->mutable_policies(), "PodPending", "AbortJob");
  request.mutable_job()->mutable_policies(0)->mutable_timeout()->set_nanos(500'000'000);
  request.mutable_event()->mutable_held()->set_nanos(200'000'000);
  auto reply = Decide(request);
  GW_ASSERT_OK(reply);
  EXPECT_EQ(reply->delay().nanos(), 300'000'000);
  request.mutable_event()->mutable_held()->set_nanos(0);
  GW_EXPECT_OK(Decide(request));
}

TEST(DecideTest, TheRuleOfTheFirstTaskIsATasks) {
  v1::DecideRequest request = RunningSeed("TaskFailed", "pserver");
  AddPolicy(*request.mutable_job()->mutable_tasks(0)->mutable_policies(), "PodEvicted", "TerminateJob");
  AddPolicy(*request.mutable_job()->mutable_tasks(0)->mutable_policies(), "TaskFailed", "AbortJob");
  const auto reply = Decide(request);
  GW_ASSERT_OK(reply);
  EXPECT_EQ(reply->action(), "AbortJob");
  EXPECT_EQ(reply->rule().of(), "task");
  EXPECT_EQ(reply->rule().path(), "job.tasks[0].policies[1]");
}

TEST(DecideTest, ATaskMayHaveAMillionPods) {
  v1::DecideRequest request = RunningSeed();
  request.mutable_job()->mutable_tasks(0)->set_replicas(1'000'000);
  request.mutable_job()->mutable_tasks(0)->mutable_pods()->set_running(1'000'000);
  GW_EXPECT_OK(Decide(request));
  request.mutable_job()->mutable_tasks(0)->mutable_pods()->set_running(1'000'001);
  EXPECT_THAT(Decide(request), StatusIs(absl::StatusCode::kInvalidArgument,
                                        StartsWith("job.tasks[0].pods: 1000001 pods must be 0 to 1000000")));
  request.mutable_job()->mutable_tasks(0)->set_replicas(1'000'001);
  EXPECT_THAT(Decide(request), StatusIs(absl::StatusCode::kInvalidArgument,
                                        StartsWith("job.tasks[0].replicas: 1000001 must be 0 to 1000000")));
}

TEST(DecideTest, WhatEndsAJobDoesSoWhileItRestarts) {
  v1::DecideRequest request = RunningSeed("TaskCompleted", "trainer");
  request.mutable_job()->set_phase("Restarting");
  for (v1::JobTask& task : *request.mutable_job()->mutable_tasks()) {
    task.mutable_pods()->set_running(0);
    task.mutable_pods()->set_terminating(2);
  }
  const auto reply = Decide(request);
  GW_ASSERT_OK(reply);
  EXPECT_EQ(reply->action(), "CompleteJob");
  EXPECT_EQ(reply->asked(), "CompleteJob");
  EXPECT_EQ(reply->phase(), "Completing");
}

TEST(DecideTest, NothingHelpsAJobWhoseRestartsAreSpent) {
  v1::DecideRequest request = RunningSeed("TaskCompleted", "trainer");
  request.mutable_job()->set_phase("Restarting");
  request.mutable_job()->set_retry_count(3);
  const auto reply = Decide(request);
  GW_ASSERT_OK(reply);
  EXPECT_EQ(reply->action(), "SyncJob");
  EXPECT_EQ(reply->phase(), "Failed");
  EXPECT_EQ(reply->reason(), "CompleteJob has no effect: no restart is left of maxRetry 3");
}

TEST(DecideTest, AResumptionSpendsNoRetry) {
  v1::DecideRequest request = RunningSeed();
  request.mutable_job()->set_phase("Aborted");
  request.mutable_job()->set_retry_count(2);
  request.mutable_event()->set_name("CommandIssued");
  request.mutable_event()->set_action("ResumeJob");
  const auto reply = Decide(request);
  GW_ASSERT_OK(reply);
  EXPECT_EQ(reply->phase(), "Restarting");
  EXPECT_EQ(reply->retry_count(), 2);
}

TEST(DecideTest, AFinishedJobAnswersNothing) {
  v1::DecideRequest request = RunningSeed("PodEvicted", "trainer");
  request.mutable_job()->set_phase("Completed");
  const auto reply = Decide(request);
  GW_ASSERT_OK(reply);
  EXPECT_EQ(reply->action(), "SyncJob");
  EXPECT_EQ(reply->phase(), "Completed");
  EXPECT_EQ(reply->version(), 0);
  EXPECT_EQ(reply->reason(), "RestartJob has no effect: the job is Completed");
}

TEST(DecideTest, ACommandResumesAnAbortedJob) {
  v1::DecideRequest request = RunningSeed();
  request.mutable_job()->set_phase("Aborted");
  request.mutable_event()->set_name("CommandIssued");
  request.mutable_event()->set_action("ResumeJob");
  const auto reply = Decide(request);
  GW_ASSERT_OK(reply);
  EXPECT_EQ(reply->action(), "ResumeJob");
  EXPECT_EQ(reply->phase(), "Restarting");
  EXPECT_EQ(reply->rule().of(), "command");
}

TEST(DecideTest, PodsOfAnEarlierVersionAskForNothing) {
  v1::DecideRequest request = RunningSeed("PodEvicted", "trainer");
  request.mutable_job()->set_version(3);
  request.mutable_event()->set_version(2);
  EXPECT_EQ(Decide(request)->action(), "SyncJob");
  request.mutable_event()->set_version(3);
  EXPECT_EQ(Decide(request)->action(), "RestartJob");
}

TEST(DecideTest, WithoutAnEventThePodsDecide) {
  v1::DecideRequest request = RunningSeed();
  for (v1::JobTask& task : *request.mutable_job()->mutable_tasks()) {
    task.mutable_pods()->set_running(0);
    task.mutable_pods()->set_succeeded(2);
  }
  EXPECT_EQ(Decide(request)->phase(), "Completed");
  request.mutable_job()->mutable_tasks(0)->mutable_pods()->set_succeeded(0);
  request.mutable_job()->mutable_tasks(0)->mutable_pods()->set_failed(2);
  EXPECT_EQ(Decide(request)->phase(), "Failed");
}

struct WrongCase {
  std::string name;
  std::function<void(v1::DecideRequest&)> change;
  std::string message;
};
class DecideWrongTest : public ::testing::TestWithParam<WrongCase> {};

TEST_P(DecideWrongTest, IsRefusedByItsPath) {
  v1::DecideRequest request = RunningSeed("PodEvicted", "trainer");
  GetParam().change(request);
  EXPECT_THAT(Decide(request), StatusIs(absl::StatusCode::kInvalidArgument, StartsWith(GetParam().message)));
}

v1::Policy& OfTrainer(v1::DecideRequest& r) { return *r.mutable_job()->mutable_tasks(1)->mutable_policies(0); }

INSTANTIATE_TEST_SUITE_P(
    All, DecideWrongTest,
    ::testing::Values(
        WrongCase{"NoJob", [](auto& r) { r.clear_job(); }, "job: is missing"},
        WrongCase{"Phase", [](auto& r) { r.mutable_job()->set_phase("running"); },
                  R"(job.phase: "running" is no phase)"},
        WrongCase{"Version", [](auto& r) { r.mutable_job()->set_version(-1); }, "job.version: -1 must not be negative"},
        WrongCase{"LargestVersion", [](auto& r) { r.mutable_job()->set_version(INT32_MAX); },
                  "job.version: is too large"},
        WrongCase{"MaxRetry", [](auto& r) { r.mutable_job()->set_max_retry(-1); },
                  "job.max_retry: -1 must not be negative"},
        WrongCase{"MinAvailable", [](auto& r) { r.mutable_job()->set_min_available(5); },
                  "job.min_available: 5 must be 0 to the tasks' 4"},
        WrongCase{"MinSuccess", [](auto& r) { r.mutable_job()->set_min_success(0); },
                  "job.min_success: 0 must be at least 1"},
        WrongCase{"NoTasks", [](auto& r) { r.mutable_job()->clear_tasks(); }, "job.tasks: must not be empty"},
        WrongCase{"TaskTwice", [](auto& r) { r.mutable_job()->mutable_tasks(1)->set_name("pserver"); },
                  R"(job.tasks[1].name: "pserver" is there twice)"},
        WrongCase{"Replicas", [](auto& r) { r.mutable_job()->mutable_tasks(1)->set_replicas(-2); },
                  "job.tasks[1].replicas: -2 must be 0 to"},
        WrongCase{"Pods", [](auto& r) { r.mutable_job()->mutable_tasks(1)->mutable_pods()->set_failed(-2); },
                  "job.tasks[1].pods: -2 pods"},
        WrongCase{"Action", [](auto& r) { OfTrainer(r).set_action("Restart"); },
                  R"(job.tasks[1].policies[0].action: "Restart" is no action; one of AbortJob,)"},
        WrongCase{"EventOfPolicy", [](auto& r) { OfTrainer(r).set_events(0, "Done"); },
                  R"(job.tasks[1].policies[0].events[0]: "Done" is no event)"},
        WrongCase{"NoEvents", [](auto& r) { OfTrainer(r).clear_events(); },
                  "job.tasks[1].policies[0].events: must not be empty"},
        WrongCase{"Both", [](auto& r) { OfTrainer(r).set_exit_code(1); },
                  "job.tasks[1].policies[0].exit_code: stands beside events"},
        WrongCase{"CodeZero", [](auto& r) { OfTrainer(r).clear_events(), OfTrainer(r).set_exit_code(0); },
                  "job.tasks[1].policies[0].exit_code: must not be 0"},
        WrongCase{"Timeout", [](auto& r) { OfTrainer(r).mutable_timeout()->set_seconds(-1); },
                  "job.tasks[1].policies[0].timeout: must not be negative"},
        WrongCase{"Nanos", [](auto& r) { r.mutable_event()->mutable_held()->set_nanos(2'000'000'000); },
                  "event.held: is no duration"},
        WrongCase{"Event", [](auto& r) { r.mutable_event()->set_name("Evicted"); },
                  R"(event.name: "Evicted" is nothing that happens)"},
        WrongCase{"AnyEvent", [](auto& r) { r.mutable_event()->set_name("*"); },
                  R"(event.name: "*" is nothing that happens)"},
        WrongCase{"NoTask", [](auto& r) { r.mutable_event()->clear_task(); },
                  "event.task: must not be empty with PodEvicted"},
        WrongCase{"OtherTask", [](auto& r) { r.mutable_event()->set_task("x"); },
                  R"(event.task: the job has no task "x")"},
        WrongCase{"ExitCode", [](auto& r) { r.mutable_event()->set_exit_code(1); },
                  "event.exit_code: belongs to PodFailed only"},
        WrongCase{"ActionOfEvent", [](auto& r) { r.mutable_event()->set_action("AbortJob"); },
                  "event.action: belongs to CommandIssued only"},
        WrongCase{"Command", [](auto& r) { r.mutable_event()->set_name("CommandIssued"); },
                  R"(event.action: "" is no action)"}),
    [](const auto& c) { return c.param.name; });

}  // namespace
}  // namespace gangway::extender
