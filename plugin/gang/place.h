// Places at least the minimum of one gang, or none of it; then, one by one, what is beyond the minimum.
//
// The tasks that the minimum needs are tried hardest shape first, each shape on the fullest nodes that take it; when
// that does not fit, a search bounded by the policy's budget tries other ways (fill.h). A gang alone, within the
// budget, never waits because of a node more.
//
// A gang with a network topology lies in one HyperNode, the narrowest that holds it; or as near to that as can be,
// where it is only preferred (narrowing.h).
//
// Tasks of one sub-group are one unit: what it lacks of its size is placed together, within the minimum and beyond it
// (units.h). What found no room is told why (no_room.h).
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "plugin/gang/area.h"
#include "plugin/gang/assignment.h"
#include "plugin/gang/fit.h"
#include "plugin/gang/kept_room.h"
#include "plugin/gang/needs.h"
#include "plugin/gang/no_room.h"
#include "plugin/gang/overlay.h"
#include "plugin/gang/policy.h"
#include "plugin/gang/reservation.h"
#include "plugin/gang/units.h"
#include "plugin/model/decision.h"

namespace gangway::gang {

// One gang during one Schedule call. Everything it places stays in the overlay; a minimum that does not fit leaves
// nothing there.
class GangPlacement {
 public:
  // Without `tells`, Finish says of a minimum that found no room nothing but that: of its reason the kind alone.
  GangPlacement(Overlay& overlay, Scratch& scratch, const Policy& policy, model::GangId gang, bool tells = true);
  GangPlacement(const GangPlacement&) = delete;
  GangPlacement& operator=(const GangPlacement&) = delete;

  // False: the gang stays as it is, and Finish says why.
  bool PlaceMinimum();
  // Instead: there alone where its pods are nominated. False: they are not, or somebody is there still; without a
  // reason.
  bool PlaceMinimumAsNominated();
  // After it, placed or without room: whether the minimum may lie wherever nodes as they are take it and have room:
  // nothing else that its pods ask is changed by others.
  bool Packs() const;
  // The tasks of the minimum: that were placed, else those that it needs; and where each lies.
  std::vector<TaskGroup> MinimumByShape() const;
  model::Row row(std::size_t task) const { return tasks_.row(task); }
  // The minimum lies there, wherever it lay before: each of these tasks with its row.
  void PlaceMinimumAt(const std::vector<std::pair<std::size_t, model::Row>>& rows);
  // Instead of it: these of its pods, which the overlay has released, all of them or none.
  bool PlaceAgain(std::vector<model::TaskId> tasks);
  // After a minimum that was placed: whether there are tasks beyond it that were not tried.
  bool wants_more() const { return next_rest_ < needs_.rest.size(); }
  // Whether any of them could have room before what is kept is left.
  bool HasRoomForMore() const;
  // One task more, where that leaves what is kept. False: nothing more fits.
  bool PlaceOneMore(const KeptRoom& kept);
  // What is beyond the minimum waits for that gang.
  void LeaveRestTo(model::GangId gang) {
    next_rest_ = needs_.rest.size();
    units_.LeaveTo(gang);
  }
  // After a minimum that was not placed: what it lacks, when room or its controller can give it.
  std::optional<Lacking> lacking() const;
  // After a minimum that no nodes have room for: what it needs of them. nullopt: that cannot be told, or something else
  // is in the way.
  std::optional<Wanted> wanted() const;
  // After a minimum that found no room, in its queue or on nodes.
  std::optional<Wanted> wanted_of_nodes() const;
  // After a minimum that was not placed: its queue, or one above it, may hold no more.
  bool queue_full() const { return reason_.has_value() && reason_->kind == model::Reason::Kind::kQueueFull; }
  // After PlaceMinimum: what its waiting hangs on. `beside_kept`: it was tried beside nodes that are kept.
  void TellWhatItHangsOn(Standstill& standstill, bool beside_kept) const;
  // Placements and reason, as things are now.
  void Finish(model::Decision& decision);

  model::GangId gang() const { return id_; }

 private:
  // One way to place the minimum.
  struct Try {
    Area area;
    int search_budget = 0;
    bool told = true;  // a failure is
  };

  // A binding was refused. With others of its pods bound, room for its minimum is kept from everybody until it is tried
  // again.
  bool rests() const { return !gang_.held_back.empty(); }
  // Finds what the minimum needs and begins a trial. False: it cannot be tried.
  bool Begin();
  bool Keep();  // the trial, where it placed the minimum
  bool PlaceWithinHyperNode();
  bool PlaceAsNominated();
  bool PlaceNeedsOrTell(const Area& area);
  bool PlaceNeeds(const Try& how);
  bool PlaceNeedsByParts(const Try& how);
  std::vector<std::vector<std::size_t>> PartsOfNeeds(std::vector<std::size_t>& others) const;
  std::vector<std::pair<model::ShapeId, int>> ByShape(const std::vector<std::size_t>& tasks) const;
  bool PlaceOthers(const Try& how);
  void Tell(NoRoom told);

  void FinishWithoutMinimum(model::Decision& decision);
  std::optional<model::Reason> WhyNotAllExist() const;
  model::Reason WhyRestWaits(const std::vector<std::size_t>& left, std::optional<model::Reason> queue_full);

  const Policy& policy_;
  const bool tells_;
  const model::GangId id_;
  const model::Gang& gang_;

  Assignment tasks_;
  Needs needs_;
  std::size_t next_rest_ = 0;  // of needs_.rest
  UnitPlacement units_;
  Bounds bounds_;  // where the minimum lies, and how far the rest may go from there
  bool placed_minimum_ = false;
  std::optional<model::Reason> reason_;
  std::vector<model::TaskId> would_fit_;
};

}  // namespace gangway::gang
