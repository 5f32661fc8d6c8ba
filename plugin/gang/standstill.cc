#include "plugin/gang/standstill.h"

#include <algorithm>

#include "plugin/gang/alike_minimum.h"
#include "plugin/gang/fit.h"
#include "plugin/gang/holders.h"
#include "plugin/gang/overlay.h"
#include "plugin/gang/reclaim.h"
#include "plugin/gang/reservation.h"

namespace gangway::gang {

using model::Cluster;
using model::Decision;
using model::Dim;
using model::Gang;
using model::QueueId;
using model::Resources;
using model::ShapeId;

namespace {

// With more shapes than are kept from call to call (fit.h) a look costs as much as a call.
constexpr std::size_t kShapesThatAreLookedAt = 48;
constexpr std::size_t kNeedsThatAreLookedAt = 256;

bool DoesNothing(const Decision& decision) {
  return !decision.admit && decision.placements.empty() && !decision.nominations.has_value() &&
         decision.evicted.empty() && decision.moves.empty() && decision.passed_over_until == absl::InfinitePast();
}

}  // namespace

Standstill::Sums Standstill::SumsOf(const Cluster& cluster) {
  Sums sums{cluster.total(), cluster.used(), {}};
  for (QueueId id = 0; id < cluster.queue_slots(); ++id) sums.held.push_back(cluster.queue(id).held);
  return sums;
}

void Standstill::Begin(const Cluster& cluster, const Policy& policy, absl::Time now) {
  still_ = few_ = has_others_ = on_sums_ = on_gangs_ = tried_victims_ = false;
  version_of_rest_ = cluster.version_of_rest();
  gang_changes_ = cluster.gang_changes_end();
  lines_.Clear();
  on_all_ = !cluster.moved().empty();
  cluster_ = cluster.id();
  version_ = cluster.version();
  version_of_waiting_ = cluster.version_of_waiting();
  version_of_gangs_ = cluster.version_of_gangs();
  policy_ = policy;
  from_ = now;
  until_ = now + policy.keeps_same;
  wanted_.clear();
  wanted_beside_.clear();
  by_queue_.clear();
  sums_.reset();
  keeps_for_ = model::kNone;
  kept_.reset();
}

void Standstill::HangsOnRoom(ShapeId shape, std::int64_t wanted, bool beside_kept) {
  lines_.NeedsOfAny(shape, wanted, beside_kept);
  NeedsRoom(shape, wanted, beside_kept);
}

void Standstill::WaitsForRoom(const Cluster& cluster, model::GangId id, const AlikeMinimum& needs, bool beside_kept) {
  lines_.Waits(cluster, id, needs, beside_kept);
  NeedsRoom(needs.shape, needs.count, beside_kept);
  Resources sum;
  sum.Add(cluster.shape(needs.shape).request, needs.count);
  Needs(cluster, cluster.gang(id), sum);
}

void Standstill::NeedsRoom(ShapeId shape, std::int64_t wanted, bool beside_kept) {
  const auto [it, fresh] = (beside_kept ? wanted_beside_ : wanted_).emplace(shape, wanted);
  it->second = std::min(it->second, wanted);
}

void Standstill::Needs(const Cluster& cluster, const Gang& gang, const Resources& sum) {
  OfQueue& queue = by_queue_[gang.queue];
  if (cluster.Preempts(gang)) {
    const std::int32_t priority = cluster.PriorityOf(gang);
    queue.priority = std::max(queue.priority.value_or(priority), priority);
  }
  for (Dim dim = 0; dim < sum.size(); ++dim) {
    if (sum[dim] == 0) continue;
    if (queue.least[dim] == 0 || sum[dim] < queue.least[dim]) queue.least.Set(dim, sum[dim]);
    if (sum[dim] > queue.most[dim]) queue.most.Set(dim, sum[dim]);
  }
}

void Standstill::End(const Cluster& cluster, const model::Decisions& decisions) {
  const auto claims_as_before = [&](const Decision& decision) {
    return decision.claim.has_value() == cluster.gang(decision.gang).claim.has_value();
  };
  still_ = std::all_of(decisions.begin(), decisions.end(), DoesNothing) &&
           std::all_of(decisions.begin(), decisions.end(), claims_as_before) &&
           wanted_.size() + wanted_beside_.size() <= kShapesThatAreLookedAt;
  for (const Decision& decision : decisions) {
    until_ = std::min(until_, decision.look_again);
    if (decision.claim.has_value()) on_all_ = true;  // by what others hold who goes on waiting for what
    if (!decision.kept.has_value()) continue;
    keeps_for_ = decision.gang;
    kept_ = decision.kept;
  }
  if (on_sums_) sums_ = SumsOf(cluster);
  NoteForWhom(decisions);
  const auto makes_room = [](const Decision& decision) {
    return decision.nominations.has_value() || !decision.evicted.empty() || !decision.moves.empty() ||
           decision.claim.has_value() || decision.passed_over_until != absl::InfinitePast();
  };
  // Who has nodes kept from now on goes in another turn than it did.
  few_ = !has_others_ && !on_all_ && !on_sums_ && !on_gangs_ &&
         keeps_for_ == (cluster.reservation().has_value() ? cluster.reservation()->gang : model::kNone) &&
         std::none_of(decisions.begin(), decisions.end(), makes_room) &&
         std::all_of(decisions.begin(), decisions.end(), claims_as_before) &&
         lines_.needs().size() <= kNeedsThatAreLookedAt &&
         wanted_.size() + wanted_beside_.size() <= kShapesThatAreLookedAt;
}

void Standstill::NoteForWhom(const model::Decisions& decisions) {
  done_for_.clear();
  for (const Decision& decision : decisions) {
    if (!DoesNothing(decision)) done_for_.push_back(decision.gang);
  }
}

bool Standstill::DecidesAsThen(Policy policy) const {
  policy.choose_victims = policy_.choose_victims;
  return policy == policy_;
}

bool Standstill::MayLookAtFew(const Cluster& cluster, const Policy& policy, absl::Time now) const {
  return few_ && !on_all_ && !on_sums_ && !on_gangs_ && cluster_ == cluster.id() && now >= from_ && now < until_ &&
         version_of_rest_ == cluster.version_of_rest() && gang_changes_ >= cluster.gang_changes_begin() &&
         DecidesAsThen(policy) && !policy.use_half_life.has_value() && KeepsNodes(cluster) && cluster.moved().empty() &&
         cluster.lost_room().empty() && cluster.nominated_by_others().empty() && !(Asks(policy) && tried_victims_);
}

std::vector<model::GangId> Standstill::Changed(const Cluster& cluster) const {
  std::vector<model::GangId> changed = done_for_;
  for (std::uint64_t at = gang_changes_; at < cluster.gang_changes_end(); ++at)
    changed.push_back(cluster.gang_change(at));
  std::sort(changed.begin(), changed.end());
  changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
  return changed;
}

bool Standstill::NobodyGoes(const Overlay& overlay, const Policy& policy, absl::Time now) const {
  return !Asks(policy) || NobodyMayGo(overlay, policy, now);
}

void Standstill::EndFew(const Cluster& cluster, const model::Decisions& decisions, model::GangId keeps_for) {
  gang_changes_ = cluster.gang_changes_end();
  for (const Decision& decision : decisions) until_ = std::min(until_, decision.look_again);
  if (!decisions.empty()) still_ = false;
  NoteForWhom(decisions);
  if (keeps_for == keeps_for_) return;
  // Who has nodes kept next is found among all.
  LookAtAll();
  until_ = from_;
}

// Some who wait may have others evicted, and it is looked for whom.
bool Standstill::Asks(const Policy& policy) const {
  const bool evicts = policy.choose_victims && (policy.preempt || policy.reclaim || policy.consolidate);
  return evicts && std::any_of(by_queue_.begin(), by_queue_.end(),
                               [](const auto& each) { return each.second.priority.has_value(); });
}

bool Standstill::KeepsNodes(const Cluster& cluster) const {
  const std::optional<model::Reservation>& now = cluster.reservation();
  if (!kept_.has_value() || !now.has_value()) return kept_.has_value() == now.has_value();
  return now->gang == keeps_for_ && now->uid == cluster.gang(keeps_for_).uid && now->nodes == *kept_;
}

bool Standstill::LacksRoom(const Overlay& overlay, Scratch& scratch, bool beside_kept) const {
  const auto& wanted = beside_kept ? wanted_beside_ : wanted_;
  return std::all_of(wanted.begin(), wanted.end(),
                     [&](const auto& each) { return scratch.Fit(overlay, each.first).copies() < each.second; });
}

bool Standstill::QueuesHaveRoom(const Overlay& overlay) const {
  const QueueTree& tree = overlay.tree();
  if (!tree.limits()) return true;
  return std::all_of(by_queue_.begin(), by_queue_.end(), [&](const auto& each) {
    const Resources& most = each.second.most;
    const std::vector<QueueId>& path = tree.path(each.first);
    return std::all_of(path.begin(), path.end(), [&](QueueId level) {
      for (Dim dim = 0; dim < most.size(); ++dim) {
        if (most[dim] <= 0 || dim == model::kPods) continue;
        const std::int64_t in_use = tree.held(level)[dim] + overlay.taken_below(level)[dim];
        if (in_use > tree.PlaceLimit(level, dim) - most[dim]) return false;
      }
      return true;
    });
  });
}

bool Standstill::NobodyMayGo(const Overlay& overlay, const Policy& policy, absl::Time now) const {
  const Holders holders(overlay.cluster(), overlay.tree(), policy, now);
  Reclaim reclaim(overlay, policy, now);
  return std::all_of(by_queue_.begin(), by_queue_.end(), [&](const auto& each) {
    const auto& [queue, gangs] = each;
    if (!gangs.priority.has_value()) return true;
    if (policy.consolidate && holders.AnyMovable()) return false;
    if (policy.preempt && holders.AnyLowerInQueue(queue, *gangs.priority)) return false;
    return !policy.reclaim || !holders.AnyInOtherQueues(queue) || reclaim.EntitledLevels(queue, gangs.least) == 0;
  });
}

bool Standstill::Holds(const Cluster& cluster, const Policy& policy, absl::Time now, Scratch& scratch) const {
  if (!still_ || cluster_ != cluster.id() || now < from_ || now >= until_) return false;
  if (version_of_waiting_ != cluster.version_of_waiting() || !KeepsNodes(cluster)) return false;
  if (!DecidesAsThen(policy)) return false;
  const bool asks = Asks(policy);
  // What queues held of late changes without an event.
  const bool by_use = policy.use_half_life.has_value() && (asks || on_sums_);
  if (version_ == cluster.version() && !by_use && (!policy.choose_victims || policy_.choose_victims)) return true;
  if (on_all_ || (on_sums_ && (by_use || *sums_ != SumsOf(cluster)))) return false;
  if (on_gangs_ && version_of_gangs_ != cluster.version_of_gangs()) return false;
  if (asks && tried_victims_) return false;
  scratch.Begin(cluster);
  Overlay overlay(cluster, constraint::AllKinds(), policy.packing);
  bool holds =
      LacksRoom(overlay, scratch, false) && QueuesHaveRoom(overlay) && (!asks || NobodyMayGo(overlay, policy, now));
  if (holds && !wanted_beside_.empty()) {
    HeldRoom kept(overlay, scratch);
    kept.Hold(keeps_for_, *kept_);
    holds = LacksRoom(overlay, scratch, true);
  }
  scratch.End();
  return holds;
}

}  // namespace gangway::gang
