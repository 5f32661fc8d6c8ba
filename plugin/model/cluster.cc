#include "plugin/model/cluster.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <tuple>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "plugin/model/labels.h"

namespace gangway::model {
namespace {

std::uint64_t NextClusterId() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

TaskStatus StatusOf(const PodFacts& facts) {
  switch (facts.phase) {
    case PodPhase::kSucceeded:
      return TaskStatus::kSucceeded;
    case PodPhase::kFailed:
      return TaskStatus::kFailed;
    case PodPhase::kUnknown:
      return TaskStatus::kUnknown;
    case PodPhase::kRunning:
      return facts.terminating ? TaskStatus::kReleasing : TaskStatus::kRunning;
    case PodPhase::kPending:
      if (facts.terminating) return TaskStatus::kReleasing;
      return facts.node.empty() ? TaskStatus::kPending : TaskStatus::kBound;
  }
  return TaskStatus::kUnknown;
}

Departure DepartureOf(const PodFacts& facts) {
  Departure departure;
  departure.ends = facts.ends;
  if (facts.cooldown > absl::ZeroDuration()) departure.protected_until = facts.started + facts.cooldown;
  departure.grace_ends = facts.grace_ends;
  departure.lasts = facts.lasts;
  return departure;
}

bool IsNominatedByOthers(const Task& task) {
  return !task.ours && task.nominated != kNone && task.status == TaskStatus::kPending && task.row == kNone;
}

bool Ended(TaskStatus status) { return status == TaskStatus::kSucceeded || status == TaskStatus::kFailed; }

// To another node than it has.
bool MayBeMoved(const PodFacts& facts) { return facts.movable && !facts.node.empty(); }

bool Waits(const PodFacts& facts) { return facts.node.empty() && StatusOf(facts) == TaskStatus::kPending; }

// Also on another node than it has; and that of another scheduler, where that has said that it will be.
bool MayBePlaced(const PodFacts& facts) {
  if (!facts.ours) return Waits(facts) && !facts.nominated.empty();
  return MayBeMoved(facts) || StatusOf(facts) == TaskStatus::kPending;
}

// What is told but for the phase and the node. Two things told of one pod that are not the same are taken for the same
// once in 2^64 times.
std::uint64_t HashOfTold(const PodFacts& facts) {
  const bool flags[] = {facts.ours,      facts.gated,    facts.controlled, facts.of_job,
                        facts.evictable, facts.preempts, MayBeMoved(facts)};
  int bits = static_cast<int>(facts.gang_kind);
  for (const bool flag : flags) bits = bits * 2 + (flag ? 1 : 0);
  return absl::HashOf(facts.uid, facts.gang, facts.role, bits, facts.priority, facts.index, facts.created, facts.wants,
                      facts.labels);
}

// Of one that has a node: it runs there, or will, and takes room.
bool IsOnNode(TaskStatus status) {
  return status == TaskStatus::kBound || status == TaskStatus::kRunning || status == TaskStatus::kUnknown;
}

}  // namespace

Cluster::Cluster(int audit_every) : id_(NextClusterId()), audit_every_(audit_every) {}

// ---- nodes

void Cluster::SetNode(const NodeFacts& facts) {
  const Row row = nodes_.Set(facts);
  if (row == kNone) return;
  pod_terms_.RowChanged(row);
  hyper_nodes_.SetNode(row, facts.name, facts.labels);
}

void Cluster::RemoveNode(absl::string_view name) {
  const Row row = FindNode(name);
  if (row == kNone || !present(row)) return;
  nodes_.Remove(row);
  pod_terms_.RowChanged(row);
  hyper_nodes_.RemoveNode(row);
  nodes_.FreeIfUnused(row);
}

bool Cluster::MatchesAny(Row row, const std::vector<Term>& terms) const {
  return std::any_of(terms.begin(), terms.end(), [&](const Term& term) { return Matches(row, term); });
}

void Cluster::Stir(const std::vector<ShapeId>& shapes) {
  shapes_.Stir(shapes);
  if (!shapes.empty()) ++version_;
}

// ---- where other pods are

void Cluster::Reshape(const std::vector<TaskId>& tasks) {
  for (const TaskId id : tasks) {
    const std::vector<TermId> matched = pod_terms_.Matched(id);
    const ShapeId before = tasks_[id].shape;
    if (matched == shape(before).matched) continue;
    tasks_[id].shape = shapes_.InternLike(before, matched);
    shapes_.Release(before);
    ++version_;
    ++reshaped_;
  }
}

void Cluster::SetNamespace(const NamespaceFacts& facts) { Reshape(pod_terms_.SetNamespace(facts.name, facts.labels)); }

void Cluster::RemoveNamespace(absl::string_view name) { Reshape(pod_terms_.RemoveNamespace(name)); }

// ---- tasks

void Cluster::HoldRoom(const Task& task, int times) {
  const Shape& shape = shapes_[task.shape];
  for (const ClaimId claim : shape.claims) volumes_.Hold(claim, task.row, times);
  if (task.gang == kNone) return;
  gangs_.Hold(task, shape.request, times);
  if (const QueueId queue = gangs_[task.gang].queue; queue != kNone) queues_.Hold(queue, shape.request, times);
}

// Every change of a task lies between GiveRoom and TakeRoom.
void Cluster::TakeRoom(TaskId id) {
  const Task& task = tasks_[id];
  if (task.gang != kNone && task.asks_for_room()) gangs_.Ask(task.gang, shapes_[task.shape].request, 1);
  if (!task.holds_room()) return;
  if (task.status == TaskStatus::kReleasing) terminating_.insert(id);
  nodes_.Take(task.row, shapes_[task.shape]);
  pod_terms_.Enter(id, task.row, task.status != TaskStatus::kReleasing, shapes_[task.shape]);
  HoldRoom(task, 1);
}

void Cluster::GiveRoom(TaskId id) {
  const Task& task = tasks_[id];
  if (task.gang != kNone && task.asks_for_room()) gangs_.Ask(task.gang, shapes_[task.shape].request, -1);
  if (!task.holds_room()) return;
  if (task.status == TaskStatus::kReleasing) terminating_.erase(id);
  nodes_.Give(task.row, shapes_[task.shape]);
  pod_terms_.Leave(id, task.row, task.status != TaskStatus::kReleasing, shapes_[task.shape]);
  HoldRoom(task, -1);
}

bool Cluster::SamePlace(TaskId id, const PodFacts& facts) const {
  const Task& task = tasks_[id];
  const bool assumed = task.status == TaskStatus::kBinding;
  if ((assumed ? TaskStatus::kPending : task.status) != StatusOf(facts)) return false;
  const bool on_node = assumed || task.row == kNone ? facts.node.empty() : facts.node == node_name(task.row);
  return on_node && task.departure() == DepartureOf(facts) && task.marked == facts.leaving &&
         task.started == facts.started &&
         (facts.nominated.empty() ? (facts.ours && task.row == kNone) || task.nominated == kNone
                                  : task.nominated == names_.Find(facts.nominated));
}

// What its status says of its life on the node. One that was nominated by a decision of ours stays so until it has a
// node.
void Cluster::NoteMoments(Task& task, const PodFacts& facts) {
  task.marked = facts.leaving;
  gangs_.NoteLeaving(task);
  task.started = facts.started;
  task.SetDeparture(DepartureOf(facts));
  if (!Waits(facts) || (!facts.ours && facts.nominated.empty())) {
    gangs_.SetNominated(task, kNone);
  } else if (!facts.nominated.empty()) {
    gangs_.SetNominated(task, names_.Intern(facts.nominated));
  }
}

// Most often it begins to run: what it holds, and since when, is the same.
bool Cluster::StaysOnNode(const Task& task, TaskStatus now, const PodFacts& facts) const {
  return IsOnNode(task.status) && IsOnNode(now) && task.row != kNone && task.started == facts.started &&
         node_name(task.row) == facts.node;
}

// What happens to most pods: their phase or node is another, and nothing else. False: it takes more than that.
bool Cluster::MovePod(TaskId id, const PodFacts& facts) {
  Task& task = tasks_[id];
  const TaskStatus before = task.status, now = StatusOf(facts);
  if (StaysOnNode(task, now, facts)) {
    ++version_;
    if (task.gang != kNone) gangs_.StatusChanged(task.gang, before, now);
    task.status = now;
    NoteMoments(task, facts);
    return true;
  }
  const bool waits = MayBePlaced(facts);
  if (Ended(before) || !pod_terms_.SetWaits(id, waits)) return false;
  ++version_;
  if (before == TaskStatus::kBinding && now == TaskStatus::kPending && facts.node.empty()) {
    NoteMoments(task, facts);  // it keeps the node that it was promised
    return true;
  }
  UnpromiseVolumes(id);
  GiveRoom(id);
  const Row row_before = task.row, row = facts.node.empty() ? kNone : nodes_.Intern(facts.node);
  const auto releasing = [](TaskStatus status, Row at) {
    return status == TaskStatus::kReleasing && at != kNone ? 1 : 0;
  };
  if (task.gang != kNone)
    gangs_.StatusChanged(task.gang, before, now, releasing(now, row) - releasing(before, row_before));
  task.row = row;
  task.status = now;
  NoteMoments(task, facts);
  if (row != kNone) nodes_.Enter(row);
  if (row_before != kNone) {
    nodes_.Leave(row_before);
    nodes_.FreeIfUnused(row_before);
  }
  if (Ended(now)) pod_terms_.End(id, /*keeps_labels=*/task.gang != kNone);
  TakeRoom(id);
  return true;
}

// And its node's.
bool Cluster::IsItsGangsAlone(TaskId id) const {
  return id == kNone || (shapes_[tasks_[id].shape].claims.empty() && !nominated_by_others_.contains(id));
}

bool Cluster::ConcernsNobodyWhoWaits(TaskId id) const {
  if (id == kNone) return true;
  const Task& task = tasks_[id];
  if (!IsItsGangsAlone(id)) return false;
  return task.gang == kNone || (!gangs_[task.gang].waits && !gangs_[task.gang].awaits_pods);
}

TaskId Cluster::SetPod(const PodFacts& facts) {
  tasks_by_name_.Prefetch(facts.ns, facts.name);
  const std::uint64_t told = HashOfTold(facts);
  const TaskId before = FindTask(facts.ns, facts.name);
  const bool of_others = ConcernsNobodyWhoWaits(before), alone = IsItsGangsAlone(before);
  const std::uint64_t version = version_ + gangs_.version(), concerned = gangs_.version_of_waiting() + reshaped_;
  const std::uint64_t own = version_, reshaped = reshaped_;
  const TaskId id = PutPod(before, facts, told);
  if (IsNominatedByOthers(tasks_[id])) {
    nominated_by_others_.insert(id);
  } else {
    nominated_by_others_.erase(id);
  }
  if (of_others && ConcernsNobodyWhoWaits(id) && gangs_.version_of_waiting() + reshaped_ == concerned)
    changes_of_others_ += version_ + gangs_.version() - version;
  if (alone && IsItsGangsAlone(id) && reshaped_ == reshaped) changes_of_pods_ += version_ - own;
  return id;
}

TaskId Cluster::PutPod(TaskId id, const PodFacts& facts, std::uint64_t told) {
  if (id != kNone && tasks_[id].told == told && (SamePlace(id, facts) || MovePod(id, facts))) return id;
  ++version_;
  Row assumed = kNone;
  if (id != kNone) {
    const Task& before = task(id);
    const bool same = before.uid == facts.uid;
    if (same && before.status == TaskStatus::kBinding && facts.node.empty() && !facts.terminating &&
        facts.phase == PodPhase::kPending) {
      assumed = before.row;
    }
    if (!same) {
      RemoveTask(id);
      id = kNone;
    } else {
      UnpromiseVolumes(id);
      GiveRoom(id);
    }
  }
  const bool fresh = id == kNone;
  if (!fresh) {
    gangs_.Leave(id, tasks_[id]);
    shapes_.Release(tasks_[id].shape);
  } else {
    id = tasks_.Add();
    tasks_[id].ns = TextOfOther(names_.Kept(names_.Intern(facts.ns)));
    tasks_[id].name = ShortText(facts.name);
    tasks_by_name_.Insert(id);
  }
  const TaskStatus status = assumed != kNone ? TaskStatus::kBinding : StatusOf(facts);
  const bool waits = MayBePlaced(facts);
  pod_terms_.Set(id, facts.ns, facts.labels, waits);
  if (Ended(status)) pod_terms_.End(id, /*keeps_labels=*/!facts.gang.empty());
  std::vector<TaskId> rematched;
  const auto matched = [&] { return waits ? pod_terms_.Matched(id) : std::vector<TermId>(); };
  const ShapeId shape = shapes_.Intern(facts.wants, matched, rematched);
  std::erase(rematched, id);
  const GangId gang = facts.gang.empty() ? kNone : gangs_.Intern(facts.gang_kind, facts.ns, facts.gang);
  Row row = assumed;
  if (!facts.node.empty()) row = nodes_.Intern(facts.node);
  Task& task = tasks_[id];
  task.told = told;
  const Row row_before = fresh ? kNone : task.row;
  task.uid = Uid(facts.uid);
  task.shape = shape;
  task.row = row;
  task.role = names_.Intern(facts.role);
  task.priority = facts.priority;
  task.index = facts.index;
  task.status = status;
  task.ours = facts.ours;
  task.gated = facts.gated;
  task.controlled = facts.controlled;
  task.of_job = facts.of_job;
  task.created = facts.created;
  task.evictable = facts.evictable;
  task.preempts = facts.preempts;
  task.movable = MayBeMoved(facts);
  NoteMoments(task, facts);
  if (row != kNone) nodes_.Enter(row);
  if (row_before != kNone) {
    nodes_.Leave(row_before);
    nodes_.FreeIfUnused(row_before);
  }
  gangs_.Join(id, task, gang);
  Part(id);
  TakeRoom(id);
  if (assumed != kNone) PromiseVolumes(id);
  Reshape(rematched);
  if (fresh && !moved_.empty()) NominateMoved(id);
  return id;
}

// The one that went by its name; where names are others, one like it.
void Cluster::NominateMoved(TaskId id) {
  Task& task = tasks_[id];
  if (!task.asks_for_room() || task.nominated != kNone || task.gang == kNone) return;
  const auto moved = std::find_if(moved_.begin(), moved_.end(), [&](const MovedGang& each) {
    return each.gang == task.gang && each.uid == gangs_[task.gang].uid;
  });
  if (moved == moved_.end()) return;
  const auto is_for = [&](const MovedGang::Pod& pod, bool by_name) {
    if (!pod.made.empty() || pod.uid == task.uid || (by_name && pod.name != task.name)) return false;
    return by_name || (FindTask(task.ns, pod.name) == kNone &&
                       (pod.shape == kNone || shapes_[pod.shape].request == shapes_[task.shape].request));
  };
  auto pod = std::find_if(moved->pods.begin(), moved->pods.end(), [&](const auto& each) { return is_for(each, true); });
  if (pod == moved->pods.end())
    pod = std::find_if(moved->pods.begin(), moved->pods.end(), [&](const auto& each) { return is_for(each, false); });
  if (pod == moved->pods.end()) return;
  pod->made = task.uid;
  if (pod->shape == kNone) {
    pod->shape = task.shape;
    shapes_.InternLike(pod->shape, shapes_[pod->shape].matched);
  }
  gangs_.SetNominated(task, names_.Intern(pod->node));
}

void Cluster::RemovePod(absl::string_view ns, absl::string_view name) {
  const TaskId id = FindTask(ns, name);
  if (id == kNone) return;
  const bool of_others = ConcernsNobodyWhoWaits(id), alone = IsItsGangsAlone(id);
  const std::uint64_t version = version_ + gangs_.version(), concerned = gangs_.version_of_waiting(), own = version_;
  RemoveTask(id);
  if (alone) changes_of_pods_ += version_ - own;
  if (of_others && gangs_.version_of_waiting() == concerned)
    changes_of_others_ += version_ + gangs_.version() - version;
}

void Cluster::RemoveTask(TaskId id) {
  Task& task = tasks_[id];
  if (task.gang != kNone) NoteLostRoom(task, gangs_[task.gang]);
  UnpromiseVolumes(id);
  GiveRoom(id);
  pod_terms_.Remove(id);
  if (nominated_by_others_.erase(id) > 0) ++version_;
  gangs_.Leave(id, task);
  shapes_.Release(task.shape);
  if (task.row != kNone) {
    nodes_.Leave(task.row);
    nodes_.FreeIfUnused(task.row);
  }
  tasks_by_name_.Erase(id);
  tasks_.Remove(id);
}

// Of a gang that ends as a whole nobody is left who runs. Who was evicted has given the room away.
void Cluster::NoteLostRoom(const Task& task, const Gang& gang) {
  const bool held = task.holds_room() && task.status != TaskStatus::kBinding && !task.evicted && !task.leaving;
  if (!held || !gang.was_whole || gang.kind != GangKind::kVolcano) return;
  const auto is_ready = [](const Task& each) {
    return each.status == TaskStatus::kBound || each.status == TaskStatus::kRunning;
  };
  const int own = is_ready(task) ? 1 : 0;
  const int others = gang.Count(TaskStatus::kBound) + gang.Count(TaskStatus::kRunning) - own;
  if (others == 0 || gang.ready() - own >= gang.min_member) return;
  // One that was made anew and is lost again leaves what it had last.
  ForgetLostRoom([&](const LostRoom& room) { return room.gang == task.gang && task.name == room.pod; });
  shapes_.InternLike(task.shape, shapes_[task.shape].matched);
  lost_room_.push_back({task.gang, gang.uid, task.name, std::string(node_name(task.row)), task.shape});
}

void Cluster::ForgetLostRoom(absl::FunctionRef<bool(const LostRoom&)> forgotten) {
  const auto gone = std::stable_partition(lost_room_.begin(), lost_room_.end(),
                                          [&](const LostRoom& room) { return !forgotten(room); });
  if (gone == lost_room_.end()) return;
  for (auto it = gone; it != lost_room_.end(); ++it) shapes_.Release(it->shape);
  lost_room_.erase(gone, lost_room_.end());
  ++version_;
}

void Cluster::PromiseVolumes(TaskId id) {
  Task& task = tasks_[id];
  task.promised = true;
  volumes_.Promise(shape(task.shape).claims, task.row);
}

void Cluster::UnpromiseVolumes(TaskId id) {
  if (!tasks_[id].promised) return;
  tasks_[id].promised = false;
  for (const ClaimId claim : shape(tasks_[id].shape).claims) volumes_.Unpromise(claim);
}

void Cluster::Place(TaskId id, Row row, TaskStatus status) {
  Task& task = tasks_[id];
  GiveRoom(id);
  if (task.row != kNone) nodes_.Leave(task.row);
  const TaskStatus before = task.status;
  task.row = row;
  task.status = status;
  if (row != kNone) nodes_.Enter(row);
  if (task.gang != kNone) gangs_.StatusChanged(task.gang, before, status);
  TakeRoom(id);
}

void Cluster::Assume(TaskId id, Row row) {
  GW_CHECK(tasks_[id].status == TaskStatus::kPending && row != kNone);
  Place(id, row, TaskStatus::kBinding);
  PromiseVolumes(id);
}

void Cluster::Nominate(TaskId id, Row row) {
  gangs_.SetNominated(tasks_[id], row == kNone ? kNone : names_.Intern(node_name(row)));
}

void Cluster::SetEvicted(TaskId id, bool evicted) { gangs_.SetEvicted(tasks_[id], evicted); }

void Cluster::Forget(TaskId id) {
  if (task(id).status != TaskStatus::kBinding) return;
  const Row row = task(id).row;
  UnpromiseVolumes(id);
  Place(id, kNone, TaskStatus::kPending);
  nodes_.FreeIfUnused(row);
}

// ---- gangs

void Cluster::MoveToQueue(GangId id, QueueId queue) {
  const QueueId before = gangs_[id].queue;
  if (before == queue) return;
  gangs_.SetQueue(id, queue);
  if (queue != kNone) queues_.Enter(queue, gangs_[id].held);
  if (before != kNone) queues_.Leave(before, gangs_[id].held);
}

GangId Cluster::SetGang(const GangFacts& facts) {
  const GangId id = gangs_.Intern(facts.kind, facts.ns, facts.name);
  MoveToQueue(id, queues_.Intern(facts.queue.empty() ? "default" : facts.queue));
  const std::vector<SubGroupFacts> before = gangs_[id].sub_groups;
  const bool named = gangs_[id].leaving_pods.has_value();
  gangs_.Set(id, facts, quotas_.Of(facts.ns) != nullptr);
  if (named || gangs_[id].leaving_pods.has_value()) {
    for (const TaskId task : gangs_[id].tasks) gangs_.NoteLeaving(tasks_[task]);
  }
  if (gangs_[id].sub_groups != before) {
    for (const TaskId task : gangs_[id].tasks) Part(task);
  }
  return id;
}

void Cluster::RemoveGang(absl::string_view ns, absl::string_view name, GangKind kind) {
  const GangId id = FindGang(ns, name, kind);
  if (id == kNone) return;
  MoveToQueue(id, kNone);
  const std::vector<TaskId> tasks = gangs_[id].tasks;
  gangs_.Remove(id);
  for (const TaskId task : tasks) {
    tasks_[task].sub_groups = tasks_[task].partition = kNone;
    gangs_.NoteLeaving(tasks_[task]);
  }
}

// volcano: api/sub_job_info.go, getSubJobMatchValues
std::pair<int, std::string> Cluster::PartOf(TaskId id) const {
  const GangId gang = tasks_[id].gang;
  if (gang == kNone || gangs_[gang].sub_groups.empty()) return {kNone, ""};
  const std::vector<SubGroupFacts>& policies = gangs_[gang].sub_groups;
  const std::string labels = pod_terms_.LabelsOf(id);
  for (std::size_t policy = 0; policy < policies.size(); ++policy) {
    if (!AllHold(policies[policy].selector, labels)) continue;
    std::string values;
    const bool has_all =
        std::all_of(policies[policy].keys.begin(), policies[policy].keys.end(), [&](const std::string& key) {
          const absl::string_view value = FindLabel(labels, key).value_or("");
          PackLabel(key, value, values);
          return !value.empty();
        });
    if (has_all) return {static_cast<int>(policy), values};
  }
  return {kNone, ""};
}

void Cluster::Part(TaskId id) {
  const auto [policy, values] = PartOf(id);
  tasks_[id].sub_groups = policy;
  tasks_[id].partition = policy == kNone ? kNone : names_.Intern(values);
}

void Cluster::SetQuota(const QuotaFacts& facts) {
  quotas_.Set(facts);
  ++version_;
}

void Cluster::RemoveQuota(absl::string_view ns, absl::string_view name) {
  quotas_.Remove(ns, name);
  ++version_;
}

void Cluster::SetAdmitted(GangId id, bool admitted) { gangs_.SetAdmitted(id, admitted); }

void Cluster::SetReservation(std::optional<Reservation> reservation) { reservation_ = std::move(reservation); }

// Shapes are there as long as they are named.
void Cluster::SetMoved(std::vector<MovedGang> moved) {
  for (const MovedGang& each : moved) {
    for (const MovedGang::Pod& pod : each.pods) {
      if (pod.shape != kNone) shapes_.InternLike(pod.shape, shapes_[pod.shape].matched);
    }
  }
  for (const MovedGang& each : moved_) {
    for (const MovedGang::Pod& pod : each.pods) {
      if (pod.shape != kNone) shapes_.Release(pod.shape);
    }
  }
  moved_ = std::move(moved);
  for (std::size_t i = 0; i < moved_.size(); ++i) {
    for (const TaskId task : gangs_[moved_[i].gang].tasks) NominateMoved(task);  // who was made already
  }
}

void Cluster::PassOver(GangId id, absl::Time until) { gangs_.PassOver(id, until); }

void Cluster::Claim(GangId id, std::optional<QueueClaim> claim) { gangs_.Claim(id, std::move(claim)); }

void Cluster::SetHeldBack(GangId id, absl::string_view why) { gangs_.SetHeldBack(id, why); }

// Its own, or the one for all that name none; nullptr: there is none.
const PriorityClassFacts* Cluster::ClassOf(const Gang& gang) const {
  if (gang.priority_class != kNone) {
    if (auto it = priority_classes_.find(gang.priority_class); it != priority_classes_.end()) return &it->second;
  }
  const PriorityClassFacts* fallback = nullptr;  // of several the highest: the order does not matter
  for (const auto& [name, facts] : priority_classes_) {
    if (!facts.global_default) continue;
    if (fallback == nullptr || std::tie(fallback->value, fallback->name) < std::tie(facts.value, facts.name))
      fallback = &facts;
  }
  return fallback;
}

std::int32_t Cluster::PriorityOf(const Gang& gang) const {
  const PriorityClassFacts* const of = ClassOf(gang);
  return of == nullptr ? 0 : of->value;
}

bool Cluster::Preempts(const Gang& gang) const {
  const PriorityClassFacts* const of = ClassOf(gang);
  return of == nullptr || of->preempts;
}

void Cluster::SetPriorityClass(const PriorityClassFacts& facts) {
  priority_classes_[names_.Intern(facts.name)] = facts;
  ++version_;
}

void Cluster::RemovePriorityClass(absl::string_view name) {
  priority_classes_.erase(names_.Intern(name));
  ++version_;
}

// ---- budgets

void Cluster::SetBudget(const BudgetFacts& facts) {
  budgets_[facts.ns][facts.name] = facts;
  ++version_;
}

void Cluster::RemoveBudget(absl::string_view ns, absl::string_view name) {
  const auto of = budgets_.find(ns);
  if (of == budgets_.end() || of->second.erase(name) == 0) return;
  if (of->second.empty()) budgets_.erase(of);
  ++version_;
}

std::vector<const BudgetFacts*> Cluster::BudgetsOf(TaskId id) const {
  std::vector<const BudgetFacts*> budgets;
  const auto of = budgets_.find(tasks_[id].ns.view());
  if (of == budgets_.end()) return budgets;
  for (const auto& [name, budget] : of->second) {
    if (pod_terms_.HasLabels(id, budget.pods)) budgets.push_back(&budget);
  }
  return budgets;
}

// ---- queues

void Cluster::SetQueue(const QueueFacts& facts) {
  queues_.Set(facts);
  ++version_;
}

void Cluster::RemoveQueue(absl::string_view name) {
  if (queues_.Remove(name)) ++version_;
}

// ---- audit

std::vector<std::string> Cluster::Audit() const {
  std::vector<std::string> wrong;
  AuditTasks(wrong);
  nodes_.Audit(tasks_, shapes_, wrong);
  std::vector<ShapeId> of_kept;
  for (const MovedGang& each : moved_) {
    for (const MovedGang::Pod& pod : each.pods) {
      if (pod.shape != kNone) of_kept.push_back(pod.shape);
    }
  }
  for (const LostRoom& room : lost_room_) of_kept.push_back(room.shape);
  shapes_.Audit(tasks_, of_kept, wrong);
  gangs_.Audit(tasks_, shapes_, wrong);
  queues_.Audit(gangs_.table(), dims_, wrong);
  volumes_.Audit(tasks_, shapes_, wrong);
  domains_.Audit(wrong);
  pod_terms_.Audit(tasks_, shapes_, wrong);
  return wrong;
}

void Cluster::AuditIfAsked() {
  if (audit_every_ == 0 || ++events_since_audit_ < audit_every_) return;
  events_since_audit_ = 0;
  const std::vector<std::string> wrong = Audit();
  for (const std::string& each : wrong) std::fprintf(stderr, "%s\n", each.c_str());
  GW_CHECK(wrong.empty());
}

void Cluster::AuditTasks(std::vector<std::string>& wrong) const {
  tasks_.ForEach([&](TaskId id, const Task& task) {
    const std::string key = KeyOf(task.ns, task.name);
    if (FindTask(task.ns, task.name) != id) wrong.push_back(absl::StrCat("pod ", key, ": is not found by its name"));
    if (task.status == TaskStatus::kPending && task.row != kNone)
      wrong.push_back(absl::StrCat("pod ", key, ": waits and has a node"));
    const auto [policy, values] = PartOf(id);
    if (task.sub_groups != policy || (task.partition == kNone ? "" : names_.Text(task.partition)) != values)
      wrong.push_back(absl::StrCat("pod ", key, ": is in another sub-group than its labels say"));
    if (IsNominatedByOthers(task) != nominated_by_others_.contains(id))
      wrong.push_back(
          absl::StrCat("pod ", key, ": is nominated by others and is not listed so, or the other way round"));
    if ((task.status == TaskStatus::kReleasing && task.holds_room()) != terminating_.contains(id))
      wrong.push_back(absl::StrCat("pod ", key, ": is terminating and is not listed so, or the other way round"));
  });
  if (tasks_by_name_.size() != tasks_.size())
    wrong.push_back(absl::StrCat("pods: ", tasks_by_name_.size(), " names of ", tasks_.size()));
}

}  // namespace gangway::model
