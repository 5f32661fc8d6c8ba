// The phase table and its formulas: rows S1 to S47 of the specification (volcano-job 9.2), and the matrix of 3.5 entry by entry.
// The rows about counters that are frozen without a PodGroup are told with the pods they speak of: ours counts what is.
#include "plugin/lifecycle/transitions.h"

#include <ostream>

#include "gtest/gtest.h"

namespace gangway::lifecycle {
namespace {

using P = JobPhase;
using A = Action;

// One hop of the phase, as ReconcileJob makes it: the table's row, then its formula on the counts.
struct Row {
  std::string name;
  P phase;
  A action;
  P after;
  PodCounts counts = {};
  std::int32_t retry_count = 0, retries_spent = 0;
  api::volcano::JobSpec spec = {};
  friend void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }
};

PodCounts Counts(int pending, int running, int succeeded, int failed, int terminating = 0) {
  PodCounts counts;
  counts.pending = pending;
  counts.running = running;
  counts.succeeded = succeeded;
  counts.failed = failed;
  counts.terminating = terminating;
  return counts;
}

struct Task {
  std::string name;
  int replicas;
  std::optional<std::int32_t> min = {};
};
api::volcano::JobSpec Spec(int min_available, const std::vector<Task>& tasks, int max_retry = 3) {
  api::volcano::JobSpec spec;
  spec.min_available = min_available;
  spec.max_retry = max_retry;
  for (const Task& task : tasks) {
    api::volcano::TaskSpec& out = spec.tasks.emplace_back();
    out.name = task.name;
    out.replicas = task.replicas;
    out.min_available = task.min;
  }
  return spec;
}
api::volcano::JobSpec MinSuccess(api::volcano::JobSpec spec, int n) {
  spec.min_success = n;
  return spec;
}
PodCounts Succeeded(PodCounts counts, const std::string& task, int n) {
  counts.by_task[task].phase["Succeeded"] = n;
  return counts;
}

class PhaseTest : public ::testing::TestWithParam<Row> {};
TEST_P(PhaseTest, OneHop) {
  const Row& row = GetParam();
  const Transition transition = TransitionOf(row.phase, row.action);
  const std::int32_t retries = row.retry_count + (transition.spends_retry ? 1 : 0);
  EXPECT_EQ(NameOf(NextPhase(transition.outcome, row.phase, row.spec, retries, row.counts)), NameOf(row.after));
  EXPECT_EQ(transition.spends_retry ? 1 : 0, row.retries_spent);
}

INSTANTIATE_TEST_SUITE_P(
    Spec, PhaseTest,
    ::testing::Values(
        Row{"S1", P::kAborted, A::kResumeJob, P::kRestarting, {}, 0, 1},
        Row{"S2", P::kAborted, A::kRestartJob, P::kAborted},
        Row{"S3", P::kAborting, A::kResumeJob, P::kRestarting, {}, 0, 1},
        Row{"S4", P::kAborting, A::kRestartJob, P::kAborted},
        Row{"S5", P::kAborting, A::kRestartJob, P::kAborting, Counts(0, 0, 0, 0, 1)},
        Row{"S6", P::kCompleting, A::kResumeJob, P::kCompleting, Counts(0, 0, 0, 0, 2)},
        Row{"S7", P::kCompleting, A::kResumeJob, P::kCompleted},
        Row{"S8", P::kCompleted, A::kResumeJob, P::kCompleted},
        Row{"S9", P::kPending, A::kRestartJob, P::kRestarting, {}, 0, 1},
        Row{"S10", P::kPending, A::kRestartJob, P::kRestarting, Counts(0, 0, 0, 0, 2), 0, 1},
        Row{"S11", P::kPending, A::kAbortJob, P::kAborting},
        Row{"S12", P::kPending, A::kAbortJob, P::kAborting, Counts(0, 0, 0, 0, 2)},
        Row{"S13", P::kPending, A::kTerminateJob, P::kTerminating, Counts(0, 0, 0, 0, 2)},
        Row{"S14", P::kPending, A::kCompleteJob, P::kCompleting},
        Row{"S15", P::kPending, A::kCompleteJob, P::kCompleting, Counts(0, 0, 0, 0, 2)},
        Row{"S16", P::kPending, A::kEnqueueJob, P::kRunning, Counts(0, 3, 0, 0), 0, 0, Spec(3, {{"t", 3}})},
        Row{"S17", P::kPending, A::kEnqueueJob, P::kPending, Counts(0, 2, 0, 0), 0, 0, Spec(3, {{"t", 3}})},
        Row{"S18", P::kPending, A::kSyncJob, P::kPending, Counts(0, 2, 0, 0), 0, 0, Spec(3, {{"t", 3}})},
        Row{"S19", P::kRestarting, A::kRestartJob, P::kFailed, {}, 3, 0, Spec(1, {{"a", 1}, {"b", 1}})},
        Row{"S20", P::kRestarting, A::kRestartJob, P::kPending, {}, 1, 0, Spec(1, {{"a", 1}, {"b", 1}})},
        Row{"S21", P::kRunning, A::kRestartJob, P::kRestarting, Counts(0, 0, 0, 0, 2), 0, 1},
        Row{"S22", P::kRunning, A::kRestartJob, P::kRestarting, {}, 0, 1},
        Row{"S23", P::kRunning, A::kAbortJob, P::kAborting},
        Row{"S24", P::kRunning, A::kAbortJob, P::kAborting, Counts(0, 0, 0, 0, 2)},
        Row{"S25", P::kRunning, A::kTerminateJob, P::kTerminating},
        Row{"S26", P::kRunning, A::kTerminateJob, P::kTerminating, Counts(0, 0, 0, 0, 2)},
        Row{"S27", P::kRunning, A::kCompleteJob, P::kCompleting},
        Row{"S28", P::kRunning, A::kCompleteJob, P::kCompleting, Counts(0, 0, 0, 0, 2)},
        Row{"S29", P::kRunning, A::kSyncJob, P::kCompleted, Counts(0, 0, 2, 0), 0, 0, Spec(0, {{"t", 2}})},
        Row{"S30", P::kRunning, A::kSyncJob, P::kRunning, Counts(0, 1, 1, 0), 0, 0, Spec(0, {{"t", 2}})},
        Row{"S31", P::kRunning, A::kSyncJob, P::kPending, Counts(5, 0, 0, 0), 0, 0, Spec(3, {{"t", 5}})},
        Row{"S32", P::kRunning, A::kSyncJob, P::kPending, Counts(3, 2, 0, 0), 0, 0, Spec(3, {{"t", 5}})},
        Row{"S33", P::kRunning, A::kSyncJob, P::kRunning, Counts(2, 1, 1, 1), 0, 0, Spec(3, {{"t", 5}})},
        Row{"S34", P::kTerminating, A::kTerminateJob, P::kTerminating, Counts(0, 0, 0, 0, 2)},
        Row{"S35", P::kTerminating, A::kTerminateJob, P::kTerminated},
        Row{"S38", P::kRunning, A::kSyncJob, P::kCompleted, Counts(0, 3, 2, 0), 0, 0, MinSuccess(Spec(5, {{"s", 3}, {"e", 2}}), 2)},
        Row{"S39", P::kRunning, A::kSyncJob, P::kFailed, Succeeded(Succeeded(Counts(0, 0, 3, 1), "A", 1), "B", 2), 0, 0,
            Spec(3, {{"A", 2, 2}, {"B", 2, 1}})},
        Row{"S40", P::kRunning, A::kSyncJob, P::kCompleted, Succeeded(Succeeded(Counts(0, 0, 3, 1), "A", 1), "B", 2), 0, 0,
            Spec(2, {{"A", 2, 2}, {"B", 2, 1}})},
        Row{"S41", P::kRunning, A::kSyncJob, P::kFailed, Succeeded(Counts(0, 0, 2, 2), "t", 2), 0, 0, MinSuccess(Spec(2, {{"t", 4, 2}}), 3)},
        Row{"S42", P::kRunning, A::kSyncJob, P::kRunning, {}, 0, 0, Spec(0, {{"t", 0}})},
        Row{"S43", P::kRestarting, A::kAbortJob, P::kPending, {}, 1, 0, Spec(1, {{"t", 1}})},
        Row{"S44", P::kRestarting, A::kSyncJob, P::kRestarting, Counts(0, 0, 0, 0, 3), 1, 0, Spec(3, {{"t", 3}})},
        Row{"S46", P::kRunning, A::kRestartPod, P::kRestarting, {}, 0, 1},
        Row{"S47", P::kCompleted, A::kSyncJob, P::kCompleted, Counts(0, 0, 2, 0)}),
    [](const auto& c) { return c.param.name; });

// What is done to the pods: spec 3.5.
struct KillRow {
  P phase;
  A action;
  Primitive primitive;
  Retain retain;
};
TEST(TransitionTest, WhatIsDoneToThePods) {
  for (const KillRow& row : {
           KillRow{P::kPending, A::kRestartJob, Primitive::kKill, Retain::kNone},
           KillRow{P::kPending, A::kRestartTask, Primitive::kKillTarget, Retain::kNone},
           KillRow{P::kPending, A::kAbortJob, Primitive::kKill, Retain::kSoft},
           KillRow{P::kPending, A::kResumeJob, Primitive::kSync, Retain::kSoft},
           KillRow{P::kRunning, A::kRestartPod, Primitive::kKillTarget, Retain::kNone},
           KillRow{P::kRunning, A::kCompleteJob, Primitive::kKill, Retain::kSoft},
           KillRow{P::kRunning, A::kOther, Primitive::kSync, Retain::kSoft},
           KillRow{P::kRestarting, A::kSyncJob, Primitive::kSync, Retain::kSoft},
           KillRow{P::kRestarting, A::kRestartPartition, Primitive::kKillTarget, Retain::kNone},
           KillRow{P::kRestarting, A::kRestartJob, Primitive::kKill, Retain::kNone},
           KillRow{P::kAborting, A::kResumeJob, Primitive::kKill, Retain::kSoft},
           KillRow{P::kAborted, A::kSyncJob, Primitive::kKill, Retain::kSoft},
           KillRow{P::kCompleting, A::kRestartJob, Primitive::kKill, Retain::kSoft},
           KillRow{P::kTerminating, A::kSyncJob, Primitive::kKill, Retain::kSoft},
           KillRow{P::kFailed, A::kRestartJob, Primitive::kKill, Retain::kSoft},
       }) {
    const Transition transition = TransitionOf(row.phase, row.action);
    EXPECT_EQ(transition.primitive, row.primitive) << NameOf(row.phase) << " " << NameOf(row.action);
    EXPECT_EQ(transition.retain, row.retain) << NameOf(row.phase) << " " << NameOf(row.action);
  }
}

TEST(TransitionTest, WhileRestartingEndingTheJobWaits) {
  for (const A action : {A::kAbortJob, A::kTerminateJob, A::kCompleteJob, A::kResumeJob}) {
    EXPECT_TRUE(TransitionOf(P::kRestarting, action).waits) << NameOf(action);
  }
  EXPECT_FALSE(TransitionOf(P::kRestarting, A::kRestartJob).waits);
}

TEST(TransitionTest, NothingLeavesAFinishedPhase) {
  for (const P phase : {P::kCompleted, P::kFailed, P::kTerminated}) {
    for (int a = 0; a < kActions; ++a) {
      const Transition transition = TransitionOf(phase, static_cast<A>(a));
      EXPECT_EQ(NextPhase(transition.outcome, phase, Spec(1, {{"t", 1}}), 0, Counts(0, 1, 0, 0)), phase);
      EXPECT_FALSE(transition.spends_retry);
    }
  }
}

// Spec 3.7.
TEST(RetryTest, TheLastRetryIsTheOneThatFails) {
  api::volcano::Job job;
  const auto last = [&](int max_retry, int retry_count) {
    job.spec.max_retry = max_retry;
    job.status.retry_count = retry_count;
    return LastRetry(job);
  };
  EXPECT_FALSE(last(3, 0));
  EXPECT_FALSE(last(3, 1));
  EXPECT_TRUE(last(3, 2));
  EXPECT_TRUE(last(2, 1));
  EXPECT_TRUE(last(1, 0));
}

}  // namespace
}  // namespace gangway::lifecycle
