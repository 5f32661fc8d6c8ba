// What is kept for a gang that found no room: nodes, or room of its queue.
#include <algorithm>
#include <optional>

#include "plugin/gang/admit.h"
#include "plugin/gang/cycle.h"

namespace gangway::gang {

using model::Cluster;
using model::Decision;
using model::Gang;
using model::GangId;
using model::Resources;

// ---- nodes

bool Cycle::HasNodes(GangId id) const {
  const std::optional<model::Reservation>& has = cluster_.reservation();
  return has.has_value() && has->gang == id && has->uid == cluster_.gang(id).uid;
}

bool Cycle::EndsBeforeTheyAreNeeded(GangId id) const {
  return kept_.holds() && kept_.nodes().start != absl::InfiniteFuture() &&
         EndOf(cluster_, id, now_) <= kept_.nodes().expected;
}

bool Cycle::MayHaveNodesKept(GangId id) const {
  return !kept_.holds() && policy_.keeps_for > absl::ZeroDuration() && now_ >= KeepsFrom(id) &&
         now_ >= cluster_.gang(id).passed_over_until;
}

void Cycle::KeepNodes(const GangPlacement& placement) {
  const GangId id = placement.gang();
  if (!MayHaveNodesKept(id)) return;
  const std::optional<Wanted> wanted = placement.wanted();
  if (!wanted.has_value() || CannotFit(*wanted)) return;
  const model::KeptNodes* const before = HasNodes(id) ? &cluster_.reservation()->nodes : nullptr;
  Decision& decision = decisions_[IndexOf(id)];
  if (before != nullptr && now_ < before->found + policy_.keeps_same) {
    decision.kept = *before;
    decision.look_again = std::min(decision.look_again, before->found + policy_.keeps_same);
  } else {
    if (looks_for_nodes_-- <= 0) return;
    if (!ending_.has_value()) ending_.emplace(cluster_, now_);
    decision.kept = FindRoomToCome(overlay_, *ending_, id, *wanted, before, now_);
    if (!decision.kept.has_value()) {
      if (wanted->areas.size() == 1 && wanted->parts.empty()) cannot_fit_.push_back(*wanted);
      return;
    }
    decision.kept->found = now_;
    decision.kept->since = before == nullptr || decision.kept->ends < before->ends ? now_ : before->since;
    const bool in_vain = now_ >= decision.kept->since + policy_.keeps_for;
    if (in_vain) decision.passed_over_until = now_ + policy_.keeps_for;
    if (in_vain || !Gathers(*decision.kept)) {
      decision.kept.reset();
      return;
    }
  }
  decision.look_again = std::min(decision.look_again, decision.kept->since + policy_.keeps_for);
  kept_.Hold(id, *decision.kept);
  eviction_.KeptNodes(id);
}

bool Cycle::Gathers(const model::KeptNodes& nodes) const {
  return std::any_of(nodes.spots.begin(), nodes.spots.end(), [&](const model::KeptNodes::Spot& spot) {
    for (model::Dim dim = 0; dim < spot.amounts.size(); ++dim) {
      if (spot.amounts[dim] > std::max<std::int64_t>(overlay_.free(spot.row, dim), 0)) return true;
    }
    return !overlay_.FreeBesideRoom(spot, {});
  });
}

bool Cycle::CannotFit(const Wanted& wanted) const {
  return std::any_of(cannot_fit_.begin(), cannot_fit_.end(), [&](const Wanted& before) {
    const auto less = [](const auto& a, const auto& b) { return a.first == b.first && a.second <= b.second; };
    return before.areas.front().rows() == nullptr && before.by_shape.size() == wanted.by_shape.size() &&
           std::equal(before.by_shape.begin(), before.by_shape.end(), wanted.by_shape.begin(), less);
  });
}

// ---- room of a queue

Resources Cycle::AsksOf(GangId id) {
  const Gang& gang = cluster_.gang(id);
  Resources room;
  return gang.admitted && !gang.tasks.empty() ? NeedsOf(gang, room) : Admission::Missing(gang);
}

void Cycle::LeavesClaims(GangId id) {
  if (claims_.empty()) return;
  const Gang& gang = cluster_.gang(id);
  if (HasBegun(gang) || gang.nominated > 0 || lost_.contains(id)) return claims_.KeepNothing();
  claims_.KeepFrom(id);
}

bool Cycle::MayClaim(GangId id) const {
  const Gang& gang = cluster_.gang(id);
  return overlay_.tree().limits() && policy_.keeps_for > absl::ZeroDuration() && now_ >= KeepsFrom(id) &&
         now_ >= gang.passed_over_until && gang.nominated == 0 && !HasBegun(gang) && !lost_.contains(id);
}

void Cycle::GoesOnClaiming(GangId id) {
  if (!claims_.Has(id)) return;
  const model::QueueClaim claim = *cluster_.gang(id).claim;
  decisions_[IndexOf(id)].claim = claim;
  claims_.Refused(id, claim, AsksOf(id));
}

void Cycle::ClaimQueue(const GangPlacement& placement) {
  const GangId id = placement.gang();
  if (!claims_.Has(id) && !placement.queue_full()) return;
  Claim(id, AsksOf(id), [&] {
    const std::optional<Wanted> wanted = placement.wanted_of_nodes();
    if (!wanted.has_value() || looks_for_nodes_-- <= 0) return true;
    if (!ending_.has_value()) ending_.emplace(cluster_, now_);
    const auto look = [&] { return FindRoomToCome(overlay_, *ending_, id, *wanted, nullptr, now_).has_value(); };
    return kept_.holds() ? kept_.Without(look) : look();
  });
}

void Cycle::Claim(GangId id, const Resources& asks, absl::FunctionRef<bool()> has_hope) {
  const bool had = claims_.Has(id);
  claims_.Drop(id);
  if (!MayClaim(id) || claims_.ComesAfterAnother(id)) return;
  scratch_.standstill().HangsOnAll();  // on whether nodes could take it, too
  Decision& decision = decisions_[IndexOf(id)];
  const model::QueueClaim* const before = had ? &*cluster_.gang(id).claim : nullptr;
  std::optional<model::QueueClaim> claim;
  if (before != nullptr && now_ < before->found + policy_.keeps_same) {
    claim = *before;
    decision.look_again = std::min(decision.look_again, before->found + policy_.keeps_same);
  } else {
    claim = FindQueueRoomToCome(overlay_, id, asks, now_);
    // Who lacks nothing but what another claims is told so.
    const bool has_room = claim.has_value() && claim->ends == 0;
    if (!had && has_room && claims_.KeptFrom(id, /*surplus=*/false) != model::kNone) return;
    if (!claim.has_value() || !has_hope()) return;
    if (before != nullptr && claim->ends >= before->ends) claim->since = before->since;
    // While nodes are gathered for it, it does not wait for its queue in vain.
    if (decision.kept.has_value()) claim->since = std::max(claim->since, decision.kept->since);
  }
  if (now_ >= claim->since + policy_.keeps_for) {
    decision.passed_over_until = now_ + policy_.keeps_for;
    return;
  }
  decision.claim = claim;
  decision.look_again = std::min(decision.look_again, claim->since + policy_.keeps_for);
  claims_.Refused(id, *claim, asks);
}

}  // namespace gangway::gang
