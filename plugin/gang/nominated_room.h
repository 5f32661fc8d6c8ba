// Keeps in the overlay the room that gangs are nominated for and that is not free yet, and what members left who were
// lost (lost_member.h), while others look for theirs. What was lost is held by the gang's queue all the same: else it
// would have less than it deserves until the pod is made again, take that from another queue, and be too large then.
#pragma once

#include <map>
#include <vector>

#include "plugin/gang/fit.h"
#include "plugin/gang/overlay.h"

namespace gangway::gang {

// For one call of Schedule. Both must outlive it.
class NominatedRoom {
 public:
  NominatedRoom(Overlay& overlay, Scratch& scratch) : overlay_(overlay), scratch_(scratch) {}
  // For each of its pods that is nominated for a node that is there, and for each lost one.
  void Keep(model::GangId gang) { Keep(gang, false); }
  // The same of one that waits until pods have ended: of what is free on a node now no more than these leave it short
  // of, or who has room there of its own would find none.
  void KeepUntilPodsEnd(model::GangId gang) { Keep(gang, true); }
  // Those pods, before room is kept that they are to leave.
  void CountOn(const std::vector<model::TaskId>& ending);
  // While it is looked at what is free when those pods are gone, all is kept; or, with false, no more again.
  void KeepAll(bool all);
  // What was kept for it, if anything, may be used.
  void Give(model::GangId gang);

 private:
  struct OnRow {
    model::Resources ending, awaited;
    model::Resources covered;  // of what is awaited
  };
  void Keep(model::GangId gang, bool awaited);
  void Hold(model::GangId gang, bool awaited, int times);
  void Hold(model::Row row, model::ShapeId shape, model::QueueId queue, int times);
  void Cover(model::Row row, OnRow& on);
  void Cover(model::Row row, const model::Resources& covered, int times);

  Overlay& overlay_;
  Scratch& scratch_;
  std::map<model::GangId, bool> kept_;   // awaited
  std::map<model::Row, OnRow> ends_on_;  // where pods end
};

}  // namespace gangway::gang
