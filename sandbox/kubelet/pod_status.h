// A pod's status as the kubelet writes it.
#pragma once

#include <string>

#include "absl/time/time.h"
#include "api/core/pod.h"

namespace gangway::sandbox {

// Sets PodScheduled, Initialized, ContainersReady and Ready by what the containers do; other conditions stay.
void SetConditions(api::core::PodStatus& status, const api::core::Pod& pod, absl::Time now);

// The merge patch {"status":{...}} that makes a pod's status this one.
std::string PodStatusBody(const api::core::PodStatus& status, const api::core::Pod& pod);

}  // namespace gangway::sandbox
