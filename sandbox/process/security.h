// As whom a pod asks that its containers run, and what of its spec goes for nothing where they are processes. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sandbox/kubelet/hosted_pod.h"
#include "sandbox/process/orders.h"

namespace gangway::sandbox {

// None: nothing is asked. InvalidArgument in a kubelet's words: as root, where that must not be
// (pkg/kubelet/kuberuntime: verifyRunAsNonRoot; every image's user is root here).
absl::StatusOr<std::optional<UserOrder>> UserOf(const HostedPod& pod, const HostedContainer& container);

// A pod in a kubelet's messages (pkg/kubelet/util/format: Pod): "p_default(UID)".
std::string PodText(const api::ObjectMeta& pod);

// Fields that are not heeded, each with its path and the reason.
std::vector<std::string> IgnoredFields(const HostedPod& pod);

}  // namespace gangway::sandbox
