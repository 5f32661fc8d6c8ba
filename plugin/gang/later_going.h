// When all of a gang may go that may not yet, and what goes then.
#pragma once

#include <optional>

#include "absl/time/time.h"
#include "plugin/gang/policy.h"
#include "plugin/gang/queue_tree.h"
#include "plugin/gang/victims.h"
#include "plugin/model/cluster.h"

namespace gangway::gang {

// For one who asks for nothing but to be a pod, or for others (victims.h). All must outlive it.
class LaterGoing {
 public:
  LaterGoing(const model::Cluster& cluster, const QueueTree& tree, const Policy& policy, absl::Time now,
             bool asks_for_nothing)
      : cluster_(cluster),
        tree_(tree),
        policy_(policy),
        now_(now),
        asks_for_nothing_(asks_for_nothing),
        victims_(cluster, tree, policy, now) {}

  // After now, and not before `from`. nullopt: it may go now, or never, or that is not known.
  std::optional<absl::Time> From(model::GangId gang, absl::Time from) const;
  Bundle WholeOf(model::GangId gang) const;

 private:
  const model::Cluster& cluster_;
  const QueueTree& tree_;
  const Policy& policy_;
  const absl::Time now_;
  const bool asks_for_nothing_;
  const Victims victims_;
};

}  // namespace gangway::gang
