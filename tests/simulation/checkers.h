// What must hold in every history, judged from the journal alone: an API server's audit log gives the same records.
#pragma once

#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/core/node.h"
#include "api/core/pod.h"
#include "api/paddle/paddle_job.h"
#include "api/volcano/job.h"
#include "api/volcano/scheduling.h"
#include "plugin/scheduler/scheduler.h"
#include "sandbox/apiserver/journal.h"
#include "tests/simulation/calm_time.h"
#include "tests/simulation/evicted.h"
#include "tests/simulation/kept.h"
#include "tests/simulation/lost.h"
#include "tests/simulation/places.h"

namespace gangway::testutil {

// After how many events the scheduler's table is audited: after each where pods are few. Where they are `many` an audit
// costs more than most events, and a counter that is wrong stays so: now and then is enough to see it.
inline int AuditEvery(bool many) { return many && std::getenv("GW_TEST_LONG") == nullptr ? 16 : 1; }

// What is promised. A violation begins with its rule's name.
enum class Rule {
  kBoundTwice,        // a pod has one node in its life
  kOvercommitted,     // the requests of a node's pods are within what it has
  kSelector,          // a pod lies where its nodeSelector lets it
  kTaint,             // and on no node that keeps it off: NoSchedule, NoExecute, cordoned
  kPorts,             // and no two pods of a node have the same port of it
  kAffinity,          // it lies near a pod that it wants to be near, or is the first of them
  kAntiAffinity,      // and near none that it keeps away from, or that keeps it away
  kSpread,            // and is spread as it asks
  kVolumeBound,       // its claims are bound before it is
  kVolumeReach,       // to volumes that its node reaches
  kVolumeTwice,       // a volume is one claim's
  kTopology,          // a gang lies in one HyperNode of its tier
  kPartTopology,      // and so does each of its sub-groups
  kCapability,        // what a queue's pods hold is within its capability, and within those of the queues above
  kTwoWriters,        // no write leaves who leads by a lease while the lease says that somebody else does
  kStranger,          // our scheduler binds and deletes only pods that name it
  kPartBound,         // a gang that was never whole has part of its minMember bound for at most `release_after`
  kRoleMinimum,       // and part of its tasks' minima
  kEvictedHigher,     // by priority only who is lower in the same queue has to go, by share only who is in another one
  kNeverPreempts,     // and nobody for a gang whose class says so
  kEvictedProtected,  // nor who is not preemptable, or not yet, or whose queue gives nothing
  kPartEvicted,       // what is left of a gang is its minimum, or nothing
  kEvictedWithoutGain,  // for whom others went is bound soon after them
  kBelowShare,          // a queue gives only what it holds beyond what it deserves
  kBelowGuarantee,      // and nothing that is guaranteed to it
  kTakesTurns,          // two gangs do not evict each other in turn
  kMovedUndeclared,     // only who says so is moved
  kMovedAgain,          // and stays for a while then
  kNotBack,             // and has its nodes as soon as its pods are made again
  kDelayed,             // who has nodes kept begins when those have ended who were there, whoever came meanwhile
  kLostRoom,            // the room of a member that was lost is kept for a time
  kLostEarly,           // in which the others do not have to go
  kLostHeld,            // and then do not hold theirs for ever
  kStarved,             // who could start on an empty cluster starts
  kReleased,   // only then pods are released: ours, with a controller, that do not run, of a gang that never was whole
  kVersion,    // a Job's version does not go back
  kRetries,    // its retries rise one by one, up to maxRetry
  kFinished,   // one that is over stays what it is
  kCommand,    // a command has its effect, and then is gone
  kEnd,        // every Job ends, and as expected
  kEndedPods,  // nothing of one that is over goes on
  kCounters,   // at rest the counters of Jobs, PodGroups and queues are those of their pods and PodGroups
  kLeftovers,  // at rest nothing is there of what is gone
  kQuiet,      // in the end nothing is written any more
};
inline constexpr int kRules = 44;
// "part-bound"
absl::string_view NameOf(Rule rule);

// What a fault touches.
enum class FaultOf {
  kOthers,
  kScheduler,  // which may not see what is there meanwhile, and counts anew for how long it has been so
  kCluster,    // pods and nodes go: who is bound in part must find others
};

// Keeps the state that the journal tells, and what was wrong with it. Feed records in order, then call AtEnd().
class Checker {
 public:
  struct Rules {
    // Names in the journal.
    std::string scheduler = "scheduler", controllers = "controllers", paddle_controllers = "paddle-controllers";
    // How long part of a gang may stay bound, and how long its release may take then.
    absl::Duration release_after = scheduler::Options().release_after;
    absl::Duration release_takes = absl::Seconds(5);
    // A node is as the scheduler knows it so long after it changed.
    absl::Duration node_known = absl::Seconds(5);
    // So long after the first of a decision's bindings the last has arrived; and whether some never do.
    absl::Duration bindings_take = absl::Seconds(3);
    bool bindings_fail = false;
    // From the end of who was evicted until for whom it went is bound.
    absl::Duration gain_takes = absl::Seconds(10);
    // How long a gang may wait while nobody holds anything.
    absl::Duration idle = absl::Minutes(1);
    // From the end of the last for whom a gang that has nodes kept waits until it is bound: by then it was told, too.
    absl::Duration begin_takes = absl::Seconds(25);
    bool keeps_all_nodes = false;  // where nodes are kept, for a gang that needs them all
    // Whether gangs that lost members are looked at, and from the end of their grace until they have gone.
    bool lost_members = true;
    absl::Duration lost_takes = absl::Seconds(15);
    // Until a command has its effect.
    absl::Duration command_takes = absl::Seconds(10);
    // From the last change of a pod until its Job, its PodGroup and its queues count it.
    absl::Duration counting_takes = absl::Seconds(12);
    // Nothing may be written in the last stretch before the end. Zero: the end is not at rest, and what holds at rest
    // is not asked.
    absl::Duration quiet = absl::Minutes(5);
    // Whether a job that is not named below must be in a final phase at the end.
    bool must_finish = true;
    // The phase each job ends in; jobs that are not named may end in any final phase.
    std::map<std::string, std::string> expected_phase;
    // The phase each PaddleJob ends in: Completed or Failed; "": one of them.
    std::map<std::string, std::string> expected_paddle;
    // Restarts a job ends with, where that is certain.
    std::map<std::string, int> expected_retries;
  };

  explicit Checker(Rules rules);
  Checker(const Checker&) = delete;

  void OnRecord(const sandbox::JournalRecord& record);
  void AtEnd(absl::Time now);
  // A write leaves a process that leads by `lease`, whose holder begins with `identity` while it does. What was sent
  // before may arrive later.
  void OnSent(const std::string& lease, const std::string& identity, const std::string& write, absl::Time now);
  // Something was broken up to then: deadlines begin anew. It may be told ahead.
  void Disturbed(absl::Time until);
  // The same, but not for what OnFault is about.
  void DisturbedInPart(absl::Time until);
  // From `now`, which never goes back, until then something is broken. Gangs that are bound in part, and who must leave
  // for whom, are judged by what is not touched by it, and in the seconds without.
  void OnFault(absl::Time now, absl::Time until, FaultOf of);
  void ClocksAreWrong();

  // One sentence each, "part-bound: gang default/g ...", with the revision and the objects; empty: all is well.
  const std::vector<std::string>& violations() const { return violations_; }
  const std::set<Rule>& broken() const { return broken_; }
  std::size_t records() const { return records_; }

  // The state so far.
  const std::map<api::NamespacedName, api::core::Pod>& pods() const { return pods_; }
  const std::map<api::NamespacedName, api::volcano::Job>& jobs() const { return jobs_; }
  const std::map<api::NamespacedName, api::paddle::PaddleJob>& paddle_jobs() const { return paddle_jobs_; }
  const std::map<api::NamespacedName, api::paddle::kubeflow::PaddleJob>& kubeflow_jobs() const {
    return kubeflow_jobs_;
  }
  const std::map<std::string, api::volcano::Queue>& queues() const { return queues_; }
  // Names of commands that are there, and of PodGroups.
  const std::map<api::NamespacedName, std::string>& commands() const { return commands_; }
  // How often the lease went from one to another.
  int changes_of(const std::string& lease) const;
  // How many have completed or failed.
  std::size_t PaddleJobsOver() const { return EndedPaddleJobs().size(); }
  bool HasGang(const api::NamespacedName& key) const { return gangs_.contains(key); }

 private:
  struct SeenNode {
    api::core::Node node;
    absl::Time since;  // its labels, taints and cordon are as they are
  };
  struct InPart {
    absl::Time since;
    absl::Duration counted;  // of that, without faults
  };
  struct Gang {
    api::volcano::PodGroup group;
    bool was_whole = false;
    std::optional<InPart> part_bound, role_short;  // with a pod of ours that is not about to go
    std::optional<absl::Time> half_bound;          // since then, as the scheduler counts: what has failed is not there
  };
  // A command to a Job that was not over, of which nothing has come yet.
  struct Given {
    api::NamespacedName job;
    std::string action, phase;  // the Job's, then
    int version = 0;
    absl::Time at;
  };
  struct Held {
    std::string by, last;  // "": nobody, and nobody yet
    int changes = 0;
  };
  struct Made {
    std::string owner;  // UID of its controller
    std::string name;   // "podgroups ctr"
  };

  void KeepObject(const sandbox::JournalRecord& record);
  void OnPod(const sandbox::JournalRecord& record);
  void OnNode(const sandbox::JournalRecord& record);
  void OnPodGroup(const sandbox::JournalRecord& record);
  void OnJob(const sandbox::JournalRecord& record);
  void OnCommand(const sandbox::JournalRecord& record);
  void OnLease(const sandbox::JournalRecord& record);
  void CheckBinding(const api::core::Pod& pod, const sandbox::JournalRecord& record);
  void CheckRoom(const api::core::Pod& pod, const api::core::Node& node, const std::string& where);
  const Gang* GangOf(const api::core::Pod& pod) const;
  void CheckCapability(const api::core::Pod& pod, const std::string& where);
  bool IsBelow(const std::string& queue, const std::string& above) const;
  void CheckEviction(const api::core::Pod& pod, const std::string& where);
  void CheckDeletion(const api::core::Pod& pod, const sandbox::JournalRecord& record);
  void CheckGang(const api::NamespacedName& key, absl::Time now);
  void CheckDeadlines(absl::Time now);
  bool LostVolume(const api::NamespacedName& gang) const;
  void CheckDeadline(Rule rule, const api::NamespacedName& key, const Gang& gang, std::optional<InPart>& in_part,
                     absl::Duration more, bool anew, absl::Time now);
  void CheckJobChange(const api::volcano::Job& before, const api::volcano::Job& after, const std::string& where);
  void CheckEnd(const api::NamespacedName& key, const api::volcano::Job& job);
  void CheckCounters(const api::NamespacedName& key, const api::volcano::Job& job);
  void CheckCounters(const api::NamespacedName& key, const Gang& gang);
  void CheckCounters(const std::string& name, const api::volcano::Queue& queue);
  void NoteCounting(const std::string& queue, absl::Time now);
  void CheckChangedCounters(absl::Time now);
  void CheckLeftovers();
  std::map<std::string, std::string> EndedPaddleJobs() const;
  template <class... Parts>
  void Violation(Rule rule, const Parts&... parts);

  const Rules rules_;
  std::map<api::NamespacedName, api::core::Pod> pods_;
  std::map<std::string, SeenNode> nodes_;
  std::map<api::NamespacedName, Gang> gangs_;
  std::map<api::NamespacedName, api::volcano::Job> jobs_;
  std::map<api::NamespacedName, api::paddle::PaddleJob> paddle_jobs_;
  std::map<api::NamespacedName, api::paddle::kubeflow::PaddleJob> kubeflow_jobs_;
  std::map<std::string, api::volcano::Queue> queues_;
  std::map<api::NamespacedName, std::string> commands_;  // with their UIDs
  std::map<std::string, Held> leases_;
  std::set<std::string> told_;                   // UIDs of pods of which their PodGroup said that they go for others
  std::map<std::string, std::string> made_for_;  // UIDs of pods, and of the PodGroups that were there when they came
  std::map<std::string, Given> given_;           // by the command's UID
  std::map<api::NamespacedName, absl::Time> jobs_counting_, gangs_counting_;  // since when a pod of theirs changed last
  std::map<std::string, absl::Time> queues_counting_;                         // or a PodGroup
  Places places_;
  Evicted evicted_;
  Kept kept_;
  std::optional<Lost> lost_;
  std::set<std::string> uids_, gone_;  // of what is there, and of what was
  std::map<std::string, Made> made_;   // what is there and the controllers made, by UID
  std::vector<std::string> violations_;
  std::set<Rule> broken_;
  std::size_t records_ = 0;
  absl::Time disturbed_ = absl::InfinitePast(), last_write_ = absl::InfinitePast();
  CalmTime calm_;
  absl::Time anew_ = absl::UnixEpoch(), counted_to_ = absl::UnixEpoch();  // of gangs that are bound in part
  std::string last_write_text_;
};

}  // namespace gangway::testutil
