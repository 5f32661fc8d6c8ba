// Rows Y1 to Y26, and H12 to H15, of tests/spec/volcano-job.rows: what a look at a Job makes and removes,
// its conditions, what its PodGroup's conditions say, tasks that wait for others, and scaling. Y4 is told with the
// controller, Y21 to Y23 with volumes and plugins.
#include "plugin/lifecycle/job/depends_on.h"
#include "plugin/lifecycle/job/reconcile_job.h"
#include "plugin/lifecycle/job/status.h"
#include "plugin/lifecycle/job_plugins/job_plugin.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/plugin/lifecycle/job/world.h"

namespace gangway::lifecycle {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using testutil::JobText;
using testutil::World;

constexpr char kSvcSshEnv[] = R"("plugins":{"svc":[],"ssh":[],"env":[]})";

// --- Sync

TEST(SyncRowTest, Y1MakesTheMissingPods) {
  World world(JobText("job1", 6, {{"task1", 6}}, kSvcSshEnv));
  world.AddPod("task1-0", "Pending");
  world.AddPod("task1-1", "Pending");
  ASSERT_TRUE(world.Settle());
  EXPECT_THAT(world.Names("pods"), SizeIs(2)) << "the gang is not let in yet";
  world.SetGroupPhase("Inqueue");
  ASSERT_TRUE(world.Settle());
  EXPECT_THAT(world.Names("pods"), ElementsAre("job1-task1-0", "job1-task1-1", "job1-task1-2", "job1-task1-3",
                                               "job1-task1-4", "job1-task1-5"));
  EXPECT_TRUE(world.Exists("services", "job1"));
  EXPECT_TRUE(world.Exists("secrets", "job1-ssh"));
}

TEST(SyncRowTest, Y2ADependencyWithoutMinAvailableHoldsNobodyUp) {
  World world(JobText("j", 4, {{"master", 1}, {"work", 3, R"("dependsOn":{"name":["master"]})"}}));
  world.AddPod("work-0", "Pending");
  world.AddPod("work-1", "Pending");
  ASSERT_TRUE(world.Settle());
  world.SetGroupPhase("Inqueue");
  ASSERT_TRUE(world.Settle());
  EXPECT_THAT(world.Names("pods"), ElementsAre("j-master-0", "j-work-0", "j-work-1", "j-work-2"));
}

// The order of a row about admission, V39: tasks begin in it.
TEST(SyncRowTest, V39TasksBeginInTheOrderOfTheirDependencies) {
  for (const bool other_way : {false, true}) {
    const std::string t2 = R"("minAvailable":1,"dependsOn":{"name":["t3"]})",
                      t3 = R"("minAvailable":1,"dependsOn":{"name":["t2"]})", none = R"("minAvailable":1)";
    World world(JobText("j", 3,
                        {{"t1", 1, R"("minAvailable":1,"dependsOn":{"name":["t2","t3"]})"},
                         {"t2", 1, other_way ? none : t2},
                         {"t3", 1, other_way ? t3 : none}}));
    ASSERT_TRUE(world.Settle());
    world.SetGroupPhase("Inqueue");
    std::vector<std::string> order;
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(world.Settle());
      for (const std::string& pod : world.Names("pods")) {
        if (std::find(order.begin(), order.end(), pod) == order.end()) order.push_back(pod);
      }
      world.RunAll();
    }
    EXPECT_THAT(order, ElementsAre(other_way ? "j-t2-0" : "j-t3-0", other_way ? "j-t3-0" : "j-t2-0", "j-t1-0"));
  }
}

// Spec 3.2, 2.
TEST(SyncRowTest, AQueueThatExtendsToOtherClustersMarksItsJobsAndTheirPods) {
  World world(JobText("j", 1, {{"w", 1}}));
  world.queue = *api::Decode<api::volcano::Queue>(
      R"({"metadata":{"name":"default"},"spec":{"extendClusters":[{"name":"far"}]}})");
  ASSERT_TRUE(world.Start());
  EXPECT_EQ(world.job().metadata.annotations.at("volcano.sh/job-forwarding"), "true");
  const auto& metadata = world.Object("pods", "j-w-0").at("metadata");
  EXPECT_EQ(metadata.at("annotations").at("volcano.sh/job-forwarding").as_string(), "true");
  EXPECT_EQ(metadata.at("labels").at("volcano.sh/job-forwarding").as_string(), "true");
}

// --- Kill

// Volcano tears down at every kill, a restart too; ours when the Job ends or is aborted (docs/differences.md).
TEST(KillRowTest, Y3Y9PluginObjectsAndPodGroup) {
  World world(JobText("j", 2, {{"w", 2}}, kSvcSshEnv));
  ASSERT_TRUE(world.Start());
  const auto group_uid = [&] {
    return std::string(world.Object("podgroups", "j-job-uid").at("metadata").at("uid").as_string());
  };
  const std::string before = group_uid();
  world.Command("restart", "RestartJob");
  ASSERT_TRUE(world.Settle());
  EXPECT_TRUE(world.Exists("services", "j"));
  EXPECT_TRUE(world.Exists("secrets", "j-ssh"));
  EXPECT_NE(group_uid(), before) << "the PodGroup of the last version went with it";
  ASSERT_TRUE(world.ComeBack());
  world.Command("abort", "AbortJob");
  ASSERT_TRUE(world.Settle());
  for (const char* plural : {"services", "secrets", "configmaps", "networkpolicies", "podgroups"})
    EXPECT_THAT(world.Names(plural), IsEmpty()) << plural;
}

TEST(KillRowTest, Y5Y10TheTaskOnly) {
  World world(
      JobText("j", 3, {{"task1", 2, R"("policies":[{"event":"PodFailed","action":"RestartTask"}])"}, {"task2", 1}}));
  ASSERT_TRUE(world.Start());
  world.SetPod("j-task1-0", "Failed", 1);
  world.Step();
  EXPECT_THAT(world.Pods(), ElementsAre("task1-1 -Running v0", "task2-0 Running v0"));
  EXPECT_TRUE(world.Exists("podgroups", "j-job-uid"));
}

TEST(KillRowTest, Y6Y10ThePodOnly) {
  World world(JobText("j", 2, {{"task1", 2, R"("policies":[{"event":"PodFailed","action":"RestartPod"}])"}}));
  ASSERT_TRUE(world.Start());
  world.SetPod("j-task1-0", "Failed", 1);
  world.Step();
  EXPECT_THAT(world.Pods(), ElementsAre("task1-1 Running v0"));
  EXPECT_TRUE(world.Exists("podgroups", "j-job-uid"));
}

TEST(KillRowTest, Y7ATaskWithoutPodsIsKilledWithoutHarm) {
  World world(
      JobText("j", 3, {{"one", 1, R"("policies":[{"event":"PodEvicted","action":"RestartTask"}])"}, {"two", 2}}));
  ASSERT_TRUE(world.Start());
  world.PodGone("j-one-0");
  world.Step();
  EXPECT_EQ(world.phase(), "Restarting");
  EXPECT_THAT(world.Pods(), ElementsAre("two-0 Running v0", "two-1 Running v0"));
  ASSERT_TRUE(world.Settle());
  EXPECT_THAT(world.Pods(), ElementsAre("one-0 Pending v0", "two-0 Running v0", "two-1 Running v0"));
}

TEST(KillRowTest, Y8APodThatIsGoneIsKilledWithoutHarm) {
  World world(JobText("j", 2, {{"w", 2, R"("policies":[{"event":"PodEvicted","action":"RestartPod"}])"}}));
  ASSERT_TRUE(world.Start());
  world.PodGone("j-w-0");
  world.Step();
  EXPECT_EQ(world.phase(), "Restarting");
  EXPECT_THAT(world.Pods(), ElementsAre("w-1 Running v0"));
  ASSERT_TRUE(world.Settle());
  EXPECT_THAT(world.Pods(), ElementsAre("w-0 Pending v0", "w-1 Running v0"));
}

TEST(KillRowTest, Y7Y8ACommandThatNamesNone) {
  for (const char* action : {"RestartTask", "RestartPod"}) {
    World world(JobText("j", 2, {{"w", 2}}));
    ASSERT_TRUE(world.Start());
    world.Command("c", action);
    world.Step();
    EXPECT_THAT(world.Pods(), ElementsAre("w-0 Running v0", "w-1 Running v0")) << action;
    EXPECT_EQ(world.phase(), "Restarting");
    ASSERT_TRUE(world.Settle());
    EXPECT_EQ(world.phase(), "Running");
  }
}

// --- Conditions

std::vector<std::string> Conditions(std::vector<std::string> before, JobPhase entered) {
  api::volcano::JobStatus status;
  for (std::string& phase : before) status.conditions.push_back({std::move(phase), {}});
  status.state.phase = status.conditions.empty() ? "" : "Running";
  EnterPhase(entered, absl::FromUnixSeconds(1'767'225'600), status);
  std::vector<std::string> after;
  for (const auto& condition : status.conditions) after.push_back(condition.status);
  EXPECT_EQ(absl::ToUnixSeconds(status.conditions.back().last_transition_time.at), 1'767'225'600);
  return after;
}
TEST(ConditionRowTest, Y11OneToNone) { EXPECT_THAT(Conditions({}, JobPhase::kPending), ElementsAre("Pending")); }
TEST(ConditionRowTest, Y12OneOfTheSamePhaseMoves) {
  EXPECT_THAT(Conditions({"Pending", "Running"}, JobPhase::kPending), ElementsAre("Running", "Pending"));
}
TEST(ConditionRowTest, Y13ANewOneIsTheLast) {
  EXPECT_THAT(Conditions({"Pending", "Running"}, JobPhase::kCompleted), ElementsAre("Pending", "Running", "Completed"));
}

// --- What the conditions of the PodGroup say

struct ConditionCase {
  std::string name;
  std::vector<std::string> conditions;  // in the order of their times
  bool said;
};
class PodGroupConditionTest : public ::testing::TestWithParam<ConditionCase> {};
TEST_P(PodGroupConditionTest, TheLatestCounts) {
  World world(JobText("job1", 1, {{"w", 1}}));
  ASSERT_TRUE(world.Settle());
  world.SetGroupPhase("Pending");
  for (const std::string& type : GetParam().conditions) {
    world.Condition(type, type == "Unschedulable" ? "test message" : "");
    world.Pass(absl::Seconds(1));
  }
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.HasEvent("PodGroupPending", "PodGroup default:job1 unschedulable, reason: test message"),
            GetParam().said);
  EXPECT_EQ(world.HasEvent("PodGroupPending", ""), GetParam().said);
}
INSTANTIATE_TEST_SUITE_P(Spec, PodGroupConditionTest,
                         ::testing::Values(ConditionCase{"Y14", {}, false},
                                           ConditionCase{"Y15", {"Unschedulable"}, true},
                                           ConditionCase{"Y16", {"Scheduled", "Unschedulable"}, true},
                                           ConditionCase{"Y17", {"Unschedulable", "Scheduled"}, false}),
                         [](const auto& c) { return c.param.name; });

TEST(PodGroupPendingTest, OfAReleaseTheSentenceIsSaidAndNotEachPod) {
  World world(JobText("job1", 1, {{"w", 1}}));
  ASSERT_TRUE(world.Settle());
  world.SetGroupPhase("Pending");
  world.Condition("GangReleased", "evicted 1 of 1 task for default/b: [its priority is 2] [job1-w-0/0b6e1f0c]");
  ASSERT_TRUE(world.Settle());
  EXPECT_TRUE(world.HasEvent("PodGroupPending",
                             "gangreleased, reason: evicted 1 of 1 task for default/b: [its priority is 2]"));
  EXPECT_FALSE(world.HasEvent("PodGroupPending", "0b6e1f0c"));
}

// --- Tasks that wait for others

struct DependencyCase {
  std::string name;
  int replicas;
  std::string phase;
  bool containers_ready, ready;
};
class DependencyRowTest : public ::testing::TestWithParam<DependencyCase> {};
TEST_P(DependencyRowTest, ReadyOrNot) {
  const DependencyCase& c = GetParam();
  const auto job =
      *api::Decode<api::volcano::Job>(JobText("j", 1,
                                              {{"task1", c.replicas, absl::StrCat(R"("minAvailable":)", c.replicas)},
                                               {"task2", 1, R"("dependsOn":{"name":["task1"]})"}}));
  PodTable pods;
  for (int i = 0; i < c.replicas; ++i) {
    JobPod& pod = pods[absl::StrCat("j-task1-", i)];
    pod.task = "task1";
    pod.phase = c.phase == "Running" ? PodPhase::kRunning : PodPhase::kSucceeded;
    pod.ready = c.containers_ready;
  }
  JobView view;
  view.job = &job;
  view.pods = &pods;
  const Roster roster = MakeRoster(view);
  EXPECT_EQ(GateOpen(roster, roster.tasks[1]), c.ready);
}
INSTANTIATE_TEST_SUITE_P(Spec, DependencyRowTest,
                         ::testing::Values(DependencyCase{"Y18", 2, "Succeeded", false, true},
                                           DependencyCase{"Y19", 1, "Running", true, true},
                                           DependencyCase{"Y20", 1, "Running", false, false}),
                         [](const auto& c) { return c.param.name; });

// Spec 4.4: one of several is enough with iteration "any"; one name alone must be ready whatever the iteration says.
TEST(DependencyRowTest, AnyOfSeveral) {
  const auto open = [](const std::string& depends_on, const std::vector<std::string>& ready) {
    const auto job =
        *api::Decode<api::volcano::Job>(JobText("j", 1,
                                                {{"a", 1, R"("minAvailable":1)"},
                                                 {"b", 1, R"("minAvailable":1)"},
                                                 {"c", 1, absl::StrCat(R"("dependsOn":{)", depends_on, "}")}}));
    PodTable pods;
    for (const std::string& task : ready) {
      JobPod& pod = pods[absl::StrCat("j-", task, "-0")];
      pod.task = task;
      pod.phase = PodPhase::kSucceeded;
    }
    JobView view;
    view.job = &job;
    view.pods = &pods;
    const Roster roster = MakeRoster(view);
    return GateOpen(roster, roster.tasks[2]);
  };
  EXPECT_TRUE(open(R"("name":["a","b"],"iteration":"any")", {"b"}));
  EXPECT_FALSE(open(R"("name":["a","b"],"iteration":"any")", {}));
  EXPECT_FALSE(open(R"("name":["a","b"],"iteration":"all")", {"b"}));
  EXPECT_FALSE(open(R"("name":["a","b"])", {"a"}));
  EXPECT_TRUE(open(R"("name":["a","b"])", {"a", "b"}));
  EXPECT_FALSE(open(R"("name":["a"],"iteration":"any")", {}));
  EXPECT_TRUE(open(R"("name":[])", {}));
}

// --- Scaling

void Scale(World& world, int replicas, int task_min, int job_min) {
  api::volcano::Job job = world.job();
  job.spec.tasks[0].replicas = replicas;
  job.spec.tasks[0].min_available = task_min;
  world.PatchJob(
      absl::StrCat(R"({"spec":{"minAvailable":)", job_min, R"(,"tasks":[)", api::Encode(job.spec.tasks[0]), "]}}"));
}
void ExpectHostLists(const World& world) {
  for (const auto& [key, value] : HostLists(world.job())) {
    EXPECT_EQ(world.Object("configmaps", "sc-svc").at("data").at(key).as_string(), value) << key;
  }
}

TEST(ScaleRowTest, Y24Up) {
  World world(JobText("sc", 2, {{"w", 2}}, R"("plugins":{"svc":[]})"));
  ASSERT_TRUE(world.Start());
  Scale(world, 4, 4, 4);
  ASSERT_TRUE(world.Settle());
  world.RunAll();
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Running");
  EXPECT_EQ(world.job().status.running, 4);
  ExpectHostLists(world);
}

TEST(ScaleRowTest, Y25Down) {
  World world(JobText("sc", 2, {{"w", 2}}, R"("plugins":{"svc":[]})"));
  ASSERT_TRUE(world.Start());
  Scale(world, 1, 1, 1);
  ASSERT_TRUE(world.Settle());
  world.AllDeletedGone();
  ASSERT_TRUE(world.Settle());
  EXPECT_THAT(world.Pods(), ElementsAre("w-0 Running v0"));
  EXPECT_EQ(world.phase(), "Running");
  ExpectHostLists(world);
}

TEST(ScaleRowTest, Y26ToNothingAndBack) {
  World world(JobText("sc", 2, {{"w", 2}}, R"("plugins":{"svc":[]})"));
  ASSERT_TRUE(world.Start());
  Scale(world, 0, 0, 0);
  ASSERT_TRUE(world.Settle());
  world.AllDeletedGone();
  ASSERT_TRUE(world.Settle());
  EXPECT_THAT(world.Pods(), IsEmpty());
  EXPECT_EQ(world.phase(), "Running");
  Scale(world, 2, 0, 0);
  ASSERT_TRUE(world.Settle());
  world.RunAll();
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Running");
  EXPECT_EQ(world.job().status.running, 2);
  ExpectHostLists(world);
}

// Volcano does not mark a pod that a scale-down removes, so that its going may answer as an eviction there.
TEST(ScaleRowTest, AScaleDownIsNoEviction) {
  World world(JobText("sc", 2, {{"w", 3}}, R"("policies":[{"event":"PodEvicted","action":"TerminateJob"}])"));
  ASSERT_TRUE(world.Start());
  Scale(world, 2, 2, 2);
  ASSERT_TRUE(world.Settle());
  world.AllDeletedGone();
  ASSERT_TRUE(world.Settle());
  EXPECT_THAT(world.Pods(), ElementsAre("w-0 Running v0", "w-1 Running v0"));
  EXPECT_EQ(world.phase(), "Running");
}

// --- Events of the handlers

TEST(EventRowTest, H12H13ATaskIsCompleteWhenAllItsPodsSucceeded) {
  World world(
      JobText("j", 2, {{"task1", 2, R"("policies":[{"event":"TaskCompleted","action":"CompleteJob"}])"}, {"ps", 1}}));
  ASSERT_TRUE(world.Start());
  world.SetPod("j-task1-0", "Succeeded");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Running");
  world.SetPod("j-task1-1", "Succeeded");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Completing");
}

TEST(EventRowTest, H14TheRestartBudgetOfATask) {
  World world(
      JobText("j", 1, {{"w", 1, R"("maxRetry":3)"}}, R"("policies":[{"event":"TaskFailed","action":"TerminateJob"}])"));
  ASSERT_TRUE(world.Start());
  world.RestartContainer("j-w-0", 2);
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Running");
  world.RestartContainer("j-w-0", 4);
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Terminating");
  world.AllDeletedGone();
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Terminated");
}

TEST(EventRowTest, H15APodThatAUserDeletes) {
  World world(JobText("j", 2, {{"w", 2}}, R"("policies":[{"event":"PodEvicted","action":"RestartJob"}])"));
  ASSERT_TRUE(world.Start());
  world.DeletePod("j-w-0");
  world.PodGone("j-w-0");
  ASSERT_TRUE(world.Settle());
  ASSERT_TRUE(world.ComeBack());
  EXPECT_THAT(world.phases(), ElementsAre("Pending", "Running", "Restarting", "Pending", "Running"));
  EXPECT_EQ(world.job().status.retry_count, 1);
}

}  // namespace
}  // namespace gangway::lifecycle
