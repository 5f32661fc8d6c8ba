// The volumes of a pod's claims: nodes that reach them, those that open claims get there, and claims that one pod at a
// time may use. kubernetes: plugins/volumebinding
#pragma once

#include <memory>

#include "plugin/gang/constraint/constraint.h"

namespace gangway::constraint {

inline constexpr absl::string_view kVolumes = "volumes";
std::unique_ptr<Constraint> AskVolumes(const Placed& placed, const State* state, const model::Shape& shape);
std::unique_ptr<State> BeginVolumes(const model::Cluster& cluster);

}  // namespace gangway::constraint
