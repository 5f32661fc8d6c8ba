// What failed, as pods show it, and what of it stays in the Job.
#include "plugin/lifecycle/job/last_failure.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "plugin/lifecycle/policy/decide.h"
#include "tests/plugin/lifecycle/job/world.h"
#include "tests/testing/status_matchers.h"

namespace gangway::lifecycle {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Le;
using testutil::JobText;
using testutil::World;

std::optional<PodFailure> Failure(const std::string& json) {
  const auto pod = api::Decode<api::core::Pod>(json);
  GW_EXPECT_OK(pod);
  return FailureOf(*pod);
}

TEST(PodFailureTest, TheContainerThatEndedBadlyFirst) {
  const auto failure = Failure(R"({"status":{"phase":"Failed","containerStatuses":[
      {"name":"late","state":{"terminated":{"exitCode":1,"finishedAt":"2026-11-21T05:00:03Z"}}},
      {"name":"well","state":{"terminated":{"exitCode":0,"finishedAt":"2026-11-21T05:00:01Z"}}},
      {"name":"first","state":{"terminated":{"exitCode":137,"reason":"OOMKilled","message":"too much\n","finishedAt":"2026-11-21T05:00:02Z"}}}]}})");
  ASSERT_TRUE(failure.has_value());
  EXPECT_EQ(Describe(*failure), "container first ended with exit code 137 (OOMKilled)");
  EXPECT_EQ(failure->message, "too much");
  EXPECT_FALSE(failure->run_again);
}

TEST(PodFailureTest, ARestartedContainerHasItsLogInThePreviousOne) {
  EXPECT_TRUE(
      Failure(
          R"({"status":{"phase":"Running","containerStatuses":[{"name":"c","state":{"running":{}},"lastState":{"terminated":{"exitCode":3}}}]}})")
          ->run_again);
  EXPECT_FALSE(
      Failure(
          R"({"status":{"phase":"Running","containerStatuses":[{"name":"c","state":{"waiting":{"reason":"CrashLoopBackOff"}},"lastState":{"terminated":{"exitCode":3}}}]}})")
          ->run_again);
}

TEST(PodFailureTest, WhatIsSaidOfThePodComesFirst) {
  const auto evicted =
      Failure(R"({"status":{"phase":"Failed","reason":"Evicted","message":"The node was low on resource: memory.",
      "containerStatuses":[{"name":"c","state":{"terminated":{"exitCode":137}}}]}})");
  EXPECT_EQ(Describe(*evicted), "Evicted");
  EXPECT_EQ(evicted->message, "The node was low on resource: memory.");
  const auto lost = Failure(
      R"({"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z","deletionGracePeriodSeconds":30},"status":{"phase":"Running","conditions":[
      {"type":"DisruptionTarget","status":"True","reason":"DeletionByTaintManager","message":"Taint manager: deleting due to NoExecute taint"}]}})");
  EXPECT_EQ(Describe(*lost), "DeletionByTaintManager");
}

TEST(PodFailureTest, WhatADeletionDoesIsNoFailure) {
  EXPECT_EQ(
      Failure(
          R"({"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z","deletionGracePeriodSeconds":30},"status":{"phase":"Failed","containerStatuses":[
      {"name":"c","state":{"terminated":{"exitCode":137}}}]}})"),
      std::nullopt);
  EXPECT_EQ(
      Failure(
          R"({"status":{"phase":"Running","conditions":[{"type":"DisruptionTarget","status":"True","reason":"GangReleased"}]}})"),
      std::nullopt);
  EXPECT_EQ(Failure(R"({"status":{"phase":"Succeeded"}})"), std::nullopt);
}

TEST(TailOfTest, WholeLinesAndWholeCharacters) {
  EXPECT_EQ(TailOf(" a\nb \n", 10), "a\nb");
  EXPECT_EQ(TailOf("first line\nsecond\nthird", 13), "second\nthird");
  EXPECT_EQ(TailOf("first line\nsecond\nthird", 12), "second\nthird");
  EXPECT_EQ(TailOf("first line\nsecond\nthird", 11), "third");
  EXPECT_EQ(TailOf("wörter ohne zeile", 16), "rter ohne zeile");
  EXPECT_EQ(LastLine("a\nb\n"), "b");
  EXPECT_EQ(LastLine("only"), "only");
}

constexpr char kPolicies[] =
    R"("policies":[{"event":"PodEvicted","action":"RestartJob"},{"event":"PodFailed","action":"RestartJob"}])";

api::volcano::Job Job() {
  return *api::Decode<api::volcano::Job>(
      JobText("j", 1, {{"w", 1, R"("policies":[{"exitCode":3,"action":"AbortJob"}])"}}, kPolicies));
}

Happening Failed(int exit_code) {
  Happening happening;
  happening.event = Event::kPodFailed;
  happening.task = "w";
  happening.pod = "j-w-0";
  happening.index = 0;
  happening.exit_code = exit_code;
  PodFailure failure{"c", false, exit_code, "OOMKilled", "step 1\nloss is nan", absl::FromUnixSeconds(1'795'000'000)};
  happening.failure = std::make_shared<const PodFailure>(std::move(failure));
  return happening;
}

TEST(LastFailureTest, SaysWhichPolicyActed) {
  const auto of_job = MakeLastFailure(Job(), Failed(137), Action::kRestartJob, absl::UnixEpoch());
  ASSERT_TRUE(of_job.has_value());
  EXPECT_EQ(of_job->policy, "spec.policies[1]");
  EXPECT_EQ(
      EncodeLastFailure(*of_job),
      R"({"event":"PodFailed","action":"RestartJob","policy":"spec.policies[1]","task":"w","pod":"j-w-0","container":"c","exitCode":137,)"
      R"("reason":"OOMKilled","version":0,"at":"2026-11-18T11:06:40Z","message":"step 1\nloss is nan"})");
  EXPECT_EQ(MakeLastFailure(Job(), Failed(3), Action::kAbortJob, absl::UnixEpoch())->policy,
            "spec.tasks[0].policies[0]");
  ControlledResources resources{{kLastFailureKey, EncodeLastFailure(*of_job)}};
  EXPECT_EQ(ReadLastFailure(resources), of_job);
}

TEST(LastFailureTest, ATaskCompletedOrACommandIsNone) {
  Happening happening;
  for (const Event event : {Event::kNone, Event::kTaskCompleted, Event::kCommandIssued}) {
    happening.event = event;
    EXPECT_EQ(MakeLastFailure(Job(), happening, Action::kCompleteJob, absl::UnixEpoch()), std::nullopt);
  }
}

TEST(LastFailureTest, IsBoundedWhateverThePodSays) {
  LastFailure failure = *MakeLastFailure(Job(), Failed(1), Action::kRestartJob, absl::UnixEpoch());
  for (const std::string& message :
       {std::string(512, '\x01'), std::string(5000, '"'), std::string(170, 'x') + "\xe2\x82\xac"}) {
    failure.message = message;
    EXPECT_THAT(EncodeLastFailure(failure).size(), Le(LastFailure::kMaxBytes));
  }
  failure.message = std::string(5000, 'y') + "end";
  EXPECT_THAT(EncodeLastFailure(failure), EndsWith("yend\"}"));
  failure.pod = std::string(2000, 'p');
  EXPECT_EQ(EncodeLastFailure(failure), "");
}

TEST(LastFailureTest, TheEventSaysHow) {
  EXPECT_EQ(Explain(Job(), Failed(137), TransitionOf(JobPhase::kRunning, Action::kRestartJob)),
            "pod j-w-0 failed with exit code 137 (OOMKilled): loss is nan; restart 1 of 2 (maxRetry 3)");
}

TEST(LastFailureTest, TheEventNamesTheContainerWhenItIsNotTheFirst) {
  Happening happening = Failed(137);
  happening.exit_code = 0;
  EXPECT_EQ(Explain(Job(), happening, TransitionOf(JobPhase::kRunning, Action::kAbortJob)),
            "pod j-w-0 failed with exit code 0: container c ended with exit code 137 (OOMKilled): loss is nan");
}

TEST(LastFailureTest, StandsInTheStatusThatExplainsTheKill) {
  World world(JobText("j", 2, {{"w", 2, ""}}, kPolicies));
  ASSERT_TRUE(world.Start());
  world.SetPod("j-w-1", "Failed", 7);
  world.Step(1);  // the kill's status, and no deletion yet
  EXPECT_EQ(world.writes().back(), "patch jobs/status j");
  EXPECT_EQ(world.job().status.version, 1);
  const auto failure = ReadLastFailure(world.job().status.controlled_resources);
  ASSERT_TRUE(failure.has_value());
  EXPECT_EQ(failure->pod, "j-w-1");
  EXPECT_EQ(failure->exit_code, 7);
  EXPECT_EQ(failure->version, 0);
  EXPECT_EQ(failure->action, "RestartJob");
  ASSERT_TRUE(world.Settle());
  world.AllDeletedGone();
  ASSERT_TRUE(world.ComeBack());
  EXPECT_EQ(ReadLastFailure(world.job().status.controlled_resources), failure);  // while it runs on
}

TEST(LastFailureTest, AJobThatFailsByItselfNamesItsPod) {
  for (const auto& [ends, fails] : {std::pair("j-w-0", "j-w-1"), std::pair("j-w-1", "j-w-0")}) {
    World world(JobText("j", 2, {{"w", 2, R"("minAvailable":2)"}}, R"("maxRetry":3)"));
    ASSERT_TRUE(world.Start());
    world.SetPod(ends, "Succeeded");
    world.SetPod(fails, "Failed", 9);
    ASSERT_TRUE(world.Settle());
    EXPECT_EQ(world.phase(), "Failed");
    const auto failure = ReadLastFailure(world.job().status.controlled_resources);
    ASSERT_TRUE(failure.has_value());
    EXPECT_EQ(failure->pod, fails);
    EXPECT_EQ(failure->action, "");
  }
}

}  // namespace
}  // namespace gangway::lifecycle
