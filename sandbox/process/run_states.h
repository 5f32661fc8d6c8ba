// What a pod's status says of the runs of its containers. Pure.
#pragma once

#include <string>
#include <vector>

#include "sandbox/process/sync_processes.h"

namespace gangway::sandbox {

// Of a run that has ended.
api::core::ContainerState EndOf(const ProcessRun& run);

// Of a container that is started, until it is seen to run: why the start before failed, as long as that is what there
// is to say (pkg/kubelet: convertToAPIContainerStatuses).
api::core::ContainerState StartingState(const ProcessRuns& runs);

// Of a pod whose init containers are done (pkg/kubelet: getPhase).
std::string PhaseOf(const std::vector<api::core::ContainerStatus>& statuses);

}  // namespace gangway::sandbox
