#include "plugin/gang/queue_claims.h"

#include <algorithm>
#include <cstdint>
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
  for (const auto* const gangs : {&cluster.waiting(), &cluster.awaiting_pods()}) {
    for (const GangId id : *gangs) {
      const Gang& gang = cluster.gang(id);
      // Room is made for it, or it awaits its pods for too long.
      if (!gang.claim.has_value() || gang.nominated > 0 || now >= gang.claim->since + 2 * policy.keeps_for) continue;
      const auto same =
          std::find_if(claims_.begin(), claims_.end(), [&](const Claim& claim) { return claim.queue == gang.queue; });
      if (same == claims_.end()) {
        claims_.push_back({id, gang.queue, *gang.claim, {}, false});
      } else if (Before(id, same->gang)) {
        *same = {id, gang.queue, *gang.claim, {}, false};
      }
    }
  }
  for (Claim& claim : claims_) claim.asks = needs(claim.gang);
}

const QueueClaims::Claim* QueueClaims::Find(GangId gang) const {
  const auto it = std::find_if(claims_.begin(), claims_.end(), [&](const Claim& claim) { return claim.gang == gang; });
  return it == claims_.end() ? nullptr : &*it;
}

bool QueueClaims::Before(GangId a, GangId b) const {
  std::vector<GangId> both = {a, b};
  SortGangs(overlay_.cluster(), policy_, both);
  return both.front() == a;
}

bool QueueClaims::ComesAfterAnother(GangId gang) const {
  return std::any_of(claims_.begin(), claims_.end(), [&](const Claim& claim) {
    return claim.gang != gang && claim.queue == overlay_.cluster().gang(gang).queue && Before(claim.gang, gang);
  });
}

bool QueueClaims::Keeps(const Claim& claim, GangId from, bool surplus) const {
  const Cluster& cluster = overlay_.cluster();
  if (claim.gang == from) return false;
  const bool leaves =
      claim.queue == cluster.gang(from).queue ? surplus || Before(claim.gang, from) : surplus || claim.had_turn;
  if (!leaves) return false;
  return claim.claim.start == absl::InfiniteFuture() || EndOf(cluster, from, now_) > claim.claim.expected;
}

void QueueClaims::KeepFrom(GangId gang, bool surplus) {
  overlay_.Unclaim();
  for (const Claim& claim : claims_) {
    if (!Keeps(claim, gang, surplus)) continue;
    for (const QueueId level : overlay_.tree().path(claim.queue)) overlay_.Claim(level, claim.asks);
  }
}

GangId QueueClaims::KeptFrom(GangId gang, bool surplus) const {
  for (const Claim& claim : claims_) {
    if (Keeps(claim, gang, surplus)) return claim.gang;
  }
  return model::kNone;
}

void QueueClaims::Refused(GangId gang, const QueueClaim& claim, const Resources& asks) {
  Drop(gang);
  claims_.push_back({gang, overlay_.cluster().gang(gang).queue, claim, asks, true});
}

void QueueClaims::Drop(GangId gang) {
  std::erase_if(claims_, [&](const Claim& claim) { return claim.gang == gang; });
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
