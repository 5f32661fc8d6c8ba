#include "plugin/gang/resting.h"

#include <algorithm>
#include <map>
#include <string>
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

const std::string& QueueOf(const Cluster& cluster, GangId id) { return cluster.queue(cluster.gang(id).queue).name; }

// When all of it may go: after now, and not before `from`. nullopt: it may go now, or never, or that is not known.
std::optional<Going> MayGoLater(const Cluster& cluster, const QueueTree& tree, const Policy& policy, GangId id,
                                bool asks_for_nothing, absl::Time from, absl::Time now) {
  const model::Gang& gang = cluster.gang(id);
  if (IsInGrace(cluster, tree, policy, gang, std::max(from, now)))
    from = std::max(from, GraceEnds(cluster, tree, policy, gang));
  const absl::Duration min_runtime = MinRuntimeOf(cluster, tree, gang.queue);
  for (const model::TaskId task_id : gang.tasks) {
    const model::Task& task = cluster.task(task_id);
    if (IsBoundOrDone(task) && task.holds_room() && !task.evicted) from = std::max(from, MayGoFrom(task, min_runtime));
  }
  if (from <= now || from == absl::InfiniteFuture()) return std::nullopt;
  Victims then(cluster, tree, policy, from);
  const std::optional<Bundle>& whole = then.Whole(id, asks_for_nothing);
  return whole.has_value() ? std::optional(Going{from, *whole}) : std::nullopt;
}

}  // namespace

std::optional<model::Resting> FindResting(const Cluster& cluster, const Policy& policy, absl::Time now, GangId id) {
  if (!policy.preempt && !policy.reclaim && !policy.consolidate) return std::nullopt;
  Overlay overlay(cluster, constraint::AllKinds(), policy.packing);
  const std::optional<Preemptor> preemptor = FindPreemptor(overlay, id);
  if (!preemptor.has_value() || !preemptor->preempts) return std::nullopt;
  const Holders holders(cluster, overlay.tree(), policy, now);
  const auto may_go_later = [&](const Candidate& candidate, absl::Time from) {
    return MayGoLater(cluster, overlay.tree(), policy, candidate.gang, preemptor->asks_for_nothing, from, now);
  };
  std::map<GangId, absl::Time> from;
  const auto goes = [&](GangId gang, absl::Time when) {
    const auto [it, fresh] = from.emplace(gang, when);
    it->second = std::min(it->second, when);
  };
  if (policy.preempt) {
    const std::vector<Candidate> lower = holders.LowerInQueue(id);
    for (const Candidate& candidate : lower) {
      const std::optional<Going> going = candidate.whole ? may_go_later(candidate, now) : std::nullopt;
      if (going.has_value()) goes(candidate.gang, going->from);
    }
  }
  if (policy.reclaim) {
    Reclaim reclaim(overlay, policy, now);
    const std::vector<Candidate> others = reclaim.CandidatesInTime(*preemptor, holders);
    for (const Candidate& candidate : others) {
      const std::optional<Going> going = may_go_later(candidate, reclaim.RestsUntil(candidate));
      if (going.has_value() && reclaim.LossBy(*preemptor, going->whole, {}).allowed) goes(candidate.gang, going->from);
    }
  }
  if (policy.consolidate && IsInTheSum(overlay, *preemptor)) {
    for (const auto& [queue, gangs] : holders.by_queue()) {
      for (const Candidate& candidate : gangs) {
        if (candidate.gang == id || !IsMovedFor(cluster, candidate, cluster.PriorityOf(cluster.gang(id)))) continue;
        const std::optional<Going> going =
            may_go_later(candidate, cluster.gang(candidate.gang).moved + policy.moves_again_after);
        if (going.has_value() && IsMovedWith(cluster, going->whole)) goes(candidate.gang, going->from);
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
