// Commands whose target is not there: they may have reached us before it did; those that nobody will carry out are
// removed.
#pragma once

#include <vector>

#include "absl/time/time.h"
#include "api/volcano/scheduling.h"
#include "kube/plan/plan.h"

namespace gangway::controller {

// How long a command may wait for its target.
inline constexpr absl::Duration kCommandPatience = absl::Minutes(1);

kube::Plan RemoveLateCommands(const std::vector<const api::volcano::Command*>& commands, absl::Time now);

}  // namespace gangway::controller
