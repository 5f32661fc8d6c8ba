// Taints: NoSchedule and NoExecute keep away who does not tolerate them; PreferNoSchedule nodes are taken last.
#pragma once

#include <memory>

#include "plugin/gang/constraint/constraint.h"

namespace gangway::constraint {

inline constexpr absl::string_view kTaints = "taints";
std::unique_ptr<Constraint> AskTaints(const Placed& placed, const State* state, const model::Shape& shape);

}  // namespace gangway::constraint
