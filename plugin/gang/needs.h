// What of a gang's usable tasks its minimum needs, and what is beyond it.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "plugin/gang/usable.h"
#include "plugin/model/cluster.h"
#include "plugin/model/reason.h"

namespace gangway::gang {

struct Needs {
  std::vector<std::size_t> of_roles;    // what tasks' minima and sub-groups need: indices into Usable::tasks, in order
  std::vector<std::size_t> all;         // with what the gang's minimum needs beside
  std::vector<Unit> rest;               // not needed, in order
  std::optional<model::Reason> reason;  // set: there are too few of something
};

Needs FindNeeds(const model::Cluster& cluster, const model::Gang& gang, const Usable& usable);

}  // namespace gangway::gang
