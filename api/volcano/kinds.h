// Volcano's kinds, as its CustomResourceDefinitions have them (volcano: config/crd/volcano/bases).
#pragma once

#include <span>

#include "api/kind.h"

namespace gangway::api::volcano {

std::span<const KindRow> Kinds();

}  // namespace gangway::api::volcano
