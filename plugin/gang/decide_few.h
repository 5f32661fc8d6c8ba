// A look at few of the gangs that wait.
#pragma once

#include <optional>

#include "absl/time/time.h"
#include "plugin/gang/fit.h"
#include "plugin/gang/policy.h"
#include "plugin/model/cluster.h"
#include "plugin/model/decision.h"

namespace gangway::gang {

// What DecideOnAll would decide about those about whom it would decide otherwise than the last call, where that is to
// be seen without a look at all of them; else nullopt. The scratch has begun.
std::optional<model::Decisions> DecideOnFew(const model::Cluster& cluster, const Policy& policy, absl::Time now,
                                            Scratch& scratch);

}  // namespace gangway::gang
