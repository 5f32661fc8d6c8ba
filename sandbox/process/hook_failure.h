// Why a hook of a container failed, as a kubelet says it. Pure.
#pragma once

#include <string>

#include "sandbox/kubelet/hosted_pod.h"
#include "sandbox/process/probe_state.h"

namespace gangway::sandbox {

// pkg/kubelet/lifecycle: Run
std::string HookFailure(const HostedPod& pod, const HostedContainer& container, const HandlerResult& result);

}  // namespace gangway::sandbox
