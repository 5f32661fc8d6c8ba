// The life of a Job, scene by scene, against what Volcano was recorded to do (tests name the recording where there is
// one).
#include "plugin/lifecycle/job/reconcile_job.h"

#include "api/volcano/release.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/plugin/lifecycle/job/world.h"

namespace gangway::lifecycle {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::UnorderedElementsAre;
using testutil::JobText;
using testutil::World;

const char kRestartOnLoss[] =
    R"("policies":[{"event":"PodEvicted","action":"RestartJob"},{"event":"PodFailed","action":"RestartJob"}])";
const char kCompleteOnTask[] = R"("policies":[{"event":"TaskCompleted","action":"CompleteJob"}])";

// The seed job, short: two servers, two trainers.
World Seed(const std::string& extra = "") {
  return World(JobText(
      "ctr", 4,
      {{"pserver", 2, R"("minAvailable":2)"}, {"trainer", 2, absl::StrCat(R"("minAvailable":2,)", kCompleteOnTask)}},
      absl::StrCat(kRestartOnLoss, extra)));
}

// --- tests/golden/volcano/seed-ctr-volcano

TEST(SeedJobTest, PodsWaitForTheGangToBeLetIn) {
  World world = Seed();
  ASSERT_TRUE(world.Settle());
  EXPECT_THAT(world.writes(), ElementsAre("patch jobs/status ctr", "create podgroups ctr-job-uid"));
  world.SetGroupPhase("Pending");
  ASSERT_TRUE(world.Settle());
  EXPECT_THAT(world.Names("pods"), IsEmpty());
  world.SetGroupPhase("Inqueue");
  ASSERT_TRUE(world.Settle());
  EXPECT_THAT(world.Pods(), ElementsAre("pserver-0 Pending v0", "pserver-1 Pending v0", "trainer-0 Pending v0",
                                        "trainer-1 Pending v0"));
  EXPECT_EQ(world.job().status.pending, 4);
}

// --- The first status

World PatientSeed(const std::string& extra = "") {
  World world = Seed(extra);
  world.first_status_patience = absl::Seconds(2);
  return world;
}

TEST(FirstStatusTest, OfAJobThatGoesOnItTellsOfThePods) {
  World world = PatientSeed();
  ASSERT_TRUE(world.Settle());
  EXPECT_THAT(world.writes(), ElementsAre("create podgroups ctr-job-uid"));
  EXPECT_EQ(world.look_again(), world.now() + absl::Seconds(2));
  world.Pass(absl::Milliseconds(1900));
  world.SetGroupPhase("Inqueue");
  ASSERT_TRUE(world.Settle());
  EXPECT_THAT(world.writes(),
              ElementsAre("create podgroups ctr-job-uid", "create pods ctr-pserver-0", "create pods ctr-pserver-1",
                          "create pods ctr-trainer-0", "create pods ctr-trainer-1", "patch jobs/status ctr"));
  EXPECT_EQ(world.phase(), "Pending");
  EXPECT_EQ(world.job().status.pending, 4);
  EXPECT_EQ(world.job().status.min_available, 4);
  world.RunAll();
  ASSERT_TRUE(world.Settle());
  EXPECT_THAT(world.phases(), ElementsAre("Pending", "Running"));
}

TEST(FirstStatusTest, WhoWaitsSaysSoALittleLater) {
  World world = PatientSeed();
  ASSERT_TRUE(world.Settle());
  world.SetGroupPhase("Pending");
  world.Pass(absl::Seconds(2));
  ASSERT_TRUE(world.Settle());
  EXPECT_THAT(world.writes(), ElementsAre("create podgroups ctr-job-uid", "patch jobs/status ctr"));
  EXPECT_EQ(world.phase(), "Pending");
}

// Time is counted from the PodGroup: an API server at work makes it late. Let in, its pods are about to come.
TEST(FirstStatusTest, ABusyAPIServerIsWaitedFor) {
  World world = PatientSeed();
  world.Pass(absl::Seconds(1));
  ASSERT_EQ(world.Step(), 1);
  world.Pass(absl::Milliseconds(1900));
  EXPECT_EQ(world.Step(), 0);
  world.SetGroupPhase("Inqueue");
  world.Pass(absl::Seconds(3));
  EXPECT_EQ(world.Step(4), 4);
  EXPECT_THAT(world.writes(), Not(Contains("patch jobs/status ctr")));
}

TEST(FirstStatusTest, WhosePodsAreRefusedSaysSo) {
  World world = PatientSeed();
  ASSERT_TRUE(world.Settle());
  world.SetGroupPhase("Inqueue");
  world.Step(0);  // none is made
  world.Pass(absl::Seconds(6));
  EXPECT_EQ(world.Step(1), 1);
  EXPECT_EQ(world.phase(), "Pending");
}

TEST(FirstStatusTest, OfAJobThatWaitsItLetsOthersGoFirst) {
  World world = PatientSeed();
  ASSERT_TRUE(world.Settle());
  world.SetGroupPhase("Pending");
  world.Pass(absl::Seconds(2));
  EXPECT_THAT(world.Decide().stages,
              ElementsAre(ElementsAre(AllOf(Field("subresource", &kube::Write::subresource, "status"),
                                            Field("yields", &kube::Write::yields, true)))));
}

// It is the record of them.
TEST(FirstStatusTest, OfPodsThatAreMadeItLetsNobodyGoFirst) {
  World world = PatientSeed();
  ASSERT_TRUE(world.Settle());
  world.SetGroupPhase("Inqueue");
  ASSERT_EQ(world.Step(4), 4);
  EXPECT_THAT(world.Decide().stages,
              ElementsAre(ElementsAre(AllOf(Field("subresource", &kube::Write::subresource, "status"),
                                            Field("yields", &kube::Write::yields, false)))));
}

// Secrets are known by the status alone.
TEST(FirstStatusTest, BeforeASecretItIsThere) {
  World world = PatientSeed(R"(,"plugins":{"ssh":[]})");
  EXPECT_GT(world.Step(1), 0);
  EXPECT_THAT(world.writes(), ElementsAre("patch jobs/status ctr"));
}

TEST(SeedJobTest, CountsAloneWaitAndWhatElseChangesDoesNot) {
  World world = Seed();
  ASSERT_TRUE(world.Start());
  world.status_written = world.now();
  world.SetPod("ctr-trainer-0", "Succeeded");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.job().status.succeeded, 0);
  EXPECT_EQ(world.look_again(), world.now() + absl::Seconds(1));
  world.Pass(absl::Seconds(1));
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.job().status.succeeded, 1);
  world.status_written = world.now();
  world.SetPod("ctr-trainer-1", "Succeeded");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Completing");
  EXPECT_EQ(world.job().status.succeeded, 2);
}

TEST(SeedJobTest, RunsToCompletedAndStaysQuiet) {
  World world = Seed();
  ASSERT_TRUE(world.Start());
  EXPECT_EQ(world.phase(), "Running");
  world.SetPod("ctr-trainer-0", "Succeeded");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Running");
  EXPECT_EQ(world.job().status.succeeded, 1);
  world.SetPod("ctr-trainer-1", "Succeeded");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Completing");
  EXPECT_EQ(world.job().status.terminating, 2);
  EXPECT_FALSE(world.Exists("podgroups", "ctr-job-uid"));
  world.AllDeletedGone();
  ASSERT_TRUE(world.Settle());
  EXPECT_THAT(world.phases(), ElementsAre("Pending", "Running", "Completing", "Completed"));
  EXPECT_THAT(world.Pods(), ElementsAre("trainer-0 Succeeded v0", "trainer-1 Succeeded v0"));
  EXPECT_EQ(world.job().status.succeeded, 2);
  EXPECT_EQ(world.job().status.version, 1);
  EXPECT_EQ(world.job().status.retry_count, 0);
  EXPECT_TRUE(
      world.HasEvent("ExecuteAction", "Start to execute action CompleteJob: all pods of task trainer succeeded"));

  const std::size_t writes = world.writes().size();
  world.Pass(absl::Hours(1));
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.writes().size(), writes) << "a finished Job is quiet";
  EXPECT_EQ(world.look_again(), absl::InfiniteFuture());
}

TEST(SeedJobTest, CountsSurviveTheEndEvenWhenPodsAreRemoved) {
  World world = Seed();
  ASSERT_TRUE(world.Start());
  world.SetPod("ctr-trainer-0", "Succeeded");
  world.SetPod("ctr-trainer-1", "Succeeded");
  ASSERT_TRUE(world.Settle());
  world.AllDeletedGone();
  ASSERT_TRUE(world.Settle());
  world.DeletePod("ctr-trainer-0");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.job().status.succeeded, 2);
  EXPECT_EQ(world.phase(), "Completed");
}

TEST(SeedJobTest, ConditionsAreOnePerPhaseNewestLast) {
  World world = Seed();
  ASSERT_TRUE(world.Start());
  world.Pass(absl::Seconds(5));
  world.DeletePod("ctr-trainer-0");
  world.PodGone("ctr-trainer-0");
  ASSERT_TRUE(world.Settle());
  ASSERT_TRUE(world.ComeBack());
  std::vector<std::string> conditions;
  for (const auto& condition : world.job().status.conditions) conditions.push_back(condition.status);
  EXPECT_THAT(conditions, ElementsAre("Restarting", "Pending", "Running"));
  EXPECT_EQ(world.job().status.state.last_transition_time.at, world.now());
}

// --- tests/golden/volcano/seed-evict

TEST(SeedJobTest, AnEvictionRestartsWhenThePodIsGoneNotBefore) {
  World world = Seed();
  ASSERT_TRUE(world.Start());
  world.DeletePod("ctr-trainer-0");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Running");
  EXPECT_EQ(world.job().status.terminating, 1);
  world.PodGone("ctr-trainer-0");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Restarting");
  EXPECT_EQ(world.job().status.version, 1);
  EXPECT_EQ(world.job().status.retry_count, 1);
  EXPECT_EQ(world.job().status.terminating, 3);
  EXPECT_THAT(world.writes(), Contains("delete podgroups ctr-job-uid"));
  EXPECT_TRUE(
      world.HasEvent("ExecuteAction",
                     "Start to execute action RestartJob: pod ctr-trainer-0 was deleted; restart 1 of 2 (maxRetry 3)"));
}

TEST(SeedJobTest, ThreeLossesEndInFailedWithTheFailedPodKept) {
  World world = Seed();
  ASSERT_TRUE(world.Start());
  world.DeletePod("ctr-trainer-0");
  world.PodGone("ctr-trainer-0");
  ASSERT_TRUE(world.Settle());
  ASSERT_TRUE(world.ComeBack());
  EXPECT_THAT(world.Pods(), ElementsAre("pserver-0 Running v1", "pserver-1 Running v1", "trainer-0 Running v1",
                                        "trainer-1 Running v1"));
  world.DeletePod("ctr-pserver-1");
  world.PodGone("ctr-pserver-1");
  ASSERT_TRUE(world.Settle());
  ASSERT_TRUE(world.ComeBack());
  EXPECT_EQ(world.job().status.version, 2);
  EXPECT_EQ(world.job().status.retry_count, 2);
  world.SetPod("ctr-trainer-1", "Failed", 7);
  ASSERT_TRUE(world.Settle());
  world.AllDeletedGone();
  ASSERT_TRUE(world.Settle());
  EXPECT_THAT(world.phases(), ElementsAre("Pending", "Running", "Restarting", "Pending", "Running", "Restarting",
                                          "Pending", "Running", "Restarting", "Failed"));
  EXPECT_THAT(world.Pods(), ElementsAre("trainer-1 Failed v2"));
  EXPECT_EQ(world.job().status.retry_count, 3);
  EXPECT_EQ(world.job().status.failed, 1);
  EXPECT_FALSE(world.Exists("podgroups", "ctr-job-uid"));
  EXPECT_TRUE(
      world.HasEvent("ExecuteAction", "pod ctr-trainer-1 failed with exit code 7; no restart left of maxRetry 3"));
}

TEST(SeedJobTest, PodsOfTheNewVersionComeAsTheOldOnesGo) {
  World world = Seed();
  ASSERT_TRUE(world.Start());
  world.SetPod("ctr-trainer-0", "Failed", 1);
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Restarting");
  world.SetGroupPhase("Inqueue");
  ASSERT_TRUE(world.Settle());
  EXPECT_THAT(world.Pods(), ElementsAre("pserver-0 -Running v0", "pserver-1 -Running v0", "trainer-0 Pending v1",
                                        "trainer-1 -Running v0"));
  EXPECT_EQ(world.phase(), "Restarting");
  world.AllDeletedGone();
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Pending");
  EXPECT_EQ(world.job().status.retry_count, 1) << "one failure, one retry";
}

TEST(SeedJobTest, AFailureThatIsThenRemovedCountsOnce) {
  World world = Seed();
  ASSERT_TRUE(world.Start());
  world.SetPod("ctr-trainer-0", "Failed", 1);
  ASSERT_TRUE(world.Step() > 0);
  EXPECT_EQ(world.job().status.retry_count, 1);
  ASSERT_TRUE(world.Settle());
  ASSERT_TRUE(world.ComeBack());
  EXPECT_EQ(world.job().status.retry_count, 1);
  EXPECT_EQ(world.job().status.version, 1);
  EXPECT_EQ(world.phase(), "Running");
}

TEST(SeedJobTest, TwoPodsLostTogetherAreOneRetry) {
  World world = Seed();
  ASSERT_TRUE(world.Start());
  for (const char* pod : {"ctr-trainer-0", "ctr-pserver-0"}) {
    world.DeletePod(pod);
    world.PodGone(pod);
  }
  ASSERT_TRUE(world.Settle());
  ASSERT_TRUE(world.ComeBack());
  EXPECT_EQ(world.job().status.retry_count, 1);
  EXPECT_EQ(world.phase(), "Running");
}

TEST(SeedJobTest, CompletionWinsOverALossSeenInTheSameLook) {
  World world = Seed();
  ASSERT_TRUE(world.Start());
  world.SetPod("ctr-trainer-0", "Succeeded");
  world.SetPod("ctr-trainer-1", "Succeeded");
  world.SetPod("ctr-pserver-0", "Failed", 137);
  ASSERT_TRUE(world.Settle());
  world.AllDeletedGone();
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Completed");
  EXPECT_EQ(world.job().status.retry_count, 0);
}

// --- A view that is behind.

TEST(StaleViewTest, ARecordedPodThatHasNotReachedUsIsNoEviction) {
  World world = Seed();
  ASSERT_TRUE(world.Start());
  World other = world;  // the pods it shows are older than the Job
  other.PodGone("ctr-trainer-0");
  other.pods_current = false;
  other.seen_leaving.clear();
  const kube::Plan plan = other.Decide();
  for (const auto& stage : plan.stages) {
    for (const kube::Write& write : stage) EXPECT_EQ(write.subresource, "status") << write.name;
  }
  EXPECT_THAT(plan.events, IsEmpty());
  EXPECT_LE(plan.look_again, other.now() + absl::Seconds(1));
  EXPECT_EQ(other.job().status.retry_count, 0);
}

TEST(StaleViewTest, APodSeenLeavingIsGone) {
  World world = Seed();
  ASSERT_TRUE(world.Start());
  world.pods_current = false;
  world.DeletePod("ctr-trainer-0");
  world.PodGone("ctr-trainer-0");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Restarting");
}

// --- Leftovers of a gang that the scheduler released: no eviction, no retry.

TEST(ReleaseTest, PodsNamedByTheirGroupAreMadeAnewWithoutAnEvent) {
  World world = Seed();
  ASSERT_TRUE(world.Settle());
  world.SetGroupPhase("Inqueue");
  ASSERT_TRUE(world.Settle());
  const std::string uid(world.Object("pods", "ctr-trainer-0").at("metadata").at("uid").as_string());
  world.Condition("GangReleased", absl::StrCat("released 1 of 4 tasks: ... [ctr-trainer-0/", uid, "]"));
  world.PodGone("ctr-trainer-0");  // before we looked: a restart of ours in between
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.job().status.retry_count, 0);
  EXPECT_TRUE(world.Exists("pods", "ctr-trainer-0"));
  EXPECT_THAT(world.phases(), ElementsAre("Pending"));
  // The same release says nothing about the pod that took its place.
  world.RunAll();
  ASSERT_TRUE(world.Settle());
  world.PodGone("ctr-trainer-0");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Restarting");
  EXPECT_EQ(world.job().status.retry_count, 1);
}

TEST(ReleaseTest, APodThatStillIsThereWhenTheReleaseIsSeen) {
  World world = Seed();
  ASSERT_TRUE(world.Settle());
  world.SetGroupPhase("Inqueue");
  ASSERT_TRUE(world.Settle());
  const std::string uid(world.Object("pods", "ctr-trainer-0").at("metadata").at("uid").as_string());
  world.Condition("GangReleased", absl::StrCat("released 1 of 4 tasks: ... [ctr-trainer-0/", uid, "]"));
  ASSERT_TRUE(world.Settle());
  world.DeletePod("ctr-trainer-0");
  ASSERT_TRUE(world.Settle());
  world.PodGone("ctr-trainer-0");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.job().status.retry_count, 0);
  EXPECT_TRUE(world.Exists("pods", "ctr-trainer-0"));
}

// The group's watch may be behind that of the pods: the mark on the pod, seen before it left, is enough.
TEST(ReleaseTest, AMarkedPodSeenLeaving) {
  World world = Seed();
  ASSERT_TRUE(world.Settle());
  world.SetGroupPhase("Inqueue");
  ASSERT_TRUE(world.Settle());
  world.PodGone("ctr-trainer-0");
  world.released_leaving.insert("ctr-trainer-0");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.job().status.retry_count, 0);
  EXPECT_TRUE(world.Exists("pods", "ctr-trainer-0"));
}

// Nor does a controller count on it that sees it for the first time, and has died when it goes.
TEST(ReleaseTest, APodThatIsMarkedWhenItIsFirstSeen) {
  World world = Seed();
  ASSERT_TRUE(world.Settle());
  world.SetGroupPhase("Inqueue");
  ASSERT_EQ(world.Step(4), 4);
  ASSERT_THAT(world.Names("pods"), ::testing::SizeIs(4)) << "and the status does not say so yet";
  world.MarkReleased("ctr-trainer-0");
  ASSERT_TRUE(world.Settle());
  world.PodGone("ctr-trainer-0");
  world.seen_leaving.clear();
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.job().status.retry_count, 0);
  EXPECT_TRUE(world.Exists("pods", "ctr-trainer-0"));
}

// As the scheduler leaves a gang that it evicted: it waits to be let in, and none of its pods is there.
World Evicted(World world) {
  EXPECT_TRUE(world.Start());
  EXPECT_EQ(world.phase(), "Running");
  const std::vector<std::string> pods = world.Names("pods");
  std::vector<api::volcano::ReleasedPod> named;
  for (const std::string& pod : pods)
    named.push_back({pod, std::string(world.Object("pods", pod).at("metadata").at("uid").as_string()), ""});
  world.SetGroupPhase("Pending");
  world.Condition("GangReleased", api::volcano::ReleaseMessage("evicted 4 of 4 tasks: ...", named));
  for (const std::string& pod : pods) world.DeletePod(pod);
  EXPECT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Running") << "its pods are still there";
  for (const std::string& pod : pods) world.PodGone(pod);
  return world;
}

TEST(ReleaseTest, AnEvictedGangThatWaitsMakesItsJobPending) {
  World world = Evicted(Seed());
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Pending");
  EXPECT_EQ(world.job().status.running, 0);
  EXPECT_EQ(world.job().status.retry_count, 0);
  EXPECT_THAT(world.Names("pods"), IsEmpty());
  ASSERT_TRUE(world.ComeBack());
  EXPECT_THAT(world.phases(), ElementsAre("Pending", "Running", "Pending", "Running"));
  EXPECT_EQ(world.job().status.retry_count, 0);
}

// What its gang can do without does not count, nor does a pod that may be there and only not have reached us.
TEST(ReleaseTest, AJobIsPendingForMembersThatAreCertainlyGone) {
  World elastic(JobText("e", 1, {{"w", 2, R"("minAvailable":1)"}}));
  ASSERT_TRUE(elastic.Start());
  elastic.SetGroupPhase("Pending");
  elastic.PodGone("e-w-1");
  ASSERT_TRUE(elastic.Settle());
  EXPECT_EQ(elastic.phase(), "Running");
  elastic.PodGone("e-w-0");
  ASSERT_TRUE(elastic.Settle());
  EXPECT_EQ(elastic.phase(), "Pending");

  World late = Evicted(Seed());
  late.pods_current = false;
  late.seen_leaving.clear();
  ASSERT_TRUE(late.Settle());
  EXPECT_EQ(late.phase(), "Running");
}

// Kills the process after each single write of each scene in turn; the story must end the same.
TEST(CrashTest, EveryCrashPointEndsTheSame) {
  int scenes = 0;
  for (int crash_at = 0; crash_at < 60; ++crash_at) {
    World world = Seed();
    int written = 0;
    const auto settle = [&] {
      for (int i = 0; i < 60; ++i) {
        const int before_crash = crash_at - written;
        const int done = before_crash >= 0 ? world.Step(before_crash) : world.Step();
        written += done;
        if (before_crash == done && before_crash >= 0) written = 1'000'000;  // crashed: from now on without limit
        if (done == 0 && (before_crash < 0 || before_crash > 0)) return;
      }
    };
    settle();
    world.SetGroupPhase("Inqueue");
    settle();
    world.RunAll();
    settle();
    world.SetPod("ctr-pserver-1", "Failed", 9);
    settle();
    world.AllDeletedGone();
    settle();
    world.SetGroupPhase("Inqueue");
    settle();
    world.RunAll();
    settle();
    world.DeletePod("ctr-trainer-0");
    settle();
    world.PodGone("ctr-trainer-0");
    settle();
    world.AllDeletedGone();
    settle();
    world.SetGroupPhase("Inqueue");
    settle();
    world.RunAll();
    settle();
    world.SetPod("ctr-trainer-0", "Succeeded");
    world.SetPod("ctr-trainer-1", "Succeeded");
    settle();
    world.AllDeletedGone();
    settle();
    EXPECT_THAT(world.phases(), ElementsAre("Pending", "Running", "Restarting", "Pending", "Running", "Restarting",
                                            "Pending", "Running", "Completing", "Completed"))
        << "crash after write " << crash_at;
    EXPECT_EQ(world.job().status.retry_count, 2) << crash_at;
    EXPECT_EQ(world.job().status.version, 3) << crash_at;
    EXPECT_THAT(world.Pods(), ElementsAre("trainer-0 Succeeded v2", "trainer-1 Succeeded v2")) << crash_at;
    ++scenes;
    if (written < 1'000'000) break;  // the story is shorter than this
  }
  EXPECT_THAT(scenes, Gt(30));
}

// --- tests/golden/volcano/no-policy

TEST(NoPolicyTest, AFailedPodIsNotReplacedAndTheJobEndsByItsCounts) {
  World world(JobText("a", 2, {{"w", 2, R"("minAvailable":2)"}}));
  ASSERT_TRUE(world.Start());
  world.SetPod("a-w-0", "Failed", 2);
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Running");
  EXPECT_EQ(world.job().status.failed, 1);
  world.SetPod("a-w-1", "Succeeded");
  ASSERT_TRUE(world.Settle());
  EXPECT_THAT(world.phases(), ElementsAre("Pending", "Running", "Failed"));
  EXPECT_EQ(world.job().status.succeeded, 1);
  EXPECT_EQ(world.job().status.failed, 1);
  EXPECT_FALSE(world.Exists("podgroups", "a-job-uid"));
}

TEST(NoPolicyTest, ADeletedPodIsMadeAnewUnderItsName) {
  World world(JobText("b", 2, {{"w", 2}}));
  ASSERT_TRUE(world.Start());
  world.DeletePod("b-w-0");
  ASSERT_TRUE(world.Settle());
  world.SetGroupPhase("Running");
  world.PodGone("b-w-0");
  ASSERT_TRUE(world.Settle());
  EXPECT_THAT(world.Pods(), ElementsAre("w-0 Pending v0", "w-1 Running v0"));
  EXPECT_EQ(world.phase(), "Pending");
  world.RunAll();
  ASSERT_TRUE(world.Settle());
  EXPECT_THAT(world.phases(), ElementsAre("Pending", "Running", "Pending", "Running"));
  EXPECT_EQ(world.job().status.version, 0);
  EXPECT_EQ(world.job().status.retry_count, 0);
}

TEST(NoPolicyTest, MinSuccessCompletesAndRemovesTheRest) {
  World world(JobText("c", 3, {{"w", 3}}, R"("minSuccess":1)"));
  ASSERT_TRUE(world.Start());
  world.SetPod("c-w-1", "Succeeded");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Completed");
  world.AllDeletedGone();
  ASSERT_TRUE(world.Settle());
  EXPECT_THAT(world.phases(), ElementsAre("Pending", "Running", "Completed"));
  EXPECT_THAT(world.Pods(), ElementsAre("w-1 Succeeded v0"));
  EXPECT_EQ(world.job().status.succeeded, 1);
}

TEST(NoPolicyTest, TwoSuccessesOfThreeAreEnoughForMinAvailableTwo) {
  World world(JobText("d", 2, {{"w", 3, R"("minAvailable":2)"}}));
  ASSERT_TRUE(world.Start());
  world.SetPod("d-w-0", "Failed", 2);
  world.SetPod("d-w-1", "Succeeded");
  world.SetPod("d-w-2", "Succeeded");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Completed");
  EXPECT_EQ(world.job().status.failed, 1);
}

// --- tests/golden/volcano/minavailable-lt-replicas

TEST(ElasticTest, RunsWithPartOfItsPods) {
  World world(JobText("elastic", 4, {{"w", 8, R"("minAvailable":4)"}}));
  ASSERT_TRUE(world.Settle());
  world.SetGroupPhase("Inqueue");
  ASSERT_TRUE(world.Settle());
  for (int i = 0; i < 3; ++i) world.SetPod(absl::StrCat("elastic-w-", i), "Running");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Pending");
  for (int i = 3; i < 6; ++i) world.SetPod(absl::StrCat("elastic-w-", i), "Running");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Running");
  EXPECT_EQ(world.job().status.pending, 2);
  for (int i = 0; i < 6; ++i) world.SetPod(absl::StrCat("elastic-w-", i), "Succeeded");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Running");
  world.SetPod("elastic-w-6", "Succeeded");
  world.SetPod("elastic-w-7", "Succeeded");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Completed");
  EXPECT_EQ(world.job().status.succeeded, 8);
}

// --- tests/golden/volcano/scale-elastic

// Of a Job of one task.
void Scale(World& world, int replicas, int min) {
  api::volcano::Job job = world.job();
  job.spec.tasks[0].replicas = replicas;
  job.spec.tasks[0].min_available = min;
  world.PatchJob(
      absl::StrCat(R"({"spec":{"minAvailable":)", min, R"(,"tasks":[)", api::Encode(job.spec.tasks[0]), "]}}"));
}

TEST(ScaleTest, UpAndDownIsNoEviction) {
  World world(JobText("sc", 2, {{"w", 2, R"("minAvailable":2)"}}, kRestartOnLoss));
  ASSERT_TRUE(world.Start());
  Scale(world, 4, 2);
  ASSERT_TRUE(world.Settle());
  world.RunAll();
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.job().status.running, 4);
  Scale(world, 1, 1);
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.job().status.terminating, 3);
  Scale(world, 4, 4);  // before they are gone
  ASSERT_TRUE(world.Settle());
  world.AllDeletedGone();
  ASSERT_TRUE(world.Settle());
  EXPECT_THAT(world.Pods(), ElementsAre("w-0 Running v0", "w-1 Pending v0", "w-2 Pending v0", "w-3 Pending v0"));
  EXPECT_EQ(world.phase(), "Pending");
  world.RunAll();
  ASSERT_TRUE(world.Settle());
  EXPECT_THAT(world.phases(), ElementsAre("Pending", "Running", "Pending", "Running"));
  EXPECT_EQ(world.job().status.retry_count, 0);
  EXPECT_EQ(world.Object("podgroups", "sc-job-uid").at("spec").at("minMember").as_int64(), 4);
}

// What has ended stays when a Job is aborted, and stays counted when it gets smaller.
TEST(ScaleTest, AnAbortedJobCountsPodsThatItWantsNoMore) {
  World world(JobText("s", 2, {{"w", 2}}, R"("policies":[{"event":"PodFailed","action":"AbortJob"}])"));
  ASSERT_TRUE(world.Start());
  for (const char* pod : {"s-w-0", "s-w-1"}) world.SetPod(pod, "Failed");
  ASSERT_TRUE(world.Settle());
  ASSERT_EQ(world.phase(), "Aborted");
  ASSERT_EQ(world.job().status.failed, 2);
  Scale(world, 1, 1);
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.job().status.failed, 2);
  EXPECT_EQ(world.job().status.task_status_count.at("w").phase.at("Failed"), 2);
}

// The task is complete as soon as its other place is gone.
TEST(ScaleTest, AScaleDownThatEndsTheJobIsInItsStatus) {
  World world(JobText("sc", 2, {{"w", 2, R"("minAvailable":2)"}}));
  ASSERT_TRUE(world.Start());
  world.SetPod("sc-w-0", "Succeeded");
  ASSERT_TRUE(world.Settle());
  Scale(world, 1, 1);
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Completed");
  EXPECT_EQ(world.job().status.min_available, 1);
}

TEST(ScaleTest, ARestartCountsTheGangOfNow) {
  World world(JobText("sc", 2, {{"w", 2, R"("minAvailable":2)"}}, kRestartOnLoss));
  ASSERT_TRUE(world.Start());
  world.SetPod("sc-w-0", "Failed", 1);
  ASSERT_TRUE(world.Settle());
  ASSERT_EQ(world.phase(), "Restarting") << "w-1 still goes";
  world.PatchJob(R"({"spec":{"minAvailable":1}})");
  world.Step();
  EXPECT_EQ(world.phase(), "Pending");
}

TEST(ScaleTest, AJobThatNeedsNoPodIsPendingFirst) {
  World world(JobText("sc", 0, {{"w", 2, R"("minAvailable":0)"}}));
  ASSERT_TRUE(world.Settle());
  EXPECT_THAT(world.phases(), ElementsAre("Pending", "Running"));
  const api::volcano::Job job = world.job();
  ASSERT_EQ(job.status.conditions.size(), 2u);
  EXPECT_EQ(job.status.conditions[0].status, "Pending");
  EXPECT_EQ(job.status.conditions[1].status, "Running");
}

// --- Targeted restarts: tests/golden/volcano/policy-task-and-timeout

TEST(TargetTest, RestartTaskReplacesThatTaskOnly) {
  World world(JobText("rt", 4, {{"ps", 2, R"("policies":[{"event":"PodFailed","action":"RestartTask"}])"}, {"w", 2}}));
  ASSERT_TRUE(world.Start());
  world.SetPod("rt-ps-0", "Failed", 1);
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.job().status.version, 0);
  EXPECT_EQ(world.job().status.retry_count, 1);
  EXPECT_TRUE(world.Exists("podgroups", "rt-job-uid"));
  EXPECT_THAT(world.Pods(), ElementsAre("ps-0 Pending v0", "ps-1 -Running v0", "w-0 Running v0", "w-1 Running v0"));
  EXPECT_EQ(world.phase(), "Restarting");
  world.AllDeletedGone();
  ASSERT_TRUE(world.Settle());
  world.RunAll();
  ASSERT_TRUE(world.Settle());
  EXPECT_THAT(world.phases(), ElementsAre("Pending", "Running", "Restarting", "Pending", "Running"));
  EXPECT_EQ(world.job().status.retry_count, 1);
}

TEST(TargetTest, RestartPodAfterAnEvictionSpendsARetryAndMakesThePodAnew) {
  World world(JobText("rp", 2, {{"w", 2}}, R"("policies":[{"event":"PodEvicted","action":"RestartPod"}])"));
  ASSERT_TRUE(world.Start());
  world.DeletePod("rp-w-1");
  world.PodGone("rp-w-1");
  ASSERT_TRUE(world.Settle());
  EXPECT_THAT(world.Pods(), ElementsAre("w-0 Running v0", "w-1 Pending v0"));
  world.RunAll();
  ASSERT_TRUE(world.Settle());
  EXPECT_THAT(world.phases(), ElementsAre("Pending", "Running", "Restarting", "Pending", "Running"));
  EXPECT_EQ(world.job().status.retry_count, 1);
}

TEST(TargetTest, TheDeletionOfATargetIsNoEviction) {
  World world(JobText(
      "rp", 2, {{"w", 2}},
      R"("policies":[{"event":"PodFailed","action":"RestartPod"},{"event":"PodEvicted","action":"AbortJob"}])"));
  ASSERT_TRUE(world.Start());
  world.SetPod("rp-w-1", "Failed", 1);
  ASSERT_TRUE(world.Settle());
  world.RunAll();
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Running");
  EXPECT_THAT(world.phases(), Not(Contains("Aborting")));
}

TEST(TargetTest, RestartPartitionReplacesOnePartition) {
  World world(JobText(
      "pt", 4,
      {{"w", 4,
        R"("partitionPolicy":{"totalPartitions":2,"partitionSize":2},"policies":[{"event":"PodFailed","action":"RestartPartition"}])"}}));
  ASSERT_TRUE(world.Start());
  world.SetPod("pt-w-3", "Failed", 1);
  ASSERT_TRUE(world.Settle());
  EXPECT_THAT(world.Pods(), ElementsAre("w-0 Running v0", "w-1 Running v0", "w-2 -Running v0", "w-3 Pending v0"));
}

// Volcano does nothing either (and leaves the lost pod missing).
TEST(TargetTest, ATaskWithoutPartitionsIsNotRestartedByOne) {
  for (const bool evicted : {false, true}) {
    World world(JobText("rp", 2, {{"w", 2}},
                        R"("policies":[{"events":["PodEvicted","PodFailed"],"action":"RestartPartition"}])"));
    ASSERT_TRUE(world.Start());
    if (evicted)
      world.PodGone("rp-w-0");
    else
      world.SetPod("rp-w-0", "Failed", 1);
    ASSERT_TRUE(world.Settle());
    EXPECT_THAT(world.Pods(), ElementsAre(evicted ? "w-0 Pending v0" : "w-0 Failed v0", "w-1 Running v0"));
    EXPECT_THAT(world.phases(), Not(Contains("Restarting")));
    EXPECT_EQ(world.job().status.retry_count, 0);
    EXPECT_FALSE(world.HasEvent("ExecuteAction", ""));
  }
}

TEST(TargetTest, WhatHasNoPartitionDoesNotStandBeforeWhatHas) {
  World world(JobText("rp", 4, {{"a", 2}, {"b", 2, R"("partitionPolicy":{"totalPartitions":2,"partitionSize":1})"}},
                      R"("policies":[{"event":"PodFailed","action":"RestartPartition"}])"));
  ASSERT_TRUE(world.Start());
  world.SetPod("rp-a-0", "Failed", 1);
  world.SetPod("rp-b-1", "Failed", 1);
  ASSERT_TRUE(world.Settle());
  EXPECT_THAT(world.Pods(), ElementsAre("a-0 Failed v0", "a-1 Running v0", "b-0 Running v0", "b-1 Pending v0"));
  EXPECT_EQ(world.job().status.retry_count, 1);
}

TEST(TargetTest, WhileRestartingACompletionCompletes) {
  World world(JobText("rp", 3,
                      {{"ps", 1, R"("policies":[{"event":"PodFailed","action":"RestartTask"}])"},
                       {"w", 2, R"("policies":[{"event":"TaskCompleted","action":"CompleteJob"}])"}}));
  ASSERT_TRUE(world.Start());
  world.Command("restart", "RestartTask");
  world.SetPod("rp-ps-0", "Failed", 1);
  ASSERT_TRUE(world.Step() > 0);
  EXPECT_EQ(world.phase(), "Restarting");
  world.SetPod("rp-w-0", "Succeeded");
  world.SetPod("rp-w-1", "Succeeded");
  ASSERT_TRUE(world.Settle());
  world.AllDeletedGone();
  ASSERT_TRUE(world.Settle());
  EXPECT_THAT(world.phases(), ElementsAre("Pending", "Running", "Restarting", "Completing", "Completed"));
}

// --- Exit codes: tests/golden/volcano/policy-exitcode

struct ExitCodeCase {
  int code;
  std::string phase;
};
class ExitCodeTest : public ::testing::TestWithParam<ExitCodeCase> {};
TEST_P(ExitCodeTest, LeadsTo) {
  World world(JobText("code", 2, {{"w", 2}},
                      R"("policies":[{"exitCode":3,"action":"RestartJob"},{"exitCode":4,"action":"AbortJob"},)"
                      R"({"exitCode":5,"action":"TerminateJob"},{"exitCode":6,"action":"CompleteJob"}])"));
  ASSERT_TRUE(world.Start());
  world.SetPod("code-w-0", "Failed", GetParam().code);
  ASSERT_TRUE(world.Settle());
  world.AllDeletedGone();
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), GetParam().phase);
}
INSTANTIATE_TEST_SUITE_P(All, ExitCodeTest,
                         ::testing::Values(ExitCodeCase{3, "Pending"}, ExitCodeCase{4, "Aborted"},
                                           ExitCodeCase{5, "Terminated"}, ExitCodeCase{6, "Completed"},
                                           ExitCodeCase{9, "Running"}));

// --- Delayed actions: tests/golden/volcano/policy-delayed, where Volcano's do not hold

TEST(DelayTest, ADelayedActionHappensWhenItsReasonStillHolds) {
  World world(
      JobText("d", 2, {{"w", 2}}, R"("policies":[{"event":"PodFailed","action":"TerminateJob","timeout":"5s"}])"));
  ASSERT_TRUE(world.Start());
  world.SetPod("d-w-0", "Failed", 1);
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Running");
  EXPECT_EQ(world.look_again(), world.now() + absl::Seconds(5));
  world.Pass(absl::Seconds(4));
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Running");
  EXPECT_EQ(world.look_again(), world.now() + absl::Seconds(1)) << "it began when the reason was seen, not now";
  world.Pass(absl::Seconds(1));
  ASSERT_TRUE(world.Settle());
  world.AllDeletedGone();
  ASSERT_TRUE(world.Settle());
  EXPECT_THAT(world.phases(), ElementsAre("Pending", "Running", "Terminating", "Terminated"));
}

TEST(DelayTest, AnEvictedPodThatRunsAgainInTimeCancelsIt) {
  World world(
      JobText("d", 2, {{"w", 2}}, R"("policies":[{"event":"PodEvicted","action":"TerminateJob","timeout":"3s"}])"));
  ASSERT_TRUE(world.Start());
  world.DeletePod("d-w-0");
  world.PodGone("d-w-0");
  ASSERT_TRUE(world.Settle());
  EXPECT_THAT(world.Pods(), ElementsAre("w-0 Pending v0", "w-1 Running v0")) << "made anew meanwhile";
  World late = world;
  world.Pass(absl::Seconds(2));
  world.RunAll();
  ASSERT_TRUE(world.Settle());
  world.Pass(absl::Seconds(5));
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Running");

  late.Pass(absl::Seconds(3));
  ASSERT_TRUE(late.Settle());
  EXPECT_EQ(late.phase(), "Terminating");
}

TEST(DelayTest, PodPendingAbortsAtTheFirstExpiry) {
  World world(
      JobText("pp", 2, {{"w", 2}}, R"("policies":[{"event":"PodPending","action":"AbortJob","timeout":"4s"}])"));
  ASSERT_TRUE(world.Settle());
  world.SetGroupPhase("Inqueue");
  ASSERT_TRUE(world.Settle());
  world.Pass(absl::Seconds(4));
  ASSERT_TRUE(world.Settle());
  world.AllDeletedGone();
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Aborted");
  EXPECT_EQ(world.job().status.version, 1);
}

// Each pod has its own time; it is not that of the one that waited first.
TEST(DelayTest, EachPodsTimeBeginsWithItsOwnReason) {
  World world(
      JobText("pp", 1, {{"w", 2}}, R"("policies":[{"event":"PodPending","action":"RestartPod","timeout":"10s"}])"));
  ASSERT_TRUE(world.Settle());
  world.SetGroupPhase("Inqueue");
  ASSERT_TRUE(world.Settle());
  world.SetPod("pp-w-1", "Running");
  ASSERT_TRUE(world.Settle());
  world.Pass(absl::Seconds(6));
  world.PodGone("pp-w-1");
  ASSERT_TRUE(world.Settle());
  EXPECT_THAT(world.Pods(), ElementsAre("w-0 Pending v0", "w-1 Pending v0"));
  const auto uid = [&](const char* pod) {
    return std::string(world.Object("pods", pod).at("metadata").at("uid").as_string());
  };
  const std::string first = uid("pp-w-0"), second = uid("pp-w-1");
  world.Pass(absl::Seconds(4));
  world.Step();
  EXPECT_THAT(world.Pods(), ElementsAre("w-0 -Pending v0", "w-1 Pending v0"));
  EXPECT_EQ(uid("pp-w-1"), second) << "it has waited for four seconds";
  EXPECT_TRUE(world.HasEvent("ExecuteAction",
                             "Execute action RestartPod after 10s unless it ends before: PodPending of pp-w-1"));
}

TEST(DelayTest, SoDoesThatOfOneThatFailed) {
  World world(
      JobText("f", 1, {{"w", 3}}, R"("policies":[{"event":"PodFailed","action":"RestartPod","timeout":"10s"}])"));
  ASSERT_TRUE(world.Start());
  world.SetPod("f-w-0", "Failed", 1);
  ASSERT_TRUE(world.Settle());
  world.Pass(absl::Seconds(6));
  world.SetPod("f-w-1", "Failed", 1);
  ASSERT_TRUE(world.Settle());
  world.Pass(absl::Seconds(4));
  ASSERT_TRUE(world.Settle());
  EXPECT_THAT(world.Pods(), ElementsAre("w-0 Pending v0", "w-1 Failed v0", "w-2 Running v0"));
  world.Pass(absl::Seconds(6));
  ASSERT_TRUE(world.Settle());
  EXPECT_THAT(world.Pods(), ElementsAre("w-0 Pending v0", "w-1 Pending v0", "w-2 Running v0"));
}

// The pod that took the place of a lost one is no news; one that is lost beside it is.
TEST(DelayTest, APodMadeAnewHidesNoOtherLoss) {
  World world(JobText("d", 1,
                      {{"a", 1, R"("policies":[{"event":"PodEvicted","action":"TerminateJob","timeout":"1h"}])"},
                       {"b", 2, R"("policies":[{"event":"PodEvicted","action":"RestartPod"}])"}}));
  ASSERT_TRUE(world.Start());
  world.PodGone("d-b-0");
  ASSERT_TRUE(world.Settle());
  ASSERT_EQ(world.job().status.retry_count, 1);
  world.PodGone("d-a-0");
  ASSERT_TRUE(world.Settle());
  ASSERT_THAT(world.Pods(), ElementsAre("a-0 Pending v0", "b-0 Pending v0", "b-1 Running v0"));
  world.PodGone("d-b-1");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.job().status.retry_count, 2);
}

TEST(DelayTest, AnotherActionCancelsIt) {
  World world(JobText(
      "d", 2, {{"w", 2}},
      R"("maxRetry":4,"policies":[{"event":"PodFailed","action":"TerminateJob","timeout":"5s"},{"event":"PodEvicted","action":"RestartJob"}])"));
  ASSERT_TRUE(world.Start());
  world.SetPod("d-w-0", "Failed", 1);
  ASSERT_TRUE(world.Settle());
  world.Pass(absl::Seconds(1));
  world.DeletePod("d-w-0");
  ASSERT_TRUE(world.Settle());
  ASSERT_TRUE(world.ComeBack());
  world.Pass(absl::Seconds(10));
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Running");
  EXPECT_EQ(world.job().status.retry_count, 1);
}

// --- The rest of the events.

TEST(EventTest, UnknownIsAnsweredOncePerTime) {
  World world(JobText("u", 1, {{"w", 2}}, R"("policies":[{"event":"Unknown","action":"RestartTask"}])"));
  ASSERT_TRUE(world.Start());
  world.SetGroupPhase("Unknown");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.job().status.retry_count, 1);
  world.SetGroupPhase("Running");
  ASSERT_TRUE(world.Settle());
  world.SetGroupPhase("Unknown");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.job().status.retry_count, 2);
}

// The first of several that restarted as often, so that RestartPod and the event always speak of one and the same.
TEST(EventTest, TaskFailedNamesThePodThatRestartedMost) {
  for (const auto& [restarts, worst] : std::vector<std::pair<std::vector<int>, const char*>>{
           {{1, 3, 2}, "t-w-1"}, {{2, 2, 2}, "t-w-0"}, {{0, 0, 9}, "t-w-2"}}) {
    World world(
        JobText("t", 3, {{"w", 3, R"("maxRetry":6)"}}, R"("policies":[{"event":"TaskFailed","action":"RestartPod"}])"));
    ASSERT_TRUE(world.Start());
    for (int i = 0; i < 3; ++i) world.RestartContainer(absl::StrCat("t-w-", i), restarts[static_cast<std::size_t>(i)]);
    world.Step();
    EXPECT_EQ(world.phase(), "Restarting") << worst;
    for (int i = 0; i < 3; ++i) {
      const std::string pod = absl::StrCat("t-w-", i);
      EXPECT_EQ(world.table().at(pod).deleting, pod == worst) << pod;
    }
  }
}

TEST(EventTest, APolicyThatAsksForNothingSaysNothingAndStandsInNobodysWay) {
  World world(JobText("n", 1,
                      {{"a", 1, R"("policies":[{"event":"PodFailed","action":"SyncJob"}])"},
                       {"b", 2, R"("policies":[{"event":"PodFailed","action":"RestartPod"}])"}}));
  ASSERT_TRUE(world.Start());
  world.SetPod("n-a-0", "Failed", 1);
  ASSERT_TRUE(world.Settle());
  EXPECT_FALSE(world.HasEvent("ExecuteAction", ""));
  world.SetPod("n-b-1", "Failed", 1);
  ASSERT_TRUE(world.Settle());
  EXPECT_THAT(world.Pods(), ElementsAre("a-0 Failed v0", "b-0 Running v0", "b-1 Pending v0"));
}

// --- Pods of the Job with odd names and versions.

TEST(OddPodTest, ANumberThatNoPlaceHasIsNotWrappedIntoOne) {
  World world(JobText("o", 1, {{"w", 1}}));
  ASSERT_TRUE(world.Start());
  for (const char* number : {"4294967296", "01", "+0", "-1", "0x0", "999999999"}) {
    World odd = world;
    odd.CopyPod("o-w-0", absl::StrCat("o-w-", number));
    ASSERT_TRUE(odd.Settle());
    odd.AllDeletedGone();
    ASSERT_TRUE(odd.Settle());
    EXPECT_THAT(odd.Pods(), ElementsAre("w-0 Running v0")) << number << ": it goes, as one beyond the scale does";
    EXPECT_EQ(odd.job().status.running, 1) << number;
  }
}

// The record says that version 2's pod was there; what says it is of version 0 is of before the restarts.
TEST(OddPodTest, APodThatSaysItIsOfAnOlderVersionIsBelieved) {
  for (const char* version : {"0", "1"}) {
    World world(JobText("o", 1, {{"w", 2}}, kRestartOnLoss));
    ASSERT_TRUE(world.Start());
    world.PatchJob(R"({"spec":{"maxRetry":9}})");
    for (int i = 0; i < 2; ++i) {
      world.PodGone("o-w-0");
      ASSERT_TRUE(world.Settle());
      ASSERT_TRUE(world.ComeBack());
    }
    ASSERT_EQ(world.job().status.version, 2);
    world.Annotate("pods", "o-w-1", "volcano.sh/job-version", version);
    world.Step();
    EXPECT_THAT(world.Pods(), ElementsAre("w-0 Running v2", absl::StrCat("w-1 -Running v", version)));
  }
}

// --- dependsOn: tests/golden/volcano/dependson

TEST(DependsOnTest, WorkersComeWhenTheServersAreReady) {
  World world(JobText("dep", 2, {{"ps", 2, R"("minAvailable":2)"}, {"w", 2, R"("dependsOn":{"name":["ps"]})"}}));
  ASSERT_TRUE(world.Settle());
  world.SetGroupPhase("Inqueue");
  ASSERT_TRUE(world.Settle());
  EXPECT_THAT(world.Names("pods"), ElementsAre("dep-ps-0", "dep-ps-1"));
  world.RunAll();
  ASSERT_TRUE(world.Settle());
  EXPECT_THAT(world.Names("pods"), ElementsAre("dep-ps-0", "dep-ps-1", "dep-w-0", "dep-w-1"));
}

TEST(DependsOnTest, TheDefaultMinAvailableDoesNotDeadlock) {
  World world(JobText("dep", 4,
                      {{"ps", 2, R"("minAvailable":2)"}, {"w", 2, R"("minAvailable":2,"dependsOn":{"name":["ps"]})"}}));
  ASSERT_TRUE(world.Settle());
  const auto min_member = [&] {
    return world.Object("podgroups", "dep-job-uid").at("spec").at("minMember").as_int64();
  };
  EXPECT_EQ(min_member(), 2) << "the gang that can be made now";
  world.SetGroupPhase("Inqueue");
  ASSERT_TRUE(world.Settle());
  world.RunAll();
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(min_member(), 4);
  world.RunAll();
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Running");
}

// --- Plugins: tests/golden/volcano/plugins-env-svc-ssh

TEST(PluginTest, SvcObjectsAreMadeKeptAndRemovedAtTheEnd) {
  World world(JobText("plug", 2, {{"ps", 1}, {"worker", 1}},
                      absl::StrCat(R"("plugins":{"env":[],"svc":[]},)", kRestartOnLoss)));
  ASSERT_TRUE(world.Start());
  EXPECT_TRUE(world.Exists("configmaps", "plug-svc"));
  EXPECT_TRUE(world.Exists("services", "plug"));
  EXPECT_TRUE(world.Exists("networkpolicies", "plug"));
  EXPECT_EQ(world.job().status.controlled_resources.at("plugin-svc"), "svc");
  world.SetPod("plug-ps-0", "Failed", 1);
  ASSERT_TRUE(world.Settle());
  ASSERT_TRUE(world.ComeBack());
  EXPECT_TRUE(world.Exists("services", "plug"));
  EXPECT_THAT(world.writes(), Not(Contains("delete services plug")));
  world.Command("end", "CompleteJob");
  ASSERT_TRUE(world.Settle());
  EXPECT_FALSE(world.Exists("configmaps", "plug-svc"));
  EXPECT_FALSE(world.Exists("services", "plug"));
  EXPECT_FALSE(world.Exists("networkpolicies", "plug"));
  EXPECT_FALSE(world.job().status.controlled_resources.contains("plugin-svc"));
}

TEST(PluginTest, SvcsListsFollowAScaleInEveryPhase) {
  for (const bool running : {false, true}) {
    World world(JobText("plug", 2, {{"w", 2, R"("minAvailable":2)"}}, R"("plugins":{"svc":[]})"));
    ASSERT_TRUE(running ? world.Start() : world.Settle());
    ASSERT_EQ(world.phase(), running ? "Running" : "Pending");
    Scale(world, 3, 2);
    ASSERT_TRUE(world.Settle());
    EXPECT_EQ(world.Object("configmaps", "plug-svc").at("data").at("VC_W_NUM"), "3");
    EXPECT_EQ(world.Object("configmaps", "plug-svc").at("data").at("VC_W_HOSTS"),
              "plug-w-0.plug,plug-w-1.plug,plug-w-2.plug");
  }
}

TEST(PluginTest, SvcLeavesNothingInFailed) {
  for (const bool by_policy : {false, true}) {
    World world(JobText(
        "plug", 1, {{"w", 1}},
        absl::StrCat(R"("maxRetry":2,"plugins":{"svc":[]})", by_policy ? "," : "", by_policy ? kRestartOnLoss : "")));
    ASSERT_TRUE(world.Start());
    for (int i = 0; i < 2 && world.phase() != "Failed"; ++i) {
      world.SetPod("plug-w-0", "Failed", 1);
      ASSERT_TRUE(world.Settle());
      if (world.phase() != "Failed") {
        ASSERT_TRUE(world.ComeBack());
      }
    }
    ASSERT_EQ(world.phase(), "Failed");
    EXPECT_THAT(world.Names("configmaps"), IsEmpty());
    EXPECT_THAT(world.Names("services"), IsEmpty());
    EXPECT_THAT(world.Names("networkpolicies"), IsEmpty());
  }
}

TEST(PluginTest, AJobThatAPluginCannotServeWaitsAndSaysWhy) {
  for (const auto& [plugin, why] : std::vector<std::pair<const char*, const char*>>{
           {"big_plugin", "failed to get plugin big_plugin"}, {"ray", "job plug doesn't have head task head"}}) {
    World world(JobText("plug", 1, {{"w", 1}}, absl::StrCat(R"("plugins":{")", plugin, R"(":[]})")));
    ASSERT_TRUE(world.Settle());
    EXPECT_EQ(world.phase(), "Pending");
    EXPECT_THAT(world.Names("podgroups"), IsEmpty());
    EXPECT_TRUE(world.HasEvent("PluginError", why));
  }
}

TEST(PluginTest, L8TheHeadsServiceGoesWhenTheJobEnds) {
  World world(JobText("plug", 1, {{"head", 1}}, R"("plugins":{"hcclrank":[],"ray":["--prot=1"]})"));
  ASSERT_TRUE(world.Start());
  EXPECT_TRUE(world.Exists("services", "plug-head-svc"));
  EXPECT_TRUE(world.HasEvent("PluginError", "job plugin ray: flag --prot=1 is not known"));
  EXPECT_TRUE(world.job().status.controlled_resources.contains("plugin-ray"));
  EXPECT_FALSE(world.job().status.controlled_resources.contains("plugin-hcclrank"));
  world.Command("end", "CompleteJob");
  ASSERT_TRUE(world.Settle());
  EXPECT_FALSE(world.Exists("services", "plug-head-svc"));
}

// --- Volumes: tests/golden/volcano/volumes

TEST(VolumeTest, Y22GeneratesAClaimAndMountsBoth) {
  World world(JobText(
      "vol", 1, {{"w", 1}},
      R"("volumes":[{"mountPath":"/out","volumeClaim":{"accessModes":["ReadWriteMany"]}},{"mountPath":"/data","volumeClaimName":"shared"}])"));
  world.AddClaim("shared");
  ASSERT_TRUE(world.Start());
  const std::string claim = world.job().spec.volumes[0].volume_claim_name;
  EXPECT_THAT(claim, HasSubstr("vol-pvc-"));
  EXPECT_EQ(claim.size(), std::string("vol-pvc-").size() + 12);
  ASSERT_TRUE(world.Exists("persistentvolumeclaims", claim));
  EXPECT_EQ(
      world.Object("persistentvolumeclaims", claim).at("metadata").at("ownerReferences").at(0).at("uid").as_string(),
      "job-uid");
  EXPECT_EQ(world.job().status.controlled_resources.at(absl::StrCat("volume-pvc-", claim)), claim);
  const auto& spec = world.Object("pods", "vol-w-0").at("spec");
  EXPECT_EQ(spec.at("volumes").as_array().size(), 2u);
  EXPECT_EQ(spec.at("volumes").at(0).at("persistentVolumeClaim").at("claimName").as_string(), claim);
  EXPECT_EQ(spec.at("containers").at(0).at("volumeMounts").at(1).at("mountPath").as_string(), "/data");
}

TEST(VolumeTest, Y21AMissingClaimKeepsTheJobPending) {
  World world(JobText("vol", 1, {{"w", 1}}, R"("volumes":[{"mountPath":"/data","volumeClaimName":"missing"}])"));
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Pending");
  EXPECT_THAT(world.Names("podgroups"), IsEmpty());
  EXPECT_TRUE(world.HasEvent(
      "PVCError", "pvc missing is not found, the job will be in the Pending state until the PVC is created"));
  world.AddClaim("missing");
  ASSERT_TRUE(world.Start());
  EXPECT_EQ(world.phase(), "Running");
}

// --- Odds.

TEST(JobTest, ADeletedJobIsLeftToItsOwnerReferences) {
  World world = Seed();
  ASSERT_TRUE(world.Start());
  world.PatchJob(R"({"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"}})");
  EXPECT_TRUE(world.Decide().empty());
}

TEST(JobTest, TooManyPodsAreRefusedNotAllocated) {
  World world(JobText("big", 1, {{"w", 2'000'000'000}, {"v", 2'000'000'000}}));
  const kube::Plan plan = world.Decide();
  EXPECT_THAT(plan.stages, IsEmpty());
  ASSERT_EQ(plan.events.size(), 1u);
  EXPECT_THAT(plan.events[0].message, HasSubstr("4000000000 pods"));
}

TEST(JobTest, TheSameViewGivesTheSamePlan) {
  World world = Seed();
  ASSERT_TRUE(world.Settle());
  world.SetGroupPhase("Inqueue");
  const kube::Plan one = world.Decide(), two = world.Decide();
  ASSERT_EQ(one.stages.size(), two.stages.size());
  for (std::size_t i = 0; i < one.stages.size(); ++i) {
    ASSERT_EQ(one.stages[i].size(), two.stages[i].size());
    for (std::size_t j = 0; j < one.stages[i].size(); ++j) EXPECT_EQ(one.stages[i][j].body, two.stages[i][j].body);
  }
}

}  // namespace
}  // namespace gangway::lifecycle
