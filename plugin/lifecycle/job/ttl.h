// The end of a finished Job that says how long it stays: spec.ttlSecondsAfterFinished (Volcano:
// pkg/controllers/garbagecollector).
#pragma once

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "api/volcano/job.h"
#include "kube/plan/plan.h"

namespace gangway::lifecycle {

// Completed, Failed or Terminated (not Aborted), not being deleted, and with a TTL.
bool NeedsCleanUp(const api::volcano::Job& job);

// When the Job may go: the time of its last transition and its TTL. FailedPrecondition when it needs no clean-up,
// NotFound when nothing says when it finished.
absl::StatusOr<absl::Time> ExpiryOf(const api::volcano::Job& job);

// Adds to the plan of a Job what its TTL asks for: nothing, another look, or, once nothing else is to be written, its
// deletion. That is a foreground one, so that the Job goes after its pods, and only of the version it was decided on. A
// finish time that lies in the future is believed.
void AddCleanUp(const api::volcano::Job& job, absl::Time now, kube::Plan& plan);

}  // namespace gangway::lifecycle
