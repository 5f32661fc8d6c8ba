// A pod's required podAffinity: nodes near pods that all of its terms hold for. kubernetes: plugins/interpodaffinity
#pragma once

#include <memory>

#include "plugin/gang/constraint/constraint.h"

namespace gangway::constraint {

inline constexpr absl::string_view kPodAffinity = "pod-affinity";
std::unique_ptr<Constraint> AskPodAffinity(const Placed& placed, const State* state, const model::Shape& shape);

}  // namespace gangway::constraint
