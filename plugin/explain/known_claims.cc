#include "plugin/explain/known_claims.h"

#include "plugin/gang/queue_tree.h"

namespace gangway::explain {

KnownClaims::KnownClaims(const model::Cluster& cluster, const gang::Policy& policy, absl::Time now,
                         gang::Scratch& scratch) {
  if (!gang::QueueTree(cluster).limits()) return;
  for (const model::Decision& decision : gang::Schedule(cluster, policy, now, scratch)) {
    if (!decision.claim.has_value()) continue;
    const model::Gang& gang = cluster.gang(decision.gang);
    claims_.emplace_back(GangKey{gang.ns, gang.name, gang.kind}, *decision.claim);
    // Others were placed in this round, of whom the next one keeps it: how many must end is looked for anew.
    claims_.back().second.found = absl::InfinitePast();
  }
}

void KnownClaims::Tell(model::Cluster& cluster) const {
  for (const auto& [key, claim] : claims_) {
    const model::GangId gang = cluster.FindGang(key.ns, key.name, key.kind);
    if (gang != model::kNone) cluster.Claim(gang, claim);
  }
}

}  // namespace gangway::explain
