// The kind of the coscheduling plugin, as its CustomResourceDefinition has it (scheduler-plugins: config/crd/bases).
// Not ours to install.
#pragma once

#include <span>

#include "api/kind.h"

namespace gangway::api {

std::span<const KindRow> CoschedulingKinds();

}  // namespace gangway::api
