// Gangs that lost members: they were whole, some of their pods hold nodes still, and those are fewer than their
// minimum.
//
// For a grace such a gang is completed before anybody else is placed, the room that a lost pod left is kept for the one
// that is made for it, and nobody evicts it. After that it is as all others, and does not hold its nodes for ever
// (GoesAfterGrace). The grace is what the queue says, or one above it; else that of the policy.
//
// Only Volcano's PodGroups: the others have no word for it. A pod that has failed or succeeded is not lost: nobody
// makes it again.
#pragma once

#include <vector>

#include "absl/time/time.h"
#include "plugin/gang/policy.h"
#include "plugin/gang/queue_tree.h"
#include "plugin/model/cluster.h"

namespace gangway::gang {

bool HasLostMember(const model::Cluster& cluster, const model::Gang& gang);

// It lost a member, its grace is not over, and nobody began to evict it.
bool IsInGrace(const model::Cluster& cluster, const QueueTree& tree, const Policy& policy, const model::Gang& gang,
               absl::Time now);

// When the grace of one that lost a member is over, counted from when its PodGroup says so; InfiniteFuture: it does not
// yet.
absl::Time GraceEnds(const model::Cluster& cluster, const QueueTree& tree, const Policy& policy,
                     const model::Gang& gang);

// The room that members of the gang left for as many as it lacks, those first that went first. A pod of the same name
// that holds room has taken its own.
std::vector<const model::LostRoom*> RoomLeftTo(const model::Cluster& cluster, model::GangId gang);

// Whether its queue, or one above it, says how long the grace is: it goes as a whole then. Of the others one goes only
// where another that lost a member finds its room then (Eviction::EvictOneOfLost): each holds what the other waits for.
// As in Volcano nobody else goes.
bool GoesAfterGrace(const model::Cluster& cluster, const QueueTree& tree, const model::Gang& gang);

}  // namespace gangway::gang
