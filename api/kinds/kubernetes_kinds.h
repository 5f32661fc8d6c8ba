// Kubernetes' own kinds. Internal to this room: others ask for Kinds().
#pragma once

#include <span>

#include "api/kind.h"

namespace gangway::api {

// In the order of a server's discovery: the core group first.
std::span<const KindRow> KubernetesKinds();

}  // namespace gangway::api
