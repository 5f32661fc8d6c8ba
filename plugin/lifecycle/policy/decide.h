// What one event makes of a Job, without its pods at hand: the policies, the phase table and the formulas of
// ReconcileJob, for a caller that keeps a Job's state itself.
#pragma once

#include <optional>
#include <string>

#include "absl/time/time.h"
#include "api/volcano/job.h"
#include "plugin/lifecycle/policy/policy.h"
#include "plugin/lifecycle/policy/transitions.h"

namespace gangway::lifecycle {

struct Answer {
  Action action = Action::kSyncJob;  // what is done now
  Action asked = Action::kSyncJob;   // what the policy or command asks for; differs from `action` while it is delayed,
                                     // or has no effect
  std::optional<PolicyRef> policy;   // that decided; none for a command, and where no policy answers the event
  JobPhase phase = JobPhase::kPending;  // next
  std::int32_t version = 0, retry_count = 0;
  absl::Duration delay = absl::ZeroDuration();  // > 0: ask again so much later; done then if it still holds
  std::string reason;                           // one sentence
};

// `happening` has held for `held` already. `counts`: the Job's pods now. Pure.
// The Job's phase, version and retries are those of job.status; a finished or ending Job answers no event, an aborted
// one only commands. Whether a task has partitions its caller knows.
Answer Decide(const api::volcano::Job& job, const Happening& happening, absl::Duration held, const PodCounts& counts);

// "pod ctr-w-0 was deleted; restart 1 of 2 (maxRetry 3)"
std::string Explain(const api::volcano::Job& job, const Happening& cause, const Transition& transition);

}  // namespace gangway::lifecycle
