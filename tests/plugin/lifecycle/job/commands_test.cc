// Commands to a Job: what each does in every phase, and how it is carried out (recordings:
// tests/golden/volcano/bus-commands).
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "plugin/lifecycle/job/reconcile_job.h"
#include "tests/plugin/lifecycle/job/world.h"

namespace gangway::lifecycle {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testutil::JobText;
using testutil::World;

const char kRestartOnLoss[] =
    R"("policies":[{"event":"PodEvicted","action":"RestartJob"},{"event":"PodFailed","action":"RestartJob"}])";

// --- The whole table.

constexpr std::array kCommands = {"AbortJob",    "TerminateJob", "CompleteJob", "ResumeJob",        "RestartJob",
                                  "RestartTask", "RestartPod",   "EnqueueJob",  "RestartPartition", "Nonsense"};
// A Job found in `phase`, with these pods, and the phase that each command leads to; '+' where it spends a retry, ""
// where the command has no effect, which its sender is told.
struct Found {
  std::string phase, pods;
  std::vector<std::string> leads_to;  // as kCommands; those that are not there have no effect
  int retries = 0;
  std::string without = {};  // the phase after a look without a command; "": the same
};
const std::vector<Found>& Table() {
  static const auto& table = *new std::vector<Found>{
      {"",
       "",
       {"Aborting", "Terminating", "Completing", "", "Restarting+", "Restarting+", "Restarting+"},
       0,
       "Pending"},
      {"Pending",
       "w-0:Pending w-1:Running",
       {"Aborting", "Terminating", "Completing", "", "Restarting+", "Restarting+", "Restarting+"}},
      {"Running",
       "w-0:Running w-1:Running",
       {"Aborting", "Terminating", "Completing", "", "Restarting+", "Restarting+", "Restarting+"},
       1},
      {"Restarting",
       "w-0:-Running w-1:-Running",
       {"Aborting", "Terminating", "Completing", "", "Restarting", "Restarting", "Restarting"},
       1},
      // Its last restart was one too many.
      {"Restarting", "w-0:-Running w-1:-Running", {}, 3, "Failed"},
      {"Aborting", "w-0:-Running", {"", "", "", "Restarting"}, 2},
      {"Aborted", "", {"", "", "", "Restarting"}, 2, ""},
      {"Completing", "w-0:-Running", {}},
      {"Completed", "w-0:Succeeded", {}},
      {"Terminating", "w-0:-Running", {}},
      {"Terminated", "", {}},
      {"Failed", "w-0:Failed", {}, 3},
  };
  return table;
}

TEST(CommandTest, EveryCommandInEveryPhase) {
  for (const Found& found : Table()) {
    for (std::size_t c = 0; c < kCommands.size(); ++c) {
      SCOPED_TRACE(absl::StrCat(kCommands[c], " to a job that is ", found.phase, " with ", found.retries, " retries"));
      const std::string wanted = c < found.leads_to.size() ? found.leads_to[c] : "";
      World world(JobText("j", 2, {{"w", 2}}));
      world.PatchJob(absl::StrCat(R"({"status":{"state":{"phase":")", found.phase,
                                  R"("},"minAvailable":2,"retryCount":)", found.retries, "}}"));
      for (const absl::string_view pod : absl::StrSplit(found.pods, ' ', absl::SkipEmpty())) {
        const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(pod, ':');
        world.AddPod(parts.first, parts.second);
      }
      world.Command("c", kCommands[c]);
      world.Step();
      const bool effect = !wanted.empty(), spends = effect && wanted.back() == '+';
      EXPECT_EQ(world.phase(), effect                  ? wanted.substr(0, wanted.size() - (spends ? 1 : 0))
                               : found.without.empty() ? found.phase
                                                       : found.without);
      EXPECT_EQ(world.job().status.retry_count, found.retries + (spends ? 1 : 0));
      ASSERT_TRUE(world.Settle());
      EXPECT_THAT(world.Names("commands"), IsEmpty());
      EXPECT_EQ(world.HasEvent("CommandIssued", kCommands[c]), effect);
      EXPECT_EQ(world.HasEvent("CommandIgnored", kCommands[c]), !effect);
    }
  }
}

// --- A rest is not a failure.

TEST(CommandTest, RestsCostNoRetry) {
  World world(JobText("cmd", 2, {{"w", 2}}, kRestartOnLoss));
  ASSERT_TRUE(world.Start());
  for (int round = 0; round < 10; ++round) {
    world.Command(absl::StrCat("abort-", round), "AbortJob");
    ASSERT_TRUE(world.Settle());
    world.AllDeletedGone();
    ASSERT_TRUE(world.Settle());
    ASSERT_EQ(world.phase(), "Aborted") << round;
    world.Command(absl::StrCat("resume-", round), "ResumeJob");
    ASSERT_TRUE(world.Settle());
    ASSERT_TRUE(world.ComeBack());
    ASSERT_EQ(world.phase(), "Running") << round;
  }
  EXPECT_EQ(world.job().status.retry_count, 0);
  // What is left of its retries is all there is.
  for (int i = 1; i <= 3; ++i) {
    world.SetPod("cmd-w-0", "Failed", 1);
    ASSERT_TRUE(world.Settle());
    ASSERT_EQ(world.job().status.retry_count, i);
    if (i < 3) {
      ASSERT_TRUE(world.ComeBack());
    }
  }
  EXPECT_EQ(world.phase(), "Failed");
}

TEST(CommandTest, AResumedJobReplacesWhatFailedAndKeepsWhatSucceeded) {
  World world(JobText("cmd", 3, {{"w", 3}}, R"("policies":[{"event":"PodFailed","action":"AbortJob"}])"));
  ASSERT_TRUE(world.Start());
  world.SetPod("cmd-w-2", "Succeeded");
  ASSERT_TRUE(world.Settle());
  world.SetPod("cmd-w-0", "Failed", 1);
  ASSERT_TRUE(world.Settle());
  world.AllDeletedGone();
  ASSERT_TRUE(world.Settle());
  ASSERT_EQ(world.phase(), "Aborted");
  EXPECT_THAT(world.Pods(), ElementsAre("w-0 Failed v0", "w-2 Succeeded v0")) << "kept to be looked at";
  world.Command("resume", "ResumeJob");
  ASSERT_TRUE(world.Settle());
  ASSERT_TRUE(world.ComeBack());
  EXPECT_THAT(world.Pods(), ElementsAre("w-0 Running v2", "w-1 Running v2", "w-2 Succeeded v0"));
  EXPECT_EQ(world.phase(), "Running");
  EXPECT_EQ(world.job().status.retry_count, 0);
}

TEST(CommandTest, AJobWhosePodsAllFailedIsResumedAndNotEnded) {
  World world(JobText("cmd", 2, {{"w", 2}}, R"("policies":[{"event":"PodFailed","action":"AbortJob"}])"));
  ASSERT_TRUE(world.Start());
  world.SetPod("cmd-w-0", "Failed", 1);
  world.SetPod("cmd-w-1", "Failed", 1);
  ASSERT_TRUE(world.Settle());
  ASSERT_EQ(world.phase(), "Aborted");
  world.Command("resume", "ResumeJob");
  ASSERT_TRUE(world.Settle());
  ASSERT_TRUE(world.ComeBack());
  EXPECT_THAT(world.Pods(), ElementsAre("w-0 Running v2", "w-1 Running v2"));
  EXPECT_EQ(world.phase(), "Running");
}

// The process may die after any write: what failed is replaced, once.
TEST(CommandTest, AResumptionHoldsWhereverTheProcessDies) {
  for (int writes = 0; writes < 12; ++writes) {
    World world(JobText("cmd", 2, {{"w", 2}}, R"("policies":[{"event":"PodFailed","action":"AbortJob"}])"));
    ASSERT_TRUE(world.Start());
    world.SetPod("cmd-w-0", "Failed", 1);
    ASSERT_TRUE(world.Settle());
    world.AllDeletedGone();
    ASSERT_TRUE(world.Settle());
    world.Command("resume", "ResumeJob");
    for (int left = writes; left > 0;) {
      const int done = world.Step(left);
      if (done == 0) break;
      left -= done;
    }
    ASSERT_TRUE(world.Settle());
    ASSERT_TRUE(world.ComeBack());
    EXPECT_THAT(world.Pods(), ElementsAre("w-0 Running v2", "w-1 Running v2")) << writes;
    EXPECT_EQ(world.job().status.retry_count, 0) << writes;
  }
}

// --- A pod that never goes: its node is lost, or somebody's finalizer holds it.

TEST(CommandTest, APodThatNeverGoesMakesNoJobImmortal) {
  for (const auto& [command, ending] : std::vector<std::pair<const char*, const char*>>{
           {"AbortJob", "Aborting"}, {"TerminateJob", "Terminating"}, {"CompleteJob", "Completing"}}) {
    World world(JobText("cmd", 2, {{"w", 2}}, kRestartOnLoss));
    ASSERT_TRUE(world.Start());
    world.SetPod("cmd-w-0", "Failed", 1);
    ASSERT_TRUE(world.Settle());
    ASSERT_EQ(world.phase(), "Restarting");
    ASSERT_THAT(world.Pods(), ElementsAre("w-1 -Running v0"));
    world.Command("end", command);
    ASSERT_TRUE(world.Settle());
    EXPECT_EQ(world.phase(), ending);
    EXPECT_THAT(world.Names("podgroups"), IsEmpty()) << "it holds no room";
    EXPECT_EQ(world.job().status.retry_count, 1);
    world.PodGone("cmd-w-1");
    ASSERT_TRUE(world.Settle());
    EXPECT_THAT(world.Pods(), IsEmpty());
  }
}

// The process dies before it has removed what the restart removes: an abort that comes then finds it there.
TEST(CommandTest, AnAbortRemovesWhatTheRestartWouldHave) {
  for (int writes = 1; writes < 5; ++writes) {
    World world(JobText("cmd", 2, {{"w", 2}}, kRestartOnLoss));
    ASSERT_TRUE(world.Start());
    world.SetPod("cmd-w-0", "Failed", 1);
    world.Step(writes);
    ASSERT_EQ(world.phase(), "Restarting");
    world.Command("abort", "AbortJob");
    ASSERT_TRUE(world.Settle());
    world.AllDeletedGone();
    ASSERT_TRUE(world.Settle());
    EXPECT_EQ(world.phase(), "Aborted");
    EXPECT_THAT(world.Pods(), IsEmpty()) << writes;
  }
}

TEST(CommandTest, AJobIsResumedBeforeItsLastPodHasGone) {
  World world(JobText("cmd", 2, {{"w", 2}}));
  ASSERT_TRUE(world.Start());
  world.Command("abort", "AbortJob");
  ASSERT_TRUE(world.Settle());
  world.PodGone("cmd-w-0");
  ASSERT_TRUE(world.Settle());
  ASSERT_EQ(world.phase(), "Aborting");
  world.Command("resume", "ResumeJob");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Restarting");
  world.Command("end", "TerminateJob");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Terminating");
}

// A policy that ends the job need not wait for the end of a restart either.
TEST(CommandTest, APolicyEndsAJobThatRestarts) {
  World world(JobText(
      "cmd", 2,
      {{"w", 2,
        R"("policies":[{"event":"PodEvicted","action":"RestartPod"},{"event":"PodFailed","action":"TerminateJob"}])"}}));
  ASSERT_TRUE(world.Start());
  world.PodGone("cmd-w-0");
  world.Step();
  ASSERT_EQ(world.phase(), "Restarting");
  world.SetPod("cmd-w-1", "Failed", 1);
  world.Step();
  EXPECT_EQ(world.phase(), "Terminating");
}

// --- One by one.

TEST(CommandTest, AbortThenResume) {
  World world(JobText("cmd", 2, {{"w", 2}}));
  ASSERT_TRUE(world.Start());
  world.Command("abort", "AbortJob");
  ASSERT_TRUE(world.Settle());
  EXPECT_FALSE(world.Exists("commands", "abort"));
  EXPECT_EQ(world.phase(), "Aborting");
  world.AllDeletedGone();
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Aborted");
  EXPECT_THAT(world.Names("pods"), IsEmpty());
  EXPECT_FALSE(world.Exists("podgroups", "cmd-job-uid"));
  world.Command("resume", "ResumeJob");
  ASSERT_TRUE(world.Settle());
  ASSERT_TRUE(world.ComeBack());
  EXPECT_THAT(world.phases(),
              ElementsAre("Pending", "Running", "Aborting", "Aborted", "Restarting", "Pending", "Running"));
  EXPECT_EQ(world.job().status.retry_count, 0);
  EXPECT_TRUE(world.HasEvent("CommandIssued", "Start to execute command AbortJob"));
}

TEST(CommandTest, IsConsumedExactlyOnceWhereverTheProcessDies) {
  for (int writes = 0; writes < 8; ++writes) {
    World world(JobText("cmd", 2, {{"w", 2}}));
    ASSERT_TRUE(world.Start());
    world.Command("restart", "RestartJob");
    world.Step(writes);
    ASSERT_TRUE(world.Settle());
    ASSERT_TRUE(world.ComeBack());
    EXPECT_EQ(world.job().status.retry_count, 1) << writes;
    EXPECT_EQ(world.job().status.version, 1) << writes;
    EXPECT_FALSE(world.Exists("commands", "restart")) << writes;
  }
}

TEST(CommandTest, OneWithoutEffectIsRemovedAndSaysSo) {
  World world(JobText("cmd", 2, {{"w", 2}}));
  ASSERT_TRUE(world.Start());
  world.Command("resume", "ResumeJob");
  world.Command("nonsense", "Nonsense");
  world.Command("stale", "AbortJob", "another-uid");
  ASSERT_TRUE(world.Settle());
  EXPECT_THAT(world.Names("commands"), IsEmpty());
  EXPECT_EQ(world.phase(), "Running");
  EXPECT_TRUE(world.HasEvent("CommandIgnored", "ResumeJob has no effect: the job is Running"));
  EXPECT_TRUE(world.HasEvent("CommandIgnored", "Nonsense is no action"));
  EXPECT_TRUE(world.HasEvent("CommandIgnored", "AbortJob is for an earlier job"));
}

TEST(CommandTest, OneForAnEarlierJobKeepsNoOther) {
  World world(JobText("cmd", 2, {{"w", 2}}));
  ASSERT_TRUE(world.Start());
  world.Command("a-stale", "TerminateJob", "another-uid");
  world.Command("b-abort", "AbortJob");
  world.Step();
  EXPECT_EQ(world.phase(), "Aborting");
  EXPECT_FALSE(world.Exists("commands", "a-stale"));
}

TEST(CommandTest, ResumeOnATerminatedJobChangesNothing) {
  World world(JobText("cmd", 2, {{"w", 2}}));
  ASSERT_TRUE(world.Start());
  world.Command("end", "TerminateJob");
  ASSERT_TRUE(world.Settle());
  world.AllDeletedGone();
  ASSERT_TRUE(world.Settle());
  world.Command("resume", "ResumeJob");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Terminated");
  EXPECT_THAT(world.Names("commands"), IsEmpty());
}

}  // namespace
}  // namespace gangway::lifecycle
