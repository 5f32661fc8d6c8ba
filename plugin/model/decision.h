// What Schedule decides about one gang.
#pragma once

#include <optional>
#include <vector>

#include "plugin/model/cluster.h"
#include "plugin/model/reason.h"

namespace gangway::model {

struct Placement {
  TaskId task = kNone;
  Row row = kNone;
  friend bool operator==(const Placement&, const Placement&) = default;
};

struct Decision {
  GangId gang = kNone;
  bool admit = false;                 // let it in now
  std::vector<Placement> placements;  // bind these, all of them or none; in task order
  // Set when it still wants something: the gang is short of its minimum, or its elastic rest found no room.
  std::optional<Reason> reason;
  bool short_of_minimum = false;  // the reason keeps the gang from starting
  bool rest_undecided = false;    // it has its minimum and wants more, which was not looked at
  std::vector<TaskId> would_fit;  // pending tasks that found a node in a trial that was not committed
  friend bool operator==(const Decision&, const Decision&) = default;
};

// In the order in which gangs were decided.
using Decisions = std::vector<Decision>;

}  // namespace gangway::model
