// A node that is cordoned (spec.unschedulable): only who tolerates the taint that goes with it comes.
#pragma once

#include <memory>

#include "plugin/gang/constraint/constraint.h"

namespace gangway::constraint {

inline constexpr absl::string_view kCordon = "cordon";
std::unique_ptr<Constraint> AskCordon(const Placed& placed, const State* state, const model::Shape& shape);

}  // namespace gangway::constraint
