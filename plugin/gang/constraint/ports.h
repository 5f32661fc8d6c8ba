// Host ports: one pod for each address, protocol and number on a node.
#pragma once

#include <memory>

#include "plugin/gang/constraint/constraint.h"

namespace gangway::constraint {

inline constexpr absl::string_view kPorts = "ports";
std::unique_ptr<Constraint> AskPorts(const Placed& placed, const State* state, const model::Shape& shape);
std::unique_ptr<State> BeginPorts(const model::Cluster& cluster);
const Keeping& KeepPorts();

}  // namespace gangway::constraint
