// The gangs: PodGroups that are known, or that pods name, and who of them waits. A part of the Cluster.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "plugin/model/by_name.h"
#include "plugin/model/compact.h"
#include "plugin/model/facts.h"
#include "plugin/model/names.h"
#include "plugin/model/queue_claim.h"
#include "plugin/model/resources.h"
#include "plugin/model/shapes.h"
#include "plugin/model/slot_table.h"
#include "plugin/model/task.h"

namespace gangway::model {

struct Gang {
  // What is looked at of all gangs, and by each event about a pod, lies together.
  alignas(kCacheLine) GangKind kind = GangKind::kVolcano;
  GangPhase phase = GangPhase::kNone;
  bool known = false;      // false: pods name it, but there is no such PodGroup
  bool was_whole = false;  // once, as its status tells
  bool evictable = true;   // it does not say otherwise
  bool of_others = false;  // it says that its pods will name another scheduler
  bool admitted = false;   // let in: by its phase, or by a decision that is being written
  bool has_min_resources = false;
  bool waits = false, awaits_pods = false;  // it is listed so
  QueueId queue = kNone;
  int min_member = 0;
  int binding_releasing = 0;  // releasing tasks that hold a node
  int ours = 0;               // tasks that name our scheduler
  std::array<int, kTaskStatuses> count{};
  int evicted = 0;  // tasks that go because that was decided

  std::vector<TaskId> tasks;   // in no order; see gang/order.h
  int priority_class = kNone;  // interned
  int leaving = 0;             // tasks of which is said that they are about to be evicted
  int movable = 0;             // tasks that may be moved
  int started = 0;             // tasks that hold room and have started
  int nominated = 0;           // tasks for which room is kept
  std::string ns, name;
  Uid uid;
  absl::Duration starts;  // sum of their starts, since the epoch
  absl::Time created = absl::InfinitePast();
  Resources held;  // requests of its tasks that hold room
  Resources asks;  // requests of its tasks that name our scheduler and wait for a node, without gates

  std::vector<std::pair<int, int>> min_task_member;  // role, count; sorted by role
  std::vector<SubGroupFacts> sub_groups;             // as Task::sub_groups numbers them
  Seldom<TopologyFacts> topology;
  Resources min_resources;
  NamedAmounts quota_asks;  // of namespaces that had quotas when the PodGroup was last told of; else empty
  Text not_modelled;
  std::optional<absl::Duration> waiting_time;
  absl::Time passed_over_until = absl::InfinitePast();  // no nodes are kept for it
  absl::Time moved = absl::InfinitePast();              // last
  int evictions = 0;                                    // for others, but for moves
  absl::Time last_evicted = absl::InfinitePast();
  Text evicted_for;                                     // then: "ns/name"
  Seldom<std::vector<GangFacts::MovedPod>> moved_pods;  // then
  Seldom<std::vector<std::string>> leaving_pods;        // UIDs, as it says
  absl::Time short_since = absl::InfiniteFuture();      // of members with which it was whole, as its status tells
  PastRuns past_runs;
  absl::Duration lasts = absl::InfiniteDuration();  // as it says itself, of pods that are still to be made
  // Since when it has had no room though its queue is entitled to it; InfiniteFuture: it is not so.
  absl::Time entitled_since = absl::InfiniteFuture();
  Seldom<QueueClaim> claim;  // room of its queue is kept for it
  Text held_back;            // set: not placed for now, since this went wrong when it was tried

  // When its tasks that hold room have started, in the mean; InfiniteFuture: none has.
  absl::Time mean_start() const { return started == 0 ? absl::InfiniteFuture() : absl::UnixEpoch() + starts / started; }
  // Its pods say whose it is. Before there are any, one of Volcano's is ours unless it says otherwise: they are made
  // when it has been let in.
  bool is_ours() const { return known && (ours > 0 || (kind == GangKind::kVolcano && tasks.empty() && !of_others)); }
  int Count(TaskStatus status) const { return count[static_cast<std::size_t>(status)]; }
  // Volcano: pkg/scheduler/api/job_info.go, "ready"
  int ready() const {
    return Count(TaskStatus::kBinding) + Count(TaskStatus::kBound) + Count(TaskStatus::kRunning) +
           Count(TaskStatus::kSucceeded);
  }
  // Volcano: pkg/scheduler/api/job_info.go, "scheduled" + "releasingScheduled"
  int scheduled() const {
    return Count(TaskStatus::kBound) + Count(TaskStatus::kRunning) + Count(TaskStatus::kFailed) +
           Count(TaskStatus::kSucceeded) + binding_releasing;
  }
};

class Gangs {
 public:
  Gangs(Dims& dims, Names& names) : dims_(dims), names_(names) {}
  Gangs(const Gangs&) = delete;
  Gangs& operator=(const Gangs&) = delete;

  // What a PodGroup says, but for its queue. `has_quotas`: its namespace has some.
  void Set(GangId id, const GangFacts& facts, bool has_quotas = false);
  // There is no such PodGroup any more; it has left its queue.
  void Remove(GangId id);
  GangId Intern(GangKind kind, absl::string_view ns, absl::string_view name);
  GangId Find(GangKind kind, absl::string_view ns, absl::string_view name) const;
  void SetQueue(GangId id, QueueId queue) { table_[id].queue = queue; }
  void SetAdmitted(GangId id, bool admitted);
  void SetHeldBack(GangId id, absl::string_view why);
  void PassOver(GangId id, absl::Time until) { table_[id].passed_over_until = until; }
  void SetEntitled(GangId id, absl::Time since) { table_[id].entitled_since = since; }
  void Claim(GangId id, std::optional<QueueClaim> claim) { table_[id].claim = std::move(claim); }

  // The node on which room is kept for the task, interned; kNone: none is.
  void SetNominated(Task& task, int node);
  void SetEvicted(Task& task, bool evicted);
  // Whether it leaves, by what itself and its gang say now.
  void NoteLeaving(Task& task);

  void Join(TaskId id, Task& task, GangId gang);
  void Leave(TaskId id, Task& task);
  // Of one of its tasks. `releasing`: so many more are terminating and hold a node.
  void StatusChanged(GangId id, TaskStatus before, TaskStatus now, int releasing = 0);
  // One of its tasks holds room, or with -1 does no more.
  void Hold(const Task& task, const Resources& amounts, int times);
  void Ask(GangId id, const Resources& amounts, int times) { table_[id].asks.Add(amounts, times); }

  const Gang& operator[](GangId id) const { return table_[id]; }
  const SlotTable<Gang>& table() const { return table_; }
  int slots() const { return table_.slots(); }
  const absl::btree_set<GangId>& waiting() const { return waiting_; }
  const absl::btree_set<GangId>& awaiting_pods() const { return awaiting_pods_; }
  // Differs after anything that changed one.
  std::uint64_t version() const { return version_; }
  // After a change by which one waits, or awaits pods, or did before.
  std::uint64_t version_of_waiting() const { return version_of_waiting_; }
  // Every change of one, or of what its pods are to it, appends its number here; as those of nodes (nodes.h).
  std::uint64_t changes_begin() const { return changes_begin_; }
  std::uint64_t changes_end() const { return changes_begin_ + changes_.size(); }
  GangId change(std::uint64_t position) const { return changes_[static_cast<std::size_t>(position - changes_begin_)]; }

  void Audit(const SlotTable<Task>& tasks, const Shapes& shapes, std::vector<std::string>& wrong) const;

 private:
  static bool Waits(const Gang& gang);
  static bool AwaitsPods(const Gang& gang);
  void Changed(GangId id);
  void Note(GangId id);
  void FreeIfUnused(GangId id);
  bool IsSaidToLeave(const Task& task) const;

  Dims& dims_;
  Names& names_;
  SlotTable<Gang> table_;
  std::array<ByName<Gang>, 3> by_name_{ByName<Gang>(table_), ByName<Gang>(table_), ByName<Gang>(table_)};  // by kind
  absl::btree_set<GangId> waiting_, awaiting_pods_;
  std::uint64_t version_ = 0, version_of_waiting_ = 0;
  std::vector<GangId> changes_;
  std::uint64_t changes_begin_ = 0;
};

}  // namespace gangway::model
