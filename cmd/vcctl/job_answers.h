// Why a job restarted and why it waits, in a few lines. Pure.
#pragma once

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "api/core/pod.h"
#include "api/volcano/job.h"
#include "api/volcano/scheduling.h"
#include "cmd/vcctl/job_view.h"

namespace gangway::cmd {

// `pods` are the job's, `group` its PodGroup or null, `events` its own in the order of time.
//   Restarts: 1 of 2 (maxRetry 3), 1 left
//   Failure: pod a-w-0: container w ended with exit code 137 (OOMKilled), 5m ago
//   Answer: RestartJob, by spec.policies[1] for PodFailed
//   Last lines:
//           | loss is nan
//   Waits: waits for 1 of 7 tasks: worker needs cpu 12; ...
// What there is nothing to say about is left out. The failure is the one that our controllers recorded with the last
// kill, unless a pod made since then shows another. Without a record it is the first that pods still show; when a
// restart has taken those away, it is what the event of the last restart says. `log_tail` is the end of the log that
// LogOfFailure names; "": what the container left for its status.
std::string JobAnswersText(const api::volcano::Job& job, absl::Span<const api::core::Pod> pods,
                           const api::volcano::PodGroup* group, absl::Span<const JobEvent> events, absl::Time now,
                           absl::string_view log_tail = {});

// Where the last lines of the failure can still be read; nullopt when its pod is gone.
struct FailedLog {
  std::string pod, container;
  bool previous = false;  // the container has been started again
  friend bool operator==(const FailedLog&, const FailedLog&) = default;
};
std::optional<FailedLog> LogOfFailure(const api::volcano::Job& job, absl::Span<const api::core::Pod> pods);

// One line, "" for none.
std::string FirstFailure(absl::Span<const api::core::Pod> pods);
std::string WhyItWaits(const api::volcano::Job& job, const api::volcano::PodGroup* group);

}  // namespace gangway::cmd
