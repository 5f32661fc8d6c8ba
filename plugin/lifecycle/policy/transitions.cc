#include "plugin/lifecycle/policy/transitions.h"

#include <algorithm>
#include <array>

namespace gangway::lifecycle {
namespace {

using P = JobPhase;
using A = Action;

// Sets of phases and of actions, as bits.
template <class... E>
constexpr std::uint32_t Of(E... e) {
  return (... | (1u << static_cast<int>(e)));
}
constexpr std::uint32_t kAnyAction = ~0u;

struct Row {
  std::uint32_t phases, actions;
  Transition transition;
};

constexpr std::uint32_t kActive = Of(P::kPending, P::kRunning);
constexpr std::uint32_t kWithPods = Of(P::kPending, P::kRunning, P::kRestarting);
constexpr std::uint32_t kTargeted = Of(A::kRestartTask, A::kRestartPod, A::kRestartPartition);

// The first row that matches counts. Volcano forgets what should end a job that is Restarting, and a resumption costs a
// retry there: a pod that never goes would keep such a job for ever, and a few rests would end a healthy one.
constexpr std::array kTable = {
    Row{kActive, Of(A::kRestartJob), {Primitive::kKill, Retain::kNone, Outcome::kToRestarting, true}},
    Row{kActive, kTargeted, {Primitive::kKillTarget, Retain::kNone, Outcome::kToRestarting, true}},
    Row{kWithPods, Of(A::kAbortJob), {Primitive::kKill, Retain::kSoft, Outcome::kToAborting}},
    Row{kWithPods, Of(A::kCompleteJob), {Primitive::kKill, Retain::kSoft, Outcome::kToCompleting}},
    Row{kWithPods, Of(A::kTerminateJob), {Primitive::kKill, Retain::kSoft, Outcome::kToTerminating}},
    Row{Of(P::kPending), kAnyAction, {Primitive::kSync, Retain::kSoft, Outcome::kF1}},
    Row{Of(P::kRunning), kAnyAction, {Primitive::kSync, Retain::kSoft, Outcome::kF2}},
    Row{Of(P::kRestarting), Of(A::kSyncJob, A::kResumeJob), {Primitive::kSync, Retain::kSoft, Outcome::kF3}},
    Row{Of(P::kRestarting), kTargeted, {Primitive::kKillTarget, Retain::kNone, Outcome::kF3}},
    Row{Of(P::kRestarting), kAnyAction, {Primitive::kKill, Retain::kNone, Outcome::kF3}},
    Row{Of(P::kAborting, P::kAborted),
        Of(A::kResumeJob),
        {Primitive::kKill, Retain::kSucceeded, Outcome::kToRestarting}},
    Row{Of(P::kAborting), kAnyAction, {Primitive::kKill, Retain::kSoft, Outcome::kF4Aborted}},
    Row{Of(P::kCompleting), kAnyAction, {Primitive::kKill, Retain::kSoft, Outcome::kF4Completed}},
    Row{Of(P::kTerminating), kAnyAction, {Primitive::kKill, Retain::kSoft, Outcome::kF4Terminated}},
    Row{Of(P::kAborted, P::kCompleted, P::kFailed, P::kTerminated),
        kAnyAction,
        {Primitive::kKill, Retain::kSoft, Outcome::kStay}},
};

// F2.3a: a task that did not reach its own minimum.
bool SomeTaskFellShort(const api::volcano::JobSpec& spec, const PodCounts& counts) {
  for (const api::volcano::TaskSpec& task : spec.tasks) {
    if (!task.min_available) continue;
    auto of_task = counts.by_task.find(task.name);
    if (of_task == counts.by_task.end()) continue;
    auto succeeded = of_task->second.phase.find("Succeeded");
    if ((succeeded == of_task->second.phase.end() ? 0 : succeeded->second) < *task.min_available) return true;
  }
  return false;
}

JobPhase Running(const api::volcano::JobSpec& spec, const PodCounts& counts) {
  const std::int64_t replicas = TotalReplicas(spec);
  if (replicas == 0) return P::kRunning;
  if (spec.min_success && counts.succeeded >= *spec.min_success) return P::kCompleted;
  if (counts.succeeded + counts.failed == replicas) {
    if (spec.min_available >= TotalMinAvailable(spec) && SomeTaskFellShort(spec, counts)) return P::kFailed;
    if (spec.min_success) return P::kFailed;  // fewer succeeded than it asks for
    return counts.succeeded >= spec.min_available ? P::kCompleted : P::kFailed;
  }
  return std::int64_t{counts.pending} + counts.not_made > replicas - spec.min_available ? P::kPending : P::kRunning;
}

JobPhase Restarting(const api::volcano::JobSpec& spec, std::int32_t retry_count, const PodCounts& counts) {
  if (retry_count >= spec.max_retry) return P::kFailed;
  return TotalReplicas(spec) - counts.terminating >= spec.min_available ? P::kPending : P::kRestarting;
}

JobPhase WhenEmpty(JobPhase phase, JobPhase last, const PodCounts& counts) {
  return counts.terminating == 0 && counts.pending == 0 && counts.running == 0 ? last : phase;
}

}  // namespace

Transition TransitionOf(JobPhase phase, Action action) {
  for (const Row& row : kTable) {
    if ((row.phases & Of(phase)) != 0 && (row.actions & Of(action)) != 0) return row.transition;
  }
  return {};
}

bool HasEffect(JobPhase phase, Action action) {
  if (action == Action::kSyncJob || action == Action::kEnqueueJob || action == Action::kOther) return false;
  const Transition transition = TransitionOf(phase, action);
  return NamesPhase(transition.outcome) ||
         (transition.outcome == Outcome::kF3 && transition.primitive != Primitive::kSync);
}

JobPhase NextPhase(Outcome outcome, JobPhase phase, const api::volcano::JobSpec& spec, std::int32_t retry_count,
                   const PodCounts& counts) {
  switch (outcome) {
    case Outcome::kStay:
      return phase;
    case Outcome::kToRestarting:
      return P::kRestarting;
    case Outcome::kToAborting:
      return P::kAborting;
    case Outcome::kToCompleting:
      return P::kCompleting;
    case Outcome::kToTerminating:
      return P::kTerminating;
    case Outcome::kF1:
      return spec.min_available <= counts.running + counts.succeeded + counts.failed ? P::kRunning : P::kPending;
    case Outcome::kF2:
      return Running(spec, counts);
    case Outcome::kF3:
      return Restarting(spec, retry_count, counts);
    case Outcome::kF4Aborted:
      return WhenEmpty(phase, P::kAborted, counts);
    case Outcome::kF4Completed:
      return WhenEmpty(phase, P::kCompleted, counts);
    case Outcome::kF4Terminated:
      return WhenEmpty(phase, P::kTerminated, counts);
  }
  return phase;
}

std::int64_t TotalReplicas(const api::volcano::JobSpec& spec) {
  std::int64_t sum = 0;
  for (const api::volcano::TaskSpec& task : spec.tasks) sum += std::max(task.replicas, 0);
  return sum;
}

std::int64_t TotalMinAvailable(const api::volcano::JobSpec& spec) {
  std::int64_t sum = 0;
  for (const api::volcano::TaskSpec& task : spec.tasks) sum += task.min_available.value_or(task.replicas);
  return sum;
}

}  // namespace gangway::lifecycle
