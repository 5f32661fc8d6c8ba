// Whether a gang would be placed if some pods were gone: they are taken out of the overlay, its minimum is placed, and
// all is put back.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plugin/gang/area.h"
#include "plugin/gang/fit.h"
#include "plugin/gang/overlay.h"
#include "plugin/gang/policy.h"
#include "plugin/gang/preemptor.h"
#include "plugin/gang/victims.h"
#include "plugin/model/decision.h"

namespace gangway::gang {

// In one call of Schedule. All must outlive it.
class EvictionTrial {
 public:
  EvictionTrial(Overlay& overlay, Scratch& scratch, const Policy& policy);

  // As if they were gone, and as if they were there again.
  void TakeAway(const std::vector<model::TaskId>& tasks);
  void GiveBack(const std::vector<model::TaskId>& tasks);
  // Also in what is left of their disruption budgets.
  void TakeAway(const Bundle& bundle, Victims& victims);
  void GiveBack(const Bundle& bundle, Victims& victims);

  // So many of the pods that its minimum needs have a place each, which is quick to see; and whether all have.
  std::int64_t Places(const Preemptor& preemptor);
  bool CouldFit(const Preemptor& preemptor) { return Places(preemptor) >= preemptor.count; }
  // Its minimum is placed in the overlay, beyond the mark; nothing else was since. False: nothing is.
  bool Place(const Preemptor& preemptor);
  // So many of the shape have a place each.
  std::int64_t Copies(model::ShapeId shape, const Area& area) { return area.Copies(scratch_.Fit(overlay_, shape)); }
  // All of the bundle, which is taken away, is placed in the overlay beside that. nullopt: none of it is.
  std::optional<std::vector<model::Placement>> PlaceAgain(const Bundle& bundle);
  // Where it was placed last.
  const std::vector<model::Placement>& placements() const { return placements_; }
  // What was placed is not any more.
  void Rewind();

  // Of what may be taken away in one call something is left.
  bool may_go_on() const { return budget_ > 0; }

 private:
  Overlay& overlay_;
  Scratch& scratch_;
  const Policy policy_;
  int budget_;  // pods
  std::vector<model::Placement> placements_;
};

}  // namespace gangway::gang
