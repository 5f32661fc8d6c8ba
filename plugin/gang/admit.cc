#include "plugin/gang/admit.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "plugin/gang/usable.h"
#include "plugin/phrases/phrases.h"

namespace gangway::gang {

using model::Cluster;
using model::Dim;
using model::Gang;
using model::Queue;
using model::QueueId;
using model::Reason;
using model::Resources;

namespace {

// volcano: api/resource_info.go, LessEqualPartly: pods are no resource that a sum is refused for.
bool IsAsked(const Resources& wanted, Dim dim) { return wanted[dim] > 0 && dim != model::kPods; }

}  // namespace

Reason ReasonOf(Reason::Kind kind, const Gang& gang) {
  Reason reason;
  reason.kind = kind;
  reason.min_member = gang.min_member;
  reason.missing = std::max(gang.min_member - gang.ready(), 0);
  reason.existing = gang.ready();
  return reason;
}

std::optional<Reason> QueueReason(const Cluster& cluster, const Gang& gang) {
  const Queue& queue = cluster.queue(gang.queue);
  if (queue.known && queue.open && !queue.not_modelled.empty()) {
    Reason reason = ReasonOf(Reason::Kind::kNotModelled, gang);
    reason.subject = {phrases::kOfQueue, queue.not_modelled, queue.name};
    return reason;
  }
  if (queue.known && queue.open) return std::nullopt;
  Reason reason = ReasonOf(queue.known ? Reason::Kind::kQueueClosed : Reason::Kind::kQueueMissing, gang);
  reason.subject = Words::Name(queue.name);
  return reason;
}

std::optional<Reason> QueueFull(const Overlay& overlay, const Gang& gang, const Resources& amounts) {
  if (!overlay.tree().limits()) return std::nullopt;
  for (const QueueId level : overlay.tree().path(gang.queue)) {
    Reason reason = ReasonOf(Reason::Kind::kQueueFull, gang);
    reason.subject = Words::Name(overlay.cluster().queue(level).name);
    for (Dim dim = 0; dim < amounts.size(); ++dim) {
      const std::int64_t limit = IsAsked(amounts, dim) ? overlay.tree().PlaceLimit(level, dim) : model::kUnlimited;
      if (limit == model::kUnlimited) continue;
      const std::int64_t in_use = overlay.tree().held(level)[dim] + overlay.taken_below(level)[dim];
      if (in_use + overlay.claimed(level)[dim] + amounts[dim] <= limit) continue;
      reason.sums.push_back({std::string(overlay.cluster().dims().Name(dim)), amounts[dim], limit, in_use});
    }
    if (!reason.sums.empty()) return reason;
  }
  return std::nullopt;
}

Admission::Admission(const Overlay& overlay, const Policy& policy, absl::Time now)
    : overlay_(overlay),
      policy_(policy),
      now_(now),
      let_in_by_queue_(static_cast<std::size_t>(overlay.cluster().queue_slots())) {
  const Cluster& cluster = overlay.cluster();
  for (const model::GangId id : cluster.awaiting_pods()) LetIn(id, 1);
  if (policy.admit_by_quotas) quotas_.emplace(cluster);
}

void Admission::LetIn(model::GangId id, int times) {
  const Gang& gang = overlay_.cluster().gang(id);
  const Resources missing = Missing(gang);
  let_in_.Add(missing, times);
  for (const QueueId level : overlay_.tree().path(gang.queue))
    let_in_by_queue_[static_cast<std::size_t>(level)].Add(missing, times);
}

Resources Admission::Missing(const Gang& gang) {
  Resources missing;
  if (!gang.has_min_resources) return missing;
  for (Dim dim = 0; dim < gang.min_resources.size(); ++dim) {
    missing.Set(dim, std::max<std::int64_t>(gang.min_resources[dim] - gang.held[dim], 0));
  }
  return missing;
}

// Of what is placed and let in, in sum.
std::int64_t Admission::Ceiling(Dim dim) const {
  const std::int64_t total = overlay_.cluster().total()[dim], percent = policy_.overcommit_percent.value_or(100);
  return total / 100 * percent + total % 100 * percent / 100;
}

std::int64_t Admission::HeldBelow(QueueId level, Dim dim) const {
  return overlay_.tree().held(level)[dim] + overlay_.taken_below(level)[dim];
}

bool Admission::CapabilityRefuses(const Gang& gang, const Resources& missing) const {
  const Cluster& cluster = overlay_.cluster();
  for (const QueueId level : overlay_.tree().path(gang.queue)) {
    for (Dim dim = 0; dim < missing.size() && policy_.admit_by_queues; ++dim) {
      if (IsAsked(missing, dim) && HeldBelow(level, dim) + missing[dim] > cluster.queue(level).Limit(dim)) return true;
    }
  }
  return false;
}

// What is held does, whoever else was let in.
bool Admission::SumsRefuse(const Gang& gang, const Resources& missing) const {
  const Cluster& cluster = overlay_.cluster();
  for (Dim dim = 0; dim < missing.size(); ++dim) {
    if (!IsAsked(missing, dim)) continue;
    if (policy_.overcommit_percent.has_value() &&
        cluster.used()[dim] + overlay_.taken()[dim] + missing[dim] > Ceiling(dim))
      return true;
    for (const QueueId level : overlay_.tree().path(gang.queue)) {
      if (policy_.admit_by_queues && HeldBelow(level, dim) + missing[dim] > overlay_.tree().Limit(level, dim))
        return true;
    }
  }
  return false;
}

const Resources& Admission::BeyondSums() {
  if (beyond_sums_.has_value()) return *beyond_sums_;
  const Cluster& cluster = overlay_.cluster();
  beyond_sums_.emplace();
  for (const auto* const gangs : {&cluster.waiting(), &cluster.awaiting_pods()}) {
    for (const model::GangId id : *gangs) {
      const Gang& gang = cluster.gang(id);
      if (!gang.admitted || now_ >= gang.created + policy_.keeps_after + policy_.keeps_for) continue;
      const Resources missing = Missing(gang);
      if (SumsRefuse(gang, missing) && !CapabilityRefuses(gang, missing)) beyond_sums_->Add(missing);
    }
  }
  return *beyond_sums_;
}

bool Admission::HasTurnByAge(const Gang& gang, const Resources& missing) {
  if (no_more_by_age_ || policy_.keeps_for <= absl::ZeroDuration() || now_ < gang.created + policy_.keeps_after ||
      !SumsRefuse(gang, missing) || CapabilityRefuses(gang, missing))
    return false;
  for (Dim dim = 0; dim < missing.size(); ++dim) {
    if (IsAsked(missing, dim) && missing[dim] > overlay_.cluster().total()[dim]) return false;
  }
  for (Dim dim = 0; dim < missing.size(); ++dim)
    no_more_by_age_ = no_more_by_age_ || (IsAsked(missing, dim) && BeyondSums()[dim] + missing[dim] > Ceiling(dim));
  return !no_more_by_age_;
}

std::optional<Reason> Admission::Admit(model::GangId id, bool owed, bool claims,
                                       absl::FunctionRef<const Resources&()> lower,
                                       absl::FunctionRef<bool(Reason::Kind)> is_told) {
  const Cluster& cluster = overlay_.cluster();
  const Gang& gang = cluster.gang(id);
  full_queue_ = model::kNone;
  if (std::optional<Reason> reason = QueueReason(cluster, gang)) return reason;
  std::optional<Reason> refusal = Refusal(id, owed, claims, lower, is_told);
  if (!refusal.has_value()) return std::nullopt;
  // No room would help, and no queue keeps any for it.
  if (std::optional<Reason> reason = WhyNotModelled(cluster, gang)) {
    full_queue_ = model::kNone;
    return reason;
  }
  return refusal;
}

std::optional<Reason> Admission::Refusal(model::GangId id, bool owed, bool claims,
                                         absl::FunctionRef<const Resources&()> lower,
                                         absl::FunctionRef<bool(Reason::Kind)> is_told) {
  const Cluster& cluster = overlay_.cluster();
  const Gang& gang = cluster.gang(id);
  if (!gang.has_min_resources) return std::nullopt;
  const Resources missing = Missing(gang);
  const Resources& used = cluster.used();
  const bool by_age = !owed && HasTurnByAge(gang, missing);
  // Names and numbers of what is too much are put down for those who want to know them.
  std::optional<Reason> full;
  const auto refuse = [&](Reason::Kind kind, Dim dim, std::int64_t limit, std::int64_t in_use, std::int64_t total,
                          const Resources& promised) {
    if (!full.has_value()) full = ReasonOf(kind, gang);
    if (!is_told(kind))
      full->sums.push_back({std::string(cluster.dims().Name(dim)), missing[dim], limit, in_use, total, promised[dim]});
  };
  for (Dim dim = 0; dim < missing.size() && policy_.overcommit_percent.has_value() && !owed && !by_age; ++dim) {
    if (!IsAsked(missing, dim)) continue;
    const std::int64_t total = cluster.total()[dim], ceiling = Ceiling(dim);
    const std::int64_t in_use = used[dim] + overlay_.taken()[dim] + let_in_[dim];
    if (in_use + missing[dim] > ceiling && in_use - lower()[dim] + missing[dim] > ceiling)
      refuse(Reason::Kind::kClusterFull, dim, ceiling, in_use, total, let_in_);
  }
  if (full.has_value()) {
    full->overcommit_percent = *policy_.overcommit_percent;
    return full;
  }
  static const Resources& nothing = *new Resources();
  for (const QueueId level : overlay_.tree().path(gang.queue)) {
    if (!policy_.admit_by_queues) break;
    const Resources& promised = claims ? nothing : let_in_by_queue_[static_cast<std::size_t>(level)];
    for (Dim dim = 0; dim < missing.size(); ++dim) {
      if (!IsAsked(missing, dim)) continue;
      // What is above all queues has all of the cluster, which who is owed its share need not wait for; and a queue
      // without a capability has no less.
      const bool of_cluster = by_age || (owed && overlay_.tree().IsAboveAll(level));
      const std::int64_t limit = of_cluster ? cluster.queue(level).Limit(dim) : overlay_.tree().Limit(level, dim);
      const std::int64_t in_use = HeldBelow(level, dim) + promised[dim];
      const std::int64_t wanted = overlay_.claimed(level)[dim] + missing[dim];
      if (in_use + wanted > limit && in_use - lower()[dim] + wanted > limit)
        refuse(Reason::Kind::kQueueFull, dim, limit, in_use, 0, promised);
    }
    if (!full.has_value()) continue;
    full_queue_ = level;
    full->subject = Words::Name(cluster.queue(level).name);
    return full;
  }
  if (quotas_.has_value()) {
    if (std::optional<Reason> reason = quotas_->Refusal(gang)) return reason;
    quotas_->LetIn(gang);
  }
  LetIn(id, 1);
  if (by_age) beyond_sums_->Add(missing);
  return std::nullopt;
}

}  // namespace gangway::gang
