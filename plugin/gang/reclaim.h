// What queues gain and lose when one takes back from another what that one holds beyond what it deserves. volcano:
// actions/gangreclaim, plugins/capacity
//
// Two queues are compared as the children of the queue that is above both. What all queues together lack of what they
// deserve becomes less by it, also where a gang of higher priority that waits in the same queue takes the room; and no
// queue above both lacks more than before while others beside it ask for more than they hold: no two queues take turns.
// No queue falls below what is guaranteed to it, or, where more is guaranteed than there is, its part of that; by pods
// that are there and stay. Those that were told to go and are stuck (IsStuck) are nothing that a queue holds here:
// nobody of it can use their room. Those whose room is kept for who is made in their place (lost_member.h) it holds,
// though not of what is guaranteed to it: their node may not come back.
//
// Where the policy asks for patience (Policy::reclaim_after), only so much goes for a gang that has not waited so long
// for its share as has done no more work than that gang would in five minutes.
//
// A gang of which pods were evicted within the last day keeps its minimum for ten minutes from when it began again, or
// its queue's minimum runtime, and for twice as long after each eviction more, at most eight hours: so it ends some
// time, however queues' shares come and go. So does the gang for which it went, from the one that went: else two would
// evict each other in turn. For a higher priority it goes at any time.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "plugin/gang/holders.h"
#include "plugin/gang/overlay.h"
#include "plugin/gang/policy.h"
#include "plugin/gang/preemptor.h"
#include "plugin/gang/shares.h"
#include "plugin/gang/victims.h"

namespace gangway::gang {

// How often pods of it were evicted for others within the last day.
int EvictionsOfLate(const model::Gang& gang, absl::Time now);

// In one call of Schedule; with what the overlay has taken and given back so far. All must outlive it.
class Reclaim {
 public:
  Reclaim(const Overlay& overlay, const Policy& policy, absl::Time now)
      : overlay_(overlay), cluster_(overlay.cluster()), policy_(policy), now_(now) {}

  // The queue, or one above it, lacks some of what it deserves of something.
  bool LacksSomething(model::QueueId queue);
  // At how many levels it keeps within what is deserved there with so much more of something: its gangs beside the
  // queues below it, it beside others, and each queue above it. 0: there are no candidates. Who wants more of the same
  // is entitled at some of those; at as many, it has the same candidates.
  int EntitledLevels(model::QueueId queue, const model::Resources& wanted);
  // Gangs of other queues that may have to leave for it. Good until the next call; `holders` are the same in each.
  absl::Span<const Candidate> Candidates(const Preemptor& preemptor, const Holders& holders);
  // The same, each whole, were none of them kept for what was evicted of late; and until when that keeps one from
  // another.
  std::vector<Candidate> CandidatesInTime(const Preemptor& preemptor, const Holders& holders);
  absl::Time RestsUntil(model::GangId gang, model::GangId for_whom) const;
  // Of another queue, for which this one went of late, and which therefore stays for now; kNone: for none that does.
  model::GangId WentFor(model::GangId gang);
  // Gangs of queues from which it could take, did these give anything back.
  std::vector<Candidate> KeptByQueues(const Preemptor& preemptor, const Holders& holders);
  // When there are more of them though nothing happens.
  absl::Time look_again() const { return look_again_; }
  // What a queue that lacks all of it would win by it of what it deserves, as a part of the cluster: nobody wins more.
  double MostGain(const model::Resources& wanted) const;
  struct Loss {
    bool allowed = false;  // it may go
    double lack = 0;       // what its queue would lack more of what it deserves, as a part of the cluster
    // It may not: for who wants more of the same neither, up to which gain.
    double refused_up_to = std::numeric_limits<double>::infinity();
  };
  // When the bundle goes beside those that are chosen.
  Loss LossBy(const Preemptor& preemptor, const Bundle& bundle, const std::vector<Bundle>& chosen);
  // They lie beside the gang's queue at several levels: what one gives may be what its branch wins by another.
  bool OfSeveralLevels(const Preemptor& preemptor, const std::vector<Bundle>& chosen) const {
    return BranchesBeside(preemptor, chosen).size() > 1;
  }
  // What they have done, as so long a time of all that is wanted; of several resources in the mean.
  absl::Duration WorkOf(const Preemptor& preemptor, const Bundle& bundle) const;
  // What is lost with those that are chosen is less than what the queue would win if the other, of the same queue, had
  // the room.
  bool WorthIt(const Preemptor& preemptor, const Preemptor& other, const std::vector<Bundle>& chosen);
  // A gang of those that are chosen would come back: while one of lower priority in its own queue stays that holds some
  // of all that is taken from it, it would evict that one, and their queue would take back what was taken from it.
  // `stay`: those that may not go; `placed`: those that were given room in this call.
  bool SomeComeBack(const Preemptor& preemptor, const std::vector<Bundle>& chosen, const std::set<model::GangId>& stay,
                    const std::vector<model::GangId>& placed, Holders& holders) const;

 private:
  // A queue among those that share with each other: its own gangs alone, or with the queues below it.
  struct Branch {
    model::QueueId queue = model::kNone;
    bool own = false;
    friend auto operator<=>(const Branch&, const Branch&) = default;
  };

  const Shares& shares();
  // Which the gang went for last, of those that there are; kNone: that was not of late.
  model::GangId LastWentFor(model::GangId gang) const;
  // For whomever, where that is kNone.
  bool Rests(model::GangId gang, model::GangId for_whom);
  std::vector<model::QueueId> QueuesToTakeFrom(const Preemptor& preemptor, const Holders& holders,
                                               bool reclaimable = true);
  // Each whole, with the priority of its queue.
  std::vector<Candidate> HoldersOf(const std::vector<model::QueueId>& queues, const Holders& holders) const;
  std::pair<Branch, Branch> BranchesOf(model::QueueId a, model::QueueId b) const;
  // Of the preemptor's queue, beside which those that are chosen lie.
  std::set<Branch> BranchesBeside(const Preemptor& preemptor, const std::vector<Bundle>& chosen) const;
  std::int64_t HeldBy(const Branch& branch, model::Dim dim);
  // What pods hold that are terminating and that are not among those that will be gone soon (Holders::going).
  struct Terminating {
    model::Resources stuck, kept_for_successors;
  };
  const Terminating& TerminatingOf(const Branch& branch);
  std::int64_t DeservedBy(const Branch& branch, model::Dim dim);
  bool Lacks(const Branch& branch);
  bool IsEntitled(const model::Resources& wanted, const Branch& branch);
  bool IsOver(const Branch& branch, const model::Resources& wanted);
  bool IsReclaimable(model::QueueId queue, const Branch& branch) const;
  double ShortageBy(const Branch& branch, const model::Resources& amounts, int times);
  bool OthersAsk(model::QueueId queue, model::Dim dim);
  bool QueuesAboveLose(const Preemptor& preemptor, const Branch& theirs, const model::Resources& more,
                       const std::vector<Bundle>& chosen);

  const Overlay& overlay_;
  const model::Cluster& cluster_;
  const Policy& policy_;
  const absl::Time now_;
  absl::Time look_again_ = absl::InfiniteFuture();
  std::unique_ptr<Shares> shares_;
  std::optional<std::map<Branch, Terminating>> terminating_;
  std::vector<model::QueueId> candidates_of_;  // queues
  std::vector<Candidate> candidates_, without_spared_;
};

}  // namespace gangway::gang
