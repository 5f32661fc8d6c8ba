// Who must leave, so that a gang whose minimum found no room has it.
//
// In its queue a gang may evict those of lower priority, unless its priority class, or a pod that it needs, says that
// nobody is evicted for it (volcano: actions/gangpreempt). From another queue it may take back what that one holds
// beyond what it deserves, while its own queue stays within what it deserves of something that is asked for
// (reclaim.h).
//
// Evicted are members beyond a gang's minimum, or whole gangs (victims.h). Members go first, then gangs by priority,
// the lowest first, of one priority those that have started last (holders.h); one gang rather than several
// (victim_search.h).
//
// First it is looked whether others may be moved so that nobody need wait (consolidation.h).
//
// Nobody is evicted before a trial has shown that the gang is placed then, with all that it asks for; nor when what is
// ending anyhow is enough (eviction_trial.h). Claims that a pod has stay its own in that trial. What was tried in vain
// for one gang is not tried again for those that are alike to it (in_vain.h).
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "plugin/gang/alike_minimum.h"
#include "plugin/gang/constraint/asks.h"
#include "plugin/gang/eviction_trial.h"
#include "plugin/gang/fit.h"
#include "plugin/gang/holders.h"
#include "plugin/gang/in_vain.h"
#include "plugin/gang/nominated_room.h"
#include "plugin/gang/overlay.h"
#include "plugin/gang/place.h"
#include "plugin/gang/policy.h"
#include "plugin/gang/reclaim.h"
#include "plugin/gang/victims.h"
#include "plugin/model/decision.h"

namespace gangway::gang {

// For one call of Schedule. All must outlive it.
class Eviction {
 public:
  Eviction(Overlay& overlay, Scratch& scratch, const Policy& policy, absl::Time now);

  // Whether somebody might be evicted for it, as far as that is quick to see.
  bool MayEvict(const model::Gang& gang);
  // For a gang that was let in and whose minimum found no room. Evicts nobody where what is ending is enough. True: its
  // room is kept in the overlay from now on, and the decision says who is evicted, what for, and for whom it waits.
  // False: all is as before.
  bool MakeRoom(const GangPlacement& placement, model::Decision& decision);
  // It has no room: where no victims are chosen nobody looks whether its queue is still entitled to some, so it is
  // since when it was.
  void GoesOnBeingEntitled(const model::Gang& gang, model::Decision& decision) const;
  // For a gang that might evict, and whose alike minimum has no room: true where MakeRoom would do nothing, since all
  // of it is known to be in vain; the decision says what it would.
  bool WaitsInVain(model::GangId gang, const AlikeMinimum& needs, model::Decision& decision);

  // For a gang that is to go since it lost a member (lost_member.h): the decision says that all of it goes, where all
  // of it may; or when it is looked at again.
  void EvictLost(model::GangId gang, model::Decision& decision);
  // Of gangs that lost members and find no room, in the order in which they have their turn: the last goes with which
  // the first finds its room. Returns that one, whose room is kept in the overlay from now on, and who is told so;
  // kNone: nobody goes, since that is in vain, or something is ending.
  model::GangId EvictOneOfLost(const std::vector<model::GangId>& gangs,
                               absl::FunctionRef<model::Decision&(model::GangId)> decision);

  // The gang has been given room in this call.
  void Placed(model::GangId gang);
  // The gang, which found no room, has nodes kept for it from now on.
  void KeptNodes(model::GangId gang);
  // Room that was kept may be used now.
  void RoomFreed() { in_vain_.RoomFreed(); }

  // A gang for which room was made in this call, and which more pods of this one, wherever they go, could leave without
  // a node that it may use (constraint::Constraint::UnsettledBy). kNone: there is none.
  model::GangId UnsettledBy(model::GangId gang) const;

  // For whom the gang goes as a whole, by this call; kNone: it does not.
  model::GangId GoesFor(model::GangId gang) const;

  // Whether somebody has been looked for who might go.
  bool tried() const { return tried_; }

  // See Holders::going.
  const std::vector<model::TaskId>& Going() { return holders().going(); }
  // What these pods leave is kept there for whom it was made; nullptr: it is nobody's. It must outlive that.
  void LeaveRoomIn(NominatedRoom* kept) { room_of_going_ = kept; }
  // What those of its queue hold that the gang may evict for their lower priority.
  const model::Resources& HeldByLower(model::GangId gang) { return holders().HeldByLower(gang); }

 private:
  // Found when they are first asked for.
  Holders& holders();
  struct Found {
    model::EvictFor what_for = model::EvictFor::kNobody;
    std::vector<Bundle> chosen;
    std::vector<model::Placement> moves;
  };
  // What may be tried for one, and is not known to be in vain. `levels`: see EntitledLevels.
  struct Ways {
    bool moves = false, lower = false, others = false;
  };
  Ways WaysFor(const Preemptor& preemptor, bool may_evict, int levels);
  // Set: the minimum is placed in the overlay with those gone who are chosen.
  std::optional<Found> FindRoom(const Preemptor& preemptor, const GangPlacement& placement, bool may_evict, int levels);
  // Of its queue with what it wants: see Reclaim. 0 also where nothing is taken back for it.
  int EntitledLevels(const Preemptor& preemptor, bool may_evict);
  // Since when it waits for its share, with this call; whether that is long enough; and whom it spares.
  void NoteEntitled(int levels, Preemptor& preemptor, model::Decision& decision);
  // When it is worth another look, by what was looked at so far.
  absl::Time LookAgain() const;
  bool FindsItsRoom(const Preemptor& preemptor);
  // Each of them where it is known to go.
  bool IsNominated(const std::vector<model::Placement>& placements) const;
  std::optional<Found> CountOnEnding(const Preemptor& preemptor);
  bool KnownInVain(model::EvictFor what_for, const Preemptor& preemptor) const;
  // `levels`: at which its queue is entitled.
  bool KnownInVainBetweenQueues(const Preemptor& preemptor, int levels);
  void NoteInVain(model::EvictFor what_for, const Preemptor& preemptor);
  std::optional<Found> SearchInQueue(const Preemptor& preemptor, const std::vector<Candidate>& candidates);
  std::optional<Found> SearchBetweenQueues(const Preemptor& preemptor, absl::Span<const Candidate> candidates,
                                           int levels);
  std::optional<Found> Consolidate(const Preemptor& preemptor, const GangPlacement& placement);
  void Tell(model::GangId gang, Found found, model::Decision& decision);
  const Bundle* WholeOfLost(model::GangId gang);
  void SortByName(std::vector<model::TaskId>& tasks) const;
  model::Reason WhyItWaits(const model::Gang& gang, const std::vector<model::TaskId>& evicted) const;

  Overlay& overlay_;
  const model::Cluster& cluster_;
  const Policy& policy_;
  const absl::Time now_;
  std::optional<Holders> holders_;
  Victims victims_;
  Reclaim reclaim_;
  EvictionTrial trial_;
  NominatedRoom* room_of_going_ = nullptr;
  const bool searches_again_;
  InVain in_vain_;
  int consolidations_;  // that may still be looked for
  bool tried_ = false;
  absl::Time look_again_ = absl::InfiniteFuture();
  std::vector<model::GangId> placed_;
  absl::flat_hash_map<model::GangId, model::GangId> goes_for_;
  // Of those for whom room was made in this call, where others' places may change what they can use.
  std::vector<std::pair<const constraint::Asks*, model::GangId>> settled_;
  model::GangId has_nodes_ = model::kNone;  // are kept for it
};

}  // namespace gangway::gang
