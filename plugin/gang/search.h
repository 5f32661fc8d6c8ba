// Looks for a way to place several shapes together when filling one after the other did not work.
#pragma once

#include <utility>
#include <vector>

#include "plugin/gang/overlay.h"
#include "plugin/model/cluster.h"

namespace gangway::gang {

struct SearchGroup {
  model::ShapeId shape = model::kNone;
  int count = 0;
  std::vector<model::Row> rows;  // that fit at least one pod now, in the order to try
};

// For each group the rows and how many pods go there; empty when there is no way, or none was found within `budget`
// looks at a node. Complete within the budget. The overlay is as before when it returns.
std::vector<std::vector<std::pair<model::Row, int>>> SearchPlacement(Overlay& overlay,
                                                                     const std::vector<SearchGroup>& groups,
                                                                     int budget);

}  // namespace gangway::gang
