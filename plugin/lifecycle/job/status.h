// The status of a Job: counting its pods, entering phases, and what a patch must say.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "api/volcano/job.h"
#include "plugin/lifecycle/policy/transitions.h"

namespace gangway::lifecycle {

// Enters `phase` at `now`: one condition per phase, the newest last. Nothing when it is the phase already.
void EnterPhase(JobPhase phase, absl::Time now, api::volcano::JobStatus& status);

void SetCounts(const PodCounts& counts, api::volcano::JobStatus& status);

// What succeeded and failed stays counted when the pods of a Job that ended are removed: raises `counts` to what
// `status` says.
void KeepEndedCounts(const api::volcano::JobStatus& status, PodCounts& counts);

// Whether they say the same but for how many pods are in which phase.
bool OnlyCountsDiffer(const api::volcano::JobStatus& from, const api::volcano::JobStatus& to);

// How long after the last write of a status counts alone may wait to be written, so that the pods of a large Job, which
// start one after the other, cost a few writes: a quarter of the time that the phase lasts, from one to ten seconds.
absl::Duration PatienceWithCounts(const api::volcano::JobStatus& status, absl::Time now);

// The merge patch, for the status subresource, that makes `to` of `from`; "" when they are equal.
absl::StatusOr<std::string> StatusPatch(const api::volcano::JobStatus& from, const api::volcano::JobStatus& to);

}  // namespace gangway::lifecycle
