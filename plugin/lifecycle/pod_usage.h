// What one pod asks for, as Kubernetes adds it up and as ResourceQuota counts it (Volcano:
// pkg/controllers/job/job_controller_actions.go, calcPGMinResources).
#pragma once

#include "absl/status/statusor.h"
#include "api/core/pod.h"

namespace gangway::lifecycle {

// Containers together, init containers one after the other beside their sidecars, the pod-level figure where there is
// one, overhead.
absl::StatusOr<api::ResourceList> PodRequests(const api::core::PodSpec& spec);
absl::StatusOr<api::ResourceList> PodLimits(const api::core::PodSpec& spec);

// pods and count/pods; cpu, memory and ephemeral-storage as such and as requests.*, limits.*; huge pages and extended
// resources as such and as requests.*.
absl::StatusOr<api::ResourceList> QuotaUsage(const api::core::PodSpec& spec);

// into += one × factor.
absl::Status AddTimes(const api::ResourceList& one, std::int64_t factor, api::ResourceList& into);

}  // namespace gangway::lifecycle
