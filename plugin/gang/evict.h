// Who must leave, so that a gang whose minimum found no room has it.
//
// In its queue a gang may evict those of lower priority, unless its priority class, or a pod that it needs, says that
// nobody is evicted for it (volcano: actions/gangpreempt). From another queue it may take back what that one holds
// beyond what it deserves, while its own queue stays within what it deserves of something that is asked for (volcano:
// actions/gangreclaim, plugins/capacity); queues are compared as the children of the queue that is above both.
// What all queues together lack of what they deserve becomes less by it, also where a gang of higher priority that
// waits in the same queue takes the room; and no queue above both lacks more than before while others beside it ask for
// more than they hold: no two queues take turns. No queue falls below what is guaranteed to it.
//
// Evicted are members beyond a gang's minimum, or whole gangs. Members go first, then gangs by priority, the lowest
// first, of one priority the youngest; one gang rather than several. Never evicted are pods that say
// `volcano.sh/preemptable: "false"`, or whose PodGroup does, pods of the system, those in their cooldown or in their
// queue's minimum runtime, those whose disruption budget is used up, those that are being bound, and those that name
// another scheduler. Pods that ask for nothing are evicted only by pods that ask for nothing, or the other way round
// when a node has no place for more pods.
//
// Nobody is evicted before a trial has shown that the gang is placed then, with all that it asks for; nor when what is
// ending anyhow is enough. Claims that a pod has stay its own in that trial.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/time/time.h"
#include "plugin/gang/fit.h"
#include "plugin/gang/overlay.h"
#include "plugin/gang/policy.h"
#include "plugin/gang/shares.h"
#include "plugin/model/decision.h"

namespace gangway::gang {

// For one call of Schedule. All must outlive it.
class Eviction {
 public:
  Eviction(Overlay& overlay, Scratch& scratch, const Policy& policy, absl::Time now);

  // For a gang that was let in and whose minimum found no room. Evicts nobody where what is ending is enough. True: its
  // room is kept in the overlay from now on, and the decision says who is evicted, what for, and for whom it waits.
  // False: all is as before.
  bool MakeRoom(model::GangId gang, model::Decision& decision);

  // The gang has been given room in this call.
  void Placed(model::GangId gang) { placed_.push_back(gang); }
  // The gang, which found no room, has nodes kept for it from now on.
  void KeptNodes(model::GangId gang) { has_nodes_ = gang; }

  // A gang for which room was made or kept in this call, and which asks for a spread that counts pods of this one: more
  // of them could leave it without a node that it may use. kNone: there is none.
  model::GangId SpreadsAmong(model::GangId gang) const;

  // What those of its queue hold that the gang may evict for their lower priority.
  const model::Resources& HeldByLower(model::GangId gang);

 private:
  // Pods that go together: one beyond a gang's minimum, a sub-group, or all of a gang.
  struct Bundle {
    model::GangId gang = model::kNone;
    bool whole = false;
    std::vector<model::TaskId> tasks;
    double loss = 0;  // between queues: see LossBy
  };
  // A gang of which something may go.
  struct Candidate {
    model::GangId gang = model::kNone;
    bool whole = true;
    bool leaving = false;             // some of it is marked to be evicted
    std::int32_t queue_priority = 0;  // 0 within a queue
    std::int32_t priority = 0;
    absl::Time created;
  };
  // What a gang needs of nodes.
  struct Wanted {
    model::GangId gang = model::kNone;
    bool preempts = true;
    bool asks_for_nothing = true;                          // but to be a pod
    model::Resources sum;                                  // of its minimum
    int count = 0;                                         // tasks of its minimum
    std::vector<std::pair<model::ShapeId, int>> by_shape;  // of all that may be placed
  };
  // A queue among those that share with each other: its own gangs alone, or with the queues below it.
  struct Branch {
    model::QueueId queue = model::kNone;
    bool own = false;
    friend auto operator<=>(const Branch&, const Branch&) = default;
  };

  bool MayEvict(const model::Gang& gang);
  std::optional<Wanted> WantedBy(const model::Gang& gang);
  void FindHolders();
  const std::vector<Candidate>& HoldersIn(model::QueueId queue);
  bool Later(const Candidate& a, const Candidate& b) const;
  void AddCandidate(Candidate candidate, std::vector<Candidate>& candidates) const;
  std::vector<Candidate> LowerInQueue(model::GangId id);
  std::vector<Candidate> InOtherQueues(model::GangId id, const model::Resources& wanted);

  absl::Duration MinRuntimeOf(model::QueueId queue) const;
  bool CanGo(const model::Task& task) const;
  bool MayGo(const model::Task& task, absl::Duration min_runtime);
  bool WithinBudgets(const std::vector<model::TaskId>& tasks) const;
  std::vector<Bundle> Surplus(model::GangId id, bool asks_for_nothing);
  std::optional<Bundle> Whole(model::GangId id, bool asks_for_nothing);

  const Shares& shares();
  std::pair<Branch, Branch> BranchesOf(model::QueueId a, model::QueueId b) const;
  std::int64_t HeldBy(const Branch& branch, model::Dim dim) const;
  std::int64_t DeservedBy(const Branch& branch, model::Dim dim);
  bool IsEntitled(const model::Resources& wanted, const Branch& branch);
  bool IsOver(const Branch& branch, const model::Resources& wanted);
  bool IsReclaimable(model::QueueId queue, const Branch& branch) const;
  double ShortageBy(const Branch& branch, const model::Resources& amounts, int times);
  model::Resources AmountsOf(const Bundle& bundle) const;
  bool OthersAsk(model::QueueId queue, model::Dim dim);
  bool QueuesAboveLose(const Wanted& wanted, const Branch& theirs, const model::Resources& more);
  std::optional<double> LossBy(const Wanted& wanted, const Bundle& bundle);

  void Take(model::TaskId task);
  void GiveBack(model::TaskId task);
  void Take(const std::vector<model::TaskId>& tasks);
  void GiveBack(const std::vector<model::TaskId>& tasks);
  void GiveBackAll();
  void Rewind();
  bool CouldFit(const Wanted& wanted);
  bool Try(const Wanted& wanted);
  bool SomeComeBack(const Wanted& wanted);
  bool OthersWouldTakeIt(const Wanted& wanted);
  bool TakeNext(const Wanted& wanted, std::vector<Candidate>& heap);
  bool Search(const Wanted& wanted, const std::vector<Candidate>& candidates, bool reclaims);
  void SpareUnused(const Wanted& wanted);
  void Spare(const Wanted& wanted);
  void PreferOneGang(const Wanted& wanted, const std::vector<Candidate>& candidates);
  void Tell(const Wanted& wanted, model::EvictFor action, model::Decision& decision);

  Overlay& overlay_;
  const model::Cluster& cluster_;
  Scratch& scratch_;
  const Policy& policy_;
  const Policy trial_policy_;
  const absl::Time now_;
  std::unique_ptr<Shares> shares_;
  bool found_holders_ = false;
  std::map<model::QueueId, std::vector<Candidate>> holders_;  // gangs that hold room and may be asked to go
  std::map<model::QueueId, std::int32_t> lowest_;             // priority of these
  std::map<std::pair<model::QueueId, std::int32_t>, model::Resources> lower_held_;  // by gangs of lower priority
  std::vector<model::GangId> being_bound_;                        // gangs that hold room and are not asked yet
  std::vector<model::GangId> placed_;                             // in this call
  model::GangId has_nodes_ = model::kNone;                        // are kept for it
  std::vector<model::TaskId> going_;                              // that hold room and will not for long
  absl::flat_hash_set<const model::Task*> evicted_;               // of them those that this call decided about
  std::map<const model::BudgetFacts*, int> used_;                 // of budgets, by those that go
  std::vector<std::pair<model::TermId, model::GangId>> spreads_;  // of those for whom there is room in this call
  int budget_;                                                    // pods that may still be taken away in trials
  absl::Time look_again_ = absl::InfiniteFuture();

  // Of the gang that is looked at.
  bool reclaims_ = false;            // from other queues
  std::vector<model::GangId> stay_;  // that may not go
  std::vector<Bundle> chosen_;
  std::vector<model::Placement> placements_;
};

}  // namespace gangway::gang
