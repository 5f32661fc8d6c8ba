// What is said of tasks that found no room.
#pragma once

#include <cstddef>
#include <vector>

#include "plugin/gang/area.h"
#include "plugin/gang/assignment.h"
#include "plugin/model/facts.h"
#include "plugin/model/reason.h"

namespace gangway::gang {

struct NoRoom {
  model::Reason reason;
  std::vector<model::TaskId> would_fit;  // that found a node in the trial which showed it, in order of placement
};

// Of groups that do not fit into the area, beside what is placed: which shapes lack what. Drops the trial.
NoRoom WhyNoRoom(Assignment& tasks, const Area& area, const std::vector<TaskGroup>& groups);

// Of tasks of one sub-group that lies in one HyperNode: of the one that comes closest, or that there is none. May drop
// the trial.
NoRoom WhyNoRoomForPart(Assignment& tasks, const Area& area, const std::vector<std::size_t>& part,
                        const model::TopologyFacts& topology);

// No HyperNode that may be used has the nodes that are `there`.
model::Reason NoHyperNode(const model::Cluster& cluster, const model::Gang& gang, const model::TopologyFacts& topology,
                          const std::vector<model::Row>& there);

}  // namespace gangway::gang
