// The cluster as a table: nodes are rows in parallel arrays, a pod is its shape, its node and its gang. It owns the
// parts (nodes.h, shapes.h, gangs.h, queues.h, volumes.h, domains.h, pod_terms.h, hyper_nodes.h), turns events into
// their changes, and keeps what spans several of them.
//
// Changes only by the Set.../Remove... events and by Assume/Forget. An event states what is now, so applying one twice
// changes nothing, and events about different objects commute: pods may come before their node, PodGroup or queue.
// No objects are kept.
//
// Used on one loop; const calls may run together.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "plugin/model/by_name.h"
#include "plugin/model/domains.h"
#include "plugin/model/facts.h"
#include "plugin/model/gangs.h"
#include "plugin/model/hyper_nodes.h"
#include "plugin/model/kept_nodes.h"
#include "plugin/model/names.h"
#include "plugin/model/nodes.h"
#include "plugin/model/pod_terms.h"
#include "plugin/model/queues.h"
#include "plugin/model/quotas.h"
#include "plugin/model/resources.h"
#include "plugin/model/shapes.h"
#include "plugin/model/slot_table.h"
#include "plugin/model/task.h"
#include "plugin/model/volumes.h"

namespace gangway::model {

class Cluster {
 public:
  // For tests: after each so many events an audit ends the process when something differs. 0: never.
  explicit Cluster(int audit_every = 0);
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  // Events.
  void SetNode(const NodeFacts& facts);
  void RemoveNode(absl::string_view name);
  TaskId SetPod(const PodFacts& facts);
  void RemovePod(absl::string_view ns, absl::string_view name);
  GangId SetGang(const GangFacts& facts);
  void RemoveGang(absl::string_view ns, absl::string_view name, GangKind kind = GangKind::kVolcano);
  void SetQueue(const QueueFacts& facts);
  void RemoveQueue(absl::string_view name);
  // What its gangs held of late (see Queue::used).
  void SetUsed(QueueId queue, std::vector<double> used) { queues_.SetUsed(queue, std::move(used)); }
  void SetPriorityClass(const PriorityClassFacts& facts);
  void RemovePriorityClass(absl::string_view name);
  void SetClaim(const ClaimFacts& facts) { Stir(volumes_.SetClaim(facts)); }
  void RemoveClaim(absl::string_view ns, absl::string_view name) { Stir(volumes_.RemoveClaim(ns, name)); }
  void SetVolume(const VolumeFacts& facts) { Stir(volumes_.SetVolume(facts)); }
  void RemoveVolume(absl::string_view name) { Stir(volumes_.RemoveVolume(name)); }
  void SetStorageClass(const StorageClassFacts& facts) { Stir(volumes_.SetStorageClass(facts)); }
  void RemoveStorageClass(absl::string_view name) { Stir(volumes_.RemoveStorageClass(name)); }
  void SetCsiNode(const CsiNodeFacts& facts) { volumes_.SetCsiNode(facts); }
  void RemoveCsiNode(absl::string_view name) { volumes_.RemoveCsiNode(name); }
  void SetVolumeAttachment(const VolumeAttachmentFacts& facts) { volumes_.SetAttachment(facts); }
  void RemoveVolumeAttachment(absl::string_view name) { volumes_.RemoveAttachment(name); }
  void SetCsiDriver(const CsiDriverFacts& facts) { version_ += volumes_.SetDriver(facts) ? 1 : 0; }
  void RemoveCsiDriver(absl::string_view name) { version_ += volumes_.RemoveDriver(name) ? 1 : 0; }
  void SetStorageCapacity(const StorageCapacityFacts& facts) { version_ += volumes_.SetCapacity(facts) ? 1 : 0; }
  void RemoveStorageCapacity(absl::string_view ns, absl::string_view name) {
    version_ += volumes_.RemoveCapacity(ns, name) ? 1 : 0;
  }
  // False: nobody lets us see claims. Until an event says otherwise.
  void SetClaimsReadable(bool readable) { Stir(volumes_.SetReadable(readable)); }
  // Labels of namespaces, which terms about pods may ask for; one that nobody told of is taken to match
  // anti-affinities, and nothing else.
  void SetNamespace(const NamespaceFacts& facts);
  void RemoveNamespace(absl::string_view name);
  void SetBudget(const BudgetFacts& facts);
  void RemoveBudget(absl::string_view ns, absl::string_view name);
  // PodGroups of its namespace are told of again when it is the first: what they ask of quotas is kept only where there
  // are some.
  void SetQuota(const QuotaFacts& facts);
  void RemoveQuota(absl::string_view ns, absl::string_view name);
  void SetHyperNode(const HyperNodeFacts& facts) { hyper_nodes_.Set(facts); }
  void RemoveHyperNode(absl::string_view name) { hyper_nodes_.Remove(name); }

  // Decisions on their way to the API server. An assumed task holds its room until an event shows it bound, or Forget.
  void Assume(TaskId task, Row row);
  void Forget(TaskId task);
  void SetAdmitted(GangId gang, bool admitted);
  // Room is kept for a pending task on the row until it has a node or an event or call says otherwise; kNone: none is.
  void Nominate(TaskId task, Row row);
  // The task's pod will be deleted; false: it will not. Until it is gone.
  void SetEvicted(TaskId task, bool evicted);
  // Keeps the gang from being placed, saying why; "" ends it.
  void SetHeldBack(GangId gang, absl::string_view why);
  // Nodes are kept for one gang; none for a gang that was passed over, until then.
  void SetReservation(std::optional<Reservation> reservation);
  const std::optional<Reservation>& reservation() const { return reservation_; }
  void PassOver(GangId gang, absl::Time until);
  // See Gang::entitled_since.
  void SetEntitled(GangId gang, absl::Time since) { gangs_.SetEntitled(gang, since); }
  // Room of its queue is kept for it; absent: none is.
  void Claim(GangId gang, std::optional<QueueClaim> claim);
  // Room is kept for gangs that are moved: a pod that is made for one that went is nominated for its node.
  void SetMoved(std::vector<MovedGang> moved);
  const std::vector<MovedGang>& moved() const { return moved_; }
  // Pods of other schedulers that are to be on the node for which they are nominated, once there is room. Sorted by id.
  const absl::btree_set<TaskId>& nominated_by_others() const { return nominated_by_others_; }
  // Pods that are being deleted and hold their room until they are gone. Sorted by id.
  const absl::btree_set<TaskId>& terminating() const { return terminating_; }
  // The room that members of gangs left, in the order in which they went; until it is forgotten.
  const std::vector<LostRoom>& lost_room() const { return lost_room_; }
  void ForgetLostRoom(absl::FunctionRef<bool(const LostRoom&)> forgotten);

  // Differs after an event or call that changed anything.
  std::uint64_t version() const { return version_ + nodes_.changes_end() + gangs_.version() + hyper_nodes_.version(); }

  // The same without what nodes are and have free, and without pods of no gang, or of gangs that neither wait nor await
  // pods; but with their claims, and with what they ask of where others are.
  std::uint64_t version_of_waiting() const {
    return version_ + gangs_.version() + hyper_nodes_.version() - changes_of_others_;
  }
  // Of gangs and their pods alone.
  std::uint64_t version_of_gangs() const { return gangs_.version(); }
  // Of what belongs to no single gang and no node: queues, priority classes, volumes, quotas, budgets, HyperNodes, and
  // what pods with claims, or that others' terms are about, are to them all.
  std::uint64_t version_of_rest() const { return version_ + hyper_nodes_.version() - changes_of_pods_; }
  // Every change of a gang appends it here; positions only grow. What is older than the begin is forgotten.
  std::uint64_t gang_changes_begin() const { return gangs_.changes_begin(); }
  std::uint64_t gang_changes_end() const { return gangs_.changes_end(); }
  GangId gang_change(std::uint64_t position) const { return gangs_.change(position); }

  // Nodes. Rows of nodes that pods name but nobody has shown are there and not present.
  int rows() const { return nodes_.rows(); }
  bool present(Row row) const { return nodes_.present(row); }
  int present_nodes() const { return nodes_.present_nodes(); }
  absl::string_view node_name(Row row) const { return nodes_.name(row); }
  Row FindNode(absl::string_view name) const { return nodes_.Find(name); }
  // Of their names, see Nodes.
  std::uint64_t node_order(Row row) const { return nodes_.order(row); }
  std::uint64_t node_order_version() const { return nodes_.order_version(); }
  std::int64_t free(Row row, Dim dim) const { return nodes_.free(row, dim); }
  std::int64_t allocatable(Row row, Dim dim) const { return nodes_.allocatable(row, dim); }
  const std::vector<HostPort>& ports(Row row) const { return nodes_.ports(row); }
  bool unschedulable(Row row) const { return nodes_.unschedulable(row); }
  const std::vector<Taint>& taints(Row row) const { return nodes_.taints(row); }
  // Of all present nodes; used counts every pod that holds room on them.
  const Resources& total() const { return nodes_.total(); }
  const Resources& used() const { return nodes_.held(); }
  bool Matches(Row row, const Term& term) const { return nodes_.Matches(row, term); }
  bool MatchesAny(Row row, const std::vector<Term>& terms) const;
  const Volumes& volumes() const { return volumes_; }
  const PodTerms& pod_terms() const { return pod_terms_; }
  const HyperNodes& hyper_nodes() const { return hyper_nodes_; }
  const Quotas& quotas() const { return quotas_; }

  // Every change of a row appends the row here; positions only grow. What is older than changes_begin() is forgotten.
  std::uint64_t changes_begin() const { return nodes_.changes_begin(); }
  std::uint64_t changes_end() const { return nodes_.changes_end(); }
  Row change(std::uint64_t position) const { return nodes_.change(position); }
  // Differs between any two clusters of a process.
  std::uint64_t id() const { return id_; }

  // Shapes, tasks, gangs, queues. Ids are reused after removal.
  int shape_slots() const { return shapes_.slots(); }
  const Shape& shape(ShapeId id) const { return shapes_[id]; }
  // Changes when the slot is given to another shape, or to what its pods ask for in the same words the answer may be
  // another.
  std::uint64_t shape_version(ShapeId id) const { return shapes_.version(id); }
  const Task& task(TaskId id) const { return tasks_[id]; }
  TaskId FindTask(absl::string_view ns, absl::string_view name) const { return tasks_by_name_.Find(ns, name); }
  const Gang& gang(GangId id) const { return gangs_[id]; }
  int gang_slots() const { return gangs_.slots(); }
  GangId FindGang(absl::string_view ns, absl::string_view name, GangKind kind = GangKind::kVolcano) const {
    return gangs_.Find(kind, ns, name);
  }
  const Queue& queue(QueueId id) const { return queues_[id]; }
  int queue_slots() const { return queues_.slots(); }
  std::int32_t PriorityOf(const Gang& gang) const;
  // False: its priority class says that nobody is evicted for it.
  bool Preempts(const Gang& gang) const;
  // Whether there is any disruption budget.
  bool has_budgets() const { return !budgets_.empty(); }
  // The budgets that concern a pod that has not ended, by name.
  std::vector<const BudgetFacts*> BudgetsOf(TaskId task) const;
  // Gangs a decision may concern: not let in yet, with pending tasks, or with tasks but not ready. Sorted by id.
  const absl::btree_set<GangId>& waiting() const { return gangs_.waiting(); }
  // Gangs let in whose minimum of pods does not exist yet. Sorted by id.
  const absl::btree_set<GangId>& awaiting_pods() const { return gangs_.awaiting_pods(); }

  // Counts everything anew from the tasks and says what differs, by name; empty when all is as it should be. For tests:
  // it looks at everything.
  std::vector<std::string> Audit() const;
  // Who applies events calls it after each.
  void AuditIfAsked();

  const Dims& dims() const { return dims_; }
  const Names& names() const { return names_; }

 private:
  // `told`: their hash, as Task::told has it.
  TaskId PutPod(TaskId id, const PodFacts& facts, std::uint64_t told);
  bool IsItsGangsAlone(TaskId id) const;
  bool ConcernsNobodyWhoWaits(TaskId id) const;
  bool SamePlace(TaskId id, const PodFacts& facts) const;
  bool StaysOnNode(const Task& task, TaskStatus now, const PodFacts& facts) const;
  bool MovePod(TaskId id, const PodFacts& facts);
  void NoteMoments(Task& task, const PodFacts& facts);
  const PriorityClassFacts* ClassOf(const Gang& gang) const;

  // Their nodes may be others than before.
  void Stir(const std::vector<ShapeId>& shapes);
  // Gives tasks that wait the shapes of the terms that hold for them now.
  void Reshape(const std::vector<TaskId>& tasks);

  void TakeRoom(TaskId id);
  void GiveRoom(TaskId id);
  void HoldRoom(const Task& task, int times);
  void PromiseVolumes(TaskId id);
  void UnpromiseVolumes(TaskId id);
  void Place(TaskId id, Row row, TaskStatus status);
  void RemoveTask(TaskId id);
  void MoveToQueue(GangId id, QueueId queue);
  void NominateMoved(TaskId id);
  // The policy of its gang that chooses the pod, and the values by which it parts; kNone: none does.
  std::pair<int, std::string> PartOf(TaskId id) const;
  void Part(TaskId id);
  void NoteLostRoom(const Task& task, const Gang& gang);
  void AuditTasks(std::vector<std::string>& wrong) const;

  const std::uint64_t id_;
  std::uint64_t version_ = 0;   // of what no part counts
  std::uint64_t reshaped_ = 0;  // tasks, since terms about them are others
  std::uint64_t changes_of_others_ = 0;
  std::uint64_t changes_of_pods_ = 0;  // of version_, by pods that are their gangs' alone
  const int audit_every_;
  int events_since_audit_ = 0;
  Dims dims_;
  Names names_;
  Nodes nodes_{dims_, names_};
  Volumes volumes_{names_, nodes_};
  HyperNodes hyper_nodes_;
  Quotas quotas_;
  Domains domains_{nodes_, names_};
  PodTerms pod_terms_{domains_};
  Shapes shapes_{dims_, names_, volumes_, pod_terms_, domains_};
  Gangs gangs_{dims_, names_};
  Queues queues_{dims_};
  SlotTable<Task> tasks_;
  std::optional<Reservation> reservation_;
  std::vector<MovedGang> moved_;
  std::vector<LostRoom> lost_room_;
  absl::btree_set<TaskId> nominated_by_others_, terminating_;
  ByName<Task> tasks_by_name_{tasks_};
  absl::flat_hash_map<int, PriorityClassFacts> priority_classes_;
  absl::btree_map<std::string, absl::btree_map<std::string, BudgetFacts>> budgets_;  // by namespace and name
};

}  // namespace gangway::model
