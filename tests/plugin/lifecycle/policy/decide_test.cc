// One event, decided alone, and the same event found by ReconcileJob in a world: both must say the same.
#include "plugin/lifecycle/policy/decide.h"

#include <functional>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/plugin/lifecycle/job/world.h"

namespace gangway::lifecycle {
namespace {

using testutil::JobText;
using testutil::World;

struct Row {
  std::string name;
  std::string policy;  // of the task
  Event event;
  std::function<void(World&)> happen;
  int exit_code = 0;
};

Happening HappeningOf(const Row& row) {
  Happening happening;
  happening.event = row.event;
  happening.task = "w";
  happening.pod = "ctr-w-0";
  happening.index = 0;
  happening.exit_code = row.exit_code;
  return happening;
}

class DecideTest : public ::testing::TestWithParam<Row> {};

TEST_P(DecideTest, SaysWhatReconcileJobDoes) {
  const Row& row = GetParam();
  for (const int retries : {0, 2}) {
    World world(JobText("ctr", 2, {{"w", 2, absl::StrCat(R"("policies":[)", row.policy, "]")}}));
    ASSERT_TRUE(world.Start());
    world.PatchJob(absl::StrCat(R"({"status":{"retryCount":)", retries, "}}"));
    const api::volcano::Job job = world.job();
    ASSERT_EQ(job.status.state.phase, "Running");
    row.happen(world);
    world.Step();
    PodCounts counts;
    counts.running = 2;
    const Answer answer = Decide(job, HappeningOf(row), absl::ZeroDuration(), counts);
    EXPECT_EQ(NameOf(answer.phase), world.phase());
    EXPECT_EQ(answer.version, world.job().status.version);
    EXPECT_EQ(answer.retry_count, world.job().status.retry_count);
    ASSERT_TRUE(answer.policy.has_value());
    EXPECT_EQ(answer.policy->task, 0);
    if (answer.action != Action::kSyncJob) {
      EXPECT_TRUE(world.HasEvent("ExecuteAction",
                                 absl::StrCat("Start to execute action ", NameOf(answer.action), ": ", answer.reason)));
    }
  }
}

void Evict(World& world) { world.PodGone("ctr-w-0"); }
void Fail(World& world) { world.SetPod("ctr-w-0", "Failed", 137); }

INSTANTIATE_TEST_SUITE_P(
    PolicyTable, DecideTest,
    ::testing::Values(
        Row{"EvictedRestartJob", R"({"event":"PodEvicted","action":"RestartJob"})", Event::kPodEvicted, Evict},
        Row{"EvictedRestartTask", R"({"event":"PodEvicted","action":"RestartTask"})", Event::kPodEvicted, Evict},
        Row{"EvictedRestartPod", R"({"event":"PodEvicted","action":"RestartPod"})", Event::kPodEvicted, Evict},
        Row{"EvictedAbortJob", R"({"event":"PodEvicted","action":"AbortJob"})", Event::kPodEvicted, Evict},
        Row{"EvictedTerminateJob", R"({"event":"PodEvicted","action":"TerminateJob"})", Event::kPodEvicted, Evict},
        Row{"EvictedCompleteJob", R"({"event":"PodEvicted","action":"CompleteJob"})", Event::kPodEvicted, Evict},
        Row{"FailedRestartJob", R"({"event":"PodFailed","action":"RestartJob"})", Event::kPodFailed, Fail, 137},
        Row{"ExitCodeAbortJob", R"({"exitCode":137,"action":"AbortJob"})", Event::kPodFailed, Fail, 137},
        Row{"AnyRestartJob", R"({"event":"*","action":"RestartJob"})", Event::kPodFailed, Fail, 137},
        Row{"FailedResumeJobHasNoEffect", R"({"event":"PodFailed","action":"ResumeJob"})", Event::kPodFailed, Fail,
            137},
        Row{"DelayedAbortJob", R"({"event":"PodEvicted","action":"AbortJob","timeout":"10m"})", Event::kPodEvicted,
            Evict},
        Row{"CompletedCompleteJob", R"({"event":"TaskCompleted","action":"CompleteJob"})", Event::kTaskCompleted,
            [](World& world) {
              world.SetPod("ctr-w-0", "Succeeded");
              world.SetPod("ctr-w-1", "Succeeded");
            }}),
    [](const auto& row) { return row.param.name; });

TEST(DecideTest, AJobEndsByItsPodsAlone) {
  World world(JobText("ctr", 2, {{"w", 2}}));
  ASSERT_TRUE(world.Start());
  const api::volcano::Job job = world.job();
  world.SetPod("ctr-w-0", "Succeeded");
  world.SetPod("ctr-w-1", "Succeeded");
  world.Step();
  PodCounts counts;
  counts.succeeded = 2;
  const Answer answer = Decide(job, {}, absl::ZeroDuration(), counts);
  EXPECT_EQ(NameOf(answer.phase), "Completed");
  EXPECT_EQ(world.phase(), "Completed");
  EXPECT_EQ(answer.version, world.job().status.version);
  EXPECT_EQ(answer.retry_count, world.job().status.retry_count);
}

TEST(DecideTest, ACommandIsCarriedOutWhereAPolicyWouldNot) {
  World world(JobText("ctr", 2, {{"w", 2}}));
  ASSERT_TRUE(world.Start());
  world.Command("stop", "AbortJob");
  ASSERT_TRUE(world.Settle());
  world.AllDeletedGone();
  ASSERT_TRUE(world.Settle());
  ASSERT_EQ(world.phase(), "Aborted");
  const api::volcano::Job job = world.job();
  Happening resume;
  resume.event = Event::kCommandIssued;
  resume.action = Action::kResumeJob;
  world.Command("go", "ResumeJob");
  world.Step();
  const Answer answer = Decide(job, resume, absl::ZeroDuration(), {});
  EXPECT_EQ(answer.action, Action::kResumeJob);
  EXPECT_EQ(NameOf(answer.phase), world.phase());
  EXPECT_EQ(answer.version, world.job().status.version);
  EXPECT_EQ(answer.retry_count, world.job().status.retry_count);
}

}  // namespace
}  // namespace gangway::lifecycle
