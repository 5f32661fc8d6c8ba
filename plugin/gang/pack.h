// Packs bins with loads of several resources at once.
#pragma once

#include <optional>
#include <vector>

#include "plugin/model/resources.h"

namespace gangway::gang {

// Equal pods.
struct Load {
  model::Resources request;
  int count = 0;              // at least one
  std::vector<bool> allowed;  // by bin
};

// By load and bin, how many go there. nullopt: there is no way, or none was found within `budget` looks of a load at a
// bin, which are counted off it. Order matters only where two ways are equally good.
//
// First greedily, each load on the fullest bins that take it: the largest first, then those with the fewest places for
// their number, then for one of them. After that all ways are tried, depth first: what is left must have room for each
// load alone, and for all of them in sum.
std::optional<std::vector<std::vector<int>>> Pack(const std::vector<Load>& loads,
                                                  const std::vector<model::Resources>& bins, int& budget);

}  // namespace gangway::gang
