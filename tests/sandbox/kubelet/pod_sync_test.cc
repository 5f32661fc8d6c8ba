#include "sandbox/kubelet/pod_sync.h"

#include <boost/json.hpp>

#include "api/json_value.h"
#include "gtest/gtest.h"
#include "sandbox/kubelet/container_log.h"
#include "tests/testing/status_matchers.h"

namespace gangway::sandbox {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr absl::string_view kPod = R"({
  "metadata": {"name": "ctr-trainer-0", "namespace": "default", "uid": "u1", "resourceVersion": "7"},
  "spec": {"nodeName": "node-000", "restartPolicy": "Never", "containers": [{"name": "trainer", "image": "paddle"}]},
  "status": {"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "True"}]}})";

// A pod on a kubelet: every write of a pass is applied, the clock goes to where the pass wants to look again.
class Life {
 public:
  explicit Life(absl::string_view pod) : json_(*api::ParseJson(pod)) {}

  KubeletTimes times;
  std::optional<RunOutcome> outcome;
  NodeState node = NodeState::kAlive;
  MissingSources missing;
  bool removed = false;
  std::vector<std::string> events, messages;

  HostedPod pod() const { return *api::Decode<HostedPod>(api::ToJson(json_)); }
  void Set(absl::string_view merge_patch) { api::ApplyMergePatch(json_, *api::ParseJson(merge_patch)); }

  // One pass; false when nothing was written and nothing is to come.
  bool Step() {
    const HostedPod pod = this->pod();
    const kube::Plan plan = SyncPod({pod, node, outcome, "10.1.0.1", "10.0.0.1", missing}, times, memory_, now_);
    for (const auto& note : plan.events) {
      events.push_back(note.reason);
      messages.push_back(note.message);
    }
    bool wrote = false;
    for (const auto& stage : plan.stages) {
      for (const kube::Write& write : stage) {
        EXPECT_EQ(write.uid, "u1");
        wrote = true;
        if (write.verb == kube::Verb::kDelete) {
          EXPECT_EQ(write.grace_period_seconds, 0);
          removed = true;
        } else {
          api::ApplyMergePatch(json_, *api::ParseJson(write.body));
        }
      }
    }
    if (plan.look_again != absl::InfiniteFuture()) {
      EXPECT_GE(plan.look_again, now_);
      next_ = plan.look_again;
    } else {
      next_ = absl::InfiniteFuture();
    }
    return wrote;
  }
  // Passes until nothing is written; the phases seen.
  void Settle() {
    for (int i = 0; i < 20 && !removed && Step(); ++i) {
    }
  }
  bool Wait() {
    if (next_ == absl::InfiniteFuture()) return false;
    now_ = next_;
    return true;
  }
  absl::Duration elapsed() const { return now_ - start_; }
  // As a kubelet that crashed and came back.
  void Forget() { memory_ = {}; }

 private:
  boost::json::value json_;
  PodMemory memory_;
  absl::Time start_ = absl::FromUnixSeconds(1'800'000'000), now_ = start_, next_ = start_;
};

std::string WaitingReason(const HostedPod& pod) {
  const auto& state = pod.status.container_statuses.at(0).state;
  return state.waiting ? state.waiting->reason : "";
}

TEST(PodSyncTest, APodGoesThroughContainerCreatingToRunningToSucceeded) {
  Life life(kPod);
  life.outcome = RunOutcome{absl::Seconds(5), 0, {}};
  life.Settle();
  EXPECT_EQ(life.pod().status.phase, "Pending");
  EXPECT_EQ(WaitingReason(life.pod()), "ContainerCreating");
  EXPECT_EQ(life.pod().status.container_statuses.at(0).started, false);
  ASSERT_TRUE(life.Wait());
  life.Settle();
  EXPECT_EQ(life.pod().status.phase, "Running");
  EXPECT_TRUE(life.pod().status.container_statuses.at(0).ready);
  EXPECT_EQ(life.pod().status.container_statuses.at(0).started, true);
  EXPECT_EQ(life.pod().status.pod_ip, "10.1.0.1");
  ASSERT_TRUE(life.Wait());
  life.Settle();
  EXPECT_EQ(life.pod().status.phase, "Succeeded");
  EXPECT_EQ(life.pod().status.container_statuses.at(0).state.terminated->exit_code, 0);
  EXPECT_EQ(life.elapsed(), life.times.start + absl::Seconds(5));
  EXPECT_FALSE(life.Wait());
  EXPECT_THAT(life.events, ElementsAre("Started"));
}

TEST(PodSyncTest, WithZeroTimesOnePassIsEnough) {
  Life life(kPod);
  life.times.start = absl::ZeroDuration();
  life.outcome = RunOutcome{absl::ZeroDuration(), 0, {}};
  ASSERT_TRUE(life.Step());
  EXPECT_EQ(life.pod().status.phase, "Succeeded");
}

TEST(PodSyncTest, ExitCodesAndRestartPolicies) {
  struct Case {
    const char* policy;
    int exit_code;
    const char* phase;
  };
  for (const Case& c :
       {Case{"Never", 137, "Failed"}, Case{"OnFailure", 0, "Succeeded"}, Case{"Never", 0, "Succeeded"}}) {
    Life life(kPod);
    life.Set(std::string(R"({"spec":{"restartPolicy":")") + c.policy + "\"}}");
    life.outcome = RunOutcome{absl::Seconds(1), c.exit_code, {}};
    do life.Settle();
    while (life.Wait());
    EXPECT_EQ(life.pod().status.phase, c.phase) << c.policy << " " << c.exit_code;
    EXPECT_EQ(life.pod().status.container_statuses.at(0).state.terminated->exit_code, c.exit_code);
  }
}

TEST(PodSyncTest, OnFailureRestartsAtOnceThenWithGrowingBackoff) {
  Life life(kPod);
  life.Set(R"({"spec":{"restartPolicy":"OnFailure"}})");
  life.times.start = absl::ZeroDuration();
  life.outcome = RunOutcome{absl::Seconds(1), 1, {}};
  std::vector<absl::Duration> restarts;
  int seen = 0;
  while (seen < 4) {
    life.Settle();
    const auto pod = life.pod();
    EXPECT_EQ(pod.status.phase, seen == 0 && pod.status.container_statuses.empty() ? "Pending" : "Running");
    if (const int count = pod.status.container_statuses.at(0).restart_count; count > seen) {
      seen = count;
      restarts.push_back(absl::Ceil(life.elapsed(), absl::Milliseconds(1)) - absl::Milliseconds(0));
    }
    ASSERT_TRUE(life.Wait());
  }
  // Runs of one second; waits of 0, 10, 20 and 40 seconds.
  ASSERT_EQ(restarts.size(), 4u);
  EXPECT_EQ(absl::ToInt64Seconds(restarts[0]), 1);
  EXPECT_EQ(absl::ToInt64Seconds(restarts[1]), 1 + 1 + 10);
  EXPECT_EQ(absl::ToInt64Seconds(restarts[2]), 12 + 1 + 20);
  EXPECT_EQ(absl::ToInt64Seconds(restarts[3]), 33 + 1 + 40);
}

TEST(PodSyncTest, InitContainersRunOneAfterTheOtherAndSidecarsStay) {
  Life life(kPod);
  life.Set(R"({"spec":{"initContainers":[{"name":"a"},{"name":"side","restartPolicy":"Always"},{"name":"b"}]}})");
  life.Settle();
  EXPECT_EQ(WaitingReason(life.pod()), "PodInitializing");
  EXPECT_TRUE(life.pod().status.init_container_statuses.at(0).state.running.has_value());
  EXPECT_FALSE(life.pod().status.init_container_statuses.at(2).state.running.has_value());
  do life.Settle();
  while (life.Wait());
  const auto pod = life.pod();
  EXPECT_EQ(pod.status.phase, "Running");
  EXPECT_TRUE(pod.status.init_container_statuses.at(0).state.terminated.has_value());
  EXPECT_TRUE(pod.status.init_container_statuses.at(1).state.running.has_value());
  EXPECT_TRUE(pod.status.init_container_statuses.at(2).state.terminated.has_value());
  EXPECT_EQ(life.elapsed(), 2 * life.times.init + life.times.start);
}

TEST(PodSyncTest, AReadinessProbeDelaysReadyNotRunning) {
  Life life(kPod);
  life.Set(
      R"({"spec":{"containers":[{"name":"trainer","readinessProbe":{"initialDelaySeconds":30,"tcpSocket":{"port":1}}}]}})");
  life.Settle();
  ASSERT_TRUE(life.Wait());
  life.Settle();
  EXPECT_EQ(life.pod().status.phase, "Running");
  EXPECT_FALSE(life.pod().status.container_statuses.at(0).ready);
  ASSERT_TRUE(life.Wait());
  life.Settle();
  EXPECT_TRUE(life.pod().status.container_statuses.at(0).ready);
  EXPECT_EQ(life.elapsed(), life.times.start + absl::Seconds(30));
}

TEST(PodSyncTest, ADeletedPodStopsWithinItsGraceAndGoes) {
  for (const auto& [grace, expected] : {std::pair(30, absl::Milliseconds(100)), std::pair(0, absl::ZeroDuration())}) {
    Life life(kPod);
    life.times.start = absl::ZeroDuration();
    life.Settle();
    life.Set(R"({"metadata":{"deletionTimestamp":"2027-01-15T08:00:00Z","deletionGracePeriodSeconds":)" +
             std::to_string(grace) + "}}");
    const absl::Duration before = life.elapsed();
    life.Settle();
    if (!life.removed) {
      ASSERT_TRUE(life.Wait());
      life.Settle();
    }
    EXPECT_TRUE(life.removed);
    EXPECT_EQ(life.elapsed() - before, expected);
    EXPECT_THAT(life.events, ElementsAre("Started", "Killing"));
  }
}

TEST(PodSyncTest, ADeletedPodThatNeverStartedGoesAtOnce) {
  Life life(kPod);
  life.Settle();
  life.Set(R"({"metadata":{"deletionTimestamp":"2027-01-15T08:00:00Z","deletionGracePeriodSeconds":30}})");
  life.Step();
  EXPECT_TRUE(life.removed);
}

TEST(PodSyncTest, ALostNodeDoesNothingAndAnAbsentOneLosesItsPodsAfterAWhile) {
  Life life(kPod);
  life.node = NodeState::kLost;
  EXPECT_FALSE(life.Step());
  EXPECT_FALSE(life.Wait());
  life.node = NodeState::kAbsent;
  EXPECT_FALSE(life.Step());
  ASSERT_TRUE(life.Wait());
  EXPECT_EQ(life.elapsed(), life.times.orphan);
  life.Step();
  EXPECT_TRUE(life.removed);
}

TEST(PodSyncTest, AKubeletThatForgotGoesOnByTheStatus) {
  Life life(kPod);
  life.outcome = RunOutcome{absl::Seconds(5), 0, {}};
  life.Settle();
  ASSERT_TRUE(life.Wait());
  life.Settle();
  life.Forget();
  do life.Settle();
  while (life.Wait());
  EXPECT_EQ(life.pod().status.phase, "Succeeded");
}

TEST(PodSyncTest, ASettledPodIsNotWrittenAgain) {
  Life life(kPod);
  do life.Settle();
  while (life.Wait());
  EXPECT_FALSE(life.Step());
}

TEST(PodSyncTest, APodThatMissesAVolumeWaitsIsToldOnceAndGoesOn) {
  Life life(kPod);
  life.missing.mounts = {"MountVolume.SetUp failed for volume \"conf\" : configmap \"x\" not found"};
  life.Settle();
  EXPECT_EQ(WaitingReason(life.pod()), "ContainerCreating");
  EXPECT_FALSE(life.Wait());
  EXPECT_FALSE(life.Step());
  EXPECT_THAT(life.events, ElementsAre("FailedMount"));
  EXPECT_THAT(life.messages, ElementsAre(life.missing.mounts.front()));
  life.missing = {};
  life.Settle();
  EXPECT_EQ(life.pod().status.phase, "Pending");
  ASSERT_TRUE(life.Wait());
  life.Settle();
  EXPECT_EQ(life.pod().status.phase, "Running");
  EXPECT_EQ(life.elapsed(), life.times.start);
}

TEST(PodSyncTest, AContainerWhoseEnvironmentIsMissingIsNotMade) {
  Life life(kPod);
  life.times.start = absl::ZeroDuration();
  life.missing.containers = {{"trainer", "couldn't find key k in ConfigMap default/x"}};
  life.Settle();
  EXPECT_EQ(life.pod().status.phase, "Pending");
  EXPECT_EQ(WaitingReason(life.pod()), "CreateContainerConfigError");
  EXPECT_EQ(life.pod().status.container_statuses.at(0).state.waiting->message,
            "couldn't find key k in ConfigMap default/x");
  EXPECT_THAT(life.messages, ElementsAre("Error: couldn't find key k in ConfigMap default/x"));
  EXPECT_THAT(LogOf(life.pod(), nullptr, "trainer", false, LogLines{}, {}).status().message(),
              HasSubstr("is waiting to start: CreateContainerConfigError"));
  life.missing = {};
  life.Settle();
  EXPECT_EQ(life.pod().status.phase, "Running");
  EXPECT_EQ(life.pod().status.container_statuses.at(0).restart_count, 0);
  EXPECT_THAT(life.events, ElementsAre("Failed", "Started"));
}

TEST(PodSyncTest, WhatIsMissingAtARestartHoldsTheContainerUntilItIsThere) {
  Life life(kPod);
  life.Set(R"({"spec":{"restartPolicy":"Always"}})");
  life.times.start = absl::ZeroDuration();
  life.outcome = RunOutcome{absl::Seconds(1), 1, {}};
  life.Settle();
  life.missing.containers = {{"trainer", "secret \"x\" not found"}};
  ASSERT_TRUE(life.Wait());
  life.Settle();
  EXPECT_EQ(WaitingReason(life.pod()), "CreateContainerConfigError");
  life.missing = {};
  life.Settle();
  EXPECT_TRUE(life.pod().status.container_statuses.at(0).state.running.has_value());
  EXPECT_EQ(life.pod().status.container_statuses.at(0).restart_count, 1);
}

TEST(PodSyncTest, AnInitContainerWhoseEnvironmentIsMissingHoldsThePod) {
  Life life(kPod);
  life.Set(R"({"spec":{"initContainers":[{"name":"a"}]}})");
  life.missing.containers = {{"a", "secret \"x\" not found"}};
  life.Settle();
  EXPECT_EQ(life.pod().status.init_container_statuses.at(0).state.waiting->reason, "CreateContainerConfigError");
  EXPECT_EQ(WaitingReason(life.pod()), "PodInitializing");
  life.missing = {};
  do life.Settle();
  while (life.Wait());
  EXPECT_EQ(life.pod().status.phase, "Running");
}

TEST(PodSyncTest, MissingPullSecretsAreAWarning) {
  Life life(kPod);
  life.missing.pull_secrets = {"a", "b"};
  do life.Settle();
  while (life.Wait());
  EXPECT_EQ(life.pod().status.phase, "Running");
  EXPECT_THAT(life.events, ElementsAre("FailedToRetrieveImagePullSecret", "Started"));
  EXPECT_THAT(life.messages.front(), HasSubstr("image pull secrets (a, b);"));
}

TEST(PodSyncTest, LogsTellWhatTheContainerDid) {
  Life life(kPod);
  life.outcome = RunOutcome{absl::Seconds(5), 3, {}};
  const auto log = [&](absl::string_view container, bool previous = false) {
    return LogOf(life.pod(), nullptr, container, previous, LogLines{}, life.outcome);
  };
  EXPECT_THAT(log("trainer").status().message(), HasSubstr("waiting to start"));
  EXPECT_EQ(log("nope").status().code(), absl::StatusCode::kNotFound);
  do life.Settle();
  while (life.Wait());
  const auto whole = log("trainer");
  GW_ASSERT_OK(whole);
  const std::int64_t lines = whole->Count(absl::InfiniteFuture());
  ASSERT_EQ(lines, 6);
  EXPECT_THAT(whole->Line(0).text, HasSubstr("node-000"));
  EXPECT_THAT(whole->Line(4).text, HasSubstr("step 4"));
  EXPECT_THAT(whole->Line(5).text, HasSubstr("exit code 3"));
  EXPECT_FALSE(log("trainer", true).ok());
}

}  // namespace
}  // namespace gangway::sandbox
