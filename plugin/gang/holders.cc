#include "plugin/gang/holders.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "plugin/gang/lost_member.h"

namespace gangway::gang {

using model::Gang;
using model::GangId;
using model::QueueId;
using model::Resources;
using model::Task;
using model::TaskId;
using model::TaskStatus;

bool GoesLater::operator()(const Candidate& a, const Candidate& b) const {
  if (a.leaving != b.leaving) return b.leaving;
  if (a.whole != b.whole) return a.whole;
  if (a.queue_priority != b.queue_priority) return a.queue_priority > b.queue_priority;
  if (a.priority != b.priority) return a.priority > b.priority;
  if (a.started != b.started) return a.started < b.started;
  if (a.created != b.created) return a.created < b.created;
  const Gang& x = cluster_->gang(a.gang);
  const Gang& y = cluster_->gang(b.gang);
  return std::tie(x.kind, x.ns, x.name) < std::tie(y.kind, y.ns, y.name);
}

namespace {

absl::Time GivenUp(const Policy& policy, const Task& task) { return task.departure().grace_ends + policy.victims_take; }

}  // namespace

bool IsStuck(const model::Cluster& cluster, const Policy& policy, const Task& task, absl::Time now) {
  return task.status == TaskStatus::kReleasing && (!cluster.present(task.row) || GivenUp(policy, task) <= now);
}

Holders::Holders(const model::Cluster& cluster, const QueueTree& tree, const Policy& policy, absl::Time now)
    : cluster_(cluster), policy_(policy) {
  std::optional<int> last_class;  // most have the one of the gang before
  std::int32_t priority = 0;
  QueueId last_queue = model::kNone;
  std::vector<Candidate>* of_queue = nullptr;
  std::int32_t* lowest = nullptr;
  for (GangId id = 0; id < cluster_.gang_slots(); ++id) {
    const Gang& gang = cluster_.gang(id);
    if ((gang.binding_releasing > 0 || gang.evicted > 0) && !IsInGrace(cluster_, tree, policy_, gang, now))
      FindGoing(gang, now);
    const int bound = gang.Count(TaskStatus::kBound) + gang.Count(TaskStatus::kRunning);
    const int binding = gang.Count(TaskStatus::kBinding);
    if (bound + binding == 0 || gang.queue == model::kNone || !gang.is_ours() || !gang.evictable) continue;
    if (binding > 0) {
      being_bound_.push_back(id);
      continue;
    }
    if (last_class != gang.priority_class) {
      last_class = gang.priority_class;
      priority = cluster_.PriorityOf(gang);
    }
    if (of_queue == nullptr || last_queue != gang.queue) {
      last_queue = gang.queue;
      of_queue = &by_queue_[gang.queue];
      lowest = &lowest_.try_emplace(gang.queue, priority).first->second;
    }
    of_queue->push_back(
        {id, true, gang.leaving > 0, gang.ready() > gang.min_member, 0, priority, gang.mean_start(), gang.created});
    any_movable_ = any_movable_ || gang.movable > 0;
    most_held_.RaiseTo(gang.held);
    *lowest = std::min(*lowest, priority);
  }
}

void Holders::FindGoing(const Gang& gang, absl::Time now) {
  for (const TaskId id : gang.tasks) {
    const Task& task = cluster_.task(id);
    if (!task.holds_room() || !task.goes() || !cluster_.present(task.row) || IsStuck(cluster_, policy_, task, now))
      continue;
    if (task.status == TaskStatus::kReleasing) look_again_ = std::min(look_again_, GivenUp(policy_, task));
    going_.push_back(id);
  }
}

void Holders::Add(Candidate candidate, std::vector<Candidate>& candidates) {
  candidates.push_back(candidate);
  if (!candidate.has_surplus) return;
  candidate.whole = false;
  candidates.push_back(candidate);
}

std::vector<Candidate> Holders::LowerInQueue(GangId id) const {
  std::vector<Candidate> candidates;
  const Gang& gang = cluster_.gang(id);
  const auto holders = by_queue_.find(gang.queue);
  if (holders == by_queue_.end()) return candidates;
  const std::int32_t priority = cluster_.PriorityOf(gang);
  candidates.reserve(holders->second.size());
  for (const Candidate& candidate : holders->second) {
    if (candidate.priority < priority && candidate.gang != id) Add(candidate, candidates);
  }
  return candidates;
}

bool Holders::AnyLowerInQueue(const Gang& gang) const { return AnyLowerInQueue(gang.queue, cluster_.PriorityOf(gang)); }

bool Holders::AnyLowerInQueue(QueueId queue, std::int32_t priority) const {
  const auto own = lowest_.find(queue);
  return own != lowest_.end() && own->second < priority;
}

const Resources& Holders::HeldByLower(GangId id) {
  static const Resources& none = *new Resources();
  const Gang& gang = cluster_.gang(id);
  if (!policy_.preempt || !cluster_.Preempts(gang)) return none;
  const std::int32_t priority = cluster_.PriorityOf(gang);
  const auto [it, fresh] = lower_held_.try_emplace({gang.queue, priority});
  if (!fresh) return it->second;
  if (const auto holders = by_queue_.find(gang.queue); holders != by_queue_.end()) {
    for (const Candidate& candidate : holders->second) {
      if (candidate.priority < priority) it->second.Add(cluster_.gang(candidate.gang).held);
    }
  }
  for (const GangId other : being_bound_) {
    const Gang& bound = cluster_.gang(other);
    if (bound.queue == gang.queue && cluster_.PriorityOf(bound) < priority) it->second.Add(bound.held);
  }
  return it->second;
}

}  // namespace gangway::gang
