// Who must leave, for whom, and what comes of it, judged from the journal in Volcano's and Kubernetes' words. A part of
// the Checker.
//
// An eviction is told before it happens, by the PodGroup of who goes: condition GangReleased, reason Preempted,
// Reclaimed or Moved, "evicted 2 of 8 tasks for default/high: ... [pod/uid ...]" (docs/queues.md).
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "api/core/node.h"
#include "api/core/objects.h"
#include "api/core/pod.h"
#include "api/volcano/scheduling.h"
#include "sandbox/apiserver/journal.h"
#include "tests/simulation/calm_time.h"
#include "tests/simulation/portions.h"

namespace gangway::testutil {

enum class Rule;
enum class FaultOf;

class Evicted {
 public:
  struct Rules {
    std::string scheduler;
    absl::Duration known;       // after it changed so long, the scheduler knows of it
    absl::Duration settles;     // all that is written of one decision arrives within
    absl::Duration gain_takes;  // from the end of the last who goes until the gang for whom they went is bound
    absl::Duration idle;        // so long a gang may wait while nobody holds anything
  };
  using Pods = std::map<api::NamespacedName, api::core::Pod>;
  using GroupOf = std::function<const api::volcano::PodGroup*(const api::core::Pod&)>;
  using Groups = std::map<api::NamespacedName, api::volcano::PodGroup>;
  using Tell = std::function<void(Rule, const std::string&)>;

  // `pods` and `queues` are those the Checker keeps.
  Evicted(Rules rules, const Pods& pods, const Queues& queues, GroupOf group_of, Tell tell)
      : rules_(rules), pods_(pods), queues_(queues), group_of_(std::move(group_of)), tell_(std::move(tell)) {}

  // Before anything changes.
  void Settle(absl::Time now);
  // Nodes, priority classes, disruption budgets, PodGroups, queues.
  void OnRecord(const sandbox::JournalRecord& record, const std::string& where);
  // nullptr: it was not there, or has gone. Before the pods change.
  void OnPod(const api::core::Pod* before, const api::core::Pod* after, absl::Time now);
  void Disturbed(absl::Time until) { disturbed_ = std::max(disturbed_, until); }
  // From `now`, which never goes back, until then something is broken: what takes its time may take longer. What the
  // scheduler told while it did not see everything is not judged, nor what came of what it told before.
  void OnFault(absl::Time now, absl::Time until, FaultOf of);
  void ClocksAreWrong() { clocks_are_right_ = false; }

 private:
  // What a branch held when something was taken from it, or what is left to it: bindings that are under way come to it.
  struct Promise {
    Rule rule;
    Branch branch;
    api::ResourceList held, promised, asked;  // asked: the resources that count
    std::string text;
  };
  // An eviction that was told.
  struct Told {
    api::NamespacedName gang, for_whom;
    std::string uid, reason, where;
    std::set<std::string> named;  // UIDs
    std::set<std::string> there;  // UIDs of pods of the gang that had a node, did not go and had not ended
    absl::Time at;
    std::vector<Promise> promises;
  };
  // A gang for whom others went.
  struct Gain {
    std::string uid, spec, where;
    std::set<std::string> pods, victims;  // UIDs
    absl::Time told;
    absl::Duration waited;  // since the last victim's end, while nothing was broken
  };
  // A gang that was moved, and has no nodes yet.
  struct Comeback {
    std::string uid, spec, where;
    api::NamespacedName for_whom;
    std::set<std::string> went, made;  // UIDs: of the pods that went, and of those made since
    absl::Time since, gone;            // it was told; they are gone
    absl::Duration waited;             // since these are there, while nothing was broken
  };
  struct Departed {
    api::core::Pod pod;
    std::string queue;
    absl::Time at;
  };

  void OnGroup(const sandbox::JournalRecord& record, const std::string& where);
  void OnTold(Told told, const api::volcano::PodGroup& group);
  void CheckEntitled(Told& told, const api::volcano::PodGroup& group, const api::volcano::PodGroup& for_whom);
  void CheckProtected(const Told& told, const api::volcano::PodGroup& group, bool reclaimed, const Branch& branch);
  void CheckTurns(const Told& told);
  void OnMoved(const Told& told, const api::volcano::PodGroup& group);
  bool ComesBack(const api::NamespacedName& key, Comeback& comeback, absl::Duration more, absl::Time now);
  void NoteShare(Told& told, const api::volcano::PodGroup& group, const Branch& branch) const;
  void NoteGuarantees(Told& told, const std::string& queue, const Branch& branch) const;
  void JudgePromise(const Told& told, Promise promise);
  void JudgeSettled(const Told& told);
  // False: nothing is asked of it any more.
  bool Awaited(const api::NamespacedName& key, Gain& gain, absl::Duration more);
  void CheckStarved(absl::Time now);

  bool BudgetForbids(const api::core::Pod& pod) const;
  std::int32_t PriorityOf(const api::volcano::PodGroup& group) const;
  std::vector<const api::core::Pod*> PodsOf(const api::NamespacedName& gang) const;
  api::ResourceList HeldBy(const Branch& branch, absl::Time now) const;
  api::ResourceList Shared() const;
  absl::Time ChangeOf(const api::NamespacedName& gang) const;
  bool Calm(const Told& told, absl::Time now) const;

  const Rules rules_;
  const Pods& pods_;
  const Queues& queues_;
  const GroupOf group_of_;
  const Tell tell_;
  Groups groups_;
  std::map<std::string, api::core::Node> nodes_;
  std::map<std::string, api::core::PriorityClass> classes_;
  std::map<api::NamespacedName, api::core::PodDisruptionBudget> budgets_;
  std::set<api::NamespacedName> awaited_;       // claims whose volumes are made for the nodes that were chosen
  std::map<std::string, absl::Time> bound_at_;  // by UID
  std::vector<Departed> departed_;              // of late
  std::vector<Told> told_;
  std::map<api::NamespacedName, Gain> gains_;
  std::map<api::NamespacedName, Comeback> comebacks_;
  std::map<api::NamespacedName, std::pair<std::string, absl::Time>> moved_;          // with its UID: when last
  std::map<std::pair<api::NamespacedName, api::NamespacedName>, absl::Time> turns_;  // who went for whom, when last
  std::set<std::string> names_;                                                      // of pods that there were
  absl::Time asked_ = absl::InfinitePast();          // when somebody last asked for more or less
  std::map<api::NamespacedName, absl::Time> waits_;  // since all of its minimum is there, and none of it bound
  std::optional<absl::Time> idle_;
  absl::Time last_ = absl::InfinitePast();                // record
  std::map<api::NamespacedName, absl::Time> changed_of_;  // a gang's spec
  absl::Time changed_ = absl::InfinitePast();             // what everybody goes by: nodes, queues, classes
  absl::Time disturbed_ = absl::InfinitePast();
  absl::Time nodes_lacking_ = absl::InfinitePast();  // until then, so that who waits may not fit those that are left
  CalmTime calm_;
  // Else nobody knows when a time is over, nor who has waited for a minute, for whom nodes are kept then.
  bool clocks_are_right_ = true;
};

}  // namespace gangway::testutil
