// Keeps in the overlay the room of gangs that are moved (consolidation.h), until the pods that are made for those that
// went are placed there: of its node, and of its queue from when the pod that went holds nothing more.
#pragma once

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "plugin/gang/fit.h"
#include "plugin/gang/overlay.h"
#include "plugin/model/cluster.h"

namespace gangway::gang {

// For one call of Schedule. All must outlive it.
class MovedRoom {
 public:
  // Keeps all of it from now on.
  MovedRoom(Overlay& overlay, Scratch& scratch, absl::Time now);

  // The pods of the gang that are still to be placed; 0: none are moved.
  int PodsOf(model::GangId gang) const;
  // What is kept for those of its pods that are made again may be used; or is kept again.
  void Give(model::GangId gang) { Keep(gang, -1); }
  void Take(model::GangId gang) { Keep(gang, 1); }
  // When the first of it is given up.
  absl::Time until() const { return until_; }

 private:
  struct Kept {
    model::GangId gang = model::kNone;
    model::Row row = model::kNone;
    model::ShapeId shape = model::kNone;
    bool of_queue = false;
    bool made = false;
  };
  void Hold(const Kept& kept, int times);
  void Keep(model::GangId gang, int times);

  Overlay& overlay_;
  Scratch& scratch_;
  std::vector<Kept> kept_;
  absl::Time until_ = absl::InfiniteFuture();
};

// What PodGroups say of gangs that were moved by a scheduler that is gone: room is kept for their pods from now on,
// where some of them have begun to go and are not placed yet. Of a gang whose pods are gone for `patience` nothing is
// kept.
void RecallMoved(absl::Duration patience, absl::Time now, model::Cluster& cluster);

}  // namespace gangway::gang
