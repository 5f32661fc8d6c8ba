// The status of a Job: counting its pods, entering phases, and what a patch must say.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "api/volcano/job.h"
#include "plugin/lifecycle/transitions.h"

namespace gangway::lifecycle {

// Enters `phase` at `now`: one condition per phase, the newest last. Nothing when it is the phase already.
void EnterPhase(JobPhase phase, absl::Time now, api::volcano::JobStatus& status);

void SetCounts(const PodCounts& counts, api::volcano::JobStatus& status);

// What succeeded and failed stays counted when the pods of a Job that ended are removed: raises `counts` to what `status` says.
void KeepEndedCounts(const api::volcano::JobStatus& status, PodCounts& counts);

// The merge patch, for the status subresource, that makes `to` of `from`; "" when they are equal.
absl::StatusOr<std::string> StatusPatch(const api::volcano::JobStatus& from, const api::volcano::JobStatus& to);

}  // namespace gangway::lifecycle
