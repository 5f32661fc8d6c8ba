// Places tasks one by one, each on the best row that is left; those of a unit all or none. A sub-group with a topology
// lies in one HyperNode.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "plugin/gang/area.h"
#include "plugin/gang/assignment.h"
#include "plugin/gang/kept_room.h"
#include "plugin/gang/usable.h"
#include "plugin/model/facts.h"

namespace gangway::gang {

struct Bounds {
  Area area;
  std::optional<Area> beyond;  // for a task that finds nothing in the area; a sub-group that lies together stays there
};

// Goes on within a trial of the overlay. A shape that found nothing is not looked at again, so one of these is good
// only while room becomes less.
class UnitPlacement {
 public:
  explicit UnitPlacement(Assignment& tasks) : tasks_(tasks) {}

  // From now on this is left alone. Must outlive it.
  void Leave(const KeptRoom& kept) { kept_ = &kept; }
  // As if its kept room were all that is left.
  void LeaveTo(model::GangId gang) { kept_for_ = gang; }
  // Room may have become more.
  void LookAgain() { full_shapes_.clear(); }
  // The gang whose kept room a task would have fitted on; kNone: there was none.
  model::GangId kept_for() const { return kept_for_; }

  // False: nothing of it is placed.
  bool Place(const Unit& unit, const Bounds& bounds);
  // Tasks of one sub-group, in one HyperNode with those of it that are somewhere.
  bool PlacePart(absl::Span<const std::size_t> part, const model::TopologyFacts& topology, const Bounds& bounds);

 private:
  bool PlaceTogether(absl::Span<const std::size_t> tasks, const Bounds& bounds);
  bool PlaceOne(std::size_t task, const Bounds& bounds);
  model::Row BestRow(std::size_t task, const Area& area);

  Assignment& tasks_;
  const KeptRoom* kept_ = nullptr;
  model::GangId kept_for_ = model::kNone;
  std::vector<model::ShapeId> full_shapes_;
};

}  // namespace gangway::gang
