// The rows H of tests/spec/paddle.rows, and what stands beside them: edits, scaling, restarts, names that are taken.
// Both controllers at work.
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
using ::testing::Not;
using ::testing::SizeIs;

std::string Servers(int ps, int workers, const std::string& extra = "", const std::string& annotations = "") {
  return PaddleJobText("wd", {{"ps", RoleText(ps)}, {"worker", RoleText(workers)}}, extra, annotations);
}
std::string Workers(int n, const std::string& extra = "", const std::string& annotations = "") {
  return PaddleJobText("wd", {{"worker", RoleText(n)}}, extra, annotations);
}
std::string Elastic(int n, const std::string& annotations = "") {
  std::string role = RoleText(n);
  role.insert(1, R"("requests":2,"limits":4,)");
  return PaddleJobText("wd", {{"worker", role}}, "\"elastic\":1", annotations);
}
std::string EnvOf(const PaddleWorld& world, const std::string& pod, const std::string& name) {
  for (const json::value& variable : world.Object("pods", pod).at("spec").at("containers").at(0).at("env").as_array()) {
    if (variable.at("name") == boost::json::string_view(name)) return json::value_to<std::string>(variable.at("value"));
  }
  return {};
}

TEST(PaddleLife, H1ServersAndWorkersAreEdited) {
  PaddleWorld world(Servers(3, 2));
  ASSERT_TRUE(world.Start());
  ASSERT_EQ(world.status().ps->refs.size(), 3u);
  world.Edit(R"({"spec":{"ps":{"replicas":1},"worker":{"replicas":4}}})");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Restarting");
  EXPECT_THAT(world.status().message, HasSubstr("ps=3,worker=2 -> ps=1,worker=4"));
  EXPECT_EQ(world.CountEvents("Restarting"), 1);
  EXPECT_EQ(world.CountEvents("Restarting", "restart 0"), 0) << "an edit has no number";
  ASSERT_TRUE(world.ComeBack());
  EXPECT_EQ(world.phase(), "Running");
  EXPECT_EQ(world.status().mode, "PS");
  EXPECT_THAT(world.Pods(), SizeIs(5));
  EXPECT_THAT(world.status().ps->refs, SizeIs(1));
  EXPECT_THAT(world.status().worker->refs, SizeIs(4));
  EXPECT_EQ(EnvOf(world, "wd-worker-3", "PADDLE_PSERVERS_IP_PORT_LIST"), "wd-ps-0.wd:36000");
  EXPECT_EQ(EnvOf(world, "wd-ps-0", "PADDLE_TRAINERS_NUM"), "4");
  EXPECT_EQ(world.status().restarts, 0);  // an edit is no failure
  EXPECT_EQ(world.status().observed_generation, 2);
}

TEST(PaddleLife, E16ScaledFromTwoWorkersToFour) {
  PaddleWorld world(Servers(2, 2));
  ASSERT_TRUE(world.Start());
  EXPECT_EQ(world.job().spec.min_available, 4);
  world.Edit(R"({"spec":{"worker":{"replicas":4}}})");
  ASSERT_TRUE(world.Settle());
  ASSERT_TRUE(world.ComeBack());
  EXPECT_EQ(world.phase(), "Running");
  EXPECT_EQ(world.job().spec.min_available, 6);
  EXPECT_EQ(world.Read<api::volcano::PodGroup>("podgroups", world.GroupName()).spec.min_member, 6);
}

TEST(PaddleLife, H2ElasticGrows) {
  PaddleWorld world(Elastic(3));
  ASSERT_TRUE(world.Start());
  ASSERT_EQ(world.phase(), "Running");
  EXPECT_EQ(world.status().elastic, "NONE");
  const std::string uid = world.PodUid("wd-worker-0"), job = world.job().metadata.uid;
  world.Edit(R"({"spec":{"worker":{"replicas":4}}})");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Scaling");
  EXPECT_EQ(world.status().elastic, "DOING");
  world.SetPod("wd-worker-3", "Running");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Running");
  EXPECT_EQ(world.status().elastic, "DONE");
  EXPECT_EQ(world.status().worker->ready, "4/4");
  EXPECT_EQ(world.PodUid("wd-worker-0"), uid);
  EXPECT_EQ(world.job().metadata.uid, job);
}

TEST(PaddleLife, H3ElasticShrinks) {
  PaddleWorld world(Elastic(4));
  ASSERT_TRUE(world.Start());
  world.Edit(R"({"spec":{"worker":{"replicas":2}}})");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Scaling");
  EXPECT_THAT(world.Pods(),
              ElementsAre("worker-0 Running", "worker-1 Running", "worker-2 -Running", "worker-3 -Running"));
  world.DeletedPodsGo();
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Running");
  EXPECT_EQ(world.status().restarts, 0);
  EXPECT_EQ(world.JobPhase(), "Running");
}

TEST(PaddleLife, ElasticOutsideOfItsBoundsIsRefusedAndRunsOn) {
  PaddleWorld world(Elastic(3));
  ASSERT_TRUE(world.Start());
  world.Edit(R"({"spec":{"worker":{"replicas":9}}})");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Running");
  EXPECT_THAT(world.status().message, HasSubstr("E-ELASTIC"));
  EXPECT_EQ(world.Told("Translated").status, "False");
  EXPECT_THAT(world.Pods(), SizeIs(3));
  world.Edit(R"({"spec":{"worker":{"replicas":3}}})");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.Told("Translated").status, "True");
  EXPECT_EQ(world.status().message, "");
  // With other bounds it is another world for the workers.
  world.Edit(R"({"spec":{"worker":{"replicas":5,"limits":6}}})");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Restarting");
  ASSERT_TRUE(world.ComeBack());
  EXPECT_EQ(world.status().worker->ready, "5/5");
}

std::string Unbounded(int n, const std::string& extra = "") {
  return PaddleJobText("wd", {{"worker", RoleText(n)}}, absl::StrCat("\"elastic\":1", extra));
}

TEST(PaddleLife, ElasticWithoutBoundsIsScaledWithoutARestart) {
  PaddleWorld world(Unbounded(3));
  ASSERT_TRUE(world.Start());
  EXPECT_EQ(world.job().spec.min_available, 3) << "all of them start together";
  EXPECT_EQ(EnvOf(world, "wd-worker-0", "PADDLE_NNODES"), "1:1000");
  const std::string job = world.job().metadata.uid, pod = world.PodUid("wd-worker-0");
  const auto scale = [&](int replicas) {
    world.Edit(absl::StrCat(R"({"spec":{"worker":{"replicas":)", replicas, "}}}"));
    ASSERT_TRUE(world.Settle());
    EXPECT_EQ(world.phase(), "Scaling") << replicas;
    world.DeletedPodsGo();
    world.SetAll("Running");
    ASSERT_TRUE(world.Settle());
    EXPECT_EQ(world.phase(), "Running") << replicas;
    EXPECT_EQ(world.JobPhase(), "Running") << replicas;
    EXPECT_EQ(world.status().worker->ready, absl::StrCat(replicas, "/", replicas));
    EXPECT_EQ(world.status().elastic, "DONE");
  };
  scale(5);
  EXPECT_EQ(world.job().spec.min_available, 3) << "the new ones may come later";
  scale(1);
  EXPECT_EQ(world.job().spec.min_available, 1);
  EXPECT_EQ(world.job().spec.tasks[0].min_available, 1);
  EXPECT_EQ(world.Read<api::volcano::PodGroup>("podgroups", world.GroupName()).spec.min_member, 1);
  scale(4);
  EXPECT_EQ(world.job().metadata.uid, job);
  EXPECT_EQ(world.PodUid("wd-worker-0"), pod);
  EXPECT_EQ(world.status().restarts, 0);
  EXPECT_EQ(world.CountEvents("Restarting"), 0);
  EXPECT_EQ(world.CountEvents("Scaling"), 3);
}

// A run that was made for three: with a bound of it left out, or by a release that took the replicas for both.
TEST(PaddleLife, ElasticThatCannotBeScaledInPlaceSaysSoAndStartsAnew) {
  for (const char* bound : {"requests", "limits", ""}) {
    PaddleWorld world(Unbounded(3));
    world.Edit(R"({"spec":{"worker":{"requests":3,"limits":3}}})");
    ASSERT_TRUE(world.Start());
    const std::string job = world.job().metadata.uid;
    world.Edit(*bound != '\0' ? absl::StrCat(R"({"spec":{"worker":{")", bound, R"(":null}}})")
                              : R"({"spec":{"worker":{"requests":null,"limits":null}}})");
    ASSERT_TRUE(world.Settle());
    EXPECT_EQ(world.job().metadata.uid, job) << "the same as before";
    const bool grows = std::string(bound) != "requests";
    world.Edit(grows ? R"({"spec":{"worker":{"replicas":4}}})" : R"({"spec":{"worker":{"replicas":2}}})");
    ASSERT_TRUE(world.Settle());
    EXPECT_EQ(world.phase(), "Restarting") << bound;
    EXPECT_EQ(world.CountEvents("Restarting", grows ? "workers: 3 -> 4, and this run trains with 3 to 3, so the job "
                                                      "starts anew (worker.requests and worker.limits"
                                                    : "workers: 3 -> 2, and this run trains with 3 to 3"),
              1)
        << bound;
    ASSERT_TRUE(world.ComeBack());
    EXPECT_NE(world.job().metadata.uid, job);
    EXPECT_EQ(world.phase(), "Running");
    EXPECT_EQ(world.status().restarts, 0);
  }
}

TEST(PaddleLife, ElasticIsNotScaledBelowItsMinAvailable) {
  PaddleWorld world(Unbounded(3, R"(,"schedulingPolicy":{"minAvailable":2})"));
  ASSERT_TRUE(world.Start());
  world.Edit(R"({"spec":{"worker":{"replicas":1}}})");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Running");
  EXPECT_THAT(world.status().message, HasSubstr("E-MIN-AVAILABLE"));
  EXPECT_THAT(world.Pods(), SizeIs(3));
}

TEST(PaddleLife, H5AWorkerIsDeleted) {
  PaddleWorld world(Workers(2));
  ASSERT_TRUE(world.Start());
  const std::string uid = world.PodUid("wd-worker-0"),
                    endpoints = EnvOf(world, "wd-worker-0", "PADDLE_TRAINER_ENDPOINTS");
  world.DeletePod("wd-worker-1");
  world.DeletedPodsGo();
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Restarting");
  ASSERT_TRUE(world.ComeBack());
  EXPECT_EQ(world.phase(), "Running");
  EXPECT_EQ(world.status().restarts, 1);
  EXPECT_NE(world.PodUid("wd-worker-0"), uid);
  EXPECT_EQ(EnvOf(world, "wd-worker-0", "PADDLE_TRAINER_ENDPOINTS"), endpoints);
}

TEST(PaddleLife, H6AWorkerIsPreemptedAndExits1) {
  PaddleWorld world(Workers(2));
  ASSERT_TRUE(world.Start());
  world.SetPod("wd-worker-1", "Failed", 1);
  world.Disrupt("wd-worker-1", "PreemptionByScheduler");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.JobPhase(), "Running");
  world.Pass(absl::Seconds(3));
  world.DeletePod("wd-worker-1");  // it had ended: it goes at once
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Restarting");
  EXPECT_EQ(world.status().restarts, 1);
}

TEST(PaddleLife, H7AWorkerExits1) {
  PaddleWorld world(Workers(2));
  ASSERT_TRUE(world.Start());
  world.SetPod("wd-worker-1", "Failed", 1, "Error");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Running");
  EXPECT_EQ(world.status().message, "wd-worker-1 exit 1");
  world.Pass(absl::Seconds(10));
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.JobPhase(), "Terminating");
  EXPECT_EQ(world.phase(), "Failed");
  EXPECT_EQ(world.status().message, "wd-worker-1 exit 1");
  world.DeletedPodsGo();
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.JobPhase(), "Terminated");
  EXPECT_TRUE(world.status().completion_time.set());
  EXPECT_EQ(world.status().message, "wd-worker-1 exit 1");
  EXPECT_EQ(world.CountEvents("Failed", "wd-worker-1 exit 1"), 1);
}

TEST(PaddleLife, H8ServersEndByThemselves) {
  PaddleWorld world(Servers(2, 2, "\"cleanPodPolicy\":\"Never\""));
  ASSERT_TRUE(world.Start());
  world.SetPod("wd-worker-0", "Succeeded");
  world.SetPod("wd-worker-1", "Succeeded");
  ASSERT_TRUE(world.Settle());
  world.Pass(absl::Seconds(3));
  world.SetPod("wd-ps-0", "Succeeded");
  world.SetPod("wd-ps-1", "Succeeded");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Completed");
  EXPECT_THAT(world.Pods(),
              ElementsAre("ps-0 Succeeded", "ps-1 Succeeded", "worker-0 Succeeded", "worker-1 Succeeded"));
}

TEST(PaddleLife, H9ServersNeverEnd) {
  PaddleWorld world(Servers(1, 1, "\"cleanPodPolicy\":\"Never\""));
  ASSERT_TRUE(world.Start());
  world.SetPod("wd-worker-0", "Succeeded");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Running");
  world.Pass(absl::Seconds(9));
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Running");
  world.Pass(absl::Seconds(1));
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Completing");
  world.DeletedPodsGo();
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Completed");
}

TEST(PaddleLife, H10FourEvictions) {
  PaddleWorld world(Workers(2));
  ASSERT_TRUE(world.Start());
  for (int i = 1; i <= 3; ++i) {
    world.DeletePod("wd-worker-1");
    world.DeletedPodsGo();
    ASSERT_TRUE(world.Settle());
    ASSERT_TRUE(world.ComeBack());
    EXPECT_EQ(world.phase(), "Running");
    EXPECT_EQ(world.status().restarts, i);
  }
  world.SetPod("wd-worker-0", "Succeeded");
  world.DeletePod("wd-worker-1");
  world.DeletedPodsGo();
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Failed");
  EXPECT_EQ(world.status().restarts, 3);  // the fourth is none
  EXPECT_EQ(world.job().spec.max_retry, 4);
  EXPECT_THAT(world.Pods(), ElementsAre("worker-0 Succeeded"));
}

TEST(PaddleLife, H11TheQueueIsTooSmall) {
  PaddleWorld world(Workers(2));
  ASSERT_TRUE(world.Settle());
  world.SetGroupPhase("Pending");
  // Refused at the door: nothing but an event on the PodGroup says so.
  world.group_event = "queue default has room for 1 of 2 cpu";
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Pending");
  EXPECT_THAT(world.Pods(), IsEmpty());
  EXPECT_EQ(world.Told("Scheduled").status, "False");
  EXPECT_EQ(world.Told("Scheduled").message, world.group_event);
  EXPECT_EQ(world.status().message, world.group_event);
  // Let in, and no node has room: a condition.
  world.SetGroupPhase("Inqueue");
  world.GroupCondition("Unschedulable", "NotEnoughResources", "2/2 tasks in gang unschedulable");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.Told("Scheduled").reason, "NotEnoughResources");
  EXPECT_EQ(world.status().message, "2/2 tasks in gang unschedulable");
}

TEST(PaddleLife, H12IsDeleted) {
  PaddleWorld world(Servers(1, 1));
  ASSERT_TRUE(world.Start());
  world.DeletePaddleJob();
  world.ForgetWrites();
  world.Settle();
  EXPECT_EQ(world.phase(), "Terminating");
  world.DeletedPodsGo();
  world.Settle();
  for (const char* plural : {"paddlejobs", "jobs", "pods", "services", "configmaps", "podgroups"})
    EXPECT_THAT(world.Names(plural), IsEmpty()) << plural;
  EXPECT_FALSE(world.Wrote("delete jobs wd"));  // its owner references do it
}

TEST(PaddleLife, TheOperatorsFinalizerStandsForNoWork) {
  PaddleWorld world(Workers(1));
  ASSERT_TRUE(world.Settle());
  world.Edit(R"({"metadata":{"finalizers":["finalizers.paddlepaddle.org","foregroundDeletion"]}})");
  world.DeletePaddleJob();
  world.Step();
  EXPECT_THAT(world.paddle().metadata.finalizers, ElementsAre("foregroundDeletion"));
}

TEST(PaddleLife, H13ASingleJobOnADrainedNode) {
  PaddleWorld world(Workers(1));
  ASSERT_TRUE(world.Start());
  EXPECT_EQ(world.status().mode, "Single");
  world.SetPod("wd-worker-0", "Failed", 143);
  ASSERT_TRUE(world.Settle());
  EXPECT_THAT(world.phases(), Contains("Restarting"));  // at once, by the exit code
  EXPECT_EQ(world.status().restarts, 1);
}

TEST(PaddleLife, H14AllFailOnADrainedNode) {
  PaddleWorld world(Workers(2));
  ASSERT_TRUE(world.Start());
  world.has_job_controller = false;
  for (const char* pod : {"wd-worker-0", "wd-worker-1"}) {
    world.SetPod(pod, "Failed", 1);
    world.Disrupt(pod);
  }
  world.PatchJob(R"({"status":{"failed":2}})");
  world.SetJobPhase("Failed");  // a look at the pods won the race
  world.has_job_controller = true;
  ASSERT_TRUE(world.Settle());
  EXPECT_THAT(world.phases(), Not(Contains("Failed")));
  EXPECT_EQ(world.status().restarts, 1);
  ASSERT_TRUE(world.ComeBack());
  EXPECT_EQ(world.phase(), "Running");
  EXPECT_EQ(world.status().restarts, 1);
  EXPECT_EQ(world.job().spec.max_retry, 3);  // one is spent
}

TEST(PaddleLife, OnePodThatFailedByItselfIsAFailure) {
  PaddleWorld world(Workers(2));
  ASSERT_TRUE(world.Start());
  world.has_job_controller = false;
  world.SetPod("wd-worker-0", "Failed", 1);
  world.Disrupt("wd-worker-0");
  world.PatchJob(R"({"status":{"failed":2}})");
  world.SetJobPhase("Failed");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Running");  // the Job knows of two, and we of one: the other is looked for
  EXPECT_LE(world.look_again(), world.now() + absl::Seconds(1));
  world.SetPod("wd-worker-1", "Failed", 1);
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Failed");
}

TEST(PaddleLife, PodsThatCannotBeFoundAreNotWaitedForForEver) {
  PaddleWorld world(Workers(2));
  ASSERT_TRUE(world.Start());
  world.has_job_controller = false;
  world.PatchJob(R"({"status":{"failed":2,"state":{"message":"Job is Failed: too many pods failed"}}})");
  world.SetJobPhase("Failed");
  world.PodGone("wd-worker-0");
  world.PodGone("wd-worker-1");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Running");
  world.Pass(absl::Seconds(10));
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Failed");
  EXPECT_EQ(world.status().message, "Job is Failed: too many pods failed") << "nothing else is known";
}

TEST(PaddleLife, H15OutOfMemoryEachTime) {
  PaddleWorld world(Workers(1));
  ASSERT_TRUE(world.Start());
  for (int i = 1; i <= 3; ++i) {
    world.SetPod("wd-worker-0", "Failed", 137, "OOMKilled");
    ASSERT_TRUE(world.Settle());
    EXPECT_EQ(world.status().restarts, i);
    ASSERT_TRUE(world.ComeBack());
    ASSERT_EQ(world.phase(), "Running");
  }
  world.SetPod("wd-worker-0", "Failed", 137, "OOMKilled");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Failed");
  EXPECT_EQ(world.status().restarts, 3);
  EXPECT_EQ(world.status().message, "wd-worker-0 exit 137 (OOMKilled)");
}

TEST(PaddleLife, H16AnElasticWorkerFails) {
  PaddleWorld world(Elastic(3));
  ASSERT_TRUE(world.Start());
  const std::string other = world.PodUid("wd-worker-0"), was = world.PodUid("wd-worker-1");
  world.SetPodStatus("wd-worker-1", R"({"phase":"Failed","reason":"Evicted","message":"the node was low on memory"})");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Scaling");
  EXPECT_NE(world.PodUid("wd-worker-1"), was);  // the same index, made anew
  EXPECT_EQ(world.PodUid("wd-worker-0"), other);
  EXPECT_EQ(world.status().restarts, 1);
  EXPECT_EQ(world.CountEvents("WorkerReplaced"), 1);
  world.SetPod("wd-worker-1", "Running");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Running");
  EXPECT_EQ(world.JobPhase(), "Running");
}

TEST(PaddleLife, AnElasticWorkerIsNotReplacedForEver) {
  PaddleWorld world(Elastic(3, "\"paddle.gangway.io/max-restarts\":\"2\""));
  ASSERT_TRUE(world.Start());
  constexpr std::int32_t most = 2;
  for (int i = 1; i <= most; ++i) {
    const std::string failed = world.PodUid("wd-worker-1");
    world.SetPod("wd-worker-1", "Failed", 1);
    ASSERT_TRUE(world.Settle());
    EXPECT_EQ(world.job().metadata.annotations.at("paddle.gangway.io/replaced"), absl::StrCat(i, " ", failed))
        << "it does not grow with each";
    world.SetPod("wd-worker-1", "Running");
    ASSERT_TRUE(world.Settle());
  }
  EXPECT_EQ(world.CountEvents("WorkerReplaced", "pod wd-worker-1 has failed and is made anew; at most 2 are"), most);
  world.SetPod("wd-worker-1", "Failed", 1);
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.status().restarts, most);
  EXPECT_EQ(world.status().elastic, "ERROR");
  EXPECT_EQ(world.Pods()[1], "worker-1 Failed");
}

TEST(PaddleLife, H17DeletedAndMadeAgainAtOnce) {
  PaddleWorld world(Servers(1, 1));
  ASSERT_TRUE(world.Start());
  const std::string old = world.job().metadata.uid;
  world.ForgetPaddleJob();
  world.Apply(Servers(1, 1));  // before anything of the first has gone
  world.Step();
  EXPECT_EQ(world.phase(), "Pending");
  EXPECT_THAT(world.status().message, HasSubstr("job.batch.volcano.sh wd of an earlier job"));
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Pending");
  EXPECT_THAT(world.status().message, HasSubstr("of an earlier job"));  // pods have their grace
  ASSERT_TRUE(world.ComeBack());
  EXPECT_EQ(world.phase(), "Running");
  EXPECT_NE(world.job().metadata.uid, old);
  EXPECT_EQ(world.status().restarts, 0);
}

TEST(PaddleLife, H18AServerFailsInItsGrace) {
  PaddleWorld world(Servers(1, 2));
  ASSERT_TRUE(world.Start());
  world.SetPod("wd-worker-0", "Succeeded");
  world.SetPod("wd-worker-1", "Succeeded");
  ASSERT_TRUE(world.Settle());
  world.Pass(absl::Seconds(3));
  world.SetPod("wd-ps-0", "Failed", 1);
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Failed");
}

TEST(PaddleLife, H19WithoutGraceTheServersDoNotMatter) {
  PaddleWorld world(Servers(1, 2, "", "\"paddle.gangway.io/server-grace\":\"0\""));
  ASSERT_TRUE(world.Start());
  world.SetPod("wd-worker-0", "Succeeded");
  world.SetPod("wd-worker-1", "Succeeded");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Completing");
  world.SetPod("wd-ps-0", "Failed", 1);
  world.DeletedPodsGo();
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Completed");
}

}  // namespace
}  // namespace gangway::testutil
