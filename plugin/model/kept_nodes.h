// Nodes that are kept for one gang until it has room on them (gang/reservation.h), room that is kept for gangs that are
// moved (gang/consolidation.h), and room that members left who were lost (gang/lost_member.h).
#pragma once

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "plugin/model/resources.h"
#include "plugin/model/shape.h"
#include "plugin/model/task.h"

namespace gangway::model {

struct KeptNodes {
  struct Spot {
    Row row = kNone;
    Resources amounts;            // what the gang will take there
    std::vector<HostPort> ports;  // and the ports
    friend bool operator==(const Spot&, const Spot&) = default;
  };
  std::vector<Spot> spots;  // by name of the node
  int ends = 0;             // pods that must end before
  absl::Time start;         // by when they will have ended; InfiniteFuture: nobody knows
  absl::Time expected;      // no later than that, as runs before took: an estimate
  absl::Time found;         // when this was looked for
  absl::Time since;         // when `ends` became less, or the gang got them
  friend bool operator==(const KeptNodes&, const KeptNodes&) = default;
};

// Whose they are.
struct Reservation {
  GangId gang = kNone;
  std::string uid;  // of its PodGroup
  KeptNodes nodes;
};

// A gang whose pods go, and are placed again where there is room for them.
struct MovedGang {
  struct Pod {
    std::string name, uid;  // of the pod that goes
    std::string node;       // on which room is kept for the pod that is made for it
    ShapeId shape = kNone;  // kNone: not known before the one that is made for it is seen
    std::string made;       // the UID of that one; "" = none is seen yet
    friend bool operator==(const Pod&, const Pod&) = default;
  };
  GangId gang = kNone;
  std::string uid;  // of its PodGroup
  std::vector<Pod> pods;
  absl::Time until;  // then the room is anybody's
  friend bool operator==(const MovedGang&, const MovedGang&) = default;
};

// What a pod held that is gone while others of its gang, which it leaves short of its minimum, run on
// (gang/lost_member.h).
struct LostRoom {
  GangId gang = kNone;
  std::string uid;  // of its PodGroup
  std::string pod, node;
  ShapeId shape = kNone;
};

}  // namespace gangway::model
