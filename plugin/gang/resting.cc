#include "plugin/gang/resting.h"

#include <algorithm>
#include <map>
#include <vector>

#include "plugin/gang/consolidation.h"
#include "plugin/gang/holders.h"
#include "plugin/gang/lost_member.h"
#include "plugin/gang/minimum.h"
#include "plugin/gang/overlay.h"
#include "plugin/gang/preemptor.h"
#include "plugin/gang/reclaim.h"
#include "plugin/gang/victims.h"

namespace gangway::gang {

using model::Cluster;
using model::GangId;

namespace {

struct Going {
  absl::Time from;
  Bundle whole;
};

// When all of it may go, and not before `from`; nullopt: that is not known, or never.
std::optional<Going> MayGo(const Cluster& cluster, const QueueTree& tree, const Policy& policy, GangId id,
                           bool asks_for_nothing, absl::Time from) {
  const model::Gang& gang = cluster.gang(id);
  if (IsInGrace(cluster, tree, policy, gang, from)) from = GraceEnds(cluster, tree, policy, gang);
  const absl::Duration min_runtime = MinRuntimeOf(cluster, tree, gang.queue);
  for (const model::TaskId task_id : gang.tasks) {
    const model::Task& task = cluster.task(task_id);
    if (IsBoundOrDone(task) && task.holds_room() && !task.evicted) from = std::max(from, MayGoFrom(task, min_runtime));
  }
  if (from == absl::InfiniteFuture()) return std::nullopt;
  Victims then(cluster, tree, policy, from);
  const std::optional<Bundle>& whole = then.Whole(id, asks_for_nothing);
  return whole.has_value() ? std::optional(Going{from, *whole}) : std::nullopt;
}

}  // namespace

std::optional<Resting> FindResting(const Cluster& cluster, const Policy& policy, absl::Time now, GangId id) {
  Overlay overlay(cluster, constraint::AllKinds(), policy.packing);
  const std::optional<Preemptor> preemptor = FindPreemptor(overlay, id);
  if (!preemptor.has_value() || !preemptor->preempts) return std::nullopt;
  const Holders holders(cluster, overlay.tree(), policy, now);
  const auto may_go = [&](const Candidate& candidate, absl::Time from) {
    return MayGo(cluster, overlay.tree(), policy, candidate.gang, preemptor->asks_for_nothing, std::max(now, from));
  };
  std::map<GangId, absl::Time> from;
  if (policy.preempt) {
    const std::vector<Candidate> lower = holders.LowerInQueue(id);
    for (const Candidate& candidate : lower) {
      const std::optional<Going> going = candidate.whole ? may_go(candidate, now) : std::nullopt;
      if (going.has_value()) from.emplace(candidate.gang, going->from);
    }
  }
  if (policy.reclaim) {
    Reclaim reclaim(overlay, policy, now);
    const std::vector<Candidate> others = reclaim.CandidatesInTime(*preemptor, holders);
    for (const Candidate& candidate : others) {
      const std::optional<Going> going = may_go(candidate, reclaim.RestsUntil(candidate.gang, id));
      if (going.has_value() && reclaim.LossBy(*preemptor, going->whole, {}).allowed)
        from.emplace(candidate.gang, going->from);
    }
  }
  if (policy.consolidate && IsInTheSum(overlay, *preemptor)) {
    for (const auto& [queue, gangs] : holders.by_queue()) {
      for (const Candidate& candidate : gangs) {
        if (candidate.gang == id || !IsMovedFor(cluster, candidate, cluster.PriorityOf(cluster.gang(id)))) continue;
        const std::optional<Going> going =
            may_go(candidate, cluster.gang(candidate.gang).moved + policy.moves_again_after);
        if (!going.has_value() || !IsMovedWith(cluster, going->whole)) continue;
        const auto [it, fresh] = from.emplace(candidate.gang, going->from);
        it->second = std::min(it->second, going->from);
      }
    }
  }
  std::optional<Resting> resting;
  for (const auto& [gang, time] : from) {
    if (time <= now) continue;
    const model::QueueId queue = cluster.gang(gang).queue;
    if (!resting.has_value()) resting.emplace(Resting{0, time, queue});
    ++resting->gangs;
    resting->from = std::min(resting->from, time);
    if (resting->queue != queue) resting->queue = model::kNone;
  }
  return resting;
}

}  // namespace gangway::gang
