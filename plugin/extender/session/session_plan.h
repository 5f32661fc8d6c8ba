// What is decided for all of one scheduler's session at once; each of its questions is a look-up from there on.
//
// In goes a Cluster, wherever it is from: a session's body, a typed message, our own watch. One gang::Schedule makes
// the plan. What the plan cannot judge it leaves alone: of a gang that it does not know, or that asks for something the
// engine does not know, or whose claims it cannot see, every answer is what the scheduler would do without us.
//
// Immutable once made; const calls may run together on any threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "plugin/gang/fit.h"
#include "plugin/gang/policy.h"
#include "plugin/model/cluster.h"
#include "plugin/model/decision.h"
#include "plugin/model/reason.h"

namespace gangway::extender {

// volcano: pkg/scheduler/plugins/util, Permit, Abstain, Reject
enum class Vote : std::int8_t { kReject = -1, kAbstain = 0, kPermit = 1 };

// Which action of the scheduler asks whom to evict.
enum class EvictAction : std::uint8_t { kPreempt, kReclaim };

struct SessionPlanOptions {
  gang::Policy policy;
  // Whether a gang is kept out whose minimum has no room now, not even after the evictions that it is entitled to; else
  // sums of resources decide, so that who adds nodes for pods that wait sees some.
  bool whole_gangs = true;
  // Whether sums of the cluster and of queues keep gangs out, too. Else they are left to the scheduler's own plugins:
  // a gang that has no room would be counted here as let in, and keep others out that it does not keep out there.
  bool sums = true;
  friend bool operator==(const SessionPlanOptions&, const SessionPlanOptions&) = default;
};

// What the plan says of one gang. A value.
struct PlannedGang {
  enum class Verdict : std::uint8_t {
    kNotJudged,
    kSettled,    // it has its minimum
    kPlaced,     // its minimum has room now
    kMakesRoom,  // it has room once those are gone who end anyhow or are evicted for it
    kWaits,      // it has none
  };
  std::string job;  // "namespace/podgroup"
  std::string uid;  // of the PodGroup
  Verdict verdict = Verdict::kNotJudged;
  bool let_in = true;     // its pods may be made and placed, as far as the plan is concerned
  bool may_start = true;  // false: nodes are kept for another gang, which would lose them
  bool pinned = true;     // false: it was placed in the plan before and is still not bound, so any node will do
  int placed = 0;         // pods that have a node in the plan
  std::string why;        // of one that is not let in or waits: one sentence
  model::EvictFor evict_for = model::EvictFor::kNobody;
  std::vector<std::string> victims;  // UIDs of pods, sorted
};
absl::string_view VerdictText(PlannedGang::Verdict verdict);

struct PredicateAnswer {
  bool fits = true;
  std::string why;  // of one that does not
};

struct VictimsAnswer {
  Vote vote = Vote::kAbstain;
  std::vector<std::size_t> victims;  // which of those that were offered, ascending
};

class SessionPlan {
 public:
  // The cluster is as the session sees it, and is only changed while this runs: gangs without pods are tried with pods
  // as their PodGroups describe them (awaited_members.h), and nodes that `previous` kept for a gang are kept on.
  // `previous`: the plan of the same scheduler's session before; may be null. `scratch` is a cache and may be empty.
  static std::shared_ptr<const SessionPlan> Make(model::Cluster& cluster, const SessionPlanOptions& options,
                                                 absl::Time now, gang::Scratch& scratch,
                                                 const SessionPlan* previous = nullptr);

  // kReject: the gang is kept out, see PlannedGang::why. Else kAbstain: whether there is room in sums is left to the
  // scheduler's own plugins, which a permit of ours would hide. `job`: "namespace/podgroup".
  Vote JobEnqueueable(absl::string_view job) const;
  // False: the gang may not start now, whatever it has; whether it has its minimum is the caller's to count
  // (job_counts.h).
  bool MayStart(absl::string_view job) const;
  // The node for the pod, by its UID; "" when it has none.
  absl::string_view NodeOf(absl::string_view task_uid) const;
  // Whether the pod may go to the node: a pod that waits, of a gang that is judged, only to the node that the plan has
  // for it.
  PredicateAnswer Predicate(absl::string_view job, absl::string_view task_uid, absl::string_view node) const;
  // The queue has all that it deserves, and nothing of it has room in the plan.
  bool QueueOverused(absl::string_view queue) const { return overused_.contains(queue); }
  // Of those that are offered, all of them on one node: whom the plan evicts for the gang. Nobody else goes for a gang
  // that is judged: kReject without victims.
  VictimsAnswer Victims(EvictAction action, absl::string_view job,
                        absl::Span<const absl::string_view> offered_uids) const;

  // nullptr: the plan does not know it.
  const PlannedGang* Find(absl::string_view job) const;
  // All of them, by name.
  const std::vector<PlannedGang>& gangs() const { return gangs_; }
  // Of which there is something to tell, by name; at most kMaxUnsettled.
  static constexpr std::size_t kMaxUnsettled = 200;
  std::vector<const PlannedGang*> Unsettled() const;
  absl::Time made() const { return made_; }
  // When it would be made otherwise though nothing happens.
  absl::Time look_again() const { return look_again_; }
  int nodes() const { return nodes_; }
  int tasks() const { return tasks_; }
  int placed() const { return placed_; }

 private:
  // Nodes that are kept for one gang, in names, so that they can be kept on in another cluster.
  struct Kept {
    struct Spot {
      std::string node;
      model::NamedAmounts amounts;
      std::vector<model::HostPortFacts> ports;
    };
    std::string ns, name, uid;
    std::vector<Spot> spots;
    int ends = 0;
    absl::Time start, expected, found, since;
  };
  struct PassedOver {
    std::string ns, name, uid;
    absl::Time until;
  };
  struct Claims {
    std::string ns, name, uid;
    model::QueueClaim claim;
  };

  SessionPlan() = default;
  void KeepOn(model::Cluster& cluster, absl::Time now) const;
  void Take(const model::Cluster& cluster, const SessionPlanOptions& options, const model::Decisions& decisions,
            const SessionPlan* previous);
  void NotePlaces(const model::Cluster& cluster, const model::Decision& decision);
  void NoteKept(const model::Cluster& cluster, const model::Decision& decision);
  void FindOverused(const model::Cluster& cluster, const gang::Policy& policy, const model::Decisions& decisions);
  bool PlacedInVain(const model::Cluster& cluster, const model::Gang& gang) const;

  absl::Time made_;
  absl::Time look_again_ = absl::InfiniteFuture();
  int nodes_ = 0, tasks_ = 0, placed_ = 0;
  std::vector<PlannedGang> gangs_;                              // by job
  absl::flat_hash_map<std::string, std::string> node_by_task_;  // by UID, of all that wait for a node; "" = none
  absl::flat_hash_set<std::string> overused_;
  std::optional<Kept> kept_;
  std::vector<PassedOver> passed_over_;
  std::vector<Claims> claims_;
};

}  // namespace gangway::extender
