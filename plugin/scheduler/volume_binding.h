// Volumes before pods: what must be written, and has come to be, before the pods that a gang was given nodes for may be
// bound. Pure.
#pragma once

#include <string>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/functional/function_ref.h"
#include "kube/plan/plan.h"
#include "plugin/model/cluster.h"

namespace gangway::scheduler {

struct VolumesOfGang {
  bool ready = true;                // every claim of the pods is bound, to a volume that their nodes reach
  std::vector<kube::Write> writes;  // that make it so, as far as they are not written yet
  std::string failed;               // set: it will not come to be, and why
  std::string waits_for;            // "claim data on node n1": the first that is not there
};

// Of the pods that are assumed to be somewhere and whose binding was not `accepted`. `selected` remembers, from look to
// look, the claims that were seen with their node: one that has it no more was given back by who makes its volume.
VolumesOfGang LookAtVolumes(const model::Cluster& cluster, const model::Gang& gang,
                            absl::FunctionRef<bool(const model::Task&)> accepted,
                            absl::btree_set<std::string>& selected);

}  // namespace gangway::scheduler
