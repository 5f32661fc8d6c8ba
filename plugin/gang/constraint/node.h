// Which nodes a pod asks for: spec.nodeSelector, and node affinity by labels and names, required and preferred.
#pragma once

#include <memory>

#include "plugin/gang/constraint/constraint.h"

namespace gangway::constraint {

inline constexpr absl::string_view kNode = "node";
std::unique_ptr<Constraint> AskNode(const Placed& placed, const State* state, const model::Shape& shape);

}  // namespace gangway::constraint
