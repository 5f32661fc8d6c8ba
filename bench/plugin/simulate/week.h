// A week of jobs that come to a cluster, from a seed.
#pragma once

#include <vector>

#include "plugin/explain/cluster_facts.h"
#include "plugin/simulate/simulate.h"

namespace gangway::bench {

struct Week {
  explain::ClusterFacts facts;
  std::vector<simulate::Arrival> arrivals;
  int fit = 0;  // of the arrivals, those that need no more than all nodes have: in a small cluster not all do
};

// Gangs of 1 to 64 pods of 1 to 8 GPUs that run from ten minutes to eight hours, in so many queues and three
// priorities, until there are `pods`; they come evenly over seven days to as many nodes of 8 GPUs as make what they ask
// for `percent` of them.
Week DrawWeek(unsigned seed, int pods, int percent, int queues);

}  // namespace gangway::bench
