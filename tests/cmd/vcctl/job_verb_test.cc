#include "cmd/vcctl/command.h"
#include "cmd/vcctl/job_wait.h"
#include "gtest/gtest.h"

namespace gangway::cmd {
namespace {

using api::volcano::Job;
using Kind = WaitVerdict::Kind;

Job JobIn(const std::string& phase) {
  Job job;
  job.metadata.name = "cmd";
  job.metadata.ns = "g-bus-commands";
  job.metadata.uid = "2c8f360b-a042-4892-8cb5-a51848527cdf";
  job.status.state.phase = phase;
  return job;
}

// The target as vcctl's command had it (tests/golden/volcano/bus-commands).
TEST(JobCommandObjectTest, AsRecorded) {
  const std::string reference =
      R"("apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","name":"cmd","uid":"2c8f360b-a042-4892-8cb5-a51848527cdf","controller":true,"blockOwnerDeletion":true)";
  EXPECT_EQ(
      api::Encode(JobCommandObject(JobIn("Running"), "AbortJob")),
      R"({"apiVersion":"bus.volcano.sh/v1alpha1","kind":"Command","metadata":{"generateName":"cmd-abortjob-","namespace":"g-bus-commands",)"
      R"("ownerReferences":[{)" +
          reference + R"(}]},"action":"AbortJob","target":{)" + reference + "}}");
}

Kind Judge(JobVerb verb, const std::string& phase) {
  const Job job = JobIn(phase);
  return JudgeWait(verb, &job, job.metadata.uid).kind;
}

TEST(JudgeWaitTest, SuspendedIsAborted) {
  EXPECT_EQ(Judge(JobVerb::kSuspend, "Aborted"), Kind::kReached);
  for (const char* phase : {"", "Pending", "Running", "Restarting", "Aborting", "Completing", "Terminating"})
    EXPECT_EQ(Judge(JobVerb::kSuspend, phase), Kind::kWaits) << phase;
  for (const char* phase : {"Completed", "Failed", "Terminated"})
    EXPECT_EQ(Judge(JobVerb::kSuspend, phase), Kind::kNever) << phase;
}

TEST(JudgeWaitTest, ResumedRunsOrHasRun) {
  for (const char* phase : {"Running", "Completing", "Completed"})
    EXPECT_EQ(Judge(JobVerb::kResume, phase), Kind::kReached) << phase;
  for (const char* phase : {"", "Pending", "Restarting", "Aborting", "Aborted"})
    EXPECT_EQ(Judge(JobVerb::kResume, phase), Kind::kWaits) << phase;
  for (const char* phase : {"Failed", "Terminated"}) EXPECT_EQ(Judge(JobVerb::kResume, phase), Kind::kNever) << phase;
}

TEST(JudgeWaitTest, DeletedIsGoneOrAnother) {
  EXPECT_EQ(Judge(JobVerb::kDelete, "Running"), Kind::kWaits);
  const Job job = JobIn("Running");
  EXPECT_EQ(JudgeWait(JobVerb::kDelete, nullptr, job.metadata.uid).kind, Kind::kReached);
  EXPECT_EQ(JudgeWait(JobVerb::kDelete, &job, "another uid").kind, Kind::kReached);
}

TEST(JudgeWaitTest, WhatIsGoneIsNeverSuspendedOrResumed) {
  const Job job = JobIn("Running");
  EXPECT_EQ(JudgeWait(JobVerb::kSuspend, nullptr, job.metadata.uid), (WaitVerdict{Kind::kNever, "it was deleted"}));
  EXPECT_EQ(JudgeWait(JobVerb::kResume, &job, "another uid"), (WaitVerdict{Kind::kNever, "it was deleted"}));
}

}  // namespace
}  // namespace gangway::cmd
