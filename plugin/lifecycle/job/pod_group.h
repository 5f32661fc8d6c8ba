// The PodGroup of a Job (Volcano: pkg/controllers/job/job_controller_actions.go, createOrUpdatePodGroup).
#pragma once

#include <map>
#include <string>

#include "absl/container/btree_map.h"
#include "absl/status/statusor.h"
#include "api/volcano/job.h"
#include "api/volcano/past_runs.h"
#include "api/volcano/scheduling.h"

namespace gangway::lifecycle {

using PriorityClasses = std::map<std::string, std::int32_t>;

// Exactly what the first minAvailable pods ask for, tasks of higher priority classes first.
absl::StatusOr<api::ResourceList> MinResources(const api::volcano::JobSpec& spec, const PriorityClasses& classes);

// `closed`: tasks that wait for others (dependsOn), with how many pods each has nevertheless. More of them cannot count
// towards the gang yet, or the first tasks would wait for them and they for the first tasks, for ever (Volcano's do).
absl::StatusOr<api::volcano::PodGroupSpec> WantedPodGroupSpec(const api::volcano::JobSpec& spec,
                                                              const PriorityClasses& classes,
                                                              const absl::btree_map<std::string, std::int32_t>& closed);

// Ready to be created. `past`: what is known of runs before; nobody else says that.
api::volcano::PodGroup NewPodGroup(const api::volcano::Job& job, api::volcano::PodGroupSpec spec,
                                   const api::volcano::PastRuns& past = {});

// What a merge patch of an existing group's spec must say; "" when nothing. Queue and network topology stay as they
// are.
absl::StatusOr<std::string> PodGroupPatch(const api::volcano::PodGroupSpec& is,
                                          const api::volcano::PodGroupSpec& wanted);

}  // namespace gangway::lifecycle
