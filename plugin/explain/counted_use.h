// What queues held of late, as a scheduler that starts now counts it, and from then on.
#pragma once

#include <vector>

#include "absl/time/time.h"
#include "plugin/explain/change.h"
#include "plugin/model/cluster.h"

namespace gangway::explain {

class CountedUse {
 public:
  // Tells `cluster`, which knows the index's facts, what each queue used: what it holds it has held since its use was
  // written; from `now` on where that never was.
  CountedUse(const FactIndex& index, model::Cluster& cluster, absl::Duration half_life, absl::Time now);

  // What each held since the last time it has held up to `now`, which is not before that.
  void CountTo(absl::Time now, model::Cluster& cluster);

 private:
  const absl::Duration half_life_;
  std::vector<model::Use> use_;  // by queue
};

}  // namespace gangway::explain
