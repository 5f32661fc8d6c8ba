// A look at all gangs that wait.
#pragma once

#include "absl/time/time.h"
#include "plugin/gang/fit.h"
#include "plugin/gang/policy.h"
#include "plugin/gang/schedule.h"
#include "plugin/model/cluster.h"
#include "plugin/model/decision.h"

namespace gangway::gang {

// What Schedule decides; the scratch has begun.
model::Decisions DecideOnAll(const model::Cluster& cluster, const Policy& policy, absl::Time now, Scratch& scratch,
                             IsTold is_told);

}  // namespace gangway::gang
