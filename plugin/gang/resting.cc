#include "plugin/gang/resting.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "plugin/gang/consolidation.h"
#include "plugin/gang/holders.h"
#include "plugin/gang/later_going.h"
#include "plugin/gang/overlay.h"
#include "plugin/gang/preemptor.h"
#include "plugin/gang/reclaim.h"

namespace gangway::gang {

using model::Cluster;
using model::GangId;

namespace {

const std::string& QueueOf(const Cluster& cluster, GangId id) { return cluster.queue(cluster.gang(id).queue).name; }

}  // namespace

std::optional<model::Resting> FindResting(const Cluster& cluster, const Policy& policy, absl::Time now, GangId id) {
  if (!policy.preempt && !policy.reclaim && !policy.consolidate) return std::nullopt;
  Overlay overlay(cluster, constraint::AllKinds(), policy.packing);
  const std::optional<Preemptor> preemptor = FindPreemptor(overlay, id);
  if (!preemptor.has_value() || !preemptor->preempts) return std::nullopt;
  const Holders holders(cluster, overlay.tree(), policy, now);
  const LaterGoing later(cluster, overlay.tree(), policy, now, preemptor->asks_for_nothing);
  std::map<GangId, absl::Time> from;
  const auto goes = [&](GangId gang, absl::Time when) {
    const auto [it, fresh] = from.emplace(gang, when);
    it->second = std::min(it->second, when);
  };
  if (policy.preempt) {
    const std::vector<Candidate> lower = holders.LowerInQueue(id);
    for (const Candidate& candidate : lower) {
      const std::optional<absl::Time> when = candidate.whole ? later.From(candidate.gang, now) : std::nullopt;
      if (when.has_value()) goes(candidate.gang, *when);
    }
  }
  if (policy.reclaim) {
    Reclaim reclaim(overlay, policy, now);
    const std::vector<Candidate> others = reclaim.CandidatesInTime(*preemptor, holders);
    for (const Candidate& candidate : others) {
      const std::optional<absl::Time> when = later.From(candidate.gang, reclaim.RestsUntil(candidate.gang, id));
      if (when.has_value() && reclaim.LossBy(*preemptor, later.WholeOf(candidate.gang), {}).allowed)
        goes(candidate.gang, *when);
    }
  }
  if (policy.consolidate && IsInTheSum(overlay, *preemptor)) {
    for (const auto& [queue, gangs] : holders.by_queue()) {
      for (const Candidate& candidate : gangs) {
        if (candidate.gang == id || !IsMovedFor(cluster, candidate, cluster.PriorityOf(cluster.gang(id)))) continue;
        const std::optional<absl::Time> when =
            later.From(candidate.gang, cluster.gang(candidate.gang).moved + policy.moves_again_after);
        if (when.has_value() && IsMovedWith(cluster, later.WholeOf(candidate.gang))) goes(candidate.gang, *when);
      }
    }
  }
  if (from.empty()) return std::nullopt;
  model::Resting resting{static_cast<int>(from.size()), absl::InfiniteFuture(), QueueOf(cluster, from.begin()->first)};
  for (const auto& [gang, when] : from) {
    resting.from = std::min(resting.from, when);
    if (QueueOf(cluster, gang) != resting.queue) resting.queue.clear();
  }
  return resting;
}

}  // namespace gangway::gang
