// Room of a queue that is kept for one of its gangs, so that smaller ones do not pass it for ever.
//
// Where a queue, or one above it, may hold no more (its capability, or what guarantees of others leave), and a gang of
// it needs more than is free of that, the first in order claims it: what is free, and what becomes free, as far as it
// asks for it. Gangs of its queue that come after it in order have what is more than that, and so have those of other
// queues below the same limit once the gang has had its turn. Who comes before it goes before it; and who is known to
// end before it can start uses what it likes, as on nodes that are kept (reservation.h).
//
// A gang keeps its claim until it is placed, also while it waits for nodes. Nothing is claimed for one that its queue
// could not hold even if all other pods ended.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "plugin/gang/overlay.h"
#include "plugin/gang/policy.h"
#include "plugin/model/queue_claim.h"

namespace gangway::gang {

// For one call of Schedule. The overlay, whose claimed room this sets, must outlive it.
class QueueClaims {
 public:
  // What a gang's minimum needs.
  using Needs = absl::FunctionRef<model::Resources(model::GangId)>;
  // Of the gangs that have claimed something, the first of each queue goes on.
  QueueClaims(Overlay& overlay, const Policy& policy, absl::Time now, Needs needs);

  bool empty() const { return claims_.empty(); }
  // It has claimed room before this call, and has it still.
  bool Has(model::GangId gang) const { return claims_.contains(gang); }
  // Whether one of the gang's queue has a claim that comes before it.
  bool ComesAfterAnother(model::GangId gang) const;

  // Of what is claimed the overlay keeps from now on what the gang has to leave; with `surplus` it takes pods beyond
  // its minimum, which come after all minima.
  void KeepFrom(model::GangId gang, bool surplus = false);
  void KeepNothing() { overlay_.Unclaim(); }
  // Whose claim keeps something from the gang; kNone: nobody's.
  model::GangId KeptFrom(model::GangId gang, bool surplus) const;

  // It has had its turn and was refused: from now on gangs of other queues leave its room, too. With what it asks for.
  void Refused(model::GangId gang, const model::QueueClaim& claim, const model::Resources& asks);
  // It has its room, or wants it no more.
  void Drop(model::GangId gang);

 private:
  struct Claim {
    model::QueueId queue = model::kNone;
    model::QueueClaim claim;
    model::Resources asks;
    bool had_turn = false;
  };
  using Gangs = std::vector<model::GangId>;
  void Add(model::GangId gang, Claim claim);
  const Gangs& At(model::QueueId level) const;
  bool Before(model::GangId a, model::GangId b) const;
  bool Keeps(model::GangId gang, model::GangId from, bool surplus) const;

  Overlay& overlay_;
  const Policy& policy_;
  const absl::Time now_;
  std::map<model::GangId, Claim> claims_;
  std::map<model::QueueId, Gangs> by_level_;  // at its queue, and where that or one above it is limited
};

// When the queue has room for so much more of the gang's, and those above it have; nullopt: they would not even if all
// pods of others ended.
std::optional<model::QueueClaim> FindQueueRoomToCome(const Overlay& overlay, model::GangId gang,
                                                     const model::Resources& asks, absl::Time now);

}  // namespace gangway::gang
