// What a queue held of late: an average over time, in which what was held a half-life ago counts half as much as what
// is held now (slurm: PriorityDecayHalfLife).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "plugin/model/cluster.h"

namespace gangway::model {

// As its gangs hold it now, in `Use::held`'s units.
std::map<std::string, double> HeldNow(const Cluster& cluster, const Queue& queue);

// Of one that held so much from `use.as_of` to `now`, which is not before.
Use UseAt(const Use& use, const std::map<std::string, double>& held, absl::Duration half_life, absl::Time now);

// As Queue::used has it.
std::vector<double> UsedByDim(const Use& use, const Dims& dims);

}  // namespace gangway::model
