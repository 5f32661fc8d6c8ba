#include "plugin/gang/queue_claims.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

#include "plugin/gang/order.h"
#include "plugin/gang/reservation.h"

namespace gangway::gang {

using model::Cluster;
using model::Dim;
using model::Gang;
using model::GangId;
using model::QueueClaim;
using model::QueueId;
using model::Resources;
using model::TaskId;

namespace {

bool IsAbove(const QueueTree& tree, QueueId level, QueueId queue) {
  const std::vector<QueueId>& path = tree.path(queue);
  return std::find(path.begin(), path.end(), level) != path.end();
}

// What one queue lacks.
struct Lack {
  QueueId level = model::kNone;
  Resources amounts;
};

bool IsEnough(const std::vector<Lack>& lacks) {
  return std::all_of(lacks.begin(), lacks.end(), [](const Lack& lack) { return lack.amounts.zero(); });
}

// Of what the queues lack, those that the pod counts for. False: it gives nothing of it.
bool GiveBack(const QueueTree& tree, QueueId queue, const Resources& request, std::vector<Lack>& lacks) {
  bool gives = false;
  for (Lack& lack : lacks) {
    if (!IsAbove(tree, lack.level, queue)) continue;
    for (Dim dim = 0; dim < lack.amounts.size(); ++dim) {
      const std::int64_t given = std::min(lack.amounts[dim], request[dim]);
      gives = gives || given > 0;
      lack.amounts.Set(dim, lack.amounts[dim] - given);
    }
  }
  return gives;
}

}  // namespace

QueueClaims::QueueClaims(Overlay& overlay, const Policy& policy, absl::Time now, Needs needs)
    : overlay_(overlay), policy_(policy), now_(now) {
  const Cluster& cluster = overlay.cluster();
  if (!overlay.tree().limits() || policy.keeps_for <= absl::ZeroDuration()) return;
  std::map<QueueId, GangId> first;
  for (const auto* const gangs : {&cluster.waiting(), &cluster.awaiting_pods()}) {
    for (const GangId id : *gangs) {
      const Gang& gang = cluster.gang(id);
      // Room is made for it, or it awaits its pods for too long.
      if (!gang.claim.has_value() || gang.nominated > 0 || now >= gang.claim->since + 2 * policy.keeps_for) continue;
      const auto [of_queue, fresh] = first.emplace(gang.queue, id);
      if (!fresh && Before(id, of_queue->second)) of_queue->second = id;
    }
  }
  for (const auto& [queue, id] : first) Add(id, {queue, *cluster.gang(id).claim, needs(id), false});
}

void QueueClaims::Add(GangId gang, Claim claim) {
  const QueueTree& tree = overlay_.tree();
  for (const QueueId level : tree.path(claim.queue)) {
    bool limited = level == claim.queue;
    for (Dim dim = 0; dim < claim.asks.size() && !limited; ++dim)
      limited = claim.asks[dim] > 0 && tree.PlaceLimit(level, dim) != model::kUnlimited;
    if (limited) by_level_[level].push_back(gang);
  }
  claims_[gang] = std::move(claim);
}

const QueueClaims::Gangs& QueueClaims::At(QueueId level) const {
  static const Gangs& none = *new Gangs();
  const auto it = by_level_.find(level);
  return it == by_level_.end() ? none : it->second;
}

bool QueueClaims::Before(GangId a, GangId b) const {
  std::vector<GangId> both = {a, b};
  SortGangs(overlay_.cluster(), policy_, both);
  return both.front() == a;
}

bool QueueClaims::ComesAfterAnother(GangId gang) const {
  const QueueId queue = overlay_.cluster().gang(gang).queue;
  const Gangs& claimants = At(queue);
  return std::any_of(claimants.begin(), claimants.end(), [&](GangId other) {
    return other != gang && claims_.at(other).queue == queue && Before(other, gang);
  });
}

bool QueueClaims::Keeps(GangId gang, GangId from, bool surplus) const {
  const Cluster& cluster = overlay_.cluster();
  if (gang == from) return false;
  const Claim& claim = claims_.at(gang);
  const bool goes_first = claim.queue == cluster.gang(from).queue ? Before(gang, from) : claim.had_turn;
  if (!goes_first && !surplus) return false;
  return claim.claim.start == absl::InfiniteFuture() || EndOf(cluster, from, now_) > claim.claim.expected;
}

void QueueClaims::KeepFrom(GangId gang, bool surplus) {
  overlay_.Unclaim();
  for (const QueueId level : overlay_.tree().path(overlay_.cluster().gang(gang).queue)) {
    for (const GangId claimant : At(level)) {
      if (Keeps(claimant, gang, surplus)) overlay_.Claim(level, claims_.at(claimant).asks);
    }
  }
}

GangId QueueClaims::KeptFrom(GangId gang, bool surplus) const {
  for (const QueueId level : overlay_.tree().path(overlay_.cluster().gang(gang).queue)) {
    for (const GangId claimant : At(level)) {
      if (Keeps(claimant, gang, surplus)) return claimant;
    }
  }
  return model::kNone;
}

void QueueClaims::Refused(GangId gang, const QueueClaim& claim, const Resources& asks) {
  Drop(gang);
  Add(gang, {overlay_.cluster().gang(gang).queue, claim, asks, true});
}

void QueueClaims::Drop(GangId gang) {
  const auto it = claims_.find(gang);
  if (it == claims_.end()) return;
  for (const QueueId level : overlay_.tree().path(it->second.queue)) {
    if (const auto at = by_level_.find(level); at != by_level_.end()) std::erase(at->second, gang);
  }
  claims_.erase(it);
}

std::optional<QueueClaim> FindQueueRoomToCome(const Overlay& overlay, GangId id, const Resources& asks,
                                              absl::Time now) {
  const Cluster& cluster = overlay.cluster();
  const QueueTree& tree = overlay.tree();
  const Gang& gang = cluster.gang(id);
  std::vector<Lack> lacks;
  for (const QueueId level : tree.path(gang.queue)) {
    Lack lack{level, {}};
    for (Dim dim = 0; dim < asks.size(); ++dim) {
      const std::int64_t limit = asks[dim] > 0 && dim != model::kPods ? tree.PlaceLimit(level, dim) : model::kUnlimited;
      if (limit == model::kUnlimited) continue;
      if (gang.held[dim] + asks[dim] > limit) return std::nullopt;
      const std::int64_t in_use = tree.held(level)[dim] + overlay.taken_below(level)[dim];
      lack.amounts.Set(dim, std::max<std::int64_t>(in_use + asks[dim] - limit, 0));
    }
    if (!lack.amounts.zero()) lacks.push_back(std::move(lack));
  }
  QueueClaim claim;
  claim.start = claim.expected = claim.found = claim.since = now;
  if (lacks.empty()) return claim;
  std::vector<PodsThatEnd::Pod> pods;
  for (GangId other = 0; other < cluster.gang_slots(); ++other) {
    const Gang& holder = cluster.gang(other);
    if (other == id || holder.queue == model::kNone || holder.held.zero()) continue;
    if (std::none_of(lacks.begin(), lacks.end(),
                     [&](const Lack& lack) { return IsAbove(tree, lack.level, holder.queue); }))
      continue;
    for (const TaskId task : holder.tasks) {
      if (!cluster.task(task).holds_room()) continue;
      if (cluster.task(task).goes()) {
        GiveBack(tree, holder.queue, cluster.shape(cluster.task(task).shape).request, lacks);
      } else {
        pods.push_back(EndOfPod(cluster, task, now));
      }
    }
  }
  std::sort(pods.begin(), pods.end(), [&](const PodsThatEnd::Pod& a, const PodsThatEnd::Pod& b) {
    return std::tie(a.end, a.expected, cluster.task(a.task).ns, cluster.task(a.task).name) <
           std::tie(b.end, b.expected, cluster.task(b.task).ns, cluster.task(b.task).name);
  });
  for (const PodsThatEnd::Pod& pod : pods) {
    if (IsEnough(lacks)) break;
    const model::Task& task = cluster.task(pod.task);
    if (!GiveBack(tree, cluster.gang(task.gang).queue, cluster.shape(task.shape).request, lacks)) continue;
    ++claim.ends;
    claim.start = std::max(claim.start, pod.end);
    claim.expected = std::max(claim.expected, pod.expected);
  }
  if (!IsEnough(lacks)) claim.start = claim.expected = absl::InfiniteFuture();  // who was placed just now
  return claim;
}

}  // namespace gangway::gang
