#include "plugin/gang/cycle.h"

#include <algorithm>
#include <utility>

#include "plugin/gang/admit.h"
#include "plugin/gang/needs.h"
#include "plugin/gang/usable.h"

namespace gangway::gang {

using model::Cluster;
using model::Decision;
using model::Gang;
using model::GangId;
using model::Resources;

Cycle::Cycle(const Cluster& cluster, const Policy& policy, absl::Time now, Scratch& scratch, IsTold is_told)
    : cluster_(cluster),
      policy_(policy),
      now_(now),
      scratch_(scratch),
      is_told_(is_told),
      overlay_(cluster, constraint::AllKinds(), policy.packing),
      others_(overlay_, scratch),
      eviction_(overlay_, scratch, policy, now),
      moved_(overlay_, scratch, now),
      kept_(overlay_, scratch),
      claims_(overlay_, policy, now, [this](GangId id) { return AsksOf(id); }),
      repacking_(overlay_, policy) {}

const Resources& Cycle::NeedsOf(const Gang& gang, Resources& room) {
  if (gang.min_member - gang.ready() >= gang.Count(model::TaskStatus::kPending)) return gang.asks;
  room = Resources();
  if (WhyNotTried(cluster_, gang).has_value()) return room;
  const Usable usable = FindUsable(overlay_, gang);
  if (WhyTooFew(cluster_, gang, usable).has_value()) return room;
  for (const std::size_t task : FindNeeds(cluster_, gang, usable).all)
    room.Add(cluster_.shape(cluster_.task(usable.tasks[task]).shape).request);
  return room;
}

bool Cycle::OfSeveralQueues(bool or_hold) const {
  model::QueueId first = model::kNone;
  bool several = false;
  const auto see = [&](model::QueueId queue) {
    several = several || (first != model::kNone && queue != first);
    first = queue;
  };
  for (const auto* const gangs : {&cluster_.waiting(), &cluster_.awaiting_pods()}) {
    for (auto it = gangs->begin(); it != gangs->end() && !several; ++it) see(cluster_.gang(*it).queue);
  }
  for (model::QueueId id = 0; or_hold && id < cluster_.queue_slots() && !several; ++id) {
    if (!cluster_.queue(id).held.zero()) see(id);
  }
  return several;
}

bool Cycle::Precedes(GangId id, GangId other) const {
  const Gang& a = cluster_.gang(id);
  const Gang& b = cluster_.gang(other);
  if (a.queue != b.queue) return cluster_.queue(a.queue).priority > cluster_.queue(b.queue).priority;
  return cluster_.PriorityOf(a) > cluster_.PriorityOf(b);
}

// ---- a gang's minimum

void Cycle::LooksForRoom(GangId id) {
  if (!others_.empty() && others_.KeepFrom(cluster_.PriorityOf(cluster_.gang(id)))) OthersKeepElse();
}

void Cycle::OthersKeepElse() {
  RoomFreed();
  cannot_fit_.clear();
}

bool Cycle::PlaceMinimum(GangId id) {
  LooksForRoom(id);
  LeavesClaims(id);
  if (const GangId first = eviction_.UnsettledBy(id); first != model::kNone) {
    Decision& decision = decisions_[IndexOf(id)];
    decision.reason = ReasonOf(model::Reason::Kind::kKeptForMinimum, cluster_.gang(id));
    decision.reason->subject = Words::Name(model::KeyOf(cluster_.gang(first).ns, cluster_.gang(first).name));
    decision.short_of_minimum = decision.reason->missing > 0;
    GoesOnClaiming(id);
    return false;
  }
  if (WaitsForRoomAlone(id)) return false;
  const Resources before = overlay_.taken_from(cluster_.gang(id).queue);
  auto placement = std::make_unique<GangPlacement>(overlay_, scratch_, policy_, id, Tells(id));
  GangPlacement& placed = *placement;
  const auto place = [&] { return placed.PlaceMinimum(); };
  const bool without_kept = EndsBeforeTheyAreNeeded(id);
  const bool fits = (without_kept ? kept_.Without(place) : place()) || Repack(placed);
  NoteWhatItWaitsFor(placed, fits, without_kept);
  if (!fits && placed.lacking() == Lacking::kRoom && eviction_.MakeRoom(placed, decisions_[IndexOf(id)])) {
    claims_.Drop(id);
    return false;
  }
  // Room that was made for it is not kept while its queue takes nobody, and nothing says when it will.
  if (!fits && cluster_.gang(id).nominated > 0 && policy_.choose_victims &&
      QueueReason(cluster_, cluster_.gang(id)).has_value())
    decisions_[IndexOf(id)].nominations.emplace();
  if (fits) {
    // What lies on nodes that are kept may not make way there for one that stays.
    if (!without_kept || !placed.Packs()) repacking_.Placed(placed);
    Placed(std::move(placement), before);
    return true;
  }
  placements_.emplace_back(IndexOf(id), std::move(placement));
  const std::optional<Lacking> lacking = placed.lacking();
  if (lacking.has_value()) lacking_.emplace_back(id, *lacking);
  if (lacking == Lacking::kRoom) {
    KeepNodes(placed);
    ClaimQueue(placed);
  } else {
    GoesOnClaiming(id);
  }
  return false;
}

void Cycle::NoteWhatItWaitsFor(const GangPlacement& placed, bool fits, bool without_kept) {
  const GangId id = placed.gang();
  Standstill& standstill = scratch_.standstill();
  const std::optional<Lacking> lacking = fits ? std::nullopt : placed.lacking();
  if (lacking == Lacking::kRoom && !without_kept) {
    const std::optional<AlikeMinimum> needs = FindAlikeMinimum(overlay_, cluster_.gang(id));
    if (needs.has_value() && scratch_.Fit(overlay_, needs->shape).copies() < needs->count)
      return WaitsForRoom(id, *needs);
  }
  placed.TellWhatItHangsOn(standstill, kept_.holds() && (fits || !without_kept));
  if (fits) return;
  if (lacking == Lacking::kPods) {
    standstill.lines().WaitsForItself(id);
  } else {
    standstill.lines().WaitsForMore(id);
  }
}

void Cycle::WaitsForRoom(GangId id, const AlikeMinimum& needs) {
  Standstill& standstill = scratch_.standstill();
  standstill.WaitsForRoom(cluster_, id, needs, kept_.holds());
  const absl::Time has_nodes_from = std::max(KeepsFrom(id), cluster_.gang(id).passed_over_until);
  if (!kept_.holds() && policy_.keeps_for > absl::ZeroDuration() && now_ < has_nodes_from)
    standstill.Until(has_nodes_from);
}

bool Cycle::WaitsForRoomAlone(GangId id) {
  const Gang& gang = cluster_.gang(id);
  if (lost_.contains(id) || claims_.Has(id) || EndsBeforeTheyAreNeeded(id)) return false;
  const bool looks = MayHaveNodesKept(id) && (HasNodes(id) || looks_for_nodes_ > 0);
  if (looks && (HasNodes(id) || cannot_fit_.empty())) return false;
  const std::optional<AlikeMinimum> needs = FindAlikeMinimum(overlay_, gang);
  if (looks && needs.has_value() && !CannotFit({{{needs->shape, needs->count}}, {}, {}})) return false;
  if (!needs.has_value() || scratch_.Fit(overlay_, needs->shape).copies() >= needs->count ||
      repacking_.MayPlace({{needs->shape, needs->count}}))
    return false;
  if (eviction_.MayEvict(gang) && !eviction_.WaitsInVain(id, *needs, decisions_[IndexOf(id)])) return false;
  WaitsForRoom(id, *needs);
  Decision& decision = decisions_[IndexOf(id)];
  eviction_.GoesOnBeingEntitled(gang, decision);
  if (Tells(id)) {
    NoRoom told = WhyNoRoomForAlike(overlay_, scratch_, gang, *needs);
    decision.reason = std::move(told.reason);
    decision.would_fit = std::move(told.would_fit);
  } else {
    decision.reason = ReasonOf(model::Reason::Kind::kNoRoom, gang);
  }
  decision.short_of_minimum = true;
  lacking_.emplace_back(id, Lacking::kRoom);
  wait_alike_.emplace_back(IndexOf(id), needs->shape);
  return true;
}

bool Cycle::Repack(GangPlacement& placement) {
  if (others_.KeepAll()) OthersKeepElse();
  const bool placed = repacking_.Place(placement);
  LooksForRoom(placement.gang());
  if (!placed) return false;
  eviction_.RoomFreed();
  cannot_fit_.clear();
  return true;
}

void Cycle::Placed(std::unique_ptr<GangPlacement> placement, const Resources& before) {
  GangPlacement& placed = *placement;
  placements_.emplace_back(IndexOf(placed.gang()), std::move(placement));
  placed_.insert(placed.gang());
  claims_.Drop(placed.gang());
  eviction_.Placed(placed.gang());
  if (placed.wants_more()) wanting_more_.emplace_back(&placed, TakenSince(cluster_.gang(placed.gang()).queue, before));
}

Resources Cycle::TakenSince(model::QueueId queue, const Resources& before) const {
  Resources taken = overlay_.taken_from(queue);
  taken.Subtract(before);
  return taken;
}

void Cycle::RoomFreed() {
  eviction_.RoomFreed();
  repacking_.RoomFreed();
}

// ---- what it is told

bool Cycle::Tells(GangId id) const {
  const Gang& gang = cluster_.gang(id);
  return gang.topology.has_value() || !gang.sub_groups.empty() || !is_told_(id, model::Reason::Kind::kNoRoom);
}

void Cycle::TellAll() {
  for (auto& [index, placement] : placements_) {
    if (!claims_.empty()) claims_.KeepFrom(placement->gang(), /*surplus=*/true);
    placement->Finish(decisions_[index]);
    TellWhoseRoomItIs(decisions_[index]);
    TellWhoHasNodes(decisions_[index], [&, &of = *placement] { return CouldUseThem(of); });
    if (const std::optional<Wanted> wanted = others_.empty() ? std::nullopt : placement->wanted()) {
      for (const auto& [shape, count] : wanted->by_shape) TellOfOthers(decisions_[index], shape);
    }
  }
  for (const auto& [index, shape] : wait_alike_) {
    TellWhoHasNodes(decisions_[index], [&, of = shape] { return CouldUseThem(of); });
    TellOfOthers(decisions_[index], shape);
  }
}

void Cycle::TellWhoHasNodes(Decision& decision, absl::FunctionRef<bool()> could_use_them) {
  if (!kept_.holds() || !decision.reason.has_value() || decision.reason->kind != model::Reason::Kind::kNoRoom) return;
  if (!Tells(decision.gang)) return;
  const bool own = decision.gang == kept_.gang();
  if (!own && !could_use_them()) return;
  const Gang& gang = cluster_.gang(kept_.gang());
  decision.reason->kept_nodes = static_cast<int>(kept_.nodes().spots.size());
  decision.reason->kept_until_ends = kept_.nodes().ends;
  if (!own) decision.reason->kept_for = model::KeyOf(gang.ns, gang.name);
}

void Cycle::TellOfOthers(Decision& decision, model::ShapeId shape) {
  if (others_.empty() || !decision.reason.has_value() || decision.reason->kind != model::Reason::Kind::kNoRoom) return;
  if (decision.reason->kept_nodes > 0 || !Tells(decision.gang)) return;
  const RoomOfOthers::InTheWay kept = others_.KeptFrom(shape, cluster_.PriorityOf(cluster_.gang(decision.gang)));
  if (kept.nodes == 0) return;
  decision.reason->kept_nodes = kept.nodes;
  decision.reason->kept_for = model::KeyOf(cluster_.task(kept.first).ns, cluster_.task(kept.first).name);
}

bool Cycle::CouldUseThem(model::ShapeId shape) {
  const auto [it, fresh] = could_use_.emplace(shape, false);
  if (fresh) it->second = kept_.CouldTake(cluster_.shape(shape).request);
  return it->second;
}

bool Cycle::CouldUseThem(const GangPlacement& placement) {
  const std::optional<Wanted> wanted = placement.wanted();
  const auto any = [&](const auto& by_shape) {
    return std::any_of(by_shape.begin(), by_shape.end(), [&](const auto& each) { return CouldUseThem(each.first); });
  };
  return wanted.has_value() &&
         (any(wanted->by_shape) || std::any_of(wanted->parts.begin(), wanted->parts.end(),
                                               [&](const auto& part) { return any(part.by_shape); }));
}

void Cycle::TellWhoseRoomItIs(Decision& decision) const {
  if (claims_.empty() || !decision.reason.has_value() || decision.reason->kind != model::Reason::Kind::kQueueFull)
    return;
  if (decision.claim.has_value()) {
    decision.reason->kept_until_ends = decision.claim->ends;
    return;
  }
  const GangId claims = claims_.KeptFrom(decision.gang, /*surplus=*/!decision.short_of_minimum);
  if (claims == model::kNone) return;
  decision.reason->kept_for = model::KeyOf(cluster_.gang(claims).ns, cluster_.gang(claims).name);
}

std::size_t Cycle::IndexOf(GangId id) {
  auto [it, fresh] = index_.emplace(id, decisions_.size());
  if (fresh) {
    decisions_.emplace_back();
    decisions_.back().gang = id;
  }
  return it->second;
}

}  // namespace gangway::gang
