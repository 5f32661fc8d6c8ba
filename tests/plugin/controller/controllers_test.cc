// The controllers against the sandbox's API server on a simulated loop; the test is the scheduler and the kubelets.
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/plugin/controller/controllers_fixture.h"
#include "tests/plugin/lifecycle/job/world.h"

namespace gangway::controller {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testutil::JobText;

const char kRestartOnLoss[] =
    R"("policies":[{"event":"PodEvicted","action":"RestartJob"},{"event":"PodFailed","action":"RestartJob"}])";

std::string Seed() {
  return JobText("ctr", 4,
                 {{"pserver", 2}, {"trainer", 2, R"("policies":[{"event":"TaskCompleted","action":"CompleteJob"}])"}},
                 kRestartOnLoss);
}

TEST_F(ControllersTest, TheSeedJobRunsToCompletedAndIsQuiet) {
  Start();
  Create(api::kJobs, Seed());
  EXPECT_THAT(Names(api::kPodGroups), ElementsAre(GroupOf("ctr")));
  Run(absl::Seconds(2));
  EXPECT_EQ(Phase("ctr"), "Pending");
  EXPECT_THAT(Names(api::kPods), IsEmpty());
  LetIn("ctr");
  EXPECT_THAT(Names(api::kPods), ElementsAre("ctr-pserver-0", "ctr-pserver-1", "ctr-trainer-0", "ctr-trainer-1"));
  RunPods("ctr");
  SetPod("ctr-trainer-0", "Succeeded");
  SetPod("ctr-trainer-1", "Succeeded");
  Run(absl::Seconds(5));
  Delete(api::kPods, "ctr-pserver-0");
  Delete(api::kPods, "ctr-pserver-1");
  EXPECT_THAT(phases_, ElementsAre("Pending", "Running", "Completing", "Completed"));
  EXPECT_THAT(Names(api::kPods), ElementsAre("ctr-trainer-0", "ctr-trainer-1"));
  EXPECT_EQ(Job("ctr").status.succeeded, 2);
  EXPECT_THAT(Events(), Contains(HasSubstr("ExecuteAction: Start to execute action CompleteJob")));
  Run(absl::Seconds(10));
  const int writes = writes_;
  Run(absl::Hours(1));
  EXPECT_EQ(writes_, writes);
}

// Also after a restart, and whatever its user says of that.
TEST_F(ControllersTest, APodGroupSaysHowLongJobsOfTheSameSpecRan) {
  const auto text = [](const std::string& name, int replicas, const std::string& annotations = "") {
    return absl::StrReplaceAll(JobText(name, replicas, {{"w", replicas}}),
                               {{absl::StrCat(R"("name":")", name, R"("},)"),
                                 absl::StrCat(R"("name":")", name, R"(","annotations":{)", annotations, "}},")}});
  };
  const auto said = [this](const std::string& job) {
    const json::value group = Get(api::kPodGroups, GroupOf(job));
    const json::object& metadata = group.at("metadata").as_object();
    const json::value* const annotations = metadata.if_contains("annotations");
    const json::value* const said =
        annotations == nullptr ? nullptr : annotations->as_object().if_contains("gangway.io/past-runs");
    return said == nullptr ? "" : std::string(said->as_string());
  };
  Start();
  const auto run = [&](const std::string& name, int minutes) {
    StartJob(name, text(name, 1));
    std::string told = said(name);
    Run(absl::Minutes(minutes));
    SetPod(absl::StrCat(name, "-w-0"), "Succeeded");
    EXPECT_EQ(Phase(name), "Completed");
    return told;
  };
  EXPECT_EQ(run("a", 10), "");
  EXPECT_THAT(run("b", 20), testing::MatchesRegex("runs=1 longest=10m[0-3]s"));
  Create(api::kJobs, text("larger", 2, R"("gangway.io/past-runs":"runs=9 longest=1s")"));
  EXPECT_EQ(said("larger"), "") << "its user does not know that";
  Crash();
  Start();
  Create(api::kJobs, text("c", 1));
  EXPECT_THAT(said("c"), testing::MatchesRegex("runs=2 longest=20m[0-3]s"));
  Delete(api::kJobs, "b");
  Create(api::kJobs, text("d", 1));
  EXPECT_THAT(said("d"), testing::MatchesRegex("runs=1 longest=10m[0-3]s"));
}

TEST_F(ControllersTest, AnEvictionDuringARestartOfOursIsNotForgotten) {
  Start();
  StartJob("ctr", Seed());
  Crash();
  Delete(api::kPods, "ctr-trainer-0");
  Start();
  EXPECT_THAT(phases_, ElementsAre("Pending", "Running", "Restarting", "Pending"));
  EXPECT_EQ(Job("ctr").status.retry_count, 1);
}

TEST_F(ControllersTest, ALostReplyMakesNothingTwice) {
  int lost = 0;
  fate_ = [&](const kube::Request& request) {
    sandbox::RequestFate fate;
    if (request.method != "GET" && ++lost % 2 == 0) fate.loss = sandbox::RequestFate::Loss::kReply;
    return fate;
  };
  Start();
  Create(api::kJobs, Seed());
  Run(absl::Seconds(10));
  LetIn("ctr");
  Run(absl::Seconds(10));
  RunPods("ctr");
  Run(absl::Seconds(10));
  SetPod("ctr-trainer-0", "Failed", 3);
  Run(absl::Seconds(10));
  EXPECT_EQ(Job("ctr").status.retry_count, 1);
  EXPECT_EQ(Job("ctr").status.version, 1);
}

TEST_F(ControllersTest, ACommandIsCarriedOutOnceThoughTheProcessDiesInBetween) {
  Start();
  StartJob("cmd", JobText("cmd", 1, {{"w", 1}}));
  // The status is written, the deletion of the command never arrives.
  fate_ = [](const kube::Request& request) {
    sandbox::RequestFate fate;
    if (request.method == "DELETE" && absl::StrContains(request.path, "/commands/"))
      fate.loss = sandbox::RequestFate::Loss::kRequest;
    return fate;
  };
  Command("restart", "RestartJob", "cmd");
  EXPECT_EQ(Job("cmd").status.version, 1);
  EXPECT_THAT(Names(api::kCommands), ElementsAre("restart"));
  Crash();
  fate_ = nullptr;
  Start();
  EXPECT_THAT(Names(api::kCommands), IsEmpty());
  EXPECT_EQ(Job("cmd").status.version, 1);
  EXPECT_EQ(Job("cmd").status.retry_count, 1);
}

TEST_F(ControllersTest, ACommandForNobodyIsRemovedAfterAWhile) {
  Start();
  Command("abort", "AbortJob", "nobody");
  Run(absl::Seconds(30));
  EXPECT_THAT(Names(api::kCommands), ElementsAre("abort"));
  Run(absl::Seconds(40));
  EXPECT_THAT(Names(api::kCommands), IsEmpty());
}

TEST_F(ControllersTest, ACommandForNobodyThatWasThereBeforeUsIsRemovedToo) {
  Command("abort", "AbortJob", "nobody");
  Start();
  Run(absl::Seconds(70));
  EXPECT_THAT(Names(api::kCommands), IsEmpty());
}

TEST_F(ControllersTest, ACommandThatNamesNobodyIsNobodys) {
  const std::string text =
      R"({"apiVersion":"bus.volcano.sh/v1alpha1","kind":"Command","metadata":{"name":"lost"},"action":"AbortJob"})";
  Create(api::kCommands, text);
  Start();
  StartJob("ctr", JobText("ctr", 1, {{"w", 1}}));
  Delete(api::kCommands, "lost");
  Create(api::kCommands, text);
  EXPECT_EQ(Phase("ctr"), "Running");
  Delete(api::kCommands, "lost");
  EXPECT_EQ(Phase("ctr"), "Running");
}

TEST_F(ControllersTest, WhatAPluginMadeIsMadeAgainWhenAUserRemovesIt) {
  Start();
  Create(api::kJobs, JobText("plug", 1, {{"w", 1}}, R"("plugins":{"env":[],"svc":[]})"));
  EXPECT_THAT(Names(api::kConfigMaps), Contains("plug-svc"));
  EXPECT_THAT(Names(api::kNetworkPolicies), ElementsAre("plug"));
  Delete(api::kConfigMaps, "plug-svc");
  EXPECT_THAT(Names(api::kConfigMaps), Contains("plug-svc"));
  Patch(api::kConfigMaps, "plug-svc", R"({"data":{"VC_W_NUM":"9"}})");
  Run();
  EXPECT_EQ(Get(api::kConfigMaps, "plug-svc").at("data").at("VC_W_NUM").as_string(), "1");
}

TEST_F(ControllersTest, AForeignServiceOfThatNameIsExplained) {
  Start();
  Create(
      api::kServices,
      R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"plug"},"spec":{"clusterIP":"None","selector":{"a":"b"}}})");
  Create(api::kJobs, JobText("plug", 1, {{"w", 1}}, R"("plugins":{"svc":[]})"));
  Run(absl::Seconds(5));
  EXPECT_THAT(Events(), Contains(HasSubstr("FailedCreate: Service plug")));
}

TEST_F(ControllersTest, AMissingClaimIsWaitedFor) {
  Start();
  Create(api::kJobs, JobText("vol", 1, {{"w", 1}}, R"("volumes":[{"mountPath":"/data","volumeClaimName":"data"}])"));
  EXPECT_THAT(Names(api::kPodGroups), IsEmpty());
  EXPECT_THAT(Events(), Contains(HasSubstr("PVCError")));
  Create(
      api::kPersistentVolumeClaims,
      R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"data"},"spec":{"accessModes":["ReadWriteMany"],"resources":{"requests":{"storage":"1Gi"}}}})");
  EXPECT_THAT(Names(api::kPodGroups), ElementsAre(GroupOf("vol")));
}

TEST_F(ControllersTest, ABarePodGetsAGroup) {
  Start();
  Create(
      api::kPods,
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"bare"},"spec":{"schedulerName":"volcano","containers":[{"name":"c","image":"i"}]}})");
  const std::string group =
      absl::StrCat("podgroup-", std::string(Get(api::kPods, "bare").at("metadata").at("uid").as_string()));
  EXPECT_THAT(Names(api::kPodGroups), ElementsAre(group));
  EXPECT_EQ(Get(api::kPods, "bare").at("metadata").at("annotations").at("scheduling.k8s.io/group-name").as_string(),
            group);
  Create(
      api::kPods,
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"other"},"spec":{"containers":[{"name":"c","image":"i"}]}})");
  EXPECT_THAT(Names(api::kPodGroups), ElementsAre(group));
}

TEST_F(ControllersTest, QueuesAreOpenAndCountTheirGroups) {
  Start();
  EXPECT_EQ(Get(api::kQueues, "default").at("status").at("state").as_string(), "Open");
  EXPECT_EQ(Get(api::kQueues, "root").at("status").at("state").as_string(), "Open");
  Create(api::kJobs, JobText("a", 1, {{"w", 1}}));
  Create(api::kJobs, JobText("b", 1, {{"w", 1}}));
  LetIn("b");
  EXPECT_EQ(Get(api::kQueues, "default").at("status").at("pending").as_int64(), 1);
  EXPECT_EQ(Get(api::kQueues, "default").at("status").at("inqueue").as_int64(), 1);
}

TEST_F(ControllersTest, GroupsOfAQueueAreCountedAsVolcanoDoes) {
  Metrics metrics;
  Options options;
  options.metrics = &metrics;
  Start(options);
  StartJob("job1", JobText("job1", 1, {{"w", 1}}));
  EXPECT_THAT(metrics.Expose(),
              ::testing::HasSubstr("volcano_queue_pod_group_inqueue_count{queue_name=\"default\"} 1\n"));
  ASSERT_TRUE(Ask("DELETE", api::PathOf(api::kJobs, "default", "job1")).ok());
  Run(absl::Minutes(1));
  EXPECT_THAT(metrics.Expose(),
              ::testing::HasSubstr("volcano_queue_pod_group_inqueue_count{queue_name=\"default\"} 0\n"));
  controllers_.reset();  // it counts in the metrics to its end
}

TEST_F(ControllersTest, AQueueIsClosedWhenItsLastGroupIsGone) {
  Start();
  Create(
      api::kQueues,
      R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{"name":"q"},"spec":{"weight":1}})");
  std::string text = JobText("a", 1, {{"w", 1}});
  text.replace(text.find(R"("queue":"default")"), 17, R"("queue":"q")");
  Create(api::kJobs, text);
  Create(
      api::kCommands,
      R"({"apiVersion":"bus.volcano.sh/v1alpha1","kind":"Command","metadata":{"name":"close"},"action":"CloseQueue","target":{"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","name":"q","uid":"x"}})");
  EXPECT_EQ(Get(api::kQueues, "q").at("status").at("state").as_string(), "Closing");
  EXPECT_THAT(Names(api::kCommands), IsEmpty());
  Delete(api::kJobs, "a");
  Run(absl::Seconds(5));
  EXPECT_EQ(Get(api::kQueues, "q").at("status").at("state").as_string(), "Closed");
}

TEST_F(ControllersTest, ACommandIsForTheKindThatItNamesAndNotForItsNamesake) {
  Start();
  Create(
      api::kQueues,
      R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{"name":"same"},"spec":{"weight":1}})");
  StartJob("same", JobText("same", 1, {{"w", 1}}));
  Create(
      api::kCommands,
      R"({"apiVersion":"bus.volcano.sh/v1alpha1","kind":"Command","metadata":{"name":"close"},"action":"CloseQueue","target":{"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","name":"same","uid":"x"}})");
  EXPECT_EQ(Get(api::kQueues, "same").at("status").at("state").as_string(), "Closed");
  Command("stop", "AbortJob", "same");
  EXPECT_EQ(Phase("same"), "Aborted");
  EXPECT_THAT(Names(api::kCommands), IsEmpty());
  EXPECT_THAT(Events(), Not(Contains(HasSubstr("CommandIgnored"))));
}

class EmptyClusterTest : public ControllersTest {
 protected:
  EmptyClusterTest() : ControllersTest(false) {}
};
TEST_F(EmptyClusterTest, TheQueuesEveryClusterHasAreMade) {
  Start();
  EXPECT_THAT(Names(api::kQueues), ElementsAre("default", "root"));
  EXPECT_EQ(Get(api::kQueues, "default").at("status").at("state").as_string(), "Open");
}

// One Job's look costs what its own pods cost: a thousand Jobs beside it change nothing but the caches' size.
TEST_F(ControllersTest, ManyJobsEachOnTheirOwn) {
  Start();
  for (int i = 0; i < 300; ++i) {
    const kube::Response reply =
        Ask("POST", api::PathOf(api::kJobs, "default"), JobText(absl::StrCat("j", i), 1, {{"w", 1}}));
    ASSERT_TRUE(reply.ok());
  }
  Run(absl::Seconds(30));
  EXPECT_EQ(Names(api::kPodGroups).size(), 300u);
  const int before = writes_;
  LetIn("j7");
  RunPods("j7");
  Run(absl::Seconds(5));
  EXPECT_EQ(Phase("j7"), "Running");
  EXPECT_LT(writes_ - before, 12);
}

TEST_F(ControllersTest, AStandbyWritesNothingUntilItLeads) {
  Options options;
  options.standby = true;
  Start(options);
  Create(api::kJobs, JobText("ctr", 1, {{"w", 1}}));
  Run(absl::Minutes(1));
  EXPECT_THAT(Names(api::kPodGroups), IsEmpty());
  controllers_->Lead();
  Run();
  EXPECT_EQ(Names(api::kPodGroups).size(), 1u);
  controllers_->Stop();
  Create(api::kJobs, JobText("late", 1, {{"w", 1}}));
  Run(absl::Minutes(1));
  EXPECT_TRUE(controllers_->stopped());
  EXPECT_EQ(Names(api::kPodGroups).size(), 1u);
}

TEST_F(ControllersTest, OnlyThoseAskedForRun) {
  Options options;
  options.only = {"jobflow", "podgroup"};
  Start(options);
  Create(api::kJobs, JobText("ctr", 1, {{"w", 1}}));
  EXPECT_THAT(Names(api::kPodGroups), IsEmpty());
  Create(
      api::kPods,
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"bare"},"spec":{"schedulerName":"volcano","containers":[{"name":"c","image":"i"}]}})");
  EXPECT_EQ(Names(api::kPodGroups).size(), 1u);
  EXPECT_EQ(Phase("ctr"), "");
}

TEST_F(ControllersTest, OtherNamespacesAreLeftAlone) {
  Options options;
  options.namespaces = {"mine", "yours"};
  Start(options);
  Create(api::kJobs, JobText("ctr", 1, {{"w", 1}}));
  EXPECT_EQ(Phase("ctr"), "");
  EXPECT_THAT(Names(api::kPodGroups), IsEmpty());
  EXPECT_THAT(controllers_->Dump(), HasSubstr(R"("jobs":0)"));
}

}  // namespace
}  // namespace gangway::controller
