// The scheduler's memory of room of queues that is kept for one gang each (gang/queue_claims.h). No object says it. Who
// waits has waited for more than a moment, and so whoever claims something as things are has it already: the next round
// keeps it also from those whose turn comes before his.
#pragma once

#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "plugin/explain/cluster_facts.h"
#include "plugin/gang/schedule.h"
#include "plugin/model/cluster.h"

namespace gangway::explain {

class KnownClaims {
 public:
  // Of nobody.
  KnownClaims() = default;
  // As the cluster is.
  KnownClaims(const model::Cluster& cluster, const gang::Policy& policy, absl::Time now, gang::Scratch& scratch);

  // The same gangs have them there, those that it has.
  void Tell(model::Cluster& cluster) const;

 private:
  std::vector<std::pair<GangKey, model::QueueClaim>> claims_;
};

}  // namespace gangway::explain
