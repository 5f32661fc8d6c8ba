// The volumes of a pod's claims: nodes that reach them, and claims that one pod at a time may use.
#pragma once

#include <memory>

#include "plugin/gang/constraint/constraint.h"

namespace gangway::constraint {

inline constexpr absl::string_view kVolumes = "volumes";
std::unique_ptr<Constraint> AskVolumes(const Placed& placed, const State* state, const model::Shape& shape);
std::unique_ptr<State> BeginVolumes(const model::Cluster& cluster);

}  // namespace gangway::constraint
