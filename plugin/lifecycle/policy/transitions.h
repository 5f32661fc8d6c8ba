// The phase table of a Job and its formulas (Volcano: pkg/controllers/job/state).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "api/volcano/job.h"
#include "plugin/lifecycle/words.h"

namespace gangway::lifecycle {

// What is done to the pods.
enum class Primitive : std::uint8_t {
  kSync,        // make what is missing, remove what is not wanted
  kKill,        // remove the pods of the whole Job, its PodGroup with them; a new version
  kKillTarget,  // remove the pods of the target
};

// Which pods a kill leaves alone.
enum class Retain : std::uint8_t {
  kNone,
  kSoft,       // Succeeded and Failed
  kSucceeded,  // what has failed is made anew
};

// What becomes of the phase.
enum class Outcome : std::uint8_t {
  kStay,
  kToRestarting,
  kToAborting,
  kToCompleting,
  kToTerminating,
  kF1,  // Pending: may be Running
  kF2,  // Running: may be Completed, Failed, Pending
  kF3,  // Restarting: may be Failed, Pending
  kF4Aborted,
  kF4Completed,
  kF4Terminated  // when no pod is left to go
};

struct Transition {
  Primitive primitive = Primitive::kSync;
  Retain retain = Retain::kSoft;
  Outcome outcome = Outcome::kStay;
  bool spends_retry = false;
  friend bool operator==(const Transition&, const Transition&) = default;
};

Transition TransitionOf(JobPhase phase, Action action);

// Whether the action changes anything in this phase; the rest of the table is a plain look at the pods.
bool HasEffect(JobPhase phase, Action action);

// The restart that is under way was one too many: the next look makes the Job Failed, whatever is asked of it.
inline bool RestartsAreSpent(JobPhase phase, const api::volcano::Job& job) {
  return phase == JobPhase::kRestarting && job.status.retry_count >= job.spec.max_retry;
}

// The outcome names the next phase, whatever the pods do.
constexpr bool NamesPhase(Outcome outcome) {
  return outcome == Outcome::kToRestarting || outcome == Outcome::kToAborting || outcome == Outcome::kToCompleting ||
         outcome == Outcome::kToTerminating;
}

// The Job ends by its own pods, and what is left of them goes: a kill. After a Restarting that was the last, everything
// went already.
constexpr bool EndsByItself(JobPhase was, JobPhase is) {
  return Finished(is) && KeepsPods(was) && was != JobPhase::kRestarting;
}

// Pods by phase: of the status under construction.
struct PodCounts {
  std::int32_t pending = 0, running = 0, succeeded = 0, failed = 0, terminating = 0, unknown = 0;
  std::int32_t not_made = 0;  // that the Job lacks while its gang is not let in; no status tells of them
  std::map<std::string, api::volcano::TaskState> by_task;  // terminating ones excluded
};

// The phase that `outcome` leads to.
JobPhase NextPhase(Outcome outcome, JobPhase phase, const api::volcano::JobSpec& spec, std::int32_t retry_count,
                   const PodCounts& counts);

// Of the Σ of replicas and of (minAvailable ?? replicas).
std::int64_t TotalReplicas(const api::volcano::JobSpec& spec);
std::int64_t TotalMinAvailable(const api::volcano::JobSpec& spec);

// Whether this is the last retry: a RestartJob now ends in Failed, and what has ended is kept to be looked at.
inline bool LastRetry(const api::volcano::Job& job) {
  return std::int64_t{job.status.retry_count} + 1 >= job.spec.max_retry;
}

}  // namespace gangway::lifecycle
