// A pod's status as the kubelet writes it.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/core/pod.h"
#include "sandbox/kubelet/hosted_pod.h"

namespace gangway::sandbox {

// Sets PodScheduled, Initialized, ContainersReady and Ready by what the containers do; other conditions stay.
void SetConditions(api::core::PodStatus& status, const HostedPod& pod, absl::Time now);

// The merge patch {"status":{...}} that makes a pod's status this one.
// `runtime` begins the IDs of containers and images: "simulated".
std::string PodStatusBody(const api::core::PodStatus& status, const HostedPod& pod, absl::string_view runtime);

}  // namespace gangway::sandbox
