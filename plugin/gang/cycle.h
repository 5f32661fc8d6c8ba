// One call in which gangs are decided on, one after the other: where the minimum of each has room, what is kept for it
// where it has none, and what it is told.
//
// The steps are here; whose turn it is, and when a step is taken, is the story of a look at all that wait
// (decide_all.cc) and of a look at few of them (decide_few.cc).
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "plugin/gang/alike_minimum.h"
#include "plugin/gang/evict.h"
#include "plugin/gang/fit.h"
#include "plugin/gang/kept_room.h"
#include "plugin/gang/moved_room.h"
#include "plugin/gang/order.h"
#include "plugin/gang/overlay.h"
#include "plugin/gang/place.h"
#include "plugin/gang/policy.h"
#include "plugin/gang/queue_claims.h"
#include "plugin/gang/repack.h"
#include "plugin/gang/reservation.h"
#include "plugin/gang/room_of_others.h"
#include "plugin/gang/schedule.h"
#include "plugin/gang/shares.h"
#include "plugin/model/cluster.h"
#include "plugin/model/decision.h"

namespace gangway::gang {

// All that it is made of must outlive it.
class Cycle {
 protected:
  Cycle(const model::Cluster& cluster, const Policy& policy, absl::Time now, Scratch& scratch, IsTold is_told);

  // ---- who wants what

  // What the gang's minimum needs that its pods do not hold; nothing, where it cannot be tried. `room`: for an answer.
  const model::Resources& NeedsOf(const model::Gang& gang, model::Resources& room);
  // Some of its pods have room, and it never was whole: bindings were refused or lost. What it has is of no use to
  // anybody before it has the rest, so that comes before all others.
  static bool HasBegun(const model::Gang& gang) { return !gang.was_whole && gang.ready() > 0; }
  // Whether gangs of several queues wait; or else hold something.
  bool OfSeveralQueues(bool or_hold) const;
  // Where there is something to share between those who wait.
  const Shares* shares() const { return several_wait_ ? &*shares_ : nullptr; }
  // By priority, of its queue or in it.
  bool Precedes(model::GangId id, model::GangId other) const;

  // ---- a gang's minimum

  // False: it waits, and its decision says why, and what is kept for it or made room by whom.
  bool PlaceMinimum(model::GangId id);
  // It looks for room, beside what pods of other schedulers have that it does not go before.
  void LooksForRoom(model::GangId id);
  void OthersKeepElse();
  // With what its queue had taken before.
  void Placed(std::unique_ptr<GangPlacement> placement, const model::Resources& before);
  model::Resources TakenSince(model::QueueId queue, const model::Resources& before) const;
  void RoomFreed();

  // ---- what is kept for one

  bool HasNodes(model::GangId id) const;
  absl::Time KeepsFrom(model::GangId id) const { return cluster_.gang(id).created + policy_.keeps_after; }
  bool MayHaveNodesKept(model::GangId id) const;
  // Who completes what has begun, or has room that was made for it, goes before all of them.
  void LeavesClaims(model::GangId id);
  // It waits for something else than room for now.
  void GoesOnClaiming(model::GangId id);
  // `has_hope`: nodes could take it if others ended.
  void Claim(model::GangId id, const model::Resources& asks, absl::FunctionRef<bool()> has_hope);

  // ---- what it is told

  // Where pods of it should lie close to each other, what kind of reason it is comes with all of it.
  bool Tells(model::GangId id) const;
  void TellAll();
  // Of one whose queue has no room: what is free there is kept for another, or what becomes free for itself.
  void TellWhoseRoomItIs(model::Decision& decision) const;
  std::size_t IndexOf(model::GangId id);

  const model::Cluster& cluster_;
  const Policy& policy_;
  const absl::Time now_;
  Scratch& scratch_;
  const IsTold is_told_;
  Overlay overlay_;
  RoomOfOthers others_;
  Eviction eviction_;
  MovedRoom moved_;
  HeldRoom kept_;
  QueueClaims claims_;
  Repacking repacking_;
  std::optional<Shares> shares_;
  bool several_wait_ = false;           // gangs of several queues do
  std::map<model::GangId, bool> lost_;  // who lost members, and whether that is completed before all others
  std::set<model::GangId> placed_;      // have their minimum by this call
  model::Decisions decisions_;
  absl::flat_hash_map<model::GangId, std::size_t> index_;
  std::vector<std::pair<std::size_t, std::unique_ptr<GangPlacement>>> placements_;
  std::vector<std::pair<GangPlacement*, model::Resources>> wanting_more_;  // with what their minima took
  std::vector<std::pair<model::GangId, Lacking>> lacking_;                 // let in, and not placed

 private:
  void NoteWhatItWaitsFor(const GangPlacement& placed, bool fits, bool without_kept);
  // As nodes are kept now.
  void WaitsForRoom(model::GangId id, const AlikeMinimum& needs);
  // True: it wants more pods of one shape than have room, and nothing else could be done for it: it is told so. Of a
  // great many that wait no more is looked at than this.
  bool WaitsForRoomAlone(model::GangId id);
  // One that found no room is placed where those that this call has placed lie elsewhere.
  bool Repack(GangPlacement& placement);
  // As it says itself: how long others like it took holds nobody to anything. What is expected of those who are there
  // only ever comes before what they said, so that it lets nobody in.
  bool EndsBeforeTheyAreNeeded(model::GangId id) const;
  // For one that found no room.
  void KeepNodes(const GangPlacement& placement);
  // What its minimum needs; before it is let in, what its PodGroup says.
  model::Resources AsksOf(model::GangId id);
  bool MayClaim(model::GangId id) const;
  // For one that has its pods, and found no room.
  void ClaimQueue(const GangPlacement& placement);
  // Something of it is not free yet: else it is no room that the gang waits for.
  bool Gathers(const model::KeptNodes& nodes) const;
  // No more than what was looked for before in vain.
  bool CannotFit(const Wanted& wanted) const;
  // `could_use_them`: one of its pods would have room on them.
  void TellWhoHasNodes(model::Decision& decision, absl::FunctionRef<bool()> could_use_them);
  // Of one that waits for room, and wants pods of the shape: a reader sees nodes with room that is not said otherwise.
  void TellOfOthers(model::Decision& decision, model::ShapeId shape);
  bool CouldUseThem(model::ShapeId shape);
  bool CouldUseThem(const GangPlacement& placement);

  std::optional<PodsThatEnd> ending_;
  // In one call it is looked so often for nodes to keep; gangs that come later in order have none then.
  int looks_for_nodes_ = 32;
  std::vector<Wanted> cannot_fit_;
  absl::flat_hash_map<model::ShapeId, bool> could_use_;
  // Whose decisions say already that they wait for room (WaitsForRoomAlone).
  std::vector<std::pair<std::size_t, model::ShapeId>> wait_alike_;
};

}  // namespace gangway::gang
