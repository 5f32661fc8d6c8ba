#include "plugin/gang/place.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/gang/admit.h"
#include "plugin/gang/constraint/asks.h"
#include "plugin/gang/order.h"
#include "plugin/gang/search.h"

namespace gangway::gang {

using model::Cluster;
using model::Reason;
using model::Row;
using model::ShapeId;
using model::Task;
using model::TaskId;
using model::TaskStatus;

namespace {

bool CountsAsReady(TaskStatus status) {
  return status == TaskStatus::kBinding || status == TaskStatus::kBound || status == TaskStatus::kRunning ||
         status == TaskStatus::kSucceeded;
}

// spec: volcano-scheduler 3.3: the minima of the tasks are not looked at when the gang's own is smaller than their sum.
bool RolesCount(const model::Gang& gang) {
  int sum = 0;
  for (const auto& [role, count] : gang.min_task_member) sum += count;
  return gang.min_member >= sum;
}

std::map<int, int> ReadyByRole(const Cluster& cluster, const model::Gang& gang) {
  std::map<int, int> ready;
  for (const TaskId id : gang.tasks) {
    if (CountsAsReady(cluster.task(id).status)) ++ready[cluster.task(id).role];
  }
  return ready;
}

const model::SubGroups* SubGroupsOf(const model::Gang& gang, const Task& task) {
  if (task.partition == model::kNone) return nullptr;
  for (const model::SubGroups& policy : gang.sub_groups) {
    if (policy.role == task.role) return &policy;
  }
  return nullptr;
}

// Ready tasks by role and partition, of those that belong to a sub-group.
std::map<std::pair<int, int>, int> ReadyByPartition(const Cluster& cluster, const model::Gang& gang) {
  std::map<std::pair<int, int>, int> ready;
  if (gang.sub_groups.empty()) return ready;
  for (const TaskId id : gang.tasks) {
    const Task& task = cluster.task(id);
    if (SubGroupsOf(gang, task) != nullptr && CountsAsReady(task.status)) ++ready[{task.role, task.partition}];
  }
  return ready;
}

int WholeSubGroups(const Cluster& cluster, const model::Gang& gang, const model::SubGroups& policy) {
  int whole = 0;
  for (const auto& [key, ready] : ReadyByPartition(cluster, gang)) whole += key.first == policy.role && ready >= policy.size ? 1 : 0;
  return whole;
}

// Of the gang, of its sub-groups and of each role.
bool HasMinimum(const Cluster& cluster, const model::Gang& gang) {
  if (gang.ready() < gang.min_member) return false;
  for (const model::SubGroups& policy : gang.sub_groups) {
    if (WholeSubGroups(cluster, gang, policy) < policy.min_groups) return false;
  }
  if (!RolesCount(gang)) return true;
  std::map<int, int> ready = ReadyByRole(cluster, gang);
  return std::all_of(gang.min_task_member.begin(), gang.min_task_member.end(),
                     [&](const auto& minimum) { return ready[minimum.first] >= minimum.second; });
}

}  // namespace

GangPlacement::GangPlacement(Overlay& overlay, Scratch& scratch, const Policy& policy, model::GangId gang)
    : overlay_(overlay), scratch_(scratch), policy_(policy), id_(gang), gang_(overlay.cluster().gang(gang)) {}

Reason GangPlacement::NewReason(Reason::Kind kind) const {
  Reason reason;
  reason.kind = kind;
  reason.min_member = gang_.min_member;
  reason.existing = gang_.ready();
  reason.missing = std::max(gang_.min_member - gang_.ready(), 0);
  return reason;
}

void GangPlacement::Collect() {
  const Cluster& cluster = overlay_.cluster();
  std::vector<TaskId> candidates;
  for (const TaskId id : gang_.tasks) {
    const Task& task = cluster.task(id);
    if (task.status != TaskStatus::kPending || !task.ours || task.gated) continue;
    if (!cluster.shape(task.shape).not_modelled.empty()) continue;
    candidates.push_back(id);
  }
  SortTasks(cluster, candidates);
  // What only one pod can have goes to the first.
  overlay_.Begin();
  std::erase_if(candidates, [&](TaskId id) {
    const ShapeId shape = cluster.task(id).shape;
    const constraint::Asks& asks = overlay_.AsksOf(shape);
    std::optional<constraint::Blocked> blocked = asks.BlockedByFacts();
    if (!blocked.has_value()) blocked = asks.BlockedByPlaced();
    if (!blocked.has_value()) {
      if (asks.exclusive()) overlay_.Take(model::kNone, shape, 1);
      return false;
    }
    if (!blocked_.has_value() || blocked->subject < blocked_->subject) blocked_ = std::move(blocked);
    return true;
  });
  overlay_.Drop();
  CollectUnits(std::move(candidates));
  rows_.assign(tasks_.size(), model::kNone);
}

// What a sub-group lacks of its size is one unit. Where fewer pods may be placed than that, none of them is.
void GangPlacement::CollectUnits(std::vector<TaskId> candidates) {
  const Cluster& cluster = overlay_.cluster();
  std::map<std::pair<int, int>, int> lacking;
  if (!gang_.sub_groups.empty()) {
    std::map<std::pair<int, int>, int> there = ReadyByPartition(cluster, gang_), pending;
    for (const TaskId id : candidates) {
      const Task& task = cluster.task(id);
      if (SubGroupsOf(gang_, task) != nullptr) ++pending[{task.role, task.partition}];
    }
    for (const auto& [key, count] : pending) {
      const auto policy = std::find_if(gang_.sub_groups.begin(), gang_.sub_groups.end(),
                                       [&, role = key.first](const model::SubGroups& p) { return p.role == role; });
      const int lack = std::max(policy->size - there[key], 0);
      if (count < lack) incomplete_ = &*policy;
      lacking[key] = count < lack ? -1 : lack;
    }
  }
  std::map<std::pair<int, int>, std::size_t> open;  // the units that make a sub-group whole
  for (const TaskId id : candidates) {
    const Task& task = cluster.task(id);
    const std::pair<int, int> key{task.role, task.partition};
    int* const lack = SubGroupsOf(gang_, task) == nullptr ? nullptr : &lacking[key];
    if (lack != nullptr && *lack < 0) continue;
    const std::size_t index = tasks_.size();
    tasks_.push_back(id);
    if (lack == nullptr || *lack == 0) {
      const auto whole = lack == nullptr ? open.end() : open.find(key);
      units_.push_back({{index}, whole == open.end() ? model::kNone : static_cast<int>(whole->second)});
      continue;
    }
    const auto [unit, fresh] = open.emplace(key, units_.size());
    if (fresh) units_.emplace_back();
    units_[unit->second].tasks.push_back(index);
    --*lack;
  }
}

// Too few tasks may be placed: says which of the pending ones are held back and why.
bool GangPlacement::ComplainOfBlocked(int usable) {
  const Cluster& cluster = overlay_.cluster();
  std::string gated, not_modelled;
  for (const TaskId id : gang_.tasks) {
    const Task& task = cluster.task(id);
    if (task.status != TaskStatus::kPending || !task.ours) continue;
    if (task.gated && (gated.empty() || task.name < gated)) gated = task.name;
    const std::string& field = cluster.shape(task.shape).not_modelled;
    if (!task.gated && !field.empty() && (not_modelled.empty() || field < not_modelled)) not_modelled = field;
  }
  if (gated.empty() && not_modelled.empty() && blocked_.has_value()) {
    reason_ = NewReason(blocked_->kind);
    reason_->subject = blocked_->subject;
    reason_->trouble = blocked_->trouble;
    reason_->detail = blocked_->detail;
    reason_->missing = std::max(gang_.min_member - usable, 1);
    return true;
  }
  if (gated.empty() && not_modelled.empty()) {
    if (incomplete_ == nullptr) return false;
    reason_ = TooFewSubGroups(*incomplete_, WholeSubGroups(cluster, gang_, *incomplete_) + 1);
    return true;
  }
  reason_ = NewReason(not_modelled.empty() ? Reason::Kind::kGated : Reason::Kind::kNotModelled);
  reason_->subject = not_modelled.empty() ? gated : not_modelled;
  reason_->missing = std::max(gang_.min_member - usable, 1);
  return true;
}

void GangPlacement::ComplainOfBinding() {
  reason_ = NewReason(Reason::Kind::kBindFailed);
  reason_->subject = gang_.held_back;
}

bool GangPlacement::Complain() {
  const Cluster& cluster = overlay_.cluster();
  if (gang_.ready() + gang_.Count(TaskStatus::kPending) < gang_.min_member) {
    reason_ = NewReason(Reason::Kind::kTooFewTasks);
    reason_->existing = gang_.ready() + gang_.Count(TaskStatus::kPending);
    reason_->missing = gang_.min_member - reason_->existing;
    reason_->ending = gang_.Count(TaskStatus::kReleasing);
    return true;
  }
  if (!gang_.not_modelled.empty()) {
    reason_ = NewReason(Reason::Kind::kNotModelled);
    reason_->subject = gang_.not_modelled;
    return true;
  }
  if (rests() && gang_.ready() == 0) {
    ComplainOfBinding();
    return true;
  }
  reason_ = QueueReason(cluster, gang_);
  if (reason_.has_value()) return true;
  Collect();
  const int usable = gang_.ready() + static_cast<int>(tasks_.size());
  if (usable < gang_.min_member) {
    if (ComplainOfBlocked(usable)) return true;
    reason_ = NewReason(Reason::Kind::kTooFewTasks);
    reason_->existing = usable;
    reason_->missing = gang_.min_member - usable;
    return true;
  }
  return false;
}

Reason GangPlacement::TooFewSubGroups(const model::SubGroups& policy, int wanted) const {
  Reason reason = NewReason(Reason::Kind::kTooFewSubGroups);
  reason.subject = std::string(overlay_.cluster().names().Text(policy.role));
  reason.size = policy.size;
  reason.min_member = wanted;
  reason.existing = WholeSubGroups(overlay_.cluster(), gang_, policy);
  reason.missing = std::max(wanted - reason.existing, 0);
  return reason;
}

// As many whole sub-groups as each policy needs, the first ones.
void GangPlacement::ChooseSubGroups(std::vector<char>& taken) {
  const Cluster& cluster = overlay_.cluster();
  for (const model::SubGroups& policy : gang_.sub_groups) {
    int whole = WholeSubGroups(cluster, gang_, policy);
    if (whole >= policy.min_groups) continue;
    std::set<int> counted;  // partitions that are whole with what is taken
    const auto ready = ReadyByPartition(cluster, gang_);
    const auto completes = [&](const Unit& unit) {
      const Task& task = cluster.task(tasks_[unit.tasks.front()]);
      if (task.role != policy.role || SubGroupsOf(gang_, task) == nullptr || counted.contains(task.partition)) return false;
      const auto it = ready.find({task.role, task.partition});
      if (it != ready.end() && it->second >= policy.size) return false;  // it was whole before
      counted.insert(task.partition);
      return true;
    };
    for (const bool free : {false, true}) {
      for (const Unit& unit : units_) {
        if (whole >= policy.min_groups) break;
        if ((taken[unit.tasks.front()] == 0) != free || !completes(unit)) continue;
        for (const std::size_t i : unit.tasks) taken[i] = 1;
        ++whole;
      }
    }
    if (whole < policy.min_groups && !reason_.has_value()) {
      reason_ = TooFewSubGroups(policy, policy.min_groups);
      reason_->missing = policy.min_groups - whole;
      reason_->existing = whole;
    }
  }
}

// Splits the tasks into those that roles' and sub-groups' minima need, those the gang's minimum needs, and the rest.
void GangPlacement::Choose() {
  const Cluster& cluster = overlay_.cluster();
  std::vector<char> taken(tasks_.size(), 0);
  if (RolesCount(gang_)) {
    std::map<int, int> ready = ReadyByRole(cluster, gang_);
    for (const auto& [role, minimum] : gang_.min_task_member) {
      int wanted = minimum - ready[role];
      for (const Unit& unit : units_) {
        if (wanted <= 0) break;
        if (cluster.task(tasks_[unit.tasks.front()]).role != role) continue;
        for (const std::size_t i : unit.tasks) taken[i] = 1;
        wanted -= static_cast<int>(unit.tasks.size());
      }
      if (wanted > 0 && !reason_.has_value()) {
        reason_ = NewReason(Reason::Kind::kTooFewOfRole);
        reason_->subject = std::string(cluster.names().Text(role));
        reason_->min_member = minimum;
        reason_->missing = wanted;
        reason_->existing = minimum - wanted;
      }
    }
  }
  ChooseSubGroups(taken);
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    if (taken[i] != 0) role_needed_.push_back(i);
  }
  int wanted = gang_.min_member - gang_.ready() - static_cast<int>(role_needed_.size());
  for (const Unit& unit : units_) {
    if (taken[unit.tasks.front()] != 0) continue;
    if (wanted <= 0) {
      rest_.push_back(unit);
      continue;
    }
    for (const std::size_t i : unit.tasks) taken[i] = 1;
    wanted -= static_cast<int>(unit.tasks.size());
  }
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    if (taken[i] != 0) needed_.push_back(i);
  }
}

std::vector<GangPlacement::Group> GangPlacement::GroupByShape(const std::vector<std::size_t>& tasks) const {
  std::vector<Group> groups;
  for (const std::size_t i : tasks) {
    const ShapeId shape = overlay_.cluster().task(tasks_[i]).shape;
    auto it = std::find_if(groups.begin(), groups.end(), [&](const Group& group) { return group.shape == shape; });
    if (it == groups.end()) {
      groups.push_back({shape, {}});
      it = groups.end() - 1;
    }
    it->tasks.push_back(i);
  }
  return groups;
}

void GangPlacement::Put(std::size_t task, Row row) {
  const ShapeId shape = overlay_.cluster().task(tasks_[task]).shape;
  rows_[task] = row;
  overlay_.Take(row, shape, 1);
  overlay_.TakeFromQueue(gang_.queue, overlay_.cluster().shape(shape).request);
  scratch_.RowTouched(row);
}

void GangPlacement::DropAll() {
  for (const Row row : overlay_.Drop()) scratch_.RowTouched(row);
  std::fill(rows_.begin(), rows_.end(), model::kNone);
}

// Each group on the best rows that are left; goes on after a group that does not fit, to count what is missing.
bool GangPlacement::FillGreedily(const std::vector<Group>& groups) {
  bool all = true;
  for (const Group& group : groups) {
    if (overlay_.AsksOf(group.shape).changes_beyond()) {
      all = FillOneByOne(group) && all;
      continue;
    }
    std::vector<std::pair<Row, int>> chosen;
    auto left = static_cast<int>(group.tasks.size());
    const ShapeFit& fit = scratch_.Fit(overlay_, group.shape);
    for (const Rank& rank : fit.order()) {
      if (left == 0) break;
      chosen.emplace_back(rank.row, std::min(left, fit.copies(rank.row)));
      left -= chosen.back().second;
    }
    std::size_t next = 0;
    for (const auto& [row, count] : chosen) {
      for (int i = 0; i < count; ++i) Put(group.tasks[next++], row);
    }
    all = all && left == 0;
  }
  return all;
}

// Each task changes where the next may go.
bool GangPlacement::FillOneByOne(const Group& group) {
  for (const std::size_t task : group.tasks) {
    const ShapeFit& fit = scratch_.Fit(overlay_, group.shape);
    if (fit.order().empty()) return false;
    Put(task, fit.order().begin()->row);
  }
  return true;
}

// More than there are copies of. Where pods change what other rows take, the copies there are now say nothing.
bool GangPlacement::TooMany(const Group& group) {
  return !overlay_.AsksOf(group.shape).changes_beyond() && scratch_.Fit(overlay_, group.shape).copies() < static_cast<std::int64_t>(group.tasks.size());
}

bool GangPlacement::Fill(const std::vector<Group>& unordered) {
  struct Entry {
    const Group* group;
    std::int64_t copies;
  };
  std::vector<Entry> entries;
  bool possible = true;
  for (const Group& group : unordered) {
    possible = possible && !TooMany(group);
    entries.push_back({&group, scratch_.Fit(overlay_, group.shape).copies()});
  }
  if (!possible) return false;
  // Hardest first: the fewest ways per task. Ties by what is asked, which does not depend on the order of events.
  const Cluster& cluster = overlay_.cluster();
  std::sort(entries.begin(), entries.end(), [&](const Entry& a, const Entry& b) {
    const std::int64_t x = a.copies / static_cast<std::int64_t>(a.group->tasks.size());
    const std::int64_t y = b.copies / static_cast<std::int64_t>(b.group->tasks.size());
    return x != y ? x < y : cluster.shape(a.group->shape).key < cluster.shape(b.group->shape).key;
  });
  std::vector<Group> groups;
  for (const Entry& entry : entries) groups.push_back(*entry.group);
  if (FillGreedily(groups)) return true;
  DropAll();
  std::vector<SearchGroup> search;
  for (const Group& group : groups) {
    SearchGroup wanted{group.shape, static_cast<int>(group.tasks.size()), {}};
    for (const Rank& rank : scratch_.Fit(overlay_, group.shape).order()) wanted.rows.push_back(rank.row);
    search.push_back(std::move(wanted));
  }
  const auto found = SearchPlacement(overlay_, search, policy_.search_budget);
  if (found.empty()) return false;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    std::size_t next = 0;
    for (const auto& [row, count] : found[g]) {
      for (int i = 0; i < count; ++i) Put(groups[g].tasks[next++], row);
    }
  }
  return true;
}

bool GangPlacement::AllowedByQueue(const std::vector<std::size_t>& tasks, bool complain) {
  model::Resources sum;
  for (const std::size_t i : tasks) sum.Add(overlay_.cluster().shape(overlay_.cluster().task(tasks_[i]).shape).request);
  std::optional<Reason> full = QueueFull(overlay_, gang_, sum);
  if (!full.has_value()) return true;
  if (complain) reason_ = std::move(full);
  return false;
}

// Says what stands against the shapes that did not fit, and which tasks would have found a node.
void GangPlacement::Complain(const std::vector<Group>& groups) {
  const Cluster& cluster = overlay_.cluster();
  Reason reason = NewReason(Reason::Kind::kNoRoom);
  bool alone = false;  // a shape does not fit even alone: no trial is needed to say so
  for (const Group& group : groups) alone = alone || TooMany(group);
  if (!alone) FillGreedily(groups);
  reason.missing = 0;
  for (const Group& group : groups) {
    std::size_t fitting = group.tasks.size();
    if (alone) {
      fitting = static_cast<std::size_t>(std::min<std::int64_t>(scratch_.Fit(overlay_, group.shape).copies(),
                                                                static_cast<std::int64_t>(fitting)));
    } else {
      fitting = static_cast<std::size_t>(
          std::count_if(group.tasks.begin(), group.tasks.end(), [&](std::size_t i) { return rows_[i] != model::kNone; }));
    }
    for (std::size_t i = 0; i < fitting; ++i) would_fit_.push_back(tasks_[group.tasks[i]]);
    if (fitting == group.tasks.size()) continue;
    model::RoleReason role = alone ? scratch_.FullReason(overlay_, group.shape) : overlay_.AsksOf(group.shape).Explain(false);
    role.role = std::string(cluster.names().Text(cluster.task(tasks_[group.tasks[fitting]]).role));
    role.missing = static_cast<int>(group.tasks.size() - fitting);
    reason.missing += role.missing;
    reason.roles.push_back(std::move(role));
  }
  DropAll();
  reason.existing = gang_.ready() + static_cast<int>(would_fit_.size());
  std::sort(reason.roles.begin(), reason.roles.end(), [](const model::RoleReason& a, const model::RoleReason& b) {
    return std::tie(a.role, a.request_text, a.asks_text) < std::tie(b.role, b.request_text, b.asks_text);
  });
  SortTasks(cluster, would_fit_);
  reason_ = std::move(reason);
}

// kNone: no row takes the task, or none may.
Row GangPlacement::BestRow(std::size_t task) {
  const ShapeId id = overlay_.cluster().task(tasks_[task]).shape;
  const ShapeFit& fit = scratch_.Fit(overlay_, id);
  if (fit.order().empty() || !AllowedByQueue({task}, false)) return model::kNone;
  if (kept_ == nullptr || kept_->empty()) return fit.order().begin()->row;
  const model::Shape& shape = overlay_.cluster().shape(id);
  if (kept_->LeavesInQueue(gang_.queue, shape.request)) {
    for (const Rank& rank : fit.order()) {
      if (kept_->Leaves(rank.row, shape)) return rank.row;
    }
  }
  kept_for_ = kept_->first();
  return model::kNone;
}

bool GangPlacement::PlaceOne(std::size_t task) {
  const ShapeId shape = overlay_.cluster().task(tasks_[task]).shape;
  if (std::find(full_shapes_.begin(), full_shapes_.end(), shape) != full_shapes_.end()) return false;
  const Row row = overlay_.AsksOf(shape).BlockedByPlaced().has_value() ? model::kNone : BestRow(task);
  if (row == model::kNone) {
    full_shapes_.push_back(shape);
    return false;
  }
  Put(task, row);
  return true;
}

void GangPlacement::TakeBack(std::size_t task) {
  model::Resources less;
  less.Subtract(overlay_.cluster().shape(overlay_.cluster().task(tasks_[task]).shape).request);
  overlay_.TakeBack();
  overlay_.TakeFromQueue(gang_.queue, less);
  scratch_.RowTouched(rows_[task]);
  rows_[task] = model::kNone;
}

// All of its tasks, or none.
bool GangPlacement::PlaceUnit(const Unit& unit) {
  if (unit.after != model::kNone && rows_[units_[static_cast<std::size_t>(unit.after)].tasks.front()] == model::kNone) return false;
  if (unit.tasks.size() > 1 && !AllowedByQueue(unit.tasks, false)) return false;
  for (std::size_t n = 0; n < unit.tasks.size(); ++n) {
    if (PlaceOne(unit.tasks[n])) continue;
    if (n > 0) full_shapes_.clear();  // what is taken back may fit something smaller
    while (n > 0) TakeBack(unit.tasks[--n]);
    return false;
  }
  return true;
}

// The first tasks in order did not fit together: what no role needs may be any of them.
bool GangPlacement::TryOthers() {
  if (rest_.empty() || !AllowedByQueue(role_needed_, false) || !Fill(GroupByShape(role_needed_))) return false;
  int wanted = gang_.min_member - gang_.ready() - static_cast<int>(role_needed_.size());
  for (const Unit& unit : units_) {
    if (wanted <= 0) break;
    if (rows_[unit.tasks.front()] == model::kNone && PlaceUnit(unit)) wanted -= static_cast<int>(unit.tasks.size());
  }
  if (wanted <= 0) return true;
  DropAll();
  return false;
}

bool GangPlacement::PlaceMinimum() {
  if (Complain()) return false;
  Choose();
  if (reason_.has_value()) return false;
  overlay_.Begin();
  const std::vector<Group> groups = GroupByShape(needed_);
  const bool allowed = AllowedByQueue(needed_, true);
  placed_minimum_ = (allowed && Fill(groups)) || TryOthers();
  if (!placed_minimum_) {
    if (!reason_.has_value()) Complain(groups);
    return false;
  }
  overlay_.Keep();
  full_shapes_.clear();
  rest_.clear();
  if (rests()) return true;
  for (const Unit& unit : units_) {
    if (rows_[unit.tasks.front()] == model::kNone) rest_.push_back(unit);
  }
  return true;
}

bool GangPlacement::PlaceOneMore(const KeptRoom& kept) {
  kept_ = &kept;
  overlay_.Begin();
  while (next_rest_ < rest_.size()) {
    if (PlaceUnit(rest_[next_rest_++])) {
      overlay_.Keep();
      return true;
    }
  }
  overlay_.Drop();  // no row: parts of units were taken back already
  return false;
}

std::optional<Lacking> GangPlacement::lacking() const {
  if (!reason_.has_value()) return std::nullopt;
  switch (reason_->kind) {
    case Reason::Kind::kNoRoom:
    case Reason::Kind::kQueueFull:
      return Lacking::kRoom;
    case Reason::Kind::kBindFailed:
      return Lacking::kTime;
    case Reason::Kind::kTooFewTasks:
    case Reason::Kind::kTooFewOfRole:
    case Reason::Kind::kTooFewSubGroups:
      return Lacking::kPods;
    case Reason::Kind::kKeptForMinimum:
    case Reason::Kind::kGated:
    case Reason::Kind::kNotModelled:
    case Reason::Kind::kClaim:
    case Reason::Kind::kQueueMissing:
    case Reason::Kind::kQueueClosed:
    case Reason::Kind::kClusterFull:
      break;
  }
  return std::nullopt;
}

void GangPlacement::Finish(model::Decision& decision) {
  const bool kept_only = placed_minimum_ && rests();
  if (kept_only) ComplainOfBinding();
  for (std::size_t i = 0; i < tasks_.size() && !kept_only; ++i) {
    if (rows_[i] != model::kNone) decision.placements.push_back({tasks_[i], rows_[i]});
  }
  if (!placed_minimum_ || kept_only) {
    decision.reason = std::move(reason_);
    // A reason that stands before any look at nodes may concern a gang that has all it needs.
    decision.short_of_minimum = !HasMinimum(overlay_.cluster(), gang_);
    if (!decision.short_of_minimum && decision.reason.has_value()) {
      decision.reason->missing = gang_.Count(TaskStatus::kPending);
      decision.reason->min_member = gang_.ready() + gang_.Count(TaskStatus::kPending);
    }
    decision.would_fit = std::move(would_fit_);
    return;
  }
  std::vector<std::size_t> left;
  bool allowed = true;
  for (const Unit& unit : rest_) {
    if (rows_[unit.tasks.front()] != model::kNone) continue;
    allowed = allowed && AllowedByQueue(unit.tasks, true);
    left.insert(left.end(), unit.tasks.begin(), unit.tasks.end());
  }
  const auto pending = static_cast<std::size_t>(gang_.Count(TaskStatus::kPending));
  if (left.empty()) {
    if (ComplainOfBlocked(gang_.min_member)) {
      if (reason_->kind != Reason::Kind::kTooFewSubGroups) {
        reason_->missing = static_cast<int>(pending - tasks_.size());
        reason_->min_member = gang_.ready() + static_cast<int>(pending);
      }
      decision.reason = std::move(reason_);
    }
    return;
  }
  if (!policy_.place_surplus) {
    decision.rest_undecided = true;
    return;
  }
  if (kept_for_ != model::kNone) {
    const model::Gang& first = overlay_.cluster().gang(kept_for_);
    reason_ = NewReason(Reason::Kind::kKeptForMinimum);
    reason_->subject = absl::StrCat(first.ns, "/", first.name);
  } else if (allowed) {
    Complain(GroupByShape(left));
  }
  reason_->missing = static_cast<int>(left.size());
  reason_->min_member = gang_.ready() + static_cast<int>(pending);
  reason_->existing = reason_->min_member - reason_->missing;
  decision.reason = std::move(reason_);
}

}  // namespace gangway::gang
