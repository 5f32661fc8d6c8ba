// The jobs that `gangway simulate` is asked about: files of Jobs, and tables.
//
// A Job comes when annotation `gangway.io/arrives` says, a time (2026-11-24T07:00:00Z) or a duration after the
// beginning (2h30m); without it at the beginning. It runs as `gangway.io/expected-runtime` says, or as others of the
// same spec took. A table is a text of lines with commas between their cells, the first of which names the columns:
//
//   job,arrives,runs,queue,replicas,cpu,memory,nvidia.com/gpu
//   train-a,0s,2h,ads,4,8,64Gi,8
//
// `job` is required; `namespace`, `queue`, `priorityClassName`, `replicas` (1), `minAvailable` (all), `arrives` and
// `runs` may be there; any other column is a resource that each pod asks for.
//
// Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/volcano/job.h"
#include "plugin/lifecycle/job/pod_group.h"
#include "plugin/lifecycle/job/run_history.h"
#include "plugin/simulate/simulate.h"

namespace gangway::cmd {

inline constexpr absl::string_view kArrivesAnnotation = "gangway.io/arrives";

struct JobsLimits {
  std::size_t max_jobs = 1'000'000;
  std::int64_t max_pods = 1'000'000;  // of all of them
};

// The Jobs of a file: Volcano's, and what PaddleJobs become. Errors name the source and the place.
absl::StatusOr<std::vector<api::volcano::Job>> ReadJobs(absl::string_view text, absl::string_view source);

// What a Job's controller makes of each, with Volcano's defaults: a PodGroup, and pods. `known`: how many came before,
// from which its UID is made. `history`: of Jobs with Volcano's defaults.
absl::StatusOr<simulate::Arrival> ArrivalOf(api::volcano::Job job, std::size_t known, absl::Time begin,
                                            const lifecycle::PriorityClasses& classes, absl::string_view scheduler_name,
                                            const lifecycle::RunHistory& history = {});

}  // namespace gangway::cmd
