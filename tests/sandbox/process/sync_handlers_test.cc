// Probes, hooks and the end of a container as a kubelet decides about them.
#include <boost/json.hpp>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/sandbox/process/sync_processes_fixture.h"

namespace gangway::sandbox {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Answer = HandlerResult::Answer;

constexpr absl::string_view kProbed = R"({"spec":{"restartPolicy":"Always","terminationGracePeriodSeconds":20,
  "containers":[{"name":"main",
    "readinessProbe":{"tcpSocket":{"port":80},"initialDelaySeconds":3,"periodSeconds":5,"failureThreshold":2},
    "livenessProbe":{"tcpSocket":{"port":80},"periodSeconds":10,"failureThreshold":1,
                     "terminationGracePeriodSeconds":4}}]}})";

class SyncHandlersTest : public SyncProcessesTest {
 protected:
  std::string ConditionOf(absl::string_view type) {
    const HostedPod pod = this->pod();
    for (const auto& condition : pod.status.conditions)
      if (condition.type == type) return absl::StrCat(condition.status, " ", condition.reason);
    return "none";
  }
  // Prepared and started; what the pass after that wants.
  std::vector<std::string> RunFirst(const std::string& container = "main") {
    Pass();
    Ground();
    Pass();
    Started(container);
    return Pass();
  }
};

TEST_F(SyncHandlersTest, ReadinessIsWhatItsProbeSays) {
  Pod(kProbed);
  EXPECT_THAT(RunFirst(), ElementsAre("handle main Liveness"));
  EXPECT_EQ(pod().status.phase, "Running");
  EXPECT_FALSE(Main().ready);
  EXPECT_TRUE(*Main().started);
  EXPECT_EQ(ConditionOf("Ready"), "False ContainersNotReady");
  EXPECT_EQ(next_ - now_, absl::Seconds(3)) << "initialDelaySeconds";
  Answers(HandlerUse::kLiveness, Answer::kSuccess);
  EXPECT_THAT(Pass(), IsEmpty());
  After(absl::Seconds(3));
  EXPECT_THAT(Pass(), ElementsAre("handle main Readiness"));
  EXPECT_THAT(Pass(), IsEmpty()) << "one at a time";
  Answers(HandlerUse::kReadiness, Answer::kSuccess);
  EXPECT_THAT(Pass(), IsEmpty());
  EXPECT_TRUE(Main().ready);
  EXPECT_EQ(ConditionOf("Ready"), "True ");
  EXPECT_EQ(ConditionOf("ContainersReady"), "True ");
  EXPECT_EQ(next_ - now_, absl::Seconds(5)) << "periodSeconds";
  After(absl::Seconds(5));
  EXPECT_THAT(Pass(), ElementsAre("handle main Readiness"));
  Answers(HandlerUse::kReadiness, Answer::kFailure, "dial tcp 10.1.0.1:80: connect: connection refused");
  Pass();
  EXPECT_TRUE(Main().ready) << "failureThreshold";
  After(absl::Seconds(5));
  Pass();
  Answers(HandlerUse::kReadiness, Answer::kFailure, "no");
  Pass();
  EXPECT_FALSE(Main().ready);
  EXPECT_EQ(pod().status.phase, "Running") << "nothing is restarted";
  EXPECT_THAT(events_,
              ElementsAre("Started: Started container main",
                          "Unhealthy: Readiness probe failed: dial tcp 10.1.0.1:80: connect: connection refused",
                          "Unhealthy: Readiness probe failed: no"));
}

TEST_F(SyncHandlersTest, AProbeThatCannotBeAskedIsToldAndChangesNothing) {
  Pod(kProbed);
  RunFirst();
  Answers(HandlerUse::kLiveness, Answer::kUnknown, "strconv.Atoi: parsing \"http\": invalid syntax");
  EXPECT_THAT(Pass(), IsEmpty());
  EXPECT_THAT(events_, ElementsAre("Started: Started container main",
                                   "Unhealthy: Liveness probe errored and resulted in unknown state: strconv.Atoi: "
                                   "parsing \"http\": invalid syntax"));
}

TEST_F(SyncHandlersTest, AContainerThatIsNotAliveIsRestarted) {
  Pod(kProbed);
  RunFirst();
  Answers(HandlerUse::kLiveness, Answer::kFailure, "HTTP probe failed with statuscode: 500");
  EXPECT_THAT(Pass(), ElementsAre("terminate main"));
  EXPECT_EQ(next_ - now_, absl::Seconds(4)) << "the probe's terminationGracePeriodSeconds";
  EXPECT_TRUE(Main().state.running.has_value());
  After(absl::Seconds(4));
  EXPECT_THAT(Pass(), ElementsAre("kill main"));
  EXPECT_THAT(Pass(), IsEmpty());
  Ended(137);
  EXPECT_THAT(Pass(), ElementsAre("start main"));
  Started();
  EXPECT_THAT(Pass(), ElementsAre("handle main Liveness")) << "a new run is probed anew";
  EXPECT_THAT(events_, ElementsAre("Started: Started container main",
                                   "Unhealthy: Liveness probe failed: HTTP probe failed with statuscode: 500",
                                   "Killing: Container main failed liveness probe, will be restarted",
                                   "Started: Started container main again, restart 1"));
}

TEST_F(SyncHandlersTest, ThatItEndedWellDoesNotKeepItFromARestart) {
  Pod(kProbed);
  Pod(R"({"spec":{"restartPolicy":"OnFailure"}})");
  RunFirst();
  Answers(HandlerUse::kLiveness, Answer::kFailure);
  Pass();
  Ended(0);
  EXPECT_THAT(Pass(), ElementsAre("start main"));
}

TEST_F(SyncHandlersTest, WithoutRestartsThePodFails) {
  Pod(kProbed);
  Pod(R"({"spec":{"restartPolicy":"Never"}})");
  RunFirst();
  Answers(HandlerUse::kLiveness, Answer::kFailure);
  EXPECT_THAT(Pass(), ElementsAre("terminate main"));
  EXPECT_EQ(events_.back(), "Killing: Container main failed liveness probe");
  Ended(143);
  EXPECT_THAT(Pass(), IsEmpty());
  EXPECT_EQ(pod().status.phase, "Failed");
}

TEST_F(SyncHandlersTest, OtherProbesWaitForTheStartup) {
  Pod(kProbed);
  Pod(R"({"spec":{"containers":[{"name":"main",
    "startupProbe":{"exec":{"command":["up"]},"periodSeconds":1,"failureThreshold":2},
    "readinessProbe":{"exec":{"command":["ready"]}}}]}})");
  EXPECT_THAT(RunFirst(), ElementsAre("handle main Startup"));
  EXPECT_FALSE(*Main().started);
  Answers(HandlerUse::kStartup, Answer::kFailure, "not yet");
  EXPECT_THAT(Pass(), IsEmpty());
  After(absl::Seconds(1));
  EXPECT_THAT(Pass(), ElementsAre("handle main Startup"));
  Answers(HandlerUse::kStartup, Answer::kSuccess);
  EXPECT_THAT(Pass(), ElementsAre("handle main Readiness"));
  EXPECT_TRUE(*Main().started);
  After(absl::Seconds(1));
  EXPECT_THAT(Pass(), IsEmpty()) << "it has started for good";
}

TEST_F(SyncHandlersTest, WhoDoesNotStartIsKilled) {
  Pod(R"({"spec":{"restartPolicy":"Always","terminationGracePeriodSeconds":7,"containers":[{"name":"main",
    "startupProbe":{"exec":{"command":["up"]},"failureThreshold":1}}]}})");
  RunFirst();
  Answers(HandlerUse::kStartup, Answer::kFailure);
  EXPECT_THAT(Pass(), ElementsAre("terminate main"));
  EXPECT_EQ(next_ - now_, absl::Seconds(7)) << "the pod's, as the probe has none";
  EXPECT_EQ(events_.back(), "Killing: Container main failed startup probe, will be restarted");
}

TEST_F(SyncHandlersTest, ASidecarsStartupHoldsBackWhatComesAfterIt) {
  Pod(R"({"spec":{"initContainers":[{"name":"side","restartPolicy":"Always",
    "startupProbe":{"exec":{"command":["up"]}},"readinessProbe":{"exec":{"command":["ready"]}}}]}})");
  EXPECT_THAT(RunFirst("side"), ElementsAre("handle side Startup"));
  Answers(HandlerUse::kStartup, Answer::kSuccess, "", "side");
  EXPECT_THAT(Pass(), ElementsAre("handle side Readiness", "start main"));
  Started();
  Pass();
  EXPECT_EQ(ConditionOf("Initialized"), "True ");
  EXPECT_EQ(ConditionOf("Ready"), "False ContainersNotReady") << "the sidecar is not";
  Answers(HandlerUse::kReadiness, Answer::kSuccess, "", "side");
  Pass();
  EXPECT_EQ(ConditionOf("Ready"), "True ");
}

TEST_F(SyncHandlersTest, ReadinessGatesAreWaitedFor) {
  Pod(R"({"spec":{"readinessGates":[{"conditionType":"example.com/open"}]}})");
  Running();
  EXPECT_EQ(ConditionOf("ContainersReady"), "True ");
  EXPECT_EQ(ConditionOf("Ready"), "False ReadinessGatesNotReady");
  boost::json::value& conditions = json_.at("status").at("conditions");
  conditions.as_array().push_back({{"type", "example.com/open"}, {"status", "True"}});
  Pass();
  EXPECT_EQ(ConditionOf("Ready"), "True ");
}

constexpr absl::string_view kHooked = R"({"spec":{"restartPolicy":"Always","terminationGracePeriodSeconds":20,
  "containers":[{"name":"main","lifecycle":{"postStart":{"exec":{"command":["a"]}},
                                            "preStop":{"sleep":{"seconds":3}}}},{"name":"other"}]}})";

TEST_F(SyncHandlersTest, APostStartHookIsOverBeforeItsContainerIsSeenToRun) {
  Pod(kHooked);
  EXPECT_THAT(RunFirst(), ElementsAre("handle main PostStart"));
  EXPECT_EQ(Main().state.waiting->reason, "ContainerCreating");
  EXPECT_EQ(pod().status.phase, "Pending");
  EXPECT_THAT(Pass(), IsEmpty()) << "the container after it waits";
  Answers(HandlerUse::kPostStart, Answer::kSuccess);
  EXPECT_THAT(Pass(), ElementsAre("start other"));
  EXPECT_TRUE(Main().state.running.has_value());
  EXPECT_TRUE(Main().ready);
}

TEST_F(SyncHandlersTest, APostStartHookThatFailsKillsItsContainer) {
  Pod(kHooked);
  RunFirst();
  Answers(HandlerUse::kPostStart, Answer::kFailure, "a secret");
  EXPECT_THAT(Pass(), ElementsAre("handle main PreStop"));
  Answers(HandlerUse::kPreStop, Answer::kSuccess);
  EXPECT_THAT(Pass(), ElementsAre("terminate main"));
  EXPECT_EQ(Main().state.waiting->reason, "ContainerCreating") << "until it has ended";
  Ended(143);
  EXPECT_THAT(Pass(), ElementsAre("start main"));
  EXPECT_THAT(events_, ElementsAre("Started: Started container main", "FailedPostStartHook: PostStartHook failed",
                                   "Killing: FailedPostStartHook"));
}

// pkg/kubelet: convertToAPIContainerStatuses; pkg/kubelet/lifecycle: Run
TEST_F(SyncHandlersTest, WhyAPostStartHookFailedIsSaidUntilAnotherHasSucceeded) {
  Pod(kHooked);
  RunFirst();
  known_.containers["main"].now->results.push_back(
      {HandlerUse::kPostStart, Answer::kFailure, "command 'a' exited with 3: no", "no\n\"such\""});
  Pass();
  Answers(HandlerUse::kPreStop, Answer::kSuccess);
  Pass();
  Ended(143);
  Pass();
  const auto is_said = [&](const char* when) {
    ASSERT_TRUE(Main().state.waiting.has_value()) << when;
    EXPECT_EQ(Main().state.waiting->reason, "PostStartHookError") << when;
    EXPECT_EQ(Main().state.waiting->message,
              "Exec lifecycle hook ([a]) for Container \"main\" in Pod \"p_default(u1)\" failed - error: command 'a' "
              "exited with 3: no, message: \"no\\n\\\"such\\\"\"")
        << when;
    ASSERT_TRUE(Main().last_state.terminated.has_value()) << when;
    EXPECT_EQ(Main().last_state.terminated->exit_code, 143);
    EXPECT_FALSE(Main().ready);
  };
  is_said("while it is started again");
  Started();
  EXPECT_THAT(Pass(), ElementsAre("handle main PostStart"));
  is_said("while the hook runs again");
  Answers(HandlerUse::kPostStart, Answer::kSuccess);
  Pass();
  EXPECT_TRUE(Main().state.running.has_value());
}

TEST_F(SyncHandlersTest, AfterAPostStartHookThatFailsAgainItBacksOff) {
  Pod(R"({"spec":{"restartPolicy":"Always","containers":[{"name":"main","lifecycle":{"postStart":{"httpGet":{"path":"/x","port":1}}}}]}})");
  RunFirst();
  for (int i = 0; i < 2; ++i) {
    Answers(HandlerUse::kPostStart, Answer::kFailure, "EOF");
    EXPECT_THAT(Pass(), ElementsAre("terminate main"));
    Ended(137);
    Pass();
    if (i > 0) break;
    EXPECT_EQ(Main().state.waiting->reason, "PostStartHookError");
    EXPECT_EQ(Main().state.waiting->message,
              "HTTP lifecycle hook (/x) for Container \"main\" in Pod \"p_default(u1)\" failed - error: EOF");
    Started();
    Pass();
  }
  EXPECT_EQ(Main().state.waiting->reason, "CrashLoopBackOff");
}

TEST_F(SyncHandlersTest, WithoutRestartsAContainerWhoseHookFailedHasEnded) {
  Pod(kHooked);
  Pod(R"({"spec":{"restartPolicy":"Never"}})");
  RunFirst();
  Answers(HandlerUse::kPostStart, Answer::kFailure, "no");
  Pass();
  Answers(HandlerUse::kPreStop, Answer::kSuccess);
  Pass();
  Ended(143);
  EXPECT_THAT(Pass(), ElementsAre("start other"));
  ASSERT_TRUE(Main().state.terminated.has_value());
  EXPECT_EQ(Main().state.terminated->exit_code, 143);
}

TEST_F(SyncHandlersTest, AHookThatWasAskedByHttpForHttpsIsToldOf) {
  Pod(kHooked);
  RunFirst();
  Answers(HandlerUse::kPostStart, Answer::kSuccess, "request to HTTPS lifecycle hook 10.1.0.1:1 got HTTP response");
  Pass();
  EXPECT_EQ(events_.back(), "LifecycleHTTPFallback: request to HTTPS lifecycle hook 10.1.0.1:1 got HTTP response");
}

TEST_F(SyncHandlersTest, APreStopHookComesBeforeTheSignal) {
  Pod(kHooked);
  RunFirst();
  Answers(HandlerUse::kPostStart, Answer::kSuccess);
  Pass();
  Started("other");
  Pass();
  Deleted(5);
  EXPECT_THAT(Pass(), ElementsAre("handle main PreStop", "terminate other"));
  After(absl::Seconds(3));
  Answers(HandlerUse::kPreStop, Answer::kFailure);
  EXPECT_THAT(Pass(), ElementsAre("terminate main"));
  EXPECT_EQ(events_.back(), "FailedPreStopHook: PreStopHook failed");
  After(absl::Seconds(2));
  EXPECT_THAT(Pass(), ElementsAre("kill main", "kill other"));
}

// pkg/kubelet/prober: StopLivenessAndStartup
TEST_F(SyncHandlersTest, APodThatIsDeletedIsAskedForReadinessAlone) {
  Pod(kProbed);
  RunFirst();
  After(absl::Seconds(3));
  Pass();
  Answers(HandlerUse::kReadiness, Answer::kSuccess);
  Pass();
  EXPECT_EQ(ConditionOf("Ready"), "True ");
  Deleted(60);
  Answers(HandlerUse::kLiveness, Answer::kFailure, "it stops");
  EXPECT_THAT(Pass(), ElementsAre("terminate main"));
  EXPECT_EQ(events_.back(), "Killing: Stopping container main");
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(ConditionOf("Ready"), "True ") << "failureThreshold";
    After(absl::Seconds(5));
    EXPECT_THAT(Pass(), ElementsAre("handle main Readiness"));
    Answers(HandlerUse::kReadiness, Answer::kFailure, "it stops");
    EXPECT_THAT(Pass(), IsEmpty());
  }
  EXPECT_EQ(events_.back(), "Unhealthy: Readiness probe failed: it stops");
  EXPECT_EQ(ConditionOf("Ready"), "False ContainersNotReady");
  Ended(0);
  EXPECT_THAT(Pass(), ElementsAre("drop"));
}

TEST_F(SyncHandlersTest, ASidecarEndsAfterThoseThatNeedIt) {
  Pod(R"({"spec":{"initContainers":[{"name":"side","restartPolicy":"Always"}]}})");
  RunFirst("side");
  Started();
  Pass();
  Deleted(5);
  EXPECT_THAT(Pass(), ElementsAre("terminate main"));
  Ended(0);
  EXPECT_THAT(Pass(), ElementsAre("terminate side"));
  Ended(0, "side");
  EXPECT_THAT(Pass(), ElementsAre("drop"));
}

TEST_F(SyncHandlersTest, ASidecarDoesNotWaitBeyondTheGraceAndHasTwoSecondsThen) {
  Pod(R"({"spec":{"initContainers":[{"name":"side","restartPolicy":"Always"}]}})");
  RunFirst("side");
  Started();
  Pass();
  Deleted(5);
  Pass();
  After(absl::Seconds(5));
  EXPECT_THAT(Pass(), ElementsAre("kill main", "terminate side"));
  EXPECT_EQ(next_ - now_, absl::Seconds(2));
  After(absl::Seconds(2));
  EXPECT_THAT(Pass(), ElementsAre("kill side"));
}

TEST_F(SyncHandlersTest, ASidecarsPreStopDoesNotWaitForItsTurn) {
  Pod(R"({"spec":{"initContainers":[{"name":"side","restartPolicy":"Always",
    "lifecycle":{"preStop":{"exec":{"command":["flush"]}}}}]}})");
  RunFirst("side");
  Started();
  Pass();
  Deleted(5);
  EXPECT_THAT(Pass(), ElementsAre("terminate main", "handle side PreStop"));
  EXPECT_EQ(events_.back(), "Killing: Stopping container side");
  Answers(HandlerUse::kPreStop, Answer::kSuccess, "", "side");
  EXPECT_THAT(Pass(), IsEmpty()) << "the signal does";
  EXPECT_EQ(next_ - now_, absl::Seconds(5));
  Ended(0);
  EXPECT_THAT(Pass(), ElementsAre("terminate side"));
}

TEST_F(SyncHandlersTest, SidecarsEndOneAfterTheOtherTheLastFirst) {
  Pod(R"({"spec":{"initContainers":[{"name":"one","restartPolicy":"Always"},{"name":"two","restartPolicy":"Always"}]}})");
  RunFirst("one");
  Started("two");
  Pass();
  Started();
  Pass();
  Ended(0);
  EXPECT_THAT(Pass(), ElementsAre("terminate two"));
  EXPECT_EQ(pod().status.phase, "Running");
  Ended(0, "two");
  EXPECT_THAT(Pass(), ElementsAre("terminate one"));
  Ended(0, "one");
  EXPECT_THAT(Pass(), IsEmpty());
  EXPECT_EQ(pod().status.phase, "Succeeded");
}

TEST_F(SyncHandlersTest, ASidecarIsAskedToEndAlsoWhenAnInitContainerFails) {
  Pod(R"({"spec":{"terminationGracePeriodSeconds":20,
    "initContainers":[{"name":"side","restartPolicy":"Always"},{"name":"init"},{"name":"later"}]}})");
  RunFirst("side");
  Started("init");
  Ended(3, "init");
  EXPECT_THAT(Pass(), ElementsAre("terminate side"));
  EXPECT_EQ(events_.back(), "Killing: Stopping container side");
  EXPECT_EQ(pod().status.phase, "Pending") << "it has not ended before all of its containers have";
  EXPECT_EQ(next_ - now_, absl::Seconds(20));
  After(absl::Seconds(20));
  EXPECT_THAT(Pass(), ElementsAre("kill side"));
  Ended(137, "side");
  EXPECT_THAT(Pass(), IsEmpty()) << "neither the sidecar nor what comes later begins";
  const HostedPod ended = pod();
  EXPECT_EQ(ended.status.phase, "Failed");
  ASSERT_EQ(ended.status.init_container_statuses.size(), 3u);
  const auto& side = ended.status.init_container_statuses[0];
  ASSERT_TRUE(side.state.terminated.has_value());
  EXPECT_EQ(side.state.terminated->exit_code, 137);
  EXPECT_FALSE(side.ready);
  ASSERT_TRUE(ended.status.init_container_statuses[1].state.terminated.has_value());
  EXPECT_EQ(ended.status.init_container_statuses[1].state.terminated->exit_code, 3);
  EXPECT_THAT(Pass(), ElementsAre("drop"));
}

TEST_F(SyncHandlersTest, NothingIsSaidOfAPodThatNeverBegan) {
  Deleted(5);
  EXPECT_THAT(Pass(), ElementsAre("drop"));
  EXPECT_TRUE(removed_);
  EXPECT_THAT(pod().status.conditions, IsEmpty());
}

TEST_F(SyncHandlersTest, WhatGoesForNothingIsToldOnce) {
  Pod(R"({"spec":{"containers":[{"name":"main","securityContext":{"readOnlyRootFilesystem":true}}]}})");
  Running();
  EXPECT_THAT(events_, ElementsAre("FieldIgnored: spec.containers[0].securityContext.readOnlyRootFilesystem: ignored: "
                                   "what is written goes with the container",
                                   "Started: Started container main"));
}

}  // namespace
}  // namespace gangway::sandbox
