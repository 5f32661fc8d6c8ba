// A pod's topologySpreadConstraints: those that must hold keep it off nodes, those that are wished for rank them.
// kubernetes: plugins/podtopologyspread
#pragma once

#include <memory>

#include "plugin/gang/constraint/constraint.h"

namespace gangway::constraint {

inline constexpr absl::string_view kSpread = "spread";
std::unique_ptr<Constraint> AskSpread(const Placed& placed, const State* state, const model::Shape& shape);

}  // namespace gangway::constraint
