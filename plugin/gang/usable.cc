#include "plugin/gang/usable.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "plugin/gang/admit.h"
#include "plugin/gang/constraint/asks.h"
#include "plugin/gang/minimum.h"
#include "plugin/gang/order.h"

namespace gangway::gang {

using model::Cluster;
using model::Gang;
using model::Reason;
using model::ShapeId;
using model::Task;
using model::TaskId;
using model::TaskStatus;

namespace {

// What a sub-group lacks of its size is one unit. Where fewer pods may be placed than that, none of them is.
void AddUnits(const Cluster& cluster, const Gang& gang, const std::vector<TaskId>& candidates, Usable& usable) {
  std::map<std::pair<int, int>, int> lacking;
  if (!gang.sub_groups.empty()) {
    std::map<std::pair<int, int>, int> there = CountByPartition(cluster, gang), pending;
    for (const TaskId id : candidates) {
      const Task& task = cluster.task(id);
      if (task.sub_groups != model::kNone) ++pending[{task.sub_groups, task.partition}];
    }
    for (const auto& [key, count] : pending) {
      const int lack = std::max(gang.sub_groups[static_cast<std::size_t>(key.first)].size - there[key], 0);
      if (count < lack) usable.incomplete = key.first;
      lacking[key] = count < lack ? -1 : lack;
    }
  }
  usable.tasks.reserve(candidates.size());
  usable.units.reserve(candidates.size());
  std::map<std::pair<int, int>, std::size_t> open;  // the units that make a sub-group whole
  for (const TaskId id : candidates) {
    const Task& task = cluster.task(id);
    const std::pair<int, int> key{task.sub_groups, task.partition};
    int* const lack = task.sub_groups == model::kNone ? nullptr : &lacking[key];
    if (lack != nullptr && *lack < 0) continue;
    const std::size_t index = usable.tasks.size();
    usable.tasks.push_back(id);
    if (lack == nullptr || *lack == 0) {
      const auto whole = lack == nullptr ? open.end() : open.find(key);
      usable.units.push_back({{index}, whole == open.end() ? model::kNone : static_cast<int>(whole->second)});
      continue;
    }
    const auto [unit, fresh] = open.emplace(key, usable.units.size());
    if (fresh) usable.units.emplace_back();
    usable.units[unit->second].tasks.push_back(index);
    --*lack;
  }
}

Reason NotModelled(const Gang& gang, const std::string& field) {
  Reason reason = ReasonOf(Reason::Kind::kNotModelled, gang);
  reason.subject = Words::Name(field);
  return reason;
}

// A pod that began now would be alone in a moment.
Reason TooFewStay(const Cluster& cluster, const Gang& gang) {
  Reason reason = ReasonOf(Reason::Kind::kTooFewTasks, gang);
  int stay = 0;
  for (const TaskId id : gang.tasks) {
    const Task& task = cluster.task(id);
    reason.ending += task.goes() ? 1 : 0;
    stay += !task.goes() && IsReady(task) ? 1 : 0;
  }
  reason.existing = stay + gang.Count(TaskStatus::kPending);
  reason.missing = std::max(gang.min_member - stay, 0);
  return reason;
}

}  // namespace

Usable FindUsable(Overlay& overlay, const Gang& gang) {
  const Cluster& cluster = overlay.cluster();
  Usable usable;
  std::vector<TaskId> candidates;
  candidates.reserve(gang.tasks.size());
  for (const TaskId id : gang.tasks) {
    const Task& task = cluster.task(id);
    if (task.status != TaskStatus::kPending || !task.ours || task.gated) continue;
    if (!cluster.shape(task.shape).not_modelled.empty()) continue;
    candidates.push_back(id);
  }
  SortTasks(cluster, candidates);
  // What only one pod can have goes to the first.
  overlay.Begin();
  std::erase_if(candidates, [&](TaskId id) {
    const ShapeId shape = cluster.task(id).shape;
    const constraint::Asks& asks = overlay.AsksOf(shape);
    if (!asks.blocks()) return false;
    std::optional<constraint::Blocked> blocked = asks.BlockedByFacts();
    if (!blocked.has_value()) blocked = asks.BlockedByPlaced();
    if (!blocked.has_value()) {
      if (asks.exclusive()) overlay.Take(model::kNone, shape, 1);
      return false;
    }
    if (!usable.blocked.has_value() || blocked->subject < usable.blocked->subject) usable.blocked = std::move(blocked);
    return true;
  });
  overlay.Drop();
  AddUnits(cluster, gang, candidates, usable);
  return usable;
}

// Too few tasks may be placed: says which of the pending ones are held back and why.
std::optional<Reason> WhyBlocked(const Cluster& cluster, const Gang& gang, const Usable& usable, int count) {
  std::string gated, not_modelled;
  for (const TaskId id : gang.tasks) {
    const Task& task = cluster.task(id);
    if (task.status != TaskStatus::kPending || !task.ours) continue;
    if (task.gated && (gated.empty() || task.name < gated)) gated = task.name;
    const std::string& field = cluster.shape(task.shape).not_modelled;
    if (!task.gated && !field.empty() && (not_modelled.empty() || field < not_modelled)) not_modelled = field;
  }
  if (gated.empty() && not_modelled.empty() && usable.blocked.has_value()) {
    Reason reason = ReasonOf(usable.blocked->kind, gang);
    reason.subject = Words::Name(usable.blocked->subject);
    reason.trouble = usable.blocked->trouble;
    reason.detail = usable.blocked->detail;
    reason.missing = std::max(gang.min_member - count, 1);
    return reason;
  }
  if (gated.empty() && not_modelled.empty()) {
    if (usable.incomplete == model::kNone) return std::nullopt;
    return TooFewSubGroups(cluster, gang, usable.incomplete, WholeSubGroups(cluster, gang, usable.incomplete) + 1);
  }
  Reason reason = ReasonOf(not_modelled.empty() ? Reason::Kind::kGated : Reason::Kind::kNotModelled, gang);
  reason.subject = Words::Name(not_modelled.empty() ? gated : not_modelled);
  reason.missing = std::max(gang.min_member - count, 1);
  return reason;
}

Reason TooFewSubGroups(const Cluster& cluster, const Gang& gang, int policy, int wanted) {
  Reason reason = ReasonOf(Reason::Kind::kTooFewSubGroups, gang);
  reason.subject = Words::Name(gang.sub_groups[static_cast<std::size_t>(policy)].name);
  reason.size = gang.sub_groups[static_cast<std::size_t>(policy)].size;
  reason.min_member = wanted;
  reason.existing = WholeSubGroups(cluster, gang, policy);
  reason.missing = std::max(wanted - reason.existing, 0);
  return reason;
}

std::optional<Reason> WhyNotModelled(const Cluster& cluster, const Gang& gang) {
  if (!gang.not_modelled.empty()) return NotModelled(gang, gang.not_modelled);
  std::string first;
  int existing = gang.ready(), usable = gang.ready();
  for (const TaskId id : gang.tasks) {
    const Task& task = cluster.task(id);
    if (task.status != TaskStatus::kPending || !task.ours) continue;
    const std::string& field = cluster.shape(task.shape).not_modelled;
    ++existing;
    usable += field.empty() ? 1 : 0;
    if (!field.empty() && (first.empty() || field < first)) first = field;
  }
  return existing >= gang.min_member && usable < gang.min_member ? std::optional(NotModelled(gang, first))
                                                                 : std::nullopt;
}

Reason BindingRefused(const Gang& gang) {
  Reason reason = ReasonOf(Reason::Kind::kBindFailed, gang);
  reason.subject = Words::Name(gang.held_back);
  return reason;
}

std::optional<Reason> WhyNotTried(const Cluster& cluster, const Gang& gang) {
  const int existing = gang.ready() + gang.Count(TaskStatus::kPending);
  if (existing < gang.min_member) {
    Reason reason = ReasonOf(Reason::Kind::kTooFewTasks, gang);
    reason.existing = existing;
    reason.missing = gang.min_member - existing;
    reason.ending = gang.Count(TaskStatus::kReleasing);
    return reason;
  }
  if (GoesAsAWhole(cluster, gang)) return TooFewStay(cluster, gang);
  if (!gang.not_modelled.empty()) return NotModelled(gang, gang.not_modelled);
  if (!gang.held_back.empty() && gang.ready() == 0) return BindingRefused(gang);
  return QueueReason(cluster, gang);
}

std::optional<Reason> WhyTooFew(const Cluster& cluster, const Gang& gang, const Usable& usable) {
  const int count = gang.ready() + static_cast<int>(usable.tasks.size());
  if (count >= gang.min_member) return std::nullopt;
  if (std::optional<Reason> blocked = WhyBlocked(cluster, gang, usable, count)) return blocked;
  Reason reason = ReasonOf(Reason::Kind::kTooFewTasks, gang);
  reason.existing = count;
  reason.missing = gang.min_member - count;
  return reason;
}

}  // namespace gangway::gang
