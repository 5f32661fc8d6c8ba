#include "plugin/gang/resting.h"

#include <algorithm>
#include <map>
#include <vector>

#include "plugin/gang/holders.h"
#include "plugin/gang/overlay.h"
#include "plugin/gang/preemptor.h"
#include "plugin/gang/reclaim.h"
#include "plugin/gang/victims.h"

namespace gangway::gang {

using model::Cluster;
using model::GangId;

namespace {

// From when on all of it may go, and not before `from`; InfiniteFuture: that is not known, or never.
absl::Time MayGoFrom(const Cluster& cluster, const QueueTree& tree, const Policy& policy, GangId id,
                     bool asks_for_nothing, absl::Time from) {
  while (from != absl::InfiniteFuture()) {
    Victims then(cluster, tree, policy, from);
    if (then.Whole(id, asks_for_nothing).has_value()) break;
    from = then.look_again();
  }
  return from;
}

}  // namespace

std::optional<Resting> FindResting(const Cluster& cluster, const Policy& policy, absl::Time now, GangId id) {
  Overlay overlay(cluster, constraint::AllKinds(), policy.packing);
  const std::optional<Preemptor> preemptor = FindPreemptor(overlay, id);
  if (!preemptor.has_value() || !preemptor->preempts) return std::nullopt;
  const Holders holders(cluster, overlay.tree(), policy, now);
  std::map<GangId, absl::Time> from;  // the earliest
  const auto goes_from = [&](const Candidate& candidate, absl::Time rests_until) {
    if (!candidate.whole) return;
    const absl::Time time = MayGoFrom(cluster, overlay.tree(), policy, candidate.gang, preemptor->asks_for_nothing,
                                      std::max(now, rests_until));
    const auto [it, fresh] = from.emplace(candidate.gang, time);
    it->second = std::min(it->second, time);
  };
  if (policy.preempt) {
    const std::vector<Candidate> lower = holders.LowerInQueue(id);
    for (const Candidate& candidate : lower) goes_from(candidate, now);
  }
  if (policy.reclaim) {
    Reclaim reclaim(overlay, policy, now);
    const std::vector<Candidate> others = reclaim.CandidatesInTime(*preemptor, holders);
    for (const Candidate& candidate : others) goes_from(candidate, reclaim.RestsUntil(candidate));
  }
  std::optional<Resting> resting;
  for (const auto& [gang, time] : from) {
    if (time <= now || time == absl::InfiniteFuture()) continue;
    const model::QueueId queue = cluster.gang(gang).queue;
    if (!resting.has_value()) resting.emplace(Resting{0, time, queue});
    ++resting->gangs;
    resting->from = std::min(resting->from, time);
    if (resting->queue != queue) resting->queue = model::kNone;
  }
  return resting;
}

}  // namespace gangway::gang
