// Keeps in the overlay the room that gangs are nominated for and that is not free yet, and what members left who were
// lost (lost_member.h), while others look for theirs. What was lost is held by the gang's queue all the same: else it
// would have less than it deserves until the pod is made again, take that from another queue, and be too large then.
#pragma once

#include <set>

#include "plugin/gang/fit.h"
#include "plugin/gang/overlay.h"

namespace gangway::gang {

// For one call of Schedule. Both must outlive it.
class NominatedRoom {
 public:
  NominatedRoom(Overlay& overlay, Scratch& scratch) : overlay_(overlay), scratch_(scratch) {}
  // For each of its pods that is nominated for a node that is there, and for each lost one.
  void Keep(model::GangId gang);
  // What was kept for it, if anything, may be used.
  void Give(model::GangId gang);

 private:
  void Hold(model::GangId gang, int times);
  void Hold(model::Row row, model::ShapeId shape, model::QueueId queue, int times);

  Overlay& overlay_;
  Scratch& scratch_;
  std::set<model::GangId> kept_;
};

}  // namespace gangway::gang
