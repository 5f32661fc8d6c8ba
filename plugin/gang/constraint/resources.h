// Room: what is allocatable and not taken. Nodes that are fuller are filled first (as Volcano's binpack does), so that
// whole nodes stay free for whole gangs.
#pragma once

#include <memory>
#include <string>

#include "plugin/gang/constraint/constraint.h"

namespace gangway::constraint {

inline constexpr absl::string_view kResources = "resources";
std::unique_ptr<Constraint> AskResources(const Placed& placed, const State* state, const model::Shape& shape);

// "cpu 1, memory 2Gi": all that a pod of the shape takes, but for its slot.
std::string RequestText(const model::Cluster& cluster, const model::Shape& shape);

}  // namespace gangway::constraint
