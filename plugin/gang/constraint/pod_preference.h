// What a pod would rather have, or not, near it, and what pods that are placed would rather have near them: preferred
// podAffinity and podAntiAffinity. They rank nodes and keep it from none.
#pragma once

#include <memory>

#include "plugin/gang/constraint/constraint.h"

namespace gangway::constraint {

inline constexpr absl::string_view kPodPreference = "pod-preference";
std::unique_ptr<Constraint> AskPodPreference(const Placed& placed, const State* state, const model::Shape& shape);

}  // namespace gangway::constraint
