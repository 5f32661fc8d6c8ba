// Why a shape finds no room, in numbers.
#pragma once

#include "plugin/gang/overlay.h"
#include "plugin/model/reason.h"

namespace gangway::gang {

// What stands against one more pod of the shape on each node, as the overlay is. `role` and `missing` are left to the caller.
model::RoleReason ExplainShape(const Overlay& overlay, model::ShapeId shape);

// The same after as many pods of the shape as fit have been placed: what the first one that finds no node runs into.
model::RoleReason ExplainFull(const Overlay& overlay, model::ShapeId shape);

}  // namespace gangway::gang
