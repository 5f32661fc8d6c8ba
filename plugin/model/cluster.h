// The cluster as a table: nodes are rows in parallel arrays, a pod is its shape, its node and its gang.
//
// Changes only by the Set.../Remove... events and by Assume/Forget. An event states what is now, so applying one twice
// changes nothing, and events about different objects commute: pods may come before their node, PodGroup or queue.
// No objects are kept; about 400 bytes a pod, and as much again for the labels of one that waits for a node from us.
//
// Used on one loop; const calls may run together.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "plugin/model/anti_affinity.h"
#include "plugin/model/facts.h"
#include "plugin/model/names.h"
#include "plugin/model/resources.h"
#include "plugin/model/shape.h"
#include "plugin/model/volumes.h"

namespace gangway::model {

using Row = int;
using TaskId = int;
using GangId = int;
using QueueId = int;
inline constexpr int kNone = -1;

enum class TaskStatus : std::uint8_t {
  kPending,    // no node yet
  kBinding,    // assumed: a binding was decided, the API server has not shown it yet
  kBound,      // has a node, does not run yet
  kRunning,
  kReleasing,  // terminating; holds its node until it is gone
  kSucceeded,
  kFailed,
  kUnknown,
};
inline constexpr int kTaskStatuses = 8;

struct Task {
  std::string ns, name, uid;
  GangId gang = kNone;
  ShapeId shape = kNone;
  Row row = kNone;  // of its node, known or assumed
  int role = 0;     // interned
  int partition = kNone;  // interned
  std::int32_t priority = 1;
  int index = -1;
  TaskStatus status = TaskStatus::kPending;
  bool ours = true, gated = false, controlled = false;
  bool used = false;  // the slot holds a task
  absl::Time created = absl::InfinitePast();

  // Its request is taken from the node.
  bool holds_room() const {
    return row != kNone && status != TaskStatus::kSucceeded && status != TaskStatus::kFailed;
  }
};

struct SubGroups {
  int role = 0;  // interned
  int size = 1, min_groups = 0;
};

struct Gang {
  std::string ns, name, uid;
  bool known = false;  // false: pods name it, but there is no such PodGroup
  QueueId queue = kNone;
  int priority_class = kNone;  // interned
  int min_member = 0;
  std::vector<std::pair<int, int>> min_task_member;  // role, count; sorted by role
  std::vector<SubGroups> sub_groups;                 // sorted by role
  bool has_min_resources = false;
  Resources min_resources;
  std::string not_modelled;
  absl::Time created = absl::InfinitePast();
  GangPhase phase = GangPhase::kNone;
  bool was_whole = false;  // once, as its status tells
  bool admitted = false;  // let in: by its phase, or by a decision that is being written
  std::string held_back;  // set: not placed for now, since this went wrong when it was tried
  std::vector<TaskId> tasks;  // in no order; see gang/order.h
  std::array<int, kTaskStatuses> count{};
  int binding_releasing = 0;  // releasing tasks that hold a node
  Resources held;             // requests of its tasks that hold room

  int Count(TaskStatus status) const { return count[static_cast<std::size_t>(status)]; }
  // spec: volcano-scheduler 3.3, "ready"
  int ready() const {
    return Count(TaskStatus::kBinding) + Count(TaskStatus::kBound) + Count(TaskStatus::kRunning) +
           Count(TaskStatus::kSucceeded);
  }
  // spec: volcano-scheduler 3.3, "scheduled" + "releasingScheduled"
  int scheduled() const {
    return Count(TaskStatus::kBound) + Count(TaskStatus::kRunning) + Count(TaskStatus::kFailed) +
           Count(TaskStatus::kSucceeded) + binding_releasing;
  }
};

struct Queue {
  std::string name;
  bool known = false;
  int weight = 1;
  std::int32_t priority = 0;
  bool open = true;
  QueueId parent = kNone;
  int children = 0;  // queues that name it as their parent
  std::vector<std::pair<Dim, std::int64_t>> capability;  // what is limited
  Resources guarantee;
  std::string not_modelled;
  absl::Time created = absl::InfinitePast();
  Resources held;  // requests of its gangs' tasks that hold room
  int gangs = 0;

  // kUnlimited for what its capability does not limit.
  std::int64_t Limit(Dim dim) const;
};
inline constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

class Cluster {
 public:
  Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  // Events.
  void SetNode(const NodeFacts& facts);
  void RemoveNode(absl::string_view name);
  TaskId SetPod(const PodFacts& facts);
  void RemovePod(absl::string_view ns, absl::string_view name);
  GangId SetGang(const GangFacts& facts);
  void RemoveGang(absl::string_view ns, absl::string_view name);
  void SetQueue(const QueueFacts& facts);
  void RemoveQueue(absl::string_view name);
  void SetPriorityClass(const PriorityClassFacts& facts);
  void RemovePriorityClass(absl::string_view name);
  void SetClaim(const ClaimFacts& facts) { Stir(volumes_.SetClaim(facts)); }
  void RemoveClaim(absl::string_view ns, absl::string_view name) { Stir(volumes_.RemoveClaim(ns, name)); }
  void SetVolume(const VolumeFacts& facts) { Stir(volumes_.SetVolume(facts)); }
  void RemoveVolume(absl::string_view name) { Stir(volumes_.RemoveVolume(name)); }
  void SetStorageClass(const StorageClassFacts& facts) { Stir(volumes_.SetStorageClass(facts)); }
  void RemoveStorageClass(absl::string_view name) { Stir(volumes_.RemoveStorageClass(name)); }
  // False: nobody lets us see claims. Until an event says otherwise.
  void SetClaimsReadable(bool readable) { Stir(volumes_.SetReadable(readable)); }
  // Labels of namespaces, which other pods' anti-affinities may ask for; one that nobody told of is taken to match them.
  void SetNamespace(const NamespaceFacts& facts);
  void RemoveNamespace(absl::string_view name);

  // Decisions on their way to the API server. An assumed task holds its room until an event shows it bound, or Forget.
  void Assume(TaskId task, Row row);
  void Forget(TaskId task);
  void SetAdmitted(GangId gang, bool admitted);
  // Keeps the gang from being placed, saying why; "" ends it.
  void SetHeldBack(GangId gang, std::string why);

  // Differs after an event or call that changed anything.
  std::uint64_t version() const { return version_; }

  // Nodes. Rows of nodes that pods name but nobody has shown are there and not present.
  int rows() const { return static_cast<int>(present_.size()); }
  bool present(Row row) const { return present_[Index(row)] != 0; }
  int present_nodes() const { return present_nodes_; }
  absl::string_view node_name(Row row) const { return names_.Text(node_name_[Index(row)]); }
  Row FindNode(absl::string_view name) const;
  std::int64_t free(Row row, Dim dim) const { return At(free_, row, dim); }
  std::int64_t allocatable(Row row, Dim dim) const { return At(allocatable_, row, dim); }
  const std::vector<HostPort>& ports(Row row) const { return ports_[Index(row)]; }
  bool unschedulable(Row row) const { return unschedulable_[Index(row)] != 0; }
  const std::vector<Taint>& taints(Row row) const { return taints_[Index(row)]; }
  // Of all present nodes; used counts every pod that holds room on them.
  const Resources& total() const { return total_; }
  Resources used() const;
  bool Matches(Row row, const Term& term) const;
  bool MatchesAny(Row row, const std::vector<Term>& terms) const;
  const Volumes& volumes() const { return volumes_; }
  const AntiAffinities& anti_affinities() const { return anti_affinities_; }
  // Whether pods that match this anti-affinity keep off the node.
  bool KeptOff(Row row, TermId term) const;

  // Every change of a row appends the row here; positions only grow. What is older than changes_begin() is forgotten.
  std::uint64_t changes_begin() const { return changes_begin_; }
  std::uint64_t changes_end() const { return changes_begin_ + changes_.size(); }
  Row change(std::uint64_t position) const { return changes_[static_cast<std::size_t>(position - changes_begin_)]; }
  // Differs between any two clusters of a process.
  std::uint64_t id() const { return id_; }

  // Shapes, tasks, gangs, queues. Ids are reused after removal.
  int shape_slots() const { return static_cast<int>(shapes_.size()); }
  const Shape& shape(ShapeId id) const { return shapes_[Index(id)]; }
  // Changes when the slot is given to another shape, or to what its pods ask for in the same words the answer may be another.
  std::uint64_t shape_version(ShapeId id) const { return shape_versions_[Index(id)]; }
  const Task& task(TaskId id) const { return tasks_[Index(id)]; }
  TaskId FindTask(absl::string_view ns, absl::string_view name) const;
  const Gang& gang(GangId id) const { return gangs_[Index(id)]; }
  int gang_slots() const { return static_cast<int>(gangs_.size()); }
  GangId FindGang(absl::string_view ns, absl::string_view name) const;
  const Queue& queue(QueueId id) const { return queues_[Index(id)]; }
  int queue_slots() const { return static_cast<int>(queues_.size()); }
  std::int32_t PriorityOf(const Gang& gang) const;
  // Gangs a decision may concern: not let in yet, with pending tasks, or with tasks but not ready. Sorted by id.
  const absl::btree_set<GangId>& waiting() const { return waiting_; }
  // Gangs let in whose minimum of pods does not exist yet. Sorted by id.
  const absl::btree_set<GangId>& awaiting_pods() const { return awaiting_pods_; }

  const Dims& dims() const { return dims_; }
  const Names& names() const { return names_; }

 private:
  static std::size_t Index(int id) { return static_cast<std::size_t>(id); }
  std::int64_t At(const std::vector<std::int64_t>& table, Row row, Dim dim) const {
    return dim < stride_ ? table[Index(row) * Index(stride_) + Index(dim)] : 0;
  }
  bool SameNode(Row row, const NodeFacts& facts) const;
  bool SamePod(TaskId id, const PodFacts& facts) const;
  absl::string_view PartitionText(const Task& task) const { return task.partition == kNone ? "" : names_.Text(task.partition); }
  Row InternRow(absl::string_view name);
  void FreeRowIfUnused(Row row);
  void GrowStride();
  void RowChanged(Row row);
  void AddToRow(std::vector<std::int64_t>& table, Row row, const Resources& amounts, std::int64_t times);
  Resources RowAmounts(const std::vector<std::int64_t>& table, Row row) const;

  ShapeId InternShape(const Wants& wants, const std::vector<TermId>& kept_off);
  ShapeId ShapeKeptOff(ShapeId alike, const std::vector<TermId>& kept_off);
  ShapeId AddShape(Shape shape);
  void ReleaseShape(ShapeId id);
  // Their nodes may be others than before.
  void Stir(const std::vector<ShapeId>& shapes);
  void StirKeptOffBy(TermId term);
  int LabelOf(Row row, int key) const;
  void LabelsChanged(Row row);
  void KeepAway(TaskId id, const std::vector<AntiAffinityFacts>& terms);
  void LetNear(TaskId id);
  void MatchAllAnew();
  void MatchWaiting(absl::FunctionRef<std::vector<TermId>(const Task& task, absl::string_view packed_labels)> kept_off_by);

  void TakeRoom(Task& task);
  void GiveRoom(Task& task);
  void Place(Task& task, Row row, TaskStatus status);
  void RemoveTask(TaskId id);
  GangId InternGang(absl::string_view ns, absl::string_view name);
  void LeaveGang(TaskId id);
  void JoinGang(TaskId id, GangId gang);
  void FreeGangIfUnused(GangId id);
  void SetGangQueue(Gang& gang, QueueId queue);
  void GangChanged(GangId id);
  QueueId InternQueue(absl::string_view name);
  void FreeQueueIfUnused(QueueId id);
  void SetParent(QueueId id, QueueId parent);

  const std::uint64_t id_;
  Dims dims_;
  Names names_;

  // Nodes, one entry a row; free_ and allocatable_ have stride_ entries a row.
  int stride_ = kKnownDims;
  int present_nodes_ = 0;
  std::vector<char> present_;
  std::vector<int> node_name_;
  std::vector<std::int64_t> free_, allocatable_;
  std::vector<std::vector<std::pair<int, int>>> labels_;  // key, value; sorted
  std::vector<std::vector<Taint>> taints_;
  std::vector<char> unschedulable_;
  std::vector<std::vector<HostPort>> ports_;
  std::vector<int> pods_on_row_;
  std::vector<Row> free_rows_;
  absl::flat_hash_map<int, Row> row_by_name_;
  Resources total_, held_on_present_;
  std::uint64_t version_ = 0;

  std::vector<Row> changes_;
  std::uint64_t changes_begin_ = 0;

  std::vector<Shape> shapes_;
  std::vector<std::uint64_t> shape_versions_;
  std::vector<ShapeId> free_shapes_;
  absl::flat_hash_map<std::string, ShapeId> shape_by_key_;
  std::uint64_t last_shape_version_ = 0;

  Volumes volumes_{names_};
  AntiAffinities anti_affinities_{names_};
  std::vector<ShapeId> kept_off_shapes_;  // with a term that keeps them off
  absl::flat_hash_map<TaskId, std::string> waiting_labels_;  // of tasks without a node, packed

  std::vector<Task> tasks_;
  std::vector<TaskId> free_tasks_;
  absl::flat_hash_map<std::string, TaskId> task_by_key_;  // "ns/name"
  std::vector<Gang> gangs_;
  std::vector<GangId> free_gangs_;
  absl::flat_hash_map<std::string, GangId> gang_by_key_;
  std::vector<Queue> queues_;
  std::vector<QueueId> free_queues_;
  absl::flat_hash_map<std::string, QueueId> queue_by_name_;
  absl::flat_hash_map<int, PriorityClassFacts> priority_classes_;
  absl::btree_set<GangId> waiting_, awaiting_pods_;
};

}  // namespace gangway::model
