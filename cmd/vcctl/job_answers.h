// Why a job restarted and why it waits, in a few lines. Pure.
#pragma once

#include <string>

#include "absl/types/span.h"
#include "api/core/pod.h"
#include "api/volcano/job.h"
#include "api/volcano/scheduling.h"
#include "cmd/vcctl/job_view.h"

namespace gangway::cmd {

// `pods` are the job's, `group` its PodGroup or null, `events` its own in the order of time.
//   Restarts: 1 of maxRetry 3, 2 left
//   Failure: pod a-w-0: container w ended with exit code 137 (OOMKilled)
//   Waits: waits for 1 of 7 tasks: worker needs cpu 12; ...
// Failure and Waits only where there is one. The failure is the first that pods still show; when a restart has taken those
// pods away, it is what the event of the last restart says.
std::string JobAnswersText(const api::volcano::Job& job, absl::Span<const api::core::Pod> pods, const api::volcano::PodGroup* group,
                           absl::Span<const JobEvent> events);

// One line, "" for none.
std::string FirstFailure(absl::Span<const api::core::Pod> pods);
std::string WhyItWaits(const api::volcano::Job& job, const api::volcano::PodGroup* group);

}  // namespace gangway::cmd
