// Places groups of equal tasks at once.
#pragma once

#include <vector>

#include "plugin/gang/area.h"
#include "plugin/gang/assignment.h"

namespace gangway::gang {

// All of the tasks or none, in a trial of the overlay in which nothing is placed yet. The hardest shape goes first,
// each on the fullest nodes that take it; where the first pod decides for others, the narrowest domains with room for
// them are tried first. When that does not fit, a search that may take so many looks at a node tries other ways.
bool Fill(Assignment& tasks, const Area& area, const std::vector<TaskGroup>& groups, int search_budget);

// Each group in turn on the best rows that are left. False: some tasks have no row; all others have one.
bool FillGreedily(Assignment& tasks, const Area& area, const std::vector<TaskGroup>& groups);

// There are fewer places for the group than tasks of it, whatever becomes of the others.
bool TooMany(const Assignment& tasks, const Area& area, const TaskGroup& group);

}  // namespace gangway::gang
