// Who could leave for a gang that waits, and may not yet: who was evicted of late stays for a while (reclaim.h), who
// was moved is not moved again so soon (consolidation.h), and so does who is in its queue's minimum runtime, in a
// cooldown, or in the grace for a member that it lost (victims.h).
#pragma once

#include <optional>

#include "absl/time/time.h"
#include "plugin/gang/policy.h"
#include "plugin/model/cluster.h"
#include "plugin/model/reason.h"

namespace gangway::gang {

// Whole gangs, as far as their time is known, each of which its queue could lose for that gang as things are; whether
// or not they would be enough. nullopt: there are none, or nobody is evicted for it. Pure; a look at all that hold
// room, for one who asks about one gang.
std::optional<model::Resting> FindResting(const model::Cluster& cluster, const Policy& policy, absl::Time now,
                                          model::GangId gang);

}  // namespace gangway::gang
