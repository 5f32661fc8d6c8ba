#include "plugin/model/cluster.h"

#include <algorithm>
#include <atomic>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace gangway::model {
namespace {

std::uint64_t NextClusterId() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

std::string KeyOf(absl::string_view ns, absl::string_view name) { return absl::StrCat(ns, "/", name); }

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

bool Holds(const Requirement& requirement, int value, const Names& names) {
  const bool listed = std::binary_search(requirement.values.begin(), requirement.values.end(), value);
  switch (requirement.op) {
    case Op::kIn:
      return listed;
    case Op::kNotIn:
      return !listed;
    case Op::kExists:
      return true;
    case Op::kDoesNotExist:
      return false;
    case Op::kGt:
    case Op::kLt: {
      std::int64_t number = 0;
      if (!requirement.bound_is_number || !absl::SimpleAtoi(names.Text(value), &number)) return false;
      return requirement.op == Op::kGt ? number > requirement.bound : number < requirement.bound;
    }
  }
  return false;
}

bool MayBePlaced(const PodFacts& facts) { return facts.ours && StatusOf(facts) == TaskStatus::kPending; }

bool HoldsWithoutValue(Op op) { return op == Op::kNotIn || op == Op::kDoesNotExist; }

}  // namespace

Cluster::Cluster() : id_(NextClusterId()) {}

// ---- nodes

Row Cluster::InternRow(absl::string_view name) {
  const int id = names_.Intern(name);
  if (auto it = row_by_name_.find(id); it != row_by_name_.end()) return it->second;
  Row row = kNone;
  if (!free_rows_.empty()) {
    row = free_rows_.back();
    free_rows_.pop_back();
    node_name_[Index(row)] = id;
  } else {
    row = rows();
    present_.push_back(0);
    node_name_.push_back(id);
    free_.resize(free_.size() + Index(stride_), 0);
    allocatable_.resize(allocatable_.size() + Index(stride_), 0);
    labels_.emplace_back();
    taints_.emplace_back();
    unschedulable_.push_back(0);
    ports_.emplace_back();
    pods_on_row_.push_back(0);
  }
  row_by_name_.emplace(id, row);
  return row;
}

void Cluster::FreeRowIfUnused(Row row) {
  if (present(row) || pods_on_row_[Index(row)] != 0) return;
  row_by_name_.erase(node_name_[Index(row)]);
  free_rows_.push_back(row);
}

Row Cluster::FindNode(absl::string_view name) const {
  const int id = names_.Find(name);
  if (id == -1) return kNone;
  auto it = row_by_name_.find(id);
  return it == row_by_name_.end() ? kNone : it->second;
}

void Cluster::GrowStride() {
  if (dims_.count() <= stride_) return;
  const int wider = std::max(dims_.count(), stride_ * 2);
  for (std::vector<std::int64_t>* table : {&free_, &allocatable_}) {
    std::vector<std::int64_t> grown(present_.size() * Index(wider), 0);
    for (Row row = 0; row < rows(); ++row) {
      std::copy_n(table->begin() + row * stride_, stride_, grown.begin() + row * wider);
    }
    table->swap(grown);
  }
  stride_ = wider;
}

void Cluster::AddToRow(std::vector<std::int64_t>& table, Row row, const Resources& amounts, std::int64_t times) {
  for (Dim dim = 0; dim < amounts.size(); ++dim) {
    if (amounts[dim] == 0) continue;
    std::int64_t& cell = table[Index(row) * Index(stride_) + Index(dim)];
    cell = static_cast<std::int64_t>(static_cast<std::uint64_t>(cell) + static_cast<std::uint64_t>(amounts[dim] * times));
  }
}

Resources Cluster::RowAmounts(const std::vector<std::int64_t>& table, Row row) const {
  Resources amounts;
  for (Dim dim = 0; dim < dims_.count(); ++dim) amounts.Set(dim, At(table, row, dim));
  return amounts;
}

void Cluster::RowChanged(Row row) {
  // A reader that lags by more than a few times the table reads the whole table instead.
  if (changes_.size() > 4 * present_.size() + 4096) {
    const std::size_t forgotten = changes_.size() / 2;
    changes_.erase(changes_.begin(), changes_.begin() + static_cast<std::ptrdiff_t>(forgotten));
    changes_begin_ += forgotten;
  }
  changes_.push_back(row);
  ++version_;
}

Resources Cluster::used() const { return held_on_present_; }

bool Cluster::SameNode(Row row, const NodeFacts& facts) const {
  if (row == kNone || !present(row) || unschedulable(row) != facts.unschedulable) return false;
  Resources there;
  for (const auto& [name, amount] : facts.allocatable) {
    const Dim dim = dims_.Find(name);
    if (dim == -1) return false;
    there.Set(dim, std::clamp<std::int64_t>(amount, 0, kMaxAmount));
  }
  if (!(there == RowAmounts(allocatable_, row))) return false;
  if (facts.labels.size() != labels_[Index(row)].size() || facts.taints.size() != taints(row).size()) return false;
  for (const auto& [key, value] : facts.labels) {
    const auto label = std::pair(names_.Find(key), names_.Find(value));
    if (!std::binary_search(labels_[Index(row)].begin(), labels_[Index(row)].end(), label)) return false;
  }
  for (std::size_t i = 0; i < facts.taints.size(); ++i) {
    const Taint& taint = taints(row)[i];
    if (names_.Find(facts.taints[i].key) != taint.key || names_.Find(facts.taints[i].value) != taint.value ||
        facts.taints[i].effect != taint.effect) {
      return false;
    }
  }
  return true;
}

void Cluster::SetNode(const NodeFacts& facts) {
  if (SameNode(FindNode(facts.name), facts)) return;
  const Row row = InternRow(facts.name);
  const Resources allocatable_now = dims_.Intern(facts.allocatable);
  GrowStride();
  const Resources before = RowAmounts(allocatable_, row);
  if (!present(row)) {
    Resources held;  // an absent row has nothing allocatable: what pods hold there is its negative free
    held.Subtract(RowAmounts(free_, row));
    held_on_present_.Add(held);
    present_[Index(row)] = 1;
    ++present_nodes_;
  }
  total_.Subtract(before);
  total_.Add(allocatable_now);
  AddToRow(free_, row, before, -1);
  AddToRow(free_, row, allocatable_now, 1);
  AddToRow(allocatable_, row, before, -1);
  AddToRow(allocatable_, row, allocatable_now, 1);
  auto& labels = labels_[Index(row)];
  labels.clear();
  for (const auto& [key, value] : facts.labels) labels.emplace_back(names_.Intern(key), names_.Intern(value));
  std::sort(labels.begin(), labels.end());
  auto& taints = taints_[Index(row)];
  taints.clear();
  for (const TaintFacts& taint : facts.taints) {
    taints.push_back({names_.Intern(taint.key), names_.Intern(taint.value), taint.effect});
  }
  unschedulable_[Index(row)] = facts.unschedulable ? 1 : 0;
  LabelsChanged(row);
  RowChanged(row);
}

void Cluster::RemoveNode(absl::string_view name) {
  const Row row = FindNode(name);
  if (row == kNone || !present(row)) return;
  const Resources allocatable_before = RowAmounts(allocatable_, row);
  Resources held = allocatable_before;
  held.Subtract(RowAmounts(free_, row));
  held_on_present_.Subtract(held);
  total_.Subtract(allocatable_before);
  AddToRow(free_, row, allocatable_before, -1);
  AddToRow(allocatable_, row, allocatable_before, -1);
  present_[Index(row)] = 0;
  --present_nodes_;
  labels_[Index(row)].clear();
  taints_[Index(row)].clear();
  unschedulable_[Index(row)] = 0;
  LabelsChanged(row);
  RowChanged(row);
  FreeRowIfUnused(row);
}

bool Cluster::Matches(Row row, const Term& term) const {
  if (term.empty()) return false;
  const auto& labels = labels_[Index(row)];
  return std::all_of(term.begin(), term.end(), [&](const Requirement& requirement) {
    if (requirement.key == kNodeNameKey) return Holds(requirement, node_name_[Index(row)], names_);
    auto it = std::lower_bound(labels.begin(), labels.end(), std::pair<int, int>(requirement.key, -1));
    if (it == labels.end() || it->first != requirement.key) return HoldsWithoutValue(requirement.op);
    return Holds(requirement, it->second, names_);
  });
}

bool Cluster::MatchesAny(Row row, const std::vector<Term>& terms) const {
  return std::any_of(terms.begin(), terms.end(), [&](const Term& term) { return Matches(row, term); });
}

bool Cluster::KeptOff(Row row, TermId term) const {
  return anti_affinities_.Keeps(term, row, [this](int at, int key) { return LabelOf(at, key); });
}

// ---- shapes

ShapeId Cluster::InternShape(const Wants& wants, const std::vector<TermId>& kept_off) {
  std::string key = ShapeKey(wants);
  const std::size_t size = key.size();
  for (const TermId term : kept_off) absl::StrAppend(&key, "|k", anti_affinities_.key(term));
  if (auto it = shape_by_key_.find(key); it != shape_by_key_.end()) {
    ++shapes_[Index(it->second)].users;
    return it->second;
  }
  Shape shape = MakeShape(wants, dims_, names_);
  GrowStride();
  shape.key = std::move(key);
  shape.wants_size = size;
  shape.kept_off = kept_off;
  const ShapeId id = AddShape(std::move(shape));
  for (const std::string& claim : wants.claims) shapes_[Index(id)].claims.push_back(volumes_.Use(claim, id));
  return id;
}

// What asks for the same, of pods that these anti-affinities match.
ShapeId Cluster::ShapeKeptOff(ShapeId alike, const std::vector<TermId>& kept_off) {
  const Shape& like = shapes_[Index(alike)];
  std::string key = like.key.substr(0, like.wants_size);
  for (const TermId term : kept_off) absl::StrAppend(&key, "|k", anti_affinities_.key(term));
  if (auto it = shape_by_key_.find(key); it != shape_by_key_.end()) {
    ++shapes_[Index(it->second)].users;
    return it->second;
  }
  Shape shape = like;
  shape.key = std::move(key);
  shape.kept_off = kept_off;
  const ShapeId id = AddShape(std::move(shape));
  for (const ClaimId claim : shapes_[Index(id)].claims) volumes_.Use(claim, id);
  return id;
}

ShapeId Cluster::AddShape(Shape shape) {
  ShapeId id = kNone;
  if (!free_shapes_.empty()) {
    id = free_shapes_.back();
    free_shapes_.pop_back();
  } else {
    id = shape_slots();
    shapes_.emplace_back();
    shape_versions_.push_back(0);
  }
  shape.users = 1;
  for (const TermId term : shape.kept_off) anti_affinities_.Use(term);
  if (!shape.kept_off.empty()) kept_off_shapes_.push_back(id);
  shape_by_key_.emplace(shape.key, id);
  shapes_[Index(id)] = std::move(shape);
  shape_versions_[Index(id)] = ++last_shape_version_;
  return id;
}

void Cluster::ReleaseShape(ShapeId id) {
  Shape& shape = shapes_[Index(id)];
  if (--shape.users > 0) return;
  shape_by_key_.erase(shape.key);
  for (const ClaimId claim : shape.claims) volumes_.Unuse(claim, id);
  for (const TermId term : shape.kept_off) anti_affinities_.Unuse(term);
  if (!shape.kept_off.empty()) std::erase(kept_off_shapes_, id);
  shape = Shape();
  shape_versions_[Index(id)] = 0;
  free_shapes_.push_back(id);
}

void Cluster::Stir(const std::vector<ShapeId>& shapes) {
  for (const ShapeId id : shapes) shape_versions_[Index(id)] = ++last_shape_version_;
  if (!shapes.empty()) ++version_;
}

// ---- anti-affinities

void Cluster::StirKeptOffBy(TermId term) {
  std::vector<ShapeId> shapes;
  for (const ShapeId id : kept_off_shapes_) {
    const std::vector<TermId>& terms = shapes_[Index(id)].kept_off;
    if (std::find(terms.begin(), terms.end(), term) != terms.end()) shapes.push_back(id);
  }
  Stir(shapes);
}

int Cluster::LabelOf(Row row, int key) const {
  const auto& labels = labels_[Index(row)];
  const auto it = std::lower_bound(labels.begin(), labels.end(), std::pair<int, int>(key, -1));
  return it == labels.end() || it->first != key ? -1 : it->second;
}

void Cluster::LabelsChanged(Row row) {
  for (const TermId term : anti_affinities_.RowChanged(row, [this](int at, int key) { return LabelOf(at, key); })) StirKeptOffBy(term);
}

void Cluster::KeepAway(TaskId id, const std::vector<AntiAffinityFacts>& terms) {
  if (terms.empty() || task(id).row == kNone) return;
  std::vector<TermId> fresh;
  const auto label_of = [this](int at, int key) { return LabelOf(at, key); };
  for (const TermId term : anti_affinities_.Add(id, task(id).row, terms, label_of, fresh)) StirKeptOffBy(term);
  if (fresh.empty()) return;
  MatchWaiting([&](const Task& task, absl::string_view labels) {
    std::vector<TermId> kept_off = shape(task.shape).kept_off;
    const std::size_t before = kept_off.size();
    for (const TermId term : fresh) {
      if (anti_affinities_.Matches(term, task.ns, labels)) kept_off.push_back(term);
    }
    if (kept_off.size() > before) anti_affinities_.SortByKey(kept_off);
    return kept_off;
  });
}

void Cluster::LetNear(TaskId id) {
  for (const TermId term : anti_affinities_.Remove(id, [this](int at, int key) { return LabelOf(at, key); })) StirKeptOffBy(term);
}

// Gives every task without a node the shape of what keeps it off nodes.
void Cluster::MatchWaiting(absl::FunctionRef<std::vector<TermId>(const Task& task, absl::string_view packed_labels)> kept_off_by) {
  for (const auto& [id, labels] : waiting_labels_) {
    Task& task = tasks_[Index(id)];
    const std::vector<TermId> kept_off = kept_off_by(task, labels);
    if (kept_off == shape(task.shape).kept_off) continue;
    const ShapeId before = task.shape;
    task.shape = ShapeKeptOff(before, kept_off);
    ReleaseShape(before);
    ++version_;
  }
}

void Cluster::SetNamespace(const NamespaceFacts& facts) {
  if (anti_affinities_.SetNamespace(facts.name, PackLabels(facts.labels))) MatchAllAnew();
}

void Cluster::RemoveNamespace(absl::string_view name) {
  if (anti_affinities_.RemoveNamespace(name)) MatchAllAnew();
}

void Cluster::MatchAllAnew() {
  MatchWaiting([this](const Task& task, absl::string_view labels) { return anti_affinities_.Matching(task.ns, labels); });
}

// ---- tasks

void Cluster::TakeRoom(Task& task) {
  if (!task.holds_room()) return;
  const Shape& wanted = shapes_[Index(task.shape)];
  AddToRow(free_, task.row, wanted.request, -1);
  if (present(task.row)) held_on_present_.Add(wanted.request);
  auto& ports = ports_[Index(task.row)];
  ports.insert(ports.end(), wanted.ports.begin(), wanted.ports.end());
  for (const ClaimId claim : wanted.claims) volumes_.Hold(claim, 1);
  if (task.gang != kNone) {
    Gang& gang = gangs_[Index(task.gang)];
    gang.held.Add(wanted.request);
    if (gang.queue != kNone) queues_[Index(gang.queue)].held.Add(wanted.request);
  }
  RowChanged(task.row);
}

void Cluster::GiveRoom(Task& task) {
  if (!task.holds_room()) return;
  const Shape& wanted = shapes_[Index(task.shape)];
  AddToRow(free_, task.row, wanted.request, 1);
  if (present(task.row)) held_on_present_.Subtract(wanted.request);
  auto& ports = ports_[Index(task.row)];
  for (const HostPort& port : wanted.ports) {
    auto it = std::find_if(ports.begin(), ports.end(), [&](const HostPort& taken) {
      return taken.port == port.port && taken.protocol == port.protocol && taken.ip == port.ip;
    });
    GW_CHECK(it != ports.end());
    ports.erase(it);
  }
  for (const ClaimId claim : wanted.claims) volumes_.Hold(claim, -1);
  if (task.gang != kNone) {
    Gang& gang = gangs_[Index(task.gang)];
    gang.held.Subtract(wanted.request);
    if (gang.queue != kNone) queues_[Index(gang.queue)].held.Subtract(wanted.request);
  }
  RowChanged(task.row);
}

TaskId Cluster::FindTask(absl::string_view ns, absl::string_view name) const {
  auto it = task_by_key_.find(KeyOf(ns, name));
  return it == task_by_key_.end() ? kNone : it->second;
}

bool Cluster::SamePod(TaskId id, const PodFacts& facts) const {
  const Task& task = tasks_[Index(id)];
  const auto labels = waiting_labels_.find(id);
  const bool same_labels = (labels == waiting_labels_.end() ? "" : labels->second) == (MayBePlaced(facts) ? PackLabels(facts.labels) : "");
  const TaskStatus status = task.status == TaskStatus::kBinding ? TaskStatus::kPending : task.status;
  // A gang that nobody told of yet is another than none.
  const bool same_gang = task.gang == kNone ? facts.gang.empty() : task.gang == FindGang(facts.ns, facts.gang);
  const bool on_node = task.status == TaskStatus::kBinding ? facts.node.empty()
                       : task.row == kNone                 ? facts.node.empty()
                                                           : facts.node == node_name(task.row);
  return task.uid == facts.uid && status == StatusOf(facts) && on_node && same_gang &&
         names_.Text(task.role) == facts.role && PartitionText(task) == facts.partition && task.priority == facts.priority && task.index == facts.index &&
         task.ours == facts.ours && task.gated == facts.gated && task.controlled == facts.controlled &&
         task.created == facts.created &&
         absl::string_view(shape(task.shape).key).substr(0, shape(task.shape).wants_size) == ShapeKey(facts.wants) && same_labels;
}

TaskId Cluster::SetPod(const PodFacts& facts) {
  const std::string key = KeyOf(facts.ns, facts.name);
  if (auto it = task_by_key_.find(key); it != task_by_key_.end() && SamePod(it->second, facts)) return it->second;
  ++version_;
  Row assumed = kNone;
  if (auto it = task_by_key_.find(key); it != task_by_key_.end()) {
    const Task& before = task(it->second);
    const bool same = before.uid == facts.uid;
    if (same && before.status == TaskStatus::kBinding && facts.node.empty() && !facts.terminating &&
        facts.phase == PodPhase::kPending) {
      assumed = before.row;
    }
    if (!same) {
      RemoveTask(it->second);
    } else {
      GiveRoom(tasks_[Index(it->second)]);
    }
  }
  TaskId id = kNone;
  bool fresh = false;
  if (auto it = task_by_key_.find(key); it != task_by_key_.end()) {
    id = it->second;
    LeaveGang(id);
    ReleaseShape(tasks_[Index(id)].shape);
  } else {
    fresh = true;
    if (!free_tasks_.empty()) {
      id = free_tasks_.back();
      free_tasks_.pop_back();
    } else {
      id = static_cast<TaskId>(tasks_.size());
      tasks_.emplace_back();
    }
    task_by_key_.emplace(key, id);
  }
  const bool may_be_placed = MayBePlaced(facts);
  const ShapeId shape =
      InternShape(facts.wants, may_be_placed && !anti_affinities_.empty() ? anti_affinities_.Matching(facts.ns, PackLabels(facts.labels)) : std::vector<TermId>());
  const GangId gang = facts.gang.empty() ? kNone : InternGang(facts.ns, facts.gang);
  Row row = assumed;
  if (!facts.node.empty()) row = InternRow(facts.node);
  GrowStride();
  Task& task = tasks_[Index(id)];
  const Row row_before = fresh ? kNone : task.row;
  task.ns = facts.ns;
  task.name = facts.name;
  task.uid = facts.uid;
  task.shape = shape;
  task.row = row;
  task.role = names_.Intern(facts.role);
  task.partition = facts.partition.empty() ? kNone : names_.Intern(facts.partition);
  task.priority = facts.priority;
  task.index = facts.index;
  task.status = assumed != kNone ? TaskStatus::kBinding : StatusOf(facts);
  task.ours = facts.ours;
  task.gated = facts.gated;
  task.controlled = facts.controlled;
  task.created = facts.created;
  task.used = true;
  if (row != kNone) ++pods_on_row_[Index(row)];
  if (row_before != kNone) {
    --pods_on_row_[Index(row_before)];
    FreeRowIfUnused(row_before);
  }
  JoinGang(id, gang);
  TakeRoom(tasks_[Index(id)]);
  if (may_be_placed) {
    waiting_labels_[id] = PackLabels(facts.labels);
  } else {
    waiting_labels_.erase(id);
  }
  if (facts.keeps_away.empty() || !anti_affinities_.Has(id, row)) {
    LetNear(id);
    KeepAway(id, facts.keeps_away);
  }
  return id;
}

void Cluster::RemovePod(absl::string_view ns, absl::string_view name) {
  if (const TaskId id = FindTask(ns, name); id != kNone) RemoveTask(id);
}

void Cluster::RemoveTask(TaskId id) {
  Task& task = tasks_[Index(id)];
  GiveRoom(task);
  LetNear(id);
  waiting_labels_.erase(id);
  LeaveGang(id);
  ReleaseShape(task.shape);
  if (task.row != kNone) {
    --pods_on_row_[Index(task.row)];
    FreeRowIfUnused(task.row);
  }
  task_by_key_.erase(KeyOf(task.ns, task.name));
  tasks_[Index(id)] = Task();
  free_tasks_.push_back(id);
}

void Cluster::Place(Task& task, Row row, TaskStatus status) {
  GiveRoom(task);
  if (task.row != kNone) --pods_on_row_[Index(task.row)];
  if (task.gang != kNone) --gangs_[Index(task.gang)].count[static_cast<std::size_t>(task.status)];
  task.row = row;
  task.status = status;
  if (row != kNone) ++pods_on_row_[Index(row)];
  if (task.gang != kNone) {
    ++gangs_[Index(task.gang)].count[static_cast<std::size_t>(status)];
    GangChanged(task.gang);
  }
  TakeRoom(task);
}

void Cluster::Assume(TaskId id, Row row) {
  Task& task = tasks_[Index(id)];
  GW_CHECK(task.status == TaskStatus::kPending);
  Place(task, row, TaskStatus::kBinding);
}

void Cluster::Forget(TaskId id) {
  Task& task = tasks_[Index(id)];
  if (task.status != TaskStatus::kBinding) return;
  const Row row = task.row;
  Place(task, kNone, TaskStatus::kPending);
  FreeRowIfUnused(row);
}

// ---- gangs

GangId Cluster::InternGang(absl::string_view ns, absl::string_view name) {
  std::string key = KeyOf(ns, name);
  if (auto it = gang_by_key_.find(key); it != gang_by_key_.end()) return it->second;
  GangId id = kNone;
  if (!free_gangs_.empty()) {
    id = free_gangs_.back();
    free_gangs_.pop_back();
  } else {
    id = static_cast<GangId>(gangs_.size());
    gangs_.emplace_back();
  }
  Gang& gang = gangs_[Index(id)];
  gang.ns = std::string(ns);
  gang.name = std::string(name);
  gang_by_key_.emplace(std::move(key), id);
  return id;
}

GangId Cluster::FindGang(absl::string_view ns, absl::string_view name) const {
  auto it = gang_by_key_.find(KeyOf(ns, name));
  return it == gang_by_key_.end() ? kNone : it->second;
}

void Cluster::JoinGang(TaskId id, GangId gang_id) {
  Task& task = tasks_[Index(id)];
  task.gang = gang_id;
  if (gang_id == kNone) return;
  Gang& gang = gangs_[Index(gang_id)];
  gang.tasks.push_back(id);
  ++gang.count[static_cast<std::size_t>(task.status)];
  if (task.status == TaskStatus::kReleasing && task.row != kNone) ++gang.binding_releasing;
  GangChanged(gang_id);
}

void Cluster::LeaveGang(TaskId id) {
  Task& task = tasks_[Index(id)];
  if (task.gang == kNone) return;
  const GangId gang_id = task.gang;
  Gang& gang = gangs_[Index(gang_id)];
  auto it = std::find(gang.tasks.begin(), gang.tasks.end(), id);
  GW_CHECK(it != gang.tasks.end());
  *it = gang.tasks.back();
  gang.tasks.pop_back();
  --gang.count[static_cast<std::size_t>(task.status)];
  if (task.status == TaskStatus::kReleasing && task.row != kNone) --gang.binding_releasing;
  task.gang = kNone;
  GangChanged(gang_id);
  FreeGangIfUnused(gang_id);
}

void Cluster::FreeGangIfUnused(GangId id) {
  Gang& gang = gangs_[Index(id)];
  if (gang.known || !gang.tasks.empty()) return;
  gang_by_key_.erase(KeyOf(gang.ns, gang.name));
  gang = Gang();
  free_gangs_.push_back(id);
}

void Cluster::GangChanged(GangId id) {
  ++version_;
  const Gang& gang = gangs_[Index(id)];
  const bool pending = gang.Count(TaskStatus::kPending) > 0;
  const bool short_of_ready = !gang.tasks.empty() && gang.ready() < gang.min_member;
  if (gang.known && (!gang.admitted || pending || short_of_ready)) {
    waiting_.insert(id);
  } else {
    waiting_.erase(id);
  }
  if (gang.known && gang.admitted && gang.phase != GangPhase::kCompleted &&
      gang.ready() + gang.Count(TaskStatus::kPending) < gang.min_member) {
    awaiting_pods_.insert(id);
  } else {
    awaiting_pods_.erase(id);
  }
}

void Cluster::SetGangQueue(Gang& gang, QueueId queue) {
  if (gang.queue == queue) return;
  const QueueId before = gang.queue;
  if (before != kNone) {
    queues_[Index(before)].held.Subtract(gang.held);
    --queues_[Index(before)].gangs;
  }
  gang.queue = queue;
  if (queue != kNone) {
    queues_[Index(queue)].held.Add(gang.held);
    ++queues_[Index(queue)].gangs;
  }
  if (before != kNone) FreeQueueIfUnused(before);
}

GangId Cluster::SetGang(const GangFacts& facts) {
  const GangId id = InternGang(facts.ns, facts.name);
  Gang& gang = gangs_[Index(id)];
  if (gang.uid != facts.uid) gang.held_back.clear();
  const bool same = gang.known && gang.uid == facts.uid;
  gang.known = true;
  gang.uid = facts.uid;
  SetGangQueue(gang, InternQueue(facts.queue.empty() ? "default" : facts.queue));
  gang.priority_class = facts.priority_class.empty() ? kNone : names_.Intern(facts.priority_class);
  gang.min_member = facts.min_member;
  gang.min_task_member.clear();
  for (const auto& [role, count] : facts.min_task_member) {
    if (count > 0) gang.min_task_member.emplace_back(names_.Intern(role), count);
  }
  std::sort(gang.min_task_member.begin(), gang.min_task_member.end());
  gang.sub_groups.clear();
  for (const SubGroupFacts& group : facts.sub_groups) {
    gang.sub_groups.push_back({names_.Intern(group.role), std::max(group.size, 1), std::max(group.min_groups, 0)});
  }
  std::sort(gang.sub_groups.begin(), gang.sub_groups.end(), [](const SubGroups& a, const SubGroups& b) { return a.role < b.role; });
  gang.has_min_resources = facts.has_min_resources;
  gang.min_resources = dims_.Intern(facts.min_resources);
  GrowStride();
  gang.not_modelled = facts.not_modelled;
  gang.created = facts.created;
  const bool let_in = facts.phase != GangPhase::kNone && facts.phase != GangPhase::kPending;
  // A decision to let it in outlives events that were written before it.
  gang.admitted = let_in || (same && gang.admitted && gang.phase == facts.phase);
  gang.phase = facts.phase;
  gang.was_whole = facts.was_whole;
  GangChanged(id);
  return id;
}

void Cluster::RemoveGang(absl::string_view ns, absl::string_view name) {
  const GangId id = FindGang(ns, name);
  if (id == kNone) return;
  Gang& gang = gangs_[Index(id)];
  SetGangQueue(gang, kNone);
  gang.known = false;
  gang.admitted = false;
  gang.uid.clear();
  gang.phase = GangPhase::kNone;
  gang.was_whole = false;
  gang.min_member = 0;
  gang.min_task_member.clear();
  gang.sub_groups.clear();
  GangChanged(id);
  FreeGangIfUnused(id);
}

void Cluster::SetAdmitted(GangId id, bool admitted) {
  gangs_[Index(id)].admitted = admitted;
  GangChanged(id);
}

void Cluster::SetHeldBack(GangId id, std::string why) {
  Gang& gang = gangs_[Index(id)];
  if (gang.held_back == why) return;
  gang.held_back = std::move(why);
  GangChanged(id);
}

std::int32_t Cluster::PriorityOf(const Gang& gang) const {
  if (gang.priority_class != kNone) {
    if (auto it = priority_classes_.find(gang.priority_class); it != priority_classes_.end()) return it->second.value;
  }
  std::int32_t value = 0;
  bool found = false;
  for (const auto& [name, facts] : priority_classes_) {  // of several defaults the highest: the order does not matter
    if (!facts.global_default) continue;
    value = found ? std::max(value, facts.value) : facts.value;
    found = true;
  }
  return value;
}

void Cluster::SetPriorityClass(const PriorityClassFacts& facts) {
  priority_classes_[names_.Intern(facts.name)] = facts;
  ++version_;
}

void Cluster::RemovePriorityClass(absl::string_view name) {
  priority_classes_.erase(names_.Intern(name));
  ++version_;
}

// ---- queues

QueueId Cluster::InternQueue(absl::string_view name) {
  if (auto it = queue_by_name_.find(name); it != queue_by_name_.end()) return it->second;
  QueueId id = kNone;
  if (!free_queues_.empty()) {
    id = free_queues_.back();
    free_queues_.pop_back();
  } else {
    id = queue_slots();
    queues_.emplace_back();
  }
  queues_[Index(id)].name = std::string(name);
  queue_by_name_.emplace(std::string(name), id);
  return id;
}

void Cluster::FreeQueueIfUnused(QueueId id) {
  Queue& queue = queues_[Index(id)];
  if (queue.known || queue.gangs > 0 || queue.children > 0) return;
  queue_by_name_.erase(queue.name);
  queue = Queue();
  free_queues_.push_back(id);
}

std::int64_t Queue::Limit(Dim dim) const {
  for (const auto& [limited, amount] : capability) {
    if (limited == dim) return amount;
  }
  return kUnlimited;
}

void Cluster::SetParent(QueueId id, QueueId parent) {
  const QueueId before = queues_[Index(id)].parent;
  if (before == parent) return;
  queues_[Index(id)].parent = parent;
  if (parent != kNone) ++queues_[Index(parent)].children;
  if (before == kNone) return;
  --queues_[Index(before)].children;
  FreeQueueIfUnused(before);
}

void Cluster::SetQueue(const QueueFacts& facts) {
  const QueueId id = InternQueue(facts.name);
  const QueueId parent = facts.parent.empty() || facts.parent == facts.name ? kNone : InternQueue(facts.parent);
  SetParent(id, parent);
  Queue& queue = queues_[Index(id)];
  queue.known = true;
  queue.weight = std::max(facts.weight, 1);
  queue.priority = facts.priority;
  queue.open = facts.open;
  queue.capability.clear();
  for (const auto& [name, amount] : facts.capability) {
    const Dim dim = dims_.Intern(name);
    if (amount > 0 || (dim != kCpu && dim != kMemory)) queue.capability.emplace_back(dim, std::clamp<std::int64_t>(amount, 0, kMaxAmount));
  }
  queue.guarantee = dims_.Intern(facts.guarantee);
  queue.not_modelled = facts.not_modelled;
  queue.created = facts.created;
  ++version_;
  GrowStride();
}

void Cluster::RemoveQueue(absl::string_view name) {
  auto it = queue_by_name_.find(name);
  if (it == queue_by_name_.end()) return;
  const QueueId id = it->second;
  Queue& queue = queues_[Index(id)];
  ++version_;
  queue.known = false;
  queue.capability.clear();
  queue.guarantee = Resources();
  queue.not_modelled.clear();
  SetParent(id, kNone);
  FreeQueueIfUnused(id);
}

}  // namespace gangway::model
