// Rows S1 to S47 of tests/spec/volcano-job.rows: a Job found in a phase, with these pods, looks at itself once
// or for as long as there is something to do. Volcano's handlers take an action from anywhere; ours from a command, or
// from a policy and what happened. Where a row counts pods that its status only claims (Volcano freezes the counters
// while there is no PodGroup), they are there.
#include "plugin/lifecycle/job/reconcile_job.h"

#include <ostream>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/plugin/lifecycle/job/world.h"

namespace gangway::lifecycle {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testutil::JobText;
using testutil::TaskText;
using testutil::World;

struct Row {
  std::string name;
  std::string phase, pods, action;  // pods: "w-0:Running w-1:-Running"; no action: SyncJob
  std::string after;
  std::string pods_after = {};
  int retry = 0, retry_after = 0;
  int min_available = 2;
  std::vector<TaskText> tasks = {{"w", 2}};
  std::string extra = {};
  friend void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }
};

World Found(const Row& row) {
  World world(JobText("j", row.min_available, row.tasks, row.extra));
  world.PatchJob(absl::StrCat(R"({"status":{"state":{"phase":")", row.phase, R"("},"minAvailable":)", row.min_available,
                              R"(,"retryCount":)", row.retry, "}}"));
  for (const absl::string_view pod : absl::StrSplit(row.pods, ' ', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(pod, ':');
    world.AddPod(parts.first, parts.second);
  }
  return world;
}
std::string PodsOf(const World& world) {
  std::vector<std::string> out;
  for (const auto& [name, pod] : world.table()) out.push_back(absl::StrCat(name.substr(2), ":", World::View(pod)));
  return absl::StrJoin(out, " ");
}

class PhaseRowTest : public ::testing::TestWithParam<Row> {};
TEST_P(PhaseRowTest, OneLook) {
  const Row& row = GetParam();
  World world = Found(row);
  if (!row.action.empty()) world.Command("c", row.action);
  world.Step();
  EXPECT_EQ(world.phase(), row.after);
  EXPECT_EQ(PodsOf(world), row.pods_after);
  EXPECT_EQ(world.job().status.retry_count, row.retry_after);
  // The action is answered once, and answering it again and again changes nothing.
  ASSERT_TRUE(world.Settle());
  EXPECT_THAT(world.Names("commands"), IsEmpty());
  EXPECT_EQ(world.job().status.retry_count, row.retry_after);
}

constexpr char kTwo[] = "w-0:Running w-1:Running", kTwoGo[] = "w-0:-Running w-1:-Running";
INSTANTIATE_TEST_SUITE_P(
    Spec, PhaseRowTest,
    ::testing::Values(
        Row{"S1", "Aborted", "", "ResumeJob", "Restarting"}, Row{"S2", "Aborted", "", "RestartJob", "Aborted"},
        Row{"S3", "Aborting", "", "ResumeJob", "Restarting"},  // a retry there (docs/differences.md)
        Row{"S4", "Aborting", "", "RestartJob", "Aborted"},
        Row{"S5", "Aborting", "w-0:Pending", "RestartJob", "Aborting", "w-0:-Pending"},
        Row{"S6", "Completing", kTwo, "ResumeJob", "Completing", kTwoGo},
        Row{"S7", "Completing", "", "ResumeJob", "Completed"}, Row{"S8", "Completed", "", "ResumeJob", "Completed"},
        Row{"S9", "Pending", "", "RestartJob", "Restarting", "", 0, 1},
        Row{"S10", "Pending", kTwo, "RestartJob", "Restarting", kTwoGo, 0, 1},
        Row{"S11", "Pending", "", "AbortJob", "Aborting"}, Row{"S12", "Pending", kTwo, "AbortJob", "Aborting", kTwoGo},
        Row{"S13", "Pending", kTwo, "TerminateJob", "Terminating", kTwoGo},
        Row{"S14", "Pending", "", "CompleteJob", "Completing"},
        Row{"S15", "Pending", kTwo, "CompleteJob", "Completing", kTwoGo},
        Row{"S16",
            "Pending",
            "w-0:Running w-1:Running w-2:Running",
            "EnqueueJob",
            "Running",
            "w-0:Running w-1:Running w-2:Running",
            0,
            0,
            3,
            {{"w", 3}}},
        Row{"S17", "Pending", kTwo, "EnqueueJob", "Pending", kTwo, 0, 0, 3, {{"w", 3}}},
        Row{"S18", "Pending", kTwo, "", "Pending", kTwo, 0, 0, 3, {{"w", 3}}},
        Row{"S19", "Restarting", "", "RestartJob", "Failed", "", 3, 3},
        Row{"S20", "Restarting", "", "RestartJob", "Pending", "", 1, 1, 1, {{"a", 1}, {"b", 1}}},
        Row{"S21", "Running", kTwo, "RestartJob", "Restarting", kTwoGo, 0, 1},
        Row{"S22", "Running", "", "RestartJob", "Restarting", "", 0, 1},
        Row{"S23", "Running", "", "AbortJob", "Aborting"}, Row{"S24", "Running", kTwo, "AbortJob", "Aborting", kTwoGo},
        Row{"S25", "Running", "", "TerminateJob", "Terminating"},
        Row{"S26", "Running", kTwo, "TerminateJob", "Terminating", kTwoGo},
        Row{"S27", "Running", "", "CompleteJob", "Completing"},
        Row{"S28", "Running", kTwo, "CompleteJob", "Completing", kTwoGo},
        Row{"S29", "Running", "w-0:Succeeded w-1:Succeeded", "", "Completed", "w-0:Succeeded w-1:Succeeded", 0, 0, 0},
        Row{"S30", "Running", "w-0:Succeeded", "", "Running", "w-0:Succeeded", 0, 0, 0},
        Row{"S31",
            "Running",
            "w-0:Pending w-1:Pending w-2:Pending w-3:Pending w-4:Pending",
            "",
            "Pending",
            "w-0:Pending w-1:Pending w-2:Pending w-3:Pending w-4:Pending",
            0,
            0,
            3,
            {{"w", 5}}},
        Row{"S32",
            "Running",
            "w-0:Running w-1:Running w-2:Pending w-3:Pending w-4:Pending",
            "",
            "Pending",
            "w-0:Running w-1:Running w-2:Pending w-3:Pending w-4:Pending",
            0,
            0,
            3,
            {{"w", 5}}},
        Row{"S33",
            "Running",
            "w-0:Pending w-1:Pending w-2:Running w-3:Succeeded w-4:Failed",
            "",
            "Running",
            "w-0:Pending w-1:Pending w-2:Running w-3:Succeeded w-4:Failed",
            0,
            0,
            3,
            {{"w", 5}}},
        Row{"S34", "Terminating", kTwo, "TerminateJob", "Terminating", kTwoGo},
        Row{"S35", "Terminating", "", "TerminateJob", "Terminated"},
        Row{"S39",
            "Running",
            "a-0:Succeeded a-1:Failed b-0:Succeeded b-1:Succeeded",
            "",
            "Failed",
            "a-0:Succeeded a-1:Failed b-0:Succeeded b-1:Succeeded",
            0,
            0,
            3,
            {{"a", 2, R"("minAvailable":2)"}, {"b", 2, R"("minAvailable":1)"}}},
        Row{"S40",
            "Running",
            "a-0:Succeeded a-1:Failed b-0:Succeeded b-1:Succeeded",
            "",
            "Completed",
            "a-0:Succeeded a-1:Failed b-0:Succeeded b-1:Succeeded",
            0,
            0,
            2,
            {{"a", 2, R"("minAvailable":2)"}, {"b", 2, R"("minAvailable":1)"}}},
        Row{"S41",
            "Running",
            "w-0:Succeeded w-1:Succeeded w-2:Failed w-3:Failed",
            "",
            "Failed",
            "w-0:Succeeded w-1:Succeeded w-2:Failed w-3:Failed",
            0,
            0,
            2,
            {{"w", 4, R"("minAvailable":2)"}},
            R"("minSuccess":3)"},
        Row{"S42", "Running", "", "", "Running", "", 0, 0, 0, {{"w", 0}}},
        Row{"S44",
            "Restarting",
            "w-0:-Running w-1:-Running w-2:-Running",
            "",
            "Restarting",
            "w-0:-Running w-1:-Running w-2:-Running",
            1,
            1,
            3,
            {{"w", 3}}},
        Row{"S45", "Running", kTwo, "RestartPartition", "Running", kTwo},
        Row{"S46", "Running", kTwo, "RestartPod", "Restarting", kTwo, 0, 1}),
    [](const auto& c) { return c.param.name; });

constexpr char kRestartOnFailure[] = R"("policies":[{"event":"PodFailed","action":"RestartJob"}])";

TEST(PhaseRowTest, S36TheLastRetryKeepsWhatFailed) {
  World world(JobText("j", 2, {{"bad", 1}, {"long", 1}}, absl::StrCat(R"("maxRetry":2,)", kRestartOnFailure)));
  ASSERT_TRUE(world.Start());
  world.SetPod("j-bad-0", "Failed", 1);
  ASSERT_TRUE(world.Settle());
  ASSERT_TRUE(world.ComeBack());
  ASSERT_EQ(world.phase(), "Running");
  world.SetPod("j-bad-0", "Failed", 1);
  ASSERT_TRUE(world.Settle());
  world.AllDeletedGone();
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Failed");
  EXPECT_EQ(world.job().status.retry_count, 2);
  EXPECT_THAT(world.Pods(), ElementsAre("bad-0 Failed v1"));
}

TEST(PhaseRowTest, S37ACompletedJobSpentNoRetry) {
  World world(JobText("j", 2,
                      {{"short", 1, R"("policies":[{"event":"TaskCompleted","action":"CompleteJob"}])"}, {"long", 1}},
                      R"("maxRetry":1)"));
  ASSERT_TRUE(world.Start());
  world.SetPod("j-short-0", "Succeeded");
  ASSERT_TRUE(world.Settle());
  world.AllDeletedGone();
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Completed");
  EXPECT_EQ(world.job().status.retry_count, 0);
  EXPECT_THAT(world.Pods(), ElementsAre("short-0 Succeeded v0"));
}

TEST(PhaseRowTest, S38MinSuccess) {
  World world(JobText("j", 5, {{"short", 3}, {"endless", 2}}, R"("minSuccess":2)"));
  ASSERT_TRUE(world.Start());
  world.SetPod("j-short-0", "Succeeded");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Running");
  world.SetPod("j-short-2", "Succeeded");
  ASSERT_TRUE(world.Settle());
  EXPECT_THAT(world.phases(), ElementsAre("Pending", "Running", "Completed"));
}

// Spec 3.9.
TEST(PhaseRowTest, AJobIsAbortedBeforeItHasPods) {
  World world(JobText("j", 2, {{"w", 2}}));
  ASSERT_TRUE(world.Settle());
  world.Command("c", "AbortJob");
  ASSERT_TRUE(world.Settle());
  EXPECT_THAT(world.phases(), ElementsAre("Pending", "Aborting", "Aborted"));
  EXPECT_THAT(world.Names("podgroups"), IsEmpty());
}

// Volcano loses the command (docs/differences.md).
TEST(PhaseRowTest, S43AnAbortWhileRestartingAborts) {
  World world = Found({"S43", "Restarting", "", "", "", "", 1});
  world.Command("c", "AbortJob");
  world.Step();
  EXPECT_EQ(world.phase(), "Aborting");
  EXPECT_FALSE(world.Exists("commands", "c"));
}

// Volcano counts on: version 1, succeeded 0. Ours is quiet and keeps what it counted (docs/differences.md).
TEST(PhaseRowTest, S47AFinishedJobStaysAsItIs) {
  World world = Found({"S47", "Completed", "w-0:Succeeded w-1:Succeeded", "", ""});
  world.PatchJob(R"({"status":{"version":1,"succeeded":2,"taskStatusCount":{"w":{"phase":{"Succeeded":2}}}}})");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Completed");
  EXPECT_EQ(world.job().status.version, 1);
  EXPECT_EQ(world.job().status.succeeded, 2);
  EXPECT_EQ(PodsOf(world), "w-0:Succeeded w-1:Succeeded");
}

}  // namespace
}  // namespace gangway::lifecycle
