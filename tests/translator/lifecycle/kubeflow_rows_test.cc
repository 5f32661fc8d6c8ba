// The rows K-7 to K-13 of spec paddle 8: the life of a PaddleJob of kubeflow.org, both controllers at work.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/translator/lifecycle/paddle_world.h"

namespace gangway::testutil {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string Role(int replicas, const std::string& restart_policy = "Never") {
  std::string role = RoleText(replicas);
  role.insert(1, absl::StrCat("\"restartPolicy\":\"", restart_policy, "\","));
  return role;
}
std::string Workers(int n, const std::string& policy = "", const std::string& restart_policy = "Never") {
  return KubeflowJobText("kf", {{"Worker", Role(n, restart_policy)}}, policy);
}

TEST(KubeflowLife, RunsAndCompletes) {
  PaddleWorld world(Workers(2));
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.Condition("Created"), "Created True PaddleJobCreated");
  EXPECT_EQ(world.LastCondition(), "Created");
  EXPECT_EQ(world.kubeflow_status().start_time.at, world.now());  // from when it was accepted
  ASSERT_TRUE(world.Start());
  EXPECT_EQ(world.LastCondition(), "Running");
  EXPECT_EQ(world.Condition("Running"), "Running True PaddleJobRunning");
  const auto worker = world.kubeflow_status().replica_statuses.at("Worker");
  EXPECT_EQ(worker.active, 2);
  EXPECT_EQ(worker.selector, "volcano.sh/job-name=kf,volcano.sh/task-spec=worker");
  world.SetAll("Succeeded");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.LastCondition(), "Succeeded");
  EXPECT_EQ(world.Condition("Running"), "Running False PaddleJobRunning");
  EXPECT_TRUE(world.kubeflow_status().completion_time.set());
  EXPECT_EQ(world.kubeflow_status().replica_statuses.at("Worker").succeeded, 2);
  EXPECT_THAT(world.Pods(), SizeIs(2));  // cleanPodPolicy None
  EXPECT_TRUE(world.Decide().stages.empty());
}

TEST(KubeflowLife, K7TheMasterDecides) {
  PaddleWorld world(KubeflowJobText("kf", {{"Master", Role(1)}, {"Worker", Role(1)}}));
  ASSERT_TRUE(world.Start());
  world.SetPod("kf-master-0", "Succeeded");
  ASSERT_TRUE(world.Settle());
  world.Pass(absl::Seconds(10));
  ASSERT_TRUE(world.Settle());
  world.DeletedPodsGo();
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.LastCondition(), "Succeeded");
  EXPECT_EQ(world.kubeflow_status().replica_statuses.at("Master").succeeded, 1);
}

TEST(KubeflowLife, K8OneWorkerFailsAndIsRetried) {
  PaddleWorld world(Workers(2, "", "OnFailure"));
  ASSERT_TRUE(world.Start());
  world.SetPod("kf-worker-1", "Failed", 1);  // evicted: its container would have started again in its place
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.LastCondition(), "Restarting");
  EXPECT_EQ(world.Condition("Restarting"), "Restarting True PaddleJobRestarting");
  EXPECT_EQ(world.Condition("Running"), "");
  ASSERT_TRUE(world.ComeBack());
  EXPECT_EQ(world.LastCondition(), "Running");
  EXPECT_EQ(world.Condition("Restarting"), "");
}

TEST(KubeflowLife, K9OneWorkerFailsForGood) {
  PaddleWorld world(Workers(2));
  ASSERT_TRUE(world.Start());
  world.SetPod("kf-worker-1", "Failed", 1);
  ASSERT_TRUE(world.Settle());
  world.Pass(absl::Seconds(10));
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.LastCondition(), "Failed");
  EXPECT_EQ(world.Condition("Failed"), "Failed True PaddleJobFailed");
  EXPECT_THAT(world.kubeflow_status().conditions.back().message, HasSubstr("kf-worker-1 exit 1"));
}

// What the cluster does to a pod restarts the job also where the role says Never; a backoffLimit of 0 allows nothing.
TEST(KubeflowLife, K9AWorkerThatWasStoppedIsNoFailureUnlessNoneIsAllowed) {
  for (const int code : {137, 143}) {
    PaddleWorld stopped(Workers(2));
    ASSERT_TRUE(stopped.Start());
    stopped.SetPod("kf-worker-1", "Failed", code);
    ASSERT_TRUE(stopped.Settle());
    EXPECT_EQ(stopped.LastCondition(), "Restarting");
    for (const char* policy : {"Never", "OnFailure", "ExitCode"}) {
      PaddleWorld world(Workers(2, "\"backoffLimit\":0", policy));
      ASSERT_TRUE(world.Start());
      world.SetPod("kf-worker-1", "Failed", code);
      ASSERT_TRUE(world.Settle());
      world.DeletedPodsGo();
      ASSERT_TRUE(world.Settle());
      world.Pass(absl::Seconds(10));
      ASSERT_TRUE(world.Settle());
      EXPECT_EQ(world.LastCondition(), "Failed") << policy;
      EXPECT_THAT(world.kubeflow_status().conditions.back().message,
                  HasSubstr(absl::StrCat("kf-worker-1 exit ", code)));
      EXPECT_THAT(world.Names("pods"), ElementsAre("kf-worker-1")) << "what ran was stopped";
    }
  }
}

// And what goes for it is gone. False when it does not come to rest.
bool SetSuspended(PaddleWorld& world, bool suspended) {
  world.Edit(absl::StrCat(R"({"spec":{"runPolicy":{"suspend":)", suspended ? "true" : "false", "}}}"));
  if (!world.Settle()) return false;
  world.DeletedPodsGo();
  return world.Settle();
}

TEST(KubeflowLife, K10SuspendedFromTheStart) {
  PaddleWorld world(Workers(2, "\"suspend\":true"));
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.Condition("Created"), "Created True PaddleJobCreated");
  EXPECT_EQ(world.Condition("Suspended"), "Suspended True PaddleJobSuspended");
  EXPECT_FALSE(world.Exists("jobs", "kf"));
  EXPECT_FALSE(world.kubeflow_status().start_time.set());
  world.Pass(absl::Seconds(30));
  world.Edit(R"({"spec":{"runPolicy":{"suspend":false}}})");
  ASSERT_TRUE(world.Start());
  EXPECT_EQ(world.LastCondition(), "Running");
  EXPECT_EQ(world.Condition("Suspended"), "Suspended False PaddleJobResumed");
  EXPECT_EQ(world.kubeflow_status().start_time.at, world.now());
}

TEST(KubeflowLife, K11SuspendedWhileItRuns) {
  PaddleWorld world(Workers(2));
  ASSERT_TRUE(world.Start());
  ASSERT_TRUE(SetSuspended(world, true));
  EXPECT_EQ(world.JobPhase(), "Aborted");
  EXPECT_EQ(world.LastCondition(), "Suspended");
  EXPECT_EQ(world.Condition("Suspended"), "Suspended True PaddleJobSuspended");
  EXPECT_EQ(world.Condition("Running"), "Running False PaddleJobSuspended");
  EXPECT_FALSE(world.kubeflow_status().start_time.set());
  EXPECT_THAT(world.Pods(), IsEmpty());
  EXPECT_THAT(world.Names("podgroups"), IsEmpty());
  EXPECT_THAT(world.Names("commands"), IsEmpty());
  EXPECT_TRUE(world.Decide().stages.empty());
  world.Pass(absl::Minutes(5));
  world.Edit(R"({"spec":{"runPolicy":{"suspend":false}}})");
  ASSERT_TRUE(world.Settle());
  ASSERT_TRUE(world.Start());
  EXPECT_EQ(world.LastCondition(), "Running");
  EXPECT_EQ(world.kubeflow_status().start_time.at, world.now());
  EXPECT_THAT(world.Pods(), SizeIs(2));
  EXPECT_EQ(world.CountEvents("Restarting"), 0);  // a resumption is no restart
  EXPECT_FALSE(world.job().metadata.annotations.contains("paddle.gangway.io/suspended"));
}

TEST(KubeflowLife, RestsCostNoRestart) {
  PaddleWorld world(KubeflowJobText("kf", {{"Worker", Role(2)}}, "", "\"paddle.gangway.io/max-restarts\":\"0\""));
  ASSERT_TRUE(world.Start());
  const std::string job = world.job().metadata.uid;
  for (int round = 0; round < 4; ++round) {
    ASSERT_TRUE(SetSuspended(world, true));
    ASSERT_TRUE(SetSuspended(world, false));
    ASSERT_TRUE(world.Start());
    EXPECT_EQ(world.LastCondition(), "Running") << round;
  }
  EXPECT_EQ(world.job().metadata.uid, job);
  EXPECT_EQ(world.job().status.retry_count, 0);
}

// Beside Volcano, whose controller counts it.
TEST(KubeflowLife, AResumptionThatWouldEndTheJobMakesItAnew) {
  PaddleWorld world(KubeflowJobText("kf", {{"Worker", Role(2)}}, "", "\"paddle.gangway.io/max-restarts\":\"0\""));
  world.options.target = convert::Target::kVolcano;
  ASSERT_TRUE(world.Start());
  const std::string first = world.job().metadata.uid;
  ASSERT_TRUE(SetSuspended(world, true));
  ASSERT_TRUE(SetSuspended(world, false));
  ASSERT_TRUE(world.Start());
  EXPECT_EQ(world.LastCondition(), "Running");
  EXPECT_NE(world.job().metadata.uid, first);
}

TEST(KubeflowLife, OneThatIsEditedWhileItIsSuspendedResumesAnew) {
  PaddleWorld world(Workers(2));
  ASSERT_TRUE(world.Start());
  ASSERT_TRUE(SetSuspended(world, true));
  world.Edit(R"({"spec":{"paddleReplicaSpecs":{"Worker":{"replicas":3}}}})");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.Condition("Suspended"), "Suspended True PaddleJobSuspended");
  EXPECT_FALSE(world.Exists("jobs", "kf"));
  world.Edit(R"({"spec":{"runPolicy":{"suspend":false}}})");
  ASSERT_TRUE(world.Start());
  EXPECT_EQ(world.LastCondition(), "Running");
  EXPECT_THAT(world.Pods(), SizeIs(3));
}

TEST(KubeflowLife, OneThatWasAbortedByHandStaysSo) {
  PaddleWorld world(Workers(1));
  ASSERT_TRUE(world.Start());
  world.has_job_controller = false;
  world.SetJobPhase("Aborted");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.Condition("Suspended"), "Suspended True JobAborted");
  EXPECT_THAT(world.Names("commands"), IsEmpty());
  world.SetJobPhase("Running");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.LastCondition(), "Running");
}

TEST(KubeflowLife, K12ManagedByAnother) {
  PaddleWorld world(Workers(2, "\"managedBy\":\"kueue.x-k8s.io/multikueue\""));
  world.Step();
  EXPECT_THAT(world.writes(), IsEmpty());
  world.Edit(R"({"spec":{"runPolicy":{"managedBy":"kubeflow.org/training-operator"}}})");
  world.Step();
  EXPECT_TRUE(world.Wrote("create jobs kf"));
}

TEST(KubeflowLife, K13TheDeadlineFires) {
  PaddleWorld world(Workers(2, "\"activeDeadlineSeconds\":60"));
  ASSERT_TRUE(world.Start());
  EXPECT_EQ(world.look_again(),
            world.kubeflow_status().start_time.at + absl::Seconds(60));  // nothing else would wake us
  world.Pass(absl::Seconds(60));
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.JobPhase(), "Terminating");
  EXPECT_EQ(world.LastCondition(), "Failed");
  EXPECT_THAT(world.kubeflow_status().conditions.back().message, HasSubstr("activeDeadlineSeconds, 60"));
  world.DeletedPodsGo();
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.JobPhase(), "Terminated");
  EXPECT_TRUE(world.kubeflow_status().completion_time.set());
  EXPECT_THAT(world.Names("commands"), IsEmpty());
}

TEST(KubeflowLife, TheDeadlineFiresAlsoWithoutAJob) {
  PaddleWorld world(Workers(2, "\"activeDeadlineSeconds\":60,\"schedulingPolicy\":{\"queue\":\"absent\"}"));
  ASSERT_TRUE(world.Settle());
  EXPECT_FALSE(world.Exists("jobs", "kf"));
  world.Pass(absl::Seconds(60));
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.LastCondition(), "Failed");
  world.queues["absent"] = "Open";
  ASSERT_TRUE(world.Settle());
  EXPECT_FALSE(world.Exists("jobs", "kf"));  // it has ended
}

TEST(KubeflowLife, GoesByItsTtl) {
  PaddleWorld world(Workers(1, "\"ttlSecondsAfterFinished\":30,\"cleanPodPolicy\":\"All\""));
  ASSERT_TRUE(world.Start());
  world.SetAll("Succeeded");
  ASSERT_TRUE(world.Settle());
  EXPECT_THAT(world.Pods(), IsEmpty());
  EXPECT_EQ(world.look_again(), world.kubeflow_status().completion_time.at + absl::Seconds(30));
  world.Pass(absl::Seconds(30));
  world.Settle();
  EXPECT_THAT(world.Names("paddlejobs"), IsEmpty());
  EXPECT_THAT(world.Names("jobs"), IsEmpty());
}

TEST(KubeflowLife, WhatIsNoJobFailsValidationUntilItIsCorrected) {
  PaddleWorld world(
      KubeflowJobText("kf", {{"Worker", R"({"template":{"spec":{"containers":[{"name":"other","image":"i"}]}}})"}}));
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.Condition("Failed"), "Failed True PaddleJobFailedValidation");
  EXPECT_EQ(world.Condition("Translated"), "Translated False Invalid");
  EXPECT_THAT(world.kubeflow_status().conditions.back().message, HasSubstr("E-NO-CONTAINER"));
  world.Edit(
      R"({"spec":{"paddleReplicaSpecs":{"Worker":{"template":{"spec":{"containers":[{"name":"paddle","image":"i"}]}}}}}})");
  ASSERT_TRUE(world.Start());
  EXPECT_EQ(world.Condition("Failed"), "");
  EXPECT_EQ(world.LastCondition(), "Running");
}

TEST(KubeflowLife, RestartsAreCountedOverJobs) {
  PaddleWorld world(Workers(1));
  ASSERT_TRUE(world.Start());
  for (int i = 1; i <= 2; ++i) {
    world.DeleteJob();
    ASSERT_TRUE(world.Settle());
    ASSERT_TRUE(world.ComeBack());
    EXPECT_EQ(world.job().metadata.annotations.at("paddle.gangway.io/restarts"), absl::StrCat(i));
    EXPECT_EQ(world.job().spec.max_retry, 4 - i);
  }
}

// This status has no other place for their number.
TEST(KubeflowLife, RestartsStandBehindWhatIsSaidOfTheTranslation) {
  PaddleWorld world(Workers(1, R"("schedulingPolicy":{"minResources":{"cpu":"1"}})"));
  const auto translated = [&] {
    const auto status = world.kubeflow_status();
    return status.conditions.front().message;
  };
  ASSERT_TRUE(world.Start());
  const std::string said = translated();
  EXPECT_THAT(said, ::testing::StartsWith("W-MIN-RESOURCES"));
  world.DeleteJob();
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(translated(), "its Job was deleted [restarts 1]");
  ASSERT_TRUE(world.ComeBack());
  EXPECT_EQ(translated(), said + " [restarts 1]");
  world.SetAll("Succeeded");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(translated(), said + " [restarts 1]");
}

TEST(KubeflowLife, OneThatEndedBeforeWeCameIsLeftAlone) {
  PaddleWorld world(Workers(1));
  world.Edit(
      R"({"status":{"conditions":[{"type":"Created","status":"True"},{"type":"Succeeded","status":"True","reason":"PaddleJobSucceeded"}]}})");
  world.Step();
  EXPECT_THAT(world.writes(), IsEmpty());
}

TEST(KubeflowLife, ElasticWorkersAreScaled) {
  std::string text = KubeflowJobText("kf", {{"Worker", Role(3, "OnFailure")}});
  text.insert(text.find("\"runPolicy\""), R"("elasticPolicy":{"minReplicas":2,"maxReplicas":4},)");
  PaddleWorld world(text);
  ASSERT_TRUE(world.Start());
  const std::string job = world.job().metadata.uid;
  world.Edit(R"({"spec":{"paddleReplicaSpecs":{"Worker":{"replicas":4}}}})");  // as `kubectl scale` and autoscalers do
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.job().metadata.uid, job);
  EXPECT_THAT(world.Pods(), SizeIs(4));
}

TEST(KubeflowLife, AnElasticPolicyThatNoEtcdServesReplacesNothing) {
  std::string text = KubeflowJobText("kf", {{"Worker", Role(3, "OnFailure")}});
  text.insert(text.find("\"runPolicy\""), R"("elasticPolicy":{},)");
  PaddleWorld world(text);
  world.options.elastic_etcd.clear();
  ASSERT_TRUE(world.Start());
  const std::string job = world.job().metadata.uid;
  world.Edit(R"({"spec":{"runPolicy":{"cleanPodPolicy":"All"}}})");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.job().metadata.uid, job);
  EXPECT_EQ(world.LastCondition(), "Running");
}

TEST(KubeflowLife, ElasticWorkersWithoutBoundsAreScaled) {
  std::string text = KubeflowJobText("kf", {{"Worker", Role(3, "OnFailure")}});
  text.insert(text.find("\"runPolicy\""), R"("elasticPolicy":{},)");
  PaddleWorld world(text);
  ASSERT_TRUE(world.Start());
  const std::string job = world.job().metadata.uid;
  for (const int replicas : {5, 1}) {
    world.Edit(absl::StrCat(R"({"spec":{"paddleReplicaSpecs":{"Worker":{"replicas":)", replicas, "}}}}"));
    ASSERT_TRUE(world.Settle());
    world.DeletedPodsGo();
    ASSERT_TRUE(world.Settle());
    EXPECT_THAT(world.Pods(), SizeIs(replicas));
  }
  EXPECT_EQ(world.job().metadata.uid, job);
}

}  // namespace
}  // namespace gangway::testutil
