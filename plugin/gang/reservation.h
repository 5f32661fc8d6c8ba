// Room that is gathered for one gang, so that those who fit into less do not pass it for ever.
//
// For a gang whose minimum finds no room, and would find it if pods of gangs ended, the set of nodes is kept which has
// room for it after the fewest of them have: what is free there now, as far as the gang will need it, and what becomes
// free. Who comes later goes elsewhere, or uses what is more than that; who is known to end before the gang can start
// may use all (backfill). When a pod ends at the latest is known from its activeDeadlineSeconds, or from what its owner
// expects; of one that is there a minute later nothing is known.
//
// How long others of its kind took before (model::PastRuns) is an estimate, which may be wrong, and so delays nobody:
// of nodes on which as many pods must end those are kept that are expected to be free first; and who would end after
// that is kept from them though it would end by what is known. What nobody said an end of is not made known by it, and
// it lets nobody in.
//
// Pure. Pods of no gang do not end here, and all that is asked of nodes beside amounts is seen as it is now: what one
// pod has there and no other can have is not waited for when nodes are found; where it is free it is kept.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "plugin/gang/area.h"
#include "plugin/gang/fit.h"
#include "plugin/gang/overlay.h"
#include "plugin/model/decision.h"

namespace gangway::gang {

// What a gang's minimum needs of nodes.
struct Wanted {
  // Of one sub-group that must lie in one HyperNode.
  struct Part {
    std::vector<std::pair<model::ShapeId, int>> by_shape;
    std::vector<Area> areas;
  };
  std::vector<std::pair<model::ShapeId, int>> by_shape;  // but for those of parts
  std::vector<Area> areas;                               // all of it must lie in one of them
  std::vector<Part> parts;
};

// The pods that may end, by node. Good while the cluster stays as it is.
class PodsThatEnd {
 public:
  struct Pod {
    model::TaskId task = model::kNone;
    absl::Time end;  // at the latest; InfiniteFuture: nobody knows
    // As runs before it took at most, and no later than that: an estimate.
    absl::Time expected;
  };
  PodsThatEnd(const model::Cluster& cluster, absl::Time now);

  const std::vector<Pod>& On(model::Row row) const;
  // Held by pods that are ending.
  const model::Resources& Ending(model::Row row) const;
  const std::vector<const model::Shape*>& EndingShapes(model::Row row) const;

 private:
  absl::flat_hash_map<model::Row, std::vector<Pod>> pods_;
  absl::flat_hash_map<model::Row, model::Resources> ending_;
  absl::flat_hash_map<model::Row, std::vector<const model::Shape*>> ending_shapes_;
};

// The gang's own pods stay. `before`: the nodes that it has; others must have their room after fewer pods have ended,
// and no later; nullptr: it has none. nullopt: it would not fit even after all pods of other gangs have ended.
std::optional<model::KeptNodes> FindRoomToCome(const Overlay& overlay, const PodsThatEnd& pods, model::GangId gang,
                                               const Wanted& wanted, const model::KeptNodes* before, absl::Time now);

// Keeps it in the overlay, on nodes that are still there: of each what is free, as far as it is wanted, and all that it
// has beside amounts.
class HeldRoom {
 public:
  HeldRoom(Overlay& overlay, Scratch& scratch) : overlay_(overlay), scratch_(scratch) {}

  bool holds() const { return gang_ != model::kNone; }
  model::GangId gang() const { return gang_; }
  const model::KeptNodes& nodes() const { return nodes_; }

  void Hold(model::GangId gang, model::KeptNodes nodes);
  // Nothing is held any more.
  void Release();
  // Whether one of the nodes would have room for so much if nothing were held there.
  bool CouldTake(const model::Resources& request) const;
  // All of it is anybody's until the end of `use`. One room is held at a time.
  template <class F>
  auto Without(F use) -> decltype(use()) {
    struct Again {
      HeldRoom& room;
      ~Again() { room.Take(); }
    };
    Give();
    const Again again{*this};
    return use();
  }

 private:
  void Give();
  void Take();

  Overlay& overlay_;
  Scratch& scratch_;
  model::GangId gang_ = model::kNone;
  model::KeptNodes nodes_;
  std::vector<model::Resources> taken_;  // parallel to nodes_.spots
};

// When a pod that holds room ends.
PodsThatEnd::Pod EndOfPod(const model::Cluster& cluster, model::TaskId task, absl::Time now);

// When the last of the gang's pods without a node would end if they were placed now, also of those that its minimum
// still lacks; InfiniteFuture: nobody knows.
absl::Time EndOf(const model::Cluster& cluster, model::GangId gang, absl::Time now);

}  // namespace gangway::gang
