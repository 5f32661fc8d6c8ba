// The phase table and its formulas: Volcano's matrix of phases and actions, entry by entry, and the edges
// between them. The rows S of tests/spec/volcano-job.rows stand in phase_rows_test.cc.
#include "plugin/lifecycle/policy/transitions.h"

#include <algorithm>
#include <vector>

#include "gtest/gtest.h"

namespace gangway::lifecycle {
namespace {

using P = JobPhase;
using A = Action;

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
PodCounts Succeeded(PodCounts counts, const std::string& task, int n) {
  counts.by_task[task].phase["Succeeded"] = n;
  return counts;
}
PodCounts NotMade(PodCounts counts, int n) {
  counts.not_made = n;
  return counts;
}

// Spec 3.5, row by row. "other" actions are those that no row above names for the phase.
struct MatrixRow {
  std::vector<P> phases;
  std::vector<A> actions;  // empty: other
  Transition transition;
};
const std::vector<A> kTargeted = {A::kRestartTask, A::kRestartPod, A::kRestartPartition};
const std::vector<P> kActive = {P::kPending, P::kRunning};
// Volcano kills again in Restarting, and forgets what should end the job (docs/differences.md).
const std::vector<P> kWithPods = {P::kPending, P::kRunning, P::kRestarting};
const std::vector<MatrixRow>& Matrix() {
  static const auto& matrix = *new std::vector<MatrixRow>{
      {kActive, {A::kRestartJob}, {Primitive::kKill, Retain::kNone, Outcome::kToRestarting, true}},
      {kActive, kTargeted, {Primitive::kKillTarget, Retain::kNone, Outcome::kToRestarting, true}},
      {kWithPods, {A::kAbortJob}, {Primitive::kKill, Retain::kSoft, Outcome::kToAborting}},
      {kWithPods, {A::kCompleteJob}, {Primitive::kKill, Retain::kSoft, Outcome::kToCompleting}},
      {kWithPods, {A::kTerminateJob}, {Primitive::kKill, Retain::kSoft, Outcome::kToTerminating}},
      {{P::kPending}, {}, {Primitive::kSync, Retain::kSoft, Outcome::kF1}},
      {{P::kRunning}, {}, {Primitive::kSync, Retain::kSoft, Outcome::kF2}},
      {{P::kRestarting}, {A::kSyncJob, A::kResumeJob}, {Primitive::kSync, Retain::kSoft, Outcome::kF3}},
      {{P::kRestarting}, kTargeted, {Primitive::kKillTarget, Retain::kNone, Outcome::kF3}},
      {{P::kRestarting}, {}, {Primitive::kKill, Retain::kNone, Outcome::kF3}},
      // It costs a retry there (docs/differences.md).
      {{P::kAborting, P::kAborted}, {A::kResumeJob}, {Primitive::kKill, Retain::kSucceeded, Outcome::kToRestarting}},
      {{P::kAborting}, {}, {Primitive::kKill, Retain::kSoft, Outcome::kF4Aborted}},
      {{P::kAborted}, {}, {Primitive::kKill, Retain::kSoft, Outcome::kStay}},
      {{P::kCompleting}, {}, {Primitive::kKill, Retain::kSoft, Outcome::kF4Completed}},
      {{P::kTerminating}, {}, {Primitive::kKill, Retain::kSoft, Outcome::kF4Terminated}},
      {{P::kCompleted, P::kFailed, P::kTerminated}, {}, {Primitive::kKill, Retain::kSoft, Outcome::kStay}},
  };
  return matrix;
}
template <class T>
bool Has(const std::vector<T>& list, T one) {
  return std::find(list.begin(), list.end(), one) != list.end();
}

TEST(TransitionTest, IsTheWholeMatrix) {
  for (int p = 0; p < kJobPhases; ++p) {
    for (int a = 0; a < kActions; ++a) {
      const P phase = static_cast<P>(p);
      const A action = static_cast<A>(a);
      std::vector<Transition> named, other;
      for (const MatrixRow& row : Matrix()) {
        if (!Has(row.phases, phase)) continue;
        if (Has(row.actions, action)) named.push_back(row.transition);
        if (row.actions.empty()) other.push_back(row.transition);
      }
      ASSERT_EQ(other.size(), 1u) << NameOf(phase);
      ASSERT_LE(named.size(), 1u) << NameOf(phase) << " " << NameOf(action);
      EXPECT_EQ(TransitionOf(phase, action), named.empty() ? other[0] : named[0])
          << NameOf(phase) << " " << NameOf(action);
    }
  }
}

// Where the rows S do not reach: the edges of each formula.
struct FormulaRow {
  std::string what;
  Outcome outcome;
  P phase;
  api::volcano::JobSpec spec;
  PodCounts counts;
  P after;
  std::int32_t retry_count = 0;
};
TEST(FormulaTest, Edges) {
  auto elastic = Spec(2, {{"t", 4, 2}});
  auto success = elastic;
  success.min_success = 1;
  for (const FormulaRow& row : {
           FormulaRow{"F1 counts what failed at once", Outcome::kF1, P::kPending, Spec(3, {{"t", 3}}),
                      Counts(0, 0, 1, 2), P::kRunning},
           FormulaRow{"F1 one short", Outcome::kF1, P::kPending, Spec(3, {{"t", 3}}), Counts(1, 2, 0, 0), P::kPending},
           FormulaRow{"F2.2 while others run", Outcome::kF2, P::kRunning, success, Counts(1, 2, 1, 0), P::kCompleted},
           FormulaRow{"F2.3 one still runs", Outcome::kF2, P::kRunning, elastic, Counts(0, 1, 3, 0), P::kRunning},
           FormulaRow{"F2.3a a task of which nothing is counted", Outcome::kF2, P::kRunning,
                      Spec(2, {{"a", 2, 1}, {"b", 2, 1}}), Succeeded(Counts(0, 0, 2, 2), "a", 2), P::kCompleted},
           FormulaRow{"F2.3c as many as minAvailable", Outcome::kF2, P::kRunning, elastic,
                      Succeeded(Counts(0, 0, 2, 2), "t", 2), P::kCompleted},
           FormulaRow{"F2.3c fewer", Outcome::kF2, P::kRunning, elastic, Succeeded(Counts(0, 0, 1, 3), "t", 1),
                      P::kFailed},
           FormulaRow{"F2.4 the tail may wait", Outcome::kF2, P::kRunning, elastic, Counts(2, 2, 0, 0), P::kRunning},
           FormulaRow{"F2.4 a member may not", Outcome::kF2, P::kRunning, elastic, Counts(3, 1, 0, 0), P::kPending},
           FormulaRow{"F2.4 so of what is not made", Outcome::kF2, P::kRunning, elastic, NotMade(Counts(1, 2, 0, 0), 1),
                      P::kRunning},
           FormulaRow{"F2.4 a member that is not made", Outcome::kF2, P::kRunning, elastic,
                      NotMade(Counts(1, 1, 0, 0), 2), P::kPending},
           FormulaRow{"F2.4 a gang that is not made", Outcome::kF2, P::kRunning, elastic, NotMade({}, 4), P::kPending},
           FormulaRow{"F3 the last retry", Outcome::kF3, P::kRestarting, elastic, Counts(0, 0, 0, 0, 4), P::kFailed, 3},
           FormulaRow{"F3 enough have gone", Outcome::kF3, P::kRestarting, elastic, Counts(0, 0, 0, 0, 2), P::kPending,
                      1},
           FormulaRow{"F3 too many still go", Outcome::kF3, P::kRestarting, elastic, Counts(0, 0, 0, 0, 3),
                      P::kRestarting, 1},
           FormulaRow{"F4 one still goes", Outcome::kF4Terminated, P::kTerminating, elastic, Counts(0, 0, 3, 0, 1),
                      P::kTerminating},
           FormulaRow{"F4 only ended ones are left", Outcome::kF4Aborted, P::kAborting, elastic, Counts(0, 0, 3, 1),
                      P::kAborted},
       }) {
    EXPECT_EQ(NameOf(NextPhase(row.outcome, row.phase, row.spec, row.retry_count, row.counts)), NameOf(row.after))
        << row.what;
  }
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
