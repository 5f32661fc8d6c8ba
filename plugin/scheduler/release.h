// Leftovers of a gang: pods that were bound while the rest of their gang was not.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "plugin/model/cluster.h"

namespace gangway::scheduler {

struct Leftovers {
  std::vector<model::TaskId> released;  // to be deleted; sorted by name
  std::vector<std::string> staying;     // names of pods that no controller would make again, or that name another scheduler
  absl::Time latest_binding = absl::InfinitePast();  // as far as the pods tell
};

// Set when the gang is half-bound: it never was whole (its phase says so), fewer of its pods than the minimum have a node or have
// succeeded, some of them have not ended, and no binding is under way.
std::optional<Leftovers> FindLeftovers(const model::Cluster& cluster, model::GangId gang);

// "released 2 of 4 tasks: the other 2 found no node within 30s; 1 pod without a controller stays: p1"
std::string ReleaseSentence(const model::Gang& gang, const Leftovers& leftovers, absl::Duration release_after);

}  // namespace gangway::scheduler
