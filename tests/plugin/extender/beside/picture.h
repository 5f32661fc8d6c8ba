// Who was where and when, drawn: for docs/extender.md.
#pragma once

#include <string>
#include <vector>

#include "tests/plugin/extender/beside/beside.h"

namespace gangway::beside {

struct Panel {
  std::string title;  // above it; what it says, in numbers
  const Outcome* outcome = nullptr;
};

// SVG: below one another the same workload's outcomes, in each a row a node, racks apart, and over time a bar a pod, as
// thick as the part of the node's cpu that it takes. The jobs of these names are coloured, the others grey; a bar that
// ends by eviction has a dark end.
std::string Picture(const Workload& workload, const std::vector<Panel>& panels,
                    const std::vector<std::string>& coloured);

}  // namespace gangway::beside
