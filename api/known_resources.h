// Every resource we know: those of api/resource.h, api/cluster_resources.h and Paddle's. What the sandbox serves, and what FindKind finds.
#pragma once

#include <span>

#include "api/resource.h"

namespace gangway::api {

// Kubernetes' own, then Volcano's, then PaddleJob of paddle-operator, then kubeflow's.
std::span<const Resource* const> KnownResources();

}  // namespace gangway::api
