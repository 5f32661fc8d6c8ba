// A pod's own required podAntiAffinity: nodes away from pods that any of its terms holds for. kubernetes:
// plugins/interpodaffinity
#pragma once

#include <memory>

#include "plugin/gang/constraint/constraint.h"

namespace gangway::constraint {

inline constexpr absl::string_view kPodAntiAffinity = "pod-anti-affinity";
std::unique_ptr<Constraint> AskPodAntiAffinity(const Placed& placed, const State* state, const model::Shape& shape);

}  // namespace gangway::constraint
