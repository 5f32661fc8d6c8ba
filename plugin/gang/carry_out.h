// What a decision makes of the cluster before anybody shows that it is so: who is let in, has a node, goes, and where
// room is kept. A decision of the same cluster that is carried out is not made again.
#pragma once

#include "absl/time/time.h"
#include "plugin/model/cluster.h"
#include "plugin/model/decision.h"

namespace gangway::gang {

void CarryOut(const model::Decision& decision, model::Cluster& cluster);

// Once all decisions of a round are carried out: nodes are kept for one gang, or none. Room for a gang that is moved is
// kept until it is placed, and for `patience` after its pods are gone.
void EndRound(const model::Decisions& decisions, absl::Duration patience, absl::Time now, model::Cluster& cluster);
// The same of a round that looked at few (ScheduleFew): who has nodes kept for it, and is not among them, still has.
void EndRoundOfFew(const model::Decisions& decisions, absl::Duration patience, absl::Time now, model::Cluster& cluster);

}  // namespace gangway::gang
