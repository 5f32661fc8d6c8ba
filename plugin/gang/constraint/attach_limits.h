// How many volumes of a CSI driver a node can attach: those of the pod's claims that are not there yet have room beside
// those that are. kubernetes: plugins/nodevolumelimits
#pragma once

#include <memory>

#include "plugin/gang/constraint/constraint.h"

namespace gangway::constraint {

inline constexpr absl::string_view kAttachLimits = "attach-limits";
std::unique_ptr<Constraint> AskAttachLimits(const Placed& placed, const State* state, const model::Shape& shape);
std::unique_ptr<State> BeginAttachLimits(const model::Cluster& cluster);

}  // namespace gangway::constraint
