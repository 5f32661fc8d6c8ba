// Which gangs are let in, which get which nodes, and why the rest wait.
#pragma once

#include <optional>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "plugin/gang/fit.h"
#include "plugin/gang/policy.h"
#include "plugin/model/decision.h"

namespace gangway::gang {

// One decision for every gang in cluster.waiting(), in the order in which they were served:
//   0. gangs that have begun, or lost a member of late, are completed (lost_member.h);
//   1. gangs that are let in are placed, a gang at a time, the queue with the least share first;
//   2. of the others those are let in for whom there is room after that;
//   3. those of them that have pods already are placed;
//   4. what gangs want beyond their minimum is placed, a task at a time, where it leaves the room that is kept for
//   minima (kept_room.h);
//   5. gangs that lost a member too long ago go.
//
// Pure: the same cluster, policy and time give the same decisions, whatever `scratch` holds.
model::Decisions Schedule(const model::Cluster& cluster, const Policy& policy, absl::Time now, Scratch& scratch);

// Whether whoever asks knows already why the gang waits, when that is for a reason of this kind.
using IsTold = absl::FunctionRef<bool(model::GangId, model::Reason::Kind)>;
// The same decisions, but that of reasons which are told already only the kind may be there, and none of `would_fit`.
// Most of a call in which many wait goes into the rest of what they are told.
model::Decisions Schedule(const model::Cluster& cluster, const Policy& policy, absl::Time now, Scratch& scratch,
                          IsTold is_told);

// What Schedule would decide now otherwise than it and this did before with this scratch, their decisions carried out:
// only about those gangs that an event lets begin, or that changed. The others that wait go on waiting for the same
// kind of reason. nullopt: it takes a look at all of them; Schedule is to be called.
//
// A second after the last call of Schedule it always does. What is kept for whom may be another then: nodes are looked
// for there alone.
std::optional<model::Decisions> ScheduleFew(const model::Cluster& cluster, const Policy& policy, absl::Time now,
                                            Scratch& scratch);

// Whether Schedule would do nothing now that it did not the last time with this scratch, its decisions carried out;
// then who waits goes on waiting, and need not be told so again (standstill.h). False is always true enough.
bool StandsStill(const model::Cluster& cluster, const Policy& policy, absl::Time now, Scratch& scratch);

}  // namespace gangway::gang
