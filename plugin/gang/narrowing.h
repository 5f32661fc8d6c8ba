// Which HyperNodes tasks that lie together may lie in: all of a gang, or those of one of its sub-groups (a part).
#pragma once

#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "plugin/gang/area.h"
#include "plugin/gang/assignment.h"
#include "plugin/model/facts.h"

namespace gangway::gang {

// What the task's sub-group asks for; nullptr: it may lie anywhere, or the task has none.
const model::TopologyFacts* TopologyOf(const Assignment& tasks, std::size_t task);
bool SamePart(const Assignment& tasks, std::size_t a, std::size_t b);

// The nodes where pods of the gang are, but for those that end; of the task's part, with those that are placed now.
std::vector<model::Row> RowsOfGang(const Assignment& tasks);
std::vector<model::Row> RowsOfPart(const Assignment& tasks, std::size_t task);

// Those that `wanted` may lie in with what is `there`, all of them within `area`: the narrowest tier first; of one tier
// those that have room for all of them, the least of it first, then the others, the most of it first. Where the
// topology is only preferred, of any tier.
std::vector<Area> HyperNodesToTry(const Assignment& tasks, const model::TopologyFacts& topology,
                                  const std::vector<model::Row>& there, absl::Span<const std::size_t> wanted,
                                  const Area& area);

// The first of them that has room for most of the groups' tasks; where none has room for all, of those around it with
// no more room the last, since nodes beside it would do as well. There is one at least.
Area Closest(const Assignment& tasks, const std::vector<Area>& hyper_nodes, const std::vector<TaskGroup>& groups);

// The last of them that holds the area, which is one of them.
Area WidestAround(const std::vector<Area>& hyper_nodes, const Area& area);

}  // namespace gangway::gang
