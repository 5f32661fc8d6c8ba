// When gangs that wait will start, where that can be known: pods whose end is known (activeDeadlineSeconds, or the
// grace of one that is terminating) end then and no sooner, those that say nothing run on, nobody comes, and nobody is
// evicted who is not told to end already. What begins in between is placed as the scheduler would, and lasts as long as
// it says. A likely start counts with the longest of past runs, too, of gangs that know of some (model::PastRuns),
// until they have taken longer.
//
// Pods that end before their deadline let others begin sooner. Gangs whose pods are not made yet take part with equal
// parts of their minResources.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "plugin/explain/change.h"
#include "plugin/explain/known_claims.h"
#include "plugin/explain/still_wanted.h"
#include "plugin/gang/policy.h"

namespace gangway::explain {

// Which ends are counted with: those that are said, or those of past runs, too.
enum class Ends : std::uint8_t { kKnown, kLikely };

// By gang (GangKey::ToString) of those that begin later than now; the others are known to begin at once, or not known
// to begin at all. The first 200 times at which pods end are followed, and no more once nobody wants the answer.
std::map<std::string, absl::Time> ExpectedStarts(const FactIndex& index, const KnownClaims& claims,
                                                 const gang::Policy& policy, absl::Time now, Ends ends,
                                                 StillWanted still_wanted);

}  // namespace gangway::explain
