#include "cmd/run/account.h"

#include "cmd/run/goal.h"
#include "gtest/gtest.h"
#include "tests/testing/status_matchers.h"

namespace gangway::cmd {
namespace {

using api::core::Pod;
using api::volcano::Job;
using api::volcano::PodGroup;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testutil::StatusIs;

std::vector<std::string> Texts(const std::vector<AccountLine>& lines) {
  std::vector<std::string> texts;
  for (const AccountLine& line : lines) texts.push_back(line.text);
  return texts;
}

Job SeedJob() {
  Job job;
  job.metadata.name = "ctr";
  job.metadata.ns = "default";
  job.spec.min_available = 4;
  job.spec.max_retry = 3;
  job.spec.queue = "default";
  job.spec.tasks.resize(2);
  job.spec.tasks[0].name = "pserver";
  job.spec.tasks[1].name = "trainer";
  job.spec.tasks[0].replicas = job.spec.tasks[1].replicas = 2;
  return job;
}

TEST(AccountTest, ANewJobSaysWhatItIs) {
  const Job job = SeedJob();
  const auto lines = Tell(static_cast<const Job*>(nullptr), &job);
  EXPECT_THAT(Texts(lines), ElementsAre("created: 2 pserver + 2 trainer, a gang of 4 in queue default"));
  EXPECT_EQ(lines[0].subject, "job default/ctr");
}

TEST(AccountTest, AJobsPhaseComesWithCountsAndRestarts) {
  Job before = SeedJob(), after = SeedJob();
  before.status.state.phase = "Running";
  after.status.state.phase = "Restarting";
  after.status.retry_count = 1;
  after.status.terminating = 3;
  EXPECT_THAT(Texts(Tell(&before, &after)), ElementsAre("Restarting: 3 terminating, restart 1 of 2 (maxRetry 3)"));
  before = after;
  ++after.status.running;
  EXPECT_THAT(Tell(&before, &after), IsEmpty()) << "counts alone are no news";
  after.status.state.phase = "Failed";
  after.status.retry_count = 3;
  EXPECT_THAT(Texts(Tell(&before, &after)), ElementsAre(HasSubstr(", no restart left of maxRetry 3")))
      << "the third retry that is counted is no restart";
}

TEST(AccountTest, AWaitingGangTellsWhyOnce) {
  PodGroup before, after;
  after.metadata.name = before.metadata.name = "ctr-1";
  after.status.conditions = {{"Unschedulable", "True", "", "NotEnoughResources", "waits for 3 of 4 tasks", {}}};
  EXPECT_THAT(Texts(Tell(&before, &after)), ElementsAre("waits for 3 of 4 tasks"));
  EXPECT_THAT(Tell(&after, &after), IsEmpty());
}

TEST(AccountTest, APodTellsItsNodeItsEndAndItsExitCode) {
  Pod before, bound, failed;
  bound.spec.node_name = failed.spec.node_name = "node-001";
  EXPECT_THAT(Texts(Tell(&before, &bound)), ElementsAre("-> node-001"));
  failed.status.phase = "Failed";
  failed.status.container_statuses.resize(1);
  failed.status.container_statuses[0].name = "trainer";
  failed.status.container_statuses[0].state.terminated.emplace();
  failed.status.container_statuses[0].state.terminated->exit_code = 137;
  EXPECT_THAT(Texts(Tell(&bound, &failed)), ElementsAre("Failed: container trainer ended with exit code 137"));
  EXPECT_THAT(Texts(Tell(&bound, nullptr)), ElementsAre("gone"));
}

TEST(AccountTest, AJobsEventsTellWhy) {
  api::core::Event event;
  event.type = "Normal";
  event.reason = "ExecuteAction";
  event.message = "Start to execute action RestartJob: pod ctr-pserver-0 was deleted";
  event.involved_object = {"batch.volcano.sh/v1alpha1", "Job", "default", "ctr", "", "", ""};
  event.count = 1;
  const auto lines = Tell(static_cast<const api::core::Event*>(nullptr), &event);
  EXPECT_THAT(Texts(lines), ElementsAre(event.message));
  EXPECT_EQ(lines[0].subject, "job default/ctr");
  EXPECT_THAT(Tell(&event, &event), IsEmpty());
  event.involved_object.kind = "PaddleJob";
  event.involved_object.api_version = "batch.paddlepaddle.org/v1";
  EXPECT_EQ(Tell(static_cast<const api::core::Event*>(nullptr), &event)[0].subject, "paddlejob default/ctr");
  event.involved_object.api_version = "kubeflow.org/v1";
  EXPECT_EQ(Tell(static_cast<const api::core::Event*>(nullptr), &event)[0].subject,
            "paddlejobs.kubeflow.org default/ctr");
  event.involved_object.kind = "Pod";
  EXPECT_THAT(Tell(static_cast<const api::core::Event*>(nullptr), &event), IsEmpty());
}

TEST(AccountTest, AJobFlowTellsHowFarItIs) {
  const auto flow = *api::Decode<api::volcano::JobFlow>(
      R"({"metadata":{"name":"f","namespace":"ns"},"spec":{"flows":[{"name":"a"},{"name":"b"}]},
      "status":{"state":{"phase":"Running"},"completedJobs":["f-a"]}})");
  EXPECT_THAT(Tell(static_cast<const api::volcano::JobFlow*>(nullptr), &flow),
              ElementsAre(AccountLine{"jobflow ns/f", "Running: 1 of 2 jobs Completed", AccountLine::Tone::kGood}));
  EXPECT_THAT(Tell(&flow, &flow), IsEmpty());
  EXPECT_THAT(Tell(&flow, static_cast<const api::volcano::JobFlow*>(nullptr)),
              ElementsAre(AccountLine{"jobflow ns/f", "deleted", AccountLine::Tone::kPlain}));
}

TEST(AccountTest, APaddleJobTellsItsPhaseAndWhatItWaitsFor) {
  auto job = *api::Decode<api::paddle::PaddleJob>(
      R"({"metadata":{"name":"wd","namespace":"ns"},"spec":{"ps":{"replicas":2},"worker":{"replicas":3}}})");
  const auto nobody = static_cast<const api::paddle::PaddleJob*>(nullptr);
  EXPECT_THAT(Tell(nobody, &job),
              ElementsAre(AccountLine{"paddlejob ns/wd", "created: 2 ps + 3 worker", AccountLine::Tone::kPlain}));
  auto waits = job;
  waits.status.phase = "Pending";
  EXPECT_THAT(Texts(Tell(&job, &waits)), ElementsAre("Pending"));
  auto says_why = waits;
  says_why.status.message = "queue ads is full";
  EXPECT_THAT(Texts(Tell(&waits, &says_why)), ElementsAre("Pending: queue ads is full"));
  EXPECT_THAT(Tell(&says_why, &says_why), IsEmpty());
  EXPECT_THAT(Texts(Tell(&job, nobody)), ElementsAre("deleted"));
}

TEST(AccountTest, AKubeflowPaddleJobTellsItsNewestCondition) {
  const auto created = *api::Decode<api::paddle::kubeflow::PaddleJob>(
      R"({"metadata":{"name":"k","namespace":"ns"},"status":{"conditions":[{"type":"Created","status":"True","message":"m"}]}})");
  EXPECT_THAT(Texts(Tell(static_cast<const api::paddle::kubeflow::PaddleJob*>(nullptr), &created)),
              ElementsAre("Created: m"));
  EXPECT_THAT(Tell(&created, &created), IsEmpty());
}

TEST(AccountTest, ColoursOnlyWhereTheyAreWanted) {
  const AccountLine line{"pod a/b", "Running", AccountLine::Tone::kGood};
  EXPECT_EQ(Render(line, absl::Milliseconds(1234), false).find('\033'), std::string::npos);
  EXPECT_THAT(Render(line, absl::Milliseconds(1234), false), HasSubstr("1.23s"));
  EXPECT_NE(Render(line, absl::Milliseconds(1234), true).find('\033'), std::string::npos);
}

TEST(AccountTest, OnlyOurColoursReachTheTerminal) {
  const AccountLine line{"pod a/\x1b[2Jb", "Failed: \xe2\x80\xae\nforged", AccountLine::Tone::kBad};
  EXPECT_EQ(Render(line, absl::ZeroDuration(), true),
            "    0.00s  pod a/\\u001b[2Jb                          \033[31mFailed: \\u202e\\nforged\033[0m");
}

TEST(GoalTest, Parses) {
  const auto goal = ParseGoal("job/ctr-volcano=Completed");
  GW_ASSERT_OK(goal);
  EXPECT_EQ(goal->kind, Goal::Kind::kJob);
  EXPECT_EQ(goal->key, (api::NamespacedName{"default", "ctr-volcano"}));
  EXPECT_EQ(goal->phase, "Completed");
  EXPECT_EQ(ParseGoal("jobflow/pipeline=Succeed")->kind, Goal::Kind::kJobFlow);
  EXPECT_EQ(ParseGoal("pdj/wd=Completed")->kind, Goal::Kind::kPaddleJob);
  EXPECT_EQ(ParseGoal("paddlejob/wd=Completed")->ToString(), "pdj/default/wd=Completed");
  EXPECT_EQ(ParseGoal("paddlejobs.kubeflow.org/wd=Succeeded")->kind, Goal::Kind::kKubeflowPaddleJob);
  EXPECT_EQ(ParseGoal("pod/ml/ctr-0=Running")->key, (api::NamespacedName{"ml", "ctr-0"}));
}

TEST(GoalTest, SaysWhatIsWrong) {
  for (const auto& [text, part] :
       {std::pair("job/ctr", "KIND/[NAMESPACE/]NAME=PHASE"), std::pair("ctr=Completed", "KIND/NAME"),
        std::pair("node/a=Ready", "jobflow, podgroup or pod"), std::pair("pdj/wd=Succeeded", "no phase of a pdj"),
        std::pair("job/ctr=Done", "Completed"), std::pair("job/a/b/c=Completed", "KIND/NAMESPACE/NAME"),
        std::pair("job/=Completed", "KIND/NAME")}) {
    EXPECT_THAT(ParseGoal(text), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(part))) << text;
  }
}

}  // namespace
}  // namespace gangway::cmd
