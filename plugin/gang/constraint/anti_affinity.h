// Pods on nodes that keep a pod away by their required podAntiAffinity.
#pragma once

#include <memory>

#include "plugin/gang/constraint/constraint.h"

namespace gangway::constraint {

inline constexpr absl::string_view kAntiAffinity = "anti-affinity";
std::unique_ptr<Constraint> AskAntiAffinity(const Placed& placed, const State* state, const model::Shape& shape);

}  // namespace gangway::constraint
