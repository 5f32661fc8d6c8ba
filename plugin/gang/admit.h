// Letting gangs in: from then on their pods are made and placed.
//
// Sums decide, as in Volcano (plugins/overcommit and the queue's room), so that cluster autoscalers see pods that wait.
// What counts as taken is what is placed, and what was let in and has no pods yet; a gang that has its pods and found
// no room holds nothing.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "plugin/gang/overlay.h"
#include "plugin/gang/policy.h"
#include "plugin/gang/quota_room.h"
#include "plugin/model/reason.h"

namespace gangway::gang {

// Who has waited for as long as it takes to have nodes kept (reservation.h) is let in though the sums refuse it: else a
// stream of smaller gangs, for each of which they leave room, would keep it out for ever. What others hold keeps it out
// no more; but of those who are let in so and wait there are no more than the sums allow, none goes before one that is
// earlier in order, and one that waits on for longer than nodes are kept for it counts no more.
class Admission {
 public:
  Admission(const Overlay& overlay, const Policy& policy, absl::Time now);

  // Lets the gang in and counts it, or says why not. `owed`: the gang's queue keeps within what it deserves with it,
  // while others wait, too; then what others hold or were let in for keeps it out no more than it will from its room.
  // `claims`: room of its queue is kept for it (queue_claims.h), whoever else was let in there. `lower`: what those
  // hold that it may evict for their lower priority, asked for where it would be kept out. `is_told`: of a reason of
  // that kind only the kind is wanted.
  std::optional<model::Reason> Admit(model::GangId gang, bool owed, bool claims,
                                     absl::FunctionRef<const model::Resources&()> lower,
                                     absl::FunctionRef<bool(model::Reason::Kind)> is_told);
  // After a refusal for a full queue: which it was. kNone: the last was none of these.
  model::QueueId full_queue() const { return full_queue_; }
  // It was let in here, and has been placed since.
  void Placed(model::GangId gang) { LetIn(gang, -1); }
  // What the gang asks for beyond what its pods hold already.
  static model::Resources Missing(const model::Gang& gang);

 private:
  // By sums.
  std::optional<model::Reason> Refusal(model::GangId gang, bool owed, bool claims,
                                       absl::FunctionRef<const model::Resources&()> lower,
                                       absl::FunctionRef<bool(model::Reason::Kind)> is_told);
  void LetIn(model::GangId gang, int times);
  std::int64_t Ceiling(model::Dim dim) const;
  std::int64_t HeldBelow(model::QueueId level, model::Dim dim) const;
  bool CapabilityRefuses(const model::Gang& gang, const model::Resources& missing) const;
  bool SumsRefuse(const model::Gang& gang, const model::Resources& missing) const;
  const model::Resources& BeyondSums();
  bool HasTurnByAge(const model::Gang& gang, const model::Resources& missing);

  const Overlay& overlay_;
  const Policy& policy_;
  const absl::Time now_;
  model::Resources let_in_;                        // in the cluster
  std::vector<model::Resources> let_in_by_queue_;  // by queue id, with those below
  std::optional<model::Resources> beyond_sums_;  // what those lack who are let in and wait, though the sums refuse them
  bool no_more_by_age_ = false;
  model::QueueId full_queue_ = model::kNone;
  std::optional<QuotaRoom> quotas_;  // where the policy looks at them
};

// A reason of the gang, with its numbers.
model::Reason ReasonOf(model::Reason::Kind kind, const model::Gang& gang);

// The queue is missing, closed, or asks for what the scheduler does not know.
std::optional<model::Reason> QueueReason(const model::Cluster& cluster, const model::Gang& gang);

// The capability of the queue or of one above it, or what is guaranteed to queues beside them, does not allow `amounts`
// more.
std::optional<model::Reason> QueueFull(const Overlay& overlay, const model::Gang& gang,
                                       const model::Resources& amounts);

}  // namespace gangway::gang
