// Nothing that a call of Schedule has placed is bound yet. So where a gang finds no room, it is packed anew together
// with the gangs that were placed before it: each may lie elsewhere, and none waits for another's sake.
//
// Of those whose pods ask of a node nothing that pods change but room; what they would rather have gives way.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "plugin/gang/overlay.h"
#include "plugin/gang/pack.h"
#include "plugin/gang/place.h"
#include "plugin/gang/policy.h"

namespace gangway::gang {

// In one call of Schedule. All must outlive it.
class Repacking {
 public:
  Repacking(Overlay& overlay, const Policy& policy)
      : overlay_(overlay), budget_(policy.repack_budget), try_budget_(policy.search_budget) {}

  // The minimum of one was placed, by Place or before: once for each. It may lie elsewhere from now on; when its pods
  // look at others, nobody that was placed before it may any more.
  void Placed(GangPlacement& placement);
  // Whether one that needs so much and found no room might be placed; quick to see, and only a first look.
  bool MayPlace(const std::vector<std::pair<model::ShapeId, int>>& wanted) const {
    return !gangs_.empty() && !IsInVain(wanted) && !OneShapeIsAll(wanted);
  }
  // For one that found no room. True: its minimum is placed, beside all others. False: all is as before.
  bool Place(GangPlacement& placement);
  // Since the last call something became free.
  void RoomFreed() { in_vain_.clear(); }

 private:
  using ByShape = std::vector<std::pair<model::ShapeId, int>>;

  struct Problem {
    std::vector<model::ShapeId> shapes;  // by their keys
    std::vector<Load> loads;             // parallel to them
    std::vector<model::Row> rows;        // by name
    std::vector<model::Resources> bins;  // parallel to them: what is free, but for those that may lie elsewhere
  };
  // Without loads: it is too large. Without rows: no node takes any of them.
  Problem ProblemOf(const std::vector<GangPlacement*>& gangs);

  bool IsInVain(const ByShape& wanted) const;
  // Those that may lie elsewhere, and one that wants so much, are of one shape: wherever the first lie, they leave as
  // much.
  bool OneShapeIsAll(const ByShape& wanted) const {
    return one_shape_.has_value() && wanted.size() == 1 && wanted.front().first == *one_shape_;
  }

  Overlay& overlay_;
  int budget_;  // looks at a node
  const int try_budget_;
  std::vector<GangPlacement*> gangs_;
  std::optional<model::ShapeId> one_shape_;  // of all pods of those
  std::vector<ByShape> in_vain_;             // what there was no way for; with more that is placed there is none either
};

}  // namespace gangway::gang
