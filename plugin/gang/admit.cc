#include "plugin/gang/admit.h"

#include <algorithm>

namespace gangway::gang {

using model::Cluster;
using model::Dim;
using model::Gang;
using model::Queue;
using model::QueueId;
using model::Reason;
using model::Resources;

namespace {

Reason ReasonOf(Reason::Kind kind, const Gang& gang) {
  Reason reason;
  reason.kind = kind;
  reason.min_member = gang.min_member;
  reason.missing = std::max(gang.min_member - gang.ready(), 0);
  reason.existing = gang.ready();
  return reason;
}

// volcano: api/resource_info.go, LessEqualPartly: pods are no resource that a sum is refused for.
bool Counts(const Resources& wanted, Dim dim) { return wanted[dim] > 0 && dim != model::kPods; }

}  // namespace

std::optional<Reason> QueueReason(const Cluster& cluster, const Gang& gang) {
  const Queue& queue = cluster.queue(gang.queue);
  if (queue.known && queue.open) return std::nullopt;
  Reason reason = ReasonOf(queue.known ? Reason::Kind::kQueueClosed : Reason::Kind::kQueueMissing, gang);
  reason.subject = queue.name;
  return reason;
}

std::optional<Reason> QueueFull(const Overlay& overlay, const Gang& gang, const Resources& amounts) {
  const Queue& queue = overlay.cluster().queue(gang.queue);
  const Resources& taken = overlay.taken_from(gang.queue);
  Reason reason = ReasonOf(Reason::Kind::kQueueFull, gang);
  reason.subject = queue.name;
  for (Dim dim = 0; dim < amounts.size(); ++dim) {
    if (!Counts(amounts, dim) || queue.capability[dim] <= 0) continue;
    const std::int64_t in_use = queue.held[dim] + taken[dim];
    if (in_use + amounts[dim] <= queue.capability[dim]) continue;
    reason.sums.push_back(
        {std::string(overlay.cluster().dims().Name(dim)), amounts[dim], queue.capability[dim], in_use});
  }
  if (reason.sums.empty()) return std::nullopt;
  return reason;
}

Admission::Admission(const Overlay& overlay, const Policy& policy)
    : overlay_(overlay), policy_(policy), let_in_by_queue_(static_cast<std::size_t>(overlay.cluster().queue_slots())) {
  const Cluster& cluster = overlay.cluster();
  for (const model::GangId id : cluster.awaiting_pods()) {
    const Gang& gang = cluster.gang(id);
    const Resources missing = Missing(gang);
    let_in_.Add(missing);
    let_in_by_queue_[static_cast<std::size_t>(gang.queue)].Add(missing);
  }
  for (QueueId id = 0; id < cluster.queue_slots(); ++id) {
    placed_.Add(overlay.taken_from(id));
    if (cluster.queue(id).known) guarantees_.Add(cluster.queue(id).guarantee);
  }
}

Resources Admission::Missing(const Gang& gang) const {
  Resources missing;
  if (!gang.has_min_resources) return missing;
  for (Dim dim = 0; dim < gang.min_resources.size(); ++dim) {
    missing.Set(dim, std::max<std::int64_t>(gang.min_resources[dim] - gang.held[dim], 0));
  }
  return missing;
}

std::int64_t Admission::QueueLimit(const Queue& queue, Dim dim) const {
  const std::int64_t others = guarantees_[dim] - queue.guarantee[dim];
  std::int64_t limit = std::max<std::int64_t>(overlay_.cluster().total()[dim] - others, 0);
  if (queue.capability[dim] > 0) limit = std::min(limit, queue.capability[dim]);
  return limit;
}

std::optional<Reason> Admission::Admit(model::GangId id) {
  const Cluster& cluster = overlay_.cluster();
  const Gang& gang = cluster.gang(id);
  if (std::optional<Reason> reason = QueueReason(cluster, gang)) return reason;
  if (!gang.has_min_resources) return std::nullopt;
  const Queue& queue = cluster.queue(gang.queue);
  const Resources missing = Missing(gang);
  Resources& let_in_queue = let_in_by_queue_[static_cast<std::size_t>(gang.queue)];
  const Resources used = cluster.used();

  Reason cluster_full = ReasonOf(Reason::Kind::kClusterFull, gang);
  cluster_full.overcommit_percent = policy_.overcommit_percent;
  Reason queue_full = ReasonOf(Reason::Kind::kQueueFull, gang);
  queue_full.subject = queue.name;
  for (Dim dim = 0; dim < missing.size(); ++dim) {
    if (!Counts(missing, dim)) continue;
    const std::string name(cluster.dims().Name(dim));
    const std::int64_t total = cluster.total()[dim];
    const std::int64_t ceiling = total / 100 * policy_.overcommit_percent + total % 100 * policy_.overcommit_percent / 100;
    const std::int64_t in_use = used[dim] + placed_[dim] + let_in_[dim];
    if (in_use + missing[dim] > ceiling) cluster_full.sums.push_back({name, missing[dim], ceiling, in_use});
    const std::int64_t limit = QueueLimit(queue, dim);
    const std::int64_t in_queue = queue.held[dim] + overlay_.taken_from(gang.queue)[dim] + let_in_queue[dim];
    if (in_queue + missing[dim] > limit) queue_full.sums.push_back({name, missing[dim], limit, in_queue});
  }
  if (!cluster_full.sums.empty()) return cluster_full;
  if (!queue_full.sums.empty()) return queue_full;
  let_in_.Add(missing);
  let_in_queue.Add(missing);
  return std::nullopt;
}

}  // namespace gangway::gang
