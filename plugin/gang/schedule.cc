#include "plugin/gang/schedule.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "plugin/gang/admit.h"
#include "plugin/gang/alike_minimum.h"
#include "plugin/gang/evict.h"
#include "plugin/gang/kept_room.h"
#include "plugin/gang/lost_member.h"
#include "plugin/gang/minimum.h"
#include "plugin/gang/moved_room.h"
#include "plugin/gang/needs.h"
#include "plugin/gang/nominated_room.h"
#include "plugin/gang/order.h"
#include "plugin/gang/place.h"
#include "plugin/gang/queue_claims.h"
#include "plugin/gang/repack.h"
#include "plugin/gang/reservation.h"
#include "plugin/gang/room_of_others.h"
#include "plugin/gang/shares.h"
#include "plugin/gang/usable.h"

namespace gangway::gang {

using model::Cluster;
using model::Decision;
using model::Decisions;
using model::Gang;
using model::GangId;
using model::Resources;

namespace {

// What the gang's minimum needs that its pods do not hold; nothing, where it cannot be tried. `room`: for an answer.
const Resources& NeedsOf(Overlay& overlay, const Gang& gang, Resources& room) {
  const Cluster& cluster = overlay.cluster();
  if (gang.min_member - gang.ready() >= gang.Count(model::TaskStatus::kPending)) return gang.asks;
  room = Resources();
  if (WhyNotTried(cluster, gang).has_value()) return room;
  const Usable usable = FindUsable(overlay, gang);
  if (WhyTooFew(cluster, gang, usable).has_value()) return room;
  for (const std::size_t task : FindNeeds(cluster, gang, usable).all)
    room.Add(cluster.shape(cluster.task(usable.tasks[task]).shape).request);
  return room;
}

// Gangs of a queue that want more than their minimum: of those of the highest priority the one that has least.
class SurplusLine {
 public:
  struct Entry {
    std::int32_t priority = 0;
    Part share;  // of the cluster, of what it has most of; volcano: plugins/drf
    GangPlacement* placement = nullptr;
    Resources has;
    const Gang* gang = nullptr;
  };
  bool empty() const { return entries_.empty(); }
  // Orders them from now on.
  void Add(Entry entry) { entries_.insert(std::move(entry)); }
  Entry Take() { return std::move(entries_.extract(entries_.begin()).value()); }

 private:
  struct Before {
    bool operator()(const Entry& a, const Entry& b) const {
      if (a.priority != b.priority) return a.priority > b.priority;
      if (a.share < b.share || b.share < a.share) return a.share < b.share;
      return std::tie(a.gang->created, a.gang->ns, a.gang->name, a.gang->kind) <
             std::tie(b.gang->created, b.gang->ns, b.gang->name, b.gang->kind);
    }
  };
  std::set<Entry, Before> entries_;
};

// Some of its pods have room, and it never was whole: bindings were refused or lost. What it has is of no use to
// anybody before it has the rest, so that comes before all others.
bool HasBegun(const Gang& gang) { return !gang.was_whole && gang.ready() > 0; }

// In one call it is looked so often for nodes to keep; gangs that come later in order have none then.
constexpr int kLooksForNodes = 32;

class Cycle {
 public:
  Cycle(const Cluster& cluster, const Policy& policy, absl::Time now, Scratch& scratch, IsTold is_told)
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

  Decisions Run() {
    decisions_.reserve(cluster_.waiting().size());
    index_.reserve(cluster_.waiting().size());
    std::vector<GangId> moved, begun, awaiting_room, first, inside, outside, untold, served;
    for (const GangId id : cluster_.waiting()) {
      const Gang& gang = cluster_.gang(id);
      const bool is_moved = moved_.PodsOf(id) > 0;
      const bool completes = IsInGrace(cluster_, overlay_.tree(), policy_, gang, now_);
      if (completes || HasLostMember(cluster_, gang)) lost_.emplace(id, completes);
      // Who has begun was let in, whatever its phase says: that may not have been written, or not yet.
      const bool let_in = gang.admitted || is_moved || HasBegun(gang);
      if (let_in && !gang.admitted) untold.push_back(id);
      const bool is_served = IsServed(gang) && !is_moved;
      if (is_served) served.push_back(id);
      (is_moved && gang.nominated > 0 ? moved
       : !let_in                      ? outside
       : HasBegun(gang) || completes  ? begun
       : is_served                    ? inside
       : gang.nominated > 0           ? awaiting_room
       : HasNodes(id)                 ? first
                                      : inside)
          .push_back(id);
    }
    Standstill& standstill = scratch_.standstill();
    if (!moved.empty() || !begun.empty() || !awaiting_room.empty() || !lost_.empty()) standstill.HasOthers();
    if (!first.empty()) {  // those who precede it stay before it
      const auto behind =
          std::stable_partition(inside.begin(), inside.end(), [&](GangId id) { return Precedes(id, first.front()); });
      first.insert(first.begin(), inside.begin(), behind);
      inside.erase(inside.begin(), behind);
    }
    several_wait_ = OfSeveralQueues(false);
    if (several_wait_ || (!outside.empty() && OfSeveralQueues(true)))
      shares_.emplace(cluster_, overlay_.tree(), policy_.sharing);
    if (!first.empty()) had_nodes_ = first.back();
    PlaceBegun(begun, awaiting_room);
    PlaceAwaited(std::move(awaiting_room));
    ServeAll(moved, [&](GangId id) { PlaceMoved(id); });
    if (!first.empty()) {
      first.pop_back();
      ServeAll(first, [&](GangId id) { PlaceMinimum(id); });
      PlaceMinimum(had_nodes_);
    }
    // Who keeps within what its queue deserves, let in or not, comes before who does not.
    Turns let_in = TurnsOf(inside), not_let_in = TurnsOf(outside);
    let_in.ForEachLine([&](model::QueueId queue, const auto& line) { standstill.lines().SetLine(queue, line); });
    Serve(let_in, [&](GangId id) { PlaceMinimum(id); });
    Admission admission(overlay_, policy_, now_);
    std::vector<GangId> with_pods = Admit(admission, not_let_in, true);
    Turns fresh = TurnsOf(with_pods);
    Serve(fresh, [&](GangId id) { PlaceFresh(admission, not_let_in, id); });
    while (const std::optional<GangId> id = Next(let_in)) PlaceMinimum(*id);
    while (const std::optional<GangId> id = Next(fresh)) PlaceFresh(admission, not_let_in, *id);
    ServeAll(Admit(admission, not_let_in, false), [&](GangId id) { PlaceMinimum(id); });
    if (policy_.place_surplus) kept_.Without([&] { PlaceRests(); });
    claims_.KeepNothing();
    DecideOnLost();
    std::sort(untold.begin(), untold.end(), [&](GangId a, GangId b) {
      const Gang &one = cluster_.gang(a), &other = cluster_.gang(b);
      return std::tie(one.ns, one.name) < std::tie(other.ns, other.name);
    });
    for (const GangId id : untold) decisions_[IndexOf(id)].admit = true;
    for (const GangId id : served) decisions_[IndexOf(id)].nominations.emplace();
    TellAll();
    if (eviction_.tried()) standstill.TriedVictims();
    if (!decisions_.empty()) decisions_.front().look_again = std::min(decisions_.front().look_again, moved_.until());
    return std::move(decisions_);
  }

  // What Run would decide about those about whom it would decide otherwise than the last call, where that is to be seen
  // without a look at all of them.
  std::optional<Decisions> RunFew() {
    Standstill& standstill = scratch_.standstill();
    Lines& lines = standstill.lines();
    const GangId holder = cluster_.reservation().has_value() ? cluster_.reservation()->gang : model::kNone;
    if (!standstill.QueuesHaveRoom(overlay_) || !standstill.NobodyGoes(overlay_, policy_, now_)) return std::nullopt;
    for (const GangId id : standstill.Changed(cluster_)) {
      if (!Relist(id, holder)) return std::nullopt;
    }
    const int of_holder = holder == model::kNone ? -1 : lines.NeedOf(holder);
    met_.assign(lines.needs().size(), false);
    bool others_may_have_nodes = false;
    for (std::size_t i = 0; i < met_.size(); ++i) {
      const Lines::Need& need = lines.needs()[i];
      met_[i] = need.gangs > 0 && IsMet(need);
      if (need.gangs == 0 || (holder != model::kNone && need.beside_kept)) continue;
      if (static_cast<int>(i) == of_holder && need.gangs == 1) continue;
      if (met_[i] && (!need.listed || holder != model::kNone)) return std::nullopt;
      others_may_have_nodes = others_may_have_nodes || (!met_[i] && policy_.keeps_for > absl::ZeroDuration() &&
                                                        now_ >= need.created + policy_.keeps_after);
    }
    if (of_holder >= 0 && met_[static_cast<std::size_t>(of_holder)]) {
      if (others_may_have_nodes) return std::nullopt;  // before it
      if (PlaceMinimum(holder)) {
        lines.Leave(holder);
        if (LookWhoMayBegin() || !changed_.empty() || !wanting_more_.empty() || !standstill.QueuesHaveRoom(overlay_))
          return std::nullopt;
        return EndFew(model::kNone);
      }
      if (!kept_.holds() || kept_.gang() != holder || kept_.nodes() != cluster_.reservation()->nodes)
        return std::nullopt;
      met_[static_cast<std::size_t>(of_holder)] = false;
    } else if (holder != model::kNone) {
      kept_.Hold(holder, cluster_.reservation()->nodes);
    }
    bool any = !changed_.empty();
    for (std::size_t i = 0; i < met_.size(); ++i) {
      const Lines::Need& need = lines.needs()[i];
      if (holder != model::kNone) met_[i] = need.gangs > 0 && need.beside_kept && IsMet(need);
      if (met_[i] && !need.listed) return std::nullopt;
      any = any || met_[i];
    }
    if (!any) return EndFew(holder);
    if (others_may_have_nodes || !ServeFew()) return std::nullopt;
    return EndFew(holder);
  }

 private:
  // ---- where few are looked at

  // One that changed takes its place. False: it does not wait for room alone, or may concern others.
  bool Relist(GangId id, GangId holder) {
    Lines& lines = scratch_.standstill().lines();
    const Gang& gang = cluster_.gang(id);
    if (!gang.waits) {
      if (lines.Knows(id)) return false;  // to be told so
      lines.Leave(id);
      return true;
    }
    if (id == holder || lines.HangsOnMore(id) || !gang.admitted || HasBegun(gang) || gang.nominated > 0 ||
        gang.claim.has_value() || HasLostMember(cluster_, gang) || (holder != model::kNone && Precedes(id, holder)))
      return false;
    lines.Enter(cluster_, policy_, id);
    const std::optional<AlikeMinimum> needs = FindAlikeMinimum(overlay_, gang);
    if (!needs.has_value() || !lines.WaitsAsBefore(cluster_, id, *needs)) changed_.insert(id);
    return true;
  }

  bool IsMet(const Lines::Need& need) const { return scratch_.Fit(overlay_, need.shape).copies() >= need.copies; }
  // Of the needs that were met when the call began: others have been placed since, and may lie elsewhere. True: there
  // are some left.
  bool LookWhoMayBegin() {
    may_begin_.assign(met_.size(), false);
    for (std::size_t i = 0; i < met_.size(); ++i) {
      const Lines::Need& need = scratch_.standstill().lines().needs()[i];
      may_begin_[i] = met_[i] && need.gangs > 0 &&
                      (IsMet(need) || repacking_.MayPlace({{need.shape, static_cast<int>(need.copies)}}));
    }
    return std::find(may_begin_.begin(), may_begin_.end(), true) != may_begin_.end();
  }
  // By what was placed in this call: where pods want to be beside others.
  bool AnyIsMetNow() const {
    const std::vector<Lines::Need>& needs = scratch_.standstill().lines().needs();
    for (std::size_t i = 0; i < needs.size(); ++i) {
      if (needs[i].gangs > 0 && (i >= met_.size() || !met_[i]) && IsMet(needs[i])) return true;
    }
    return false;
  }

  // Those whose needs are met, and those that changed, each in its turn among all of its queue. False: it takes a look
  // at all.
  bool ServeFew() {
    Lines& lines = scratch_.standstill().lines();
    several_wait_ = OfSeveralQueues(false);
    if (several_wait_) shares_.emplace(cluster_, overlay_.tree(), policy_.sharing);
    const auto is_looked_at = [&](GangId id) {
      const int need = lines.NeedOf(id);
      return changed_.contains(id) || (need >= 0 && static_cast<std::size_t>(need) < may_begin_.size() &&
                                       may_begin_[static_cast<std::size_t>(need)]);
    };
    LookWhoMayBegin();
    std::map<model::QueueId, Lines::Line> served;
    for (const auto& [queue, line] : lines.lines()) {
      if (std::any_of(line.begin(), line.end(), is_looked_at)) served.emplace(queue, line);
    }
    Turns turns(overlay_, shares(), std::move(served));
    Resources room;
    const auto needs = [&](GangId id) -> const Resources& { return NeedsOf(overlay_, cluster_.gang(id), room); };
    bool within = true;
    const auto next = [&] {
      const GangId id = within ? turns.NextWithin(needs) : model::kNone;
      within = id != model::kNone;
      return within ? id : turns.NextBeyond();
    };
    for (GangId id = next(); id != model::kNone; id = next()) {
      if (!is_looked_at(id)) continue;
      changed_.erase(id);
      const bool may_have_nodes = MayHaveNodesKept(id);
      if (PlaceMinimum(id)) {
        lines.Leave(id);
        if (!wanting_more_.empty() || AnyIsMetNow() || !scratch_.standstill().QueuesHaveRoom(overlay_)) return false;
      } else if (may_have_nodes || !decisions_[IndexOf(id)].reason.has_value() || eviction_.tried()) {
        return false;
      }
      if (!LookWhoMayBegin() && changed_.empty()) return true;
    }
    return true;
  }

  std::optional<Decisions> EndFew(GangId keeps_for) {
    TellAll();
    scratch_.standstill().EndFew(cluster_, decisions_, keeps_for);
    return std::move(decisions_);
  }

  void TellAll() {
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

  // Whether gangs of several queues wait; or else hold something.
  bool OfSeveralQueues(bool or_hold) const {
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
  // Room was made for its minimum, and pods made since took it, or room elsewhere: what is said of the others counts no
  // more. Kept, it would be room for more than the minimum, and theirs when those go that it was made for.
  bool IsServed(const Gang& gang) const {
    return gang.nominated > 0 && policy_.choose_victims && HasMinimum(cluster_, gang);
  }
  // Where there is something to share between those who wait.
  const Shares* shares() const { return several_wait_ ? &*shares_ : nullptr; }
  Turns TurnsOf(const std::vector<GangId>& gangs) const { return Turns(overlay_, shares(), policy_, gangs); }

  // Those with whom their queues keep within their shares.
  template <class F>
  void Serve(Turns& turns, F serve) {
    Resources room;
    const auto needs = [&](GangId id) -> const Resources& { return NeedsOf(overlay_, cluster_.gang(id), room); };
    for (GangId id = turns.NextWithin(needs); id != model::kNone; id = turns.NextWithin(needs)) serve(id);
  }
  static std::optional<GangId> Next(Turns& turns) {
    const GangId id = turns.NextBeyond();
    return id == model::kNone ? std::nullopt : std::optional<GangId>(id);
  }
  template <class F>
  void ServeAll(const std::vector<GangId>& gangs, F serve) {
    if (gangs.empty()) return;
    Turns turns = TurnsOf(gangs);
    Serve(turns, serve);
    while (const std::optional<GangId> id = Next(turns)) serve(*id);
  }

  // Where pods of it should lie close to each other, what kind of reason it is comes with all of it.
  bool Tells(GangId id) const {
    const Gang& gang = cluster_.gang(id);
    return gang.topology.has_value() || !gang.sub_groups.empty() || !is_told_(id, model::Reason::Kind::kNoRoom);
  }

  // It looks for room, beside what pods of other schedulers have that it does not go before.
  void LooksForRoom(GangId id) {
    if (!others_.empty() && others_.KeepFrom(cluster_.PriorityOf(cluster_.gang(id)))) OthersKeepElse();
  }
  void OthersKeepElse() {
    RoomFreed();
    cannot_fit_.clear();
  }

  bool PlaceMinimum(GangId id) {
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

  void NoteWhatItWaitsFor(const GangPlacement& placed, bool fits, bool without_kept) {
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
  // As nodes are kept now.
  void WaitsForRoom(GangId id, const AlikeMinimum& needs) {
    Standstill& standstill = scratch_.standstill();
    standstill.WaitsForRoom(cluster_, id, needs, kept_.holds());
    const absl::Time has_nodes_from = std::max(KeepsFrom(id), cluster_.gang(id).passed_over_until);
    if (!kept_.holds() && policy_.keeps_for > absl::ZeroDuration() && now_ < has_nodes_from)
      standstill.Until(has_nodes_from);
  }

  // True: it wants more pods of one shape than have room, and nothing else could be done for it: it is told so. Of a
  // great many that wait no more is looked at than this.
  bool WaitsForRoomAlone(GangId id) {
    const Gang& gang = cluster_.gang(id);
    if (lost_.contains(id) || claims_.Has(id) || EndsBeforeTheyAreNeeded(id)) return false;
    const bool looks = MayHaveNodesKept(id) && (HasNodes(id) || looks_for_nodes_ > 0);
    if (looks && (HasNodes(id) || cannot_fit_.empty())) return false;
    const std::optional<AlikeMinimum> needs = FindAlikeMinimum(overlay_, gang);
    if (looks && needs.has_value() && !CannotFit({{{needs->shape, needs->count}}, {}, {}})) return false;
    if (!needs.has_value() || scratch_.Fit(overlay_, needs->shape).copies() >= needs->count ||
        repacking_.MayPlace({{needs->shape, needs->count}}) || eviction_.MayEvict(gang))
      return false;
    WaitsForRoom(id, *needs);
    Decision& decision = decisions_[IndexOf(id)];
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

  // One that found no room is placed where those that this call has placed lie elsewhere.
  bool Repack(GangPlacement& placement) {
    if (others_.KeepAll()) OthersKeepElse();
    const bool placed = repacking_.Place(placement);
    LooksForRoom(placement.gang());
    if (!placed) return false;
    eviction_.RoomFreed();
    cannot_fit_.clear();
    return true;
  }

  // With what its queue had taken before.
  void Placed(std::unique_ptr<GangPlacement> placement, const Resources& before) {
    GangPlacement& placed = *placement;
    placements_.emplace_back(IndexOf(placed.gang()), std::move(placement));
    placed_.insert(placed.gang());
    claims_.Drop(placed.gang());
    eviction_.Placed(placed.gang());
    if (placed.wants_more())
      wanting_more_.emplace_back(&placed, TakenSince(cluster_.gang(placed.gang()).queue, before));
  }

  // Each keeps the room that a refused binding leaves to it, until it looks for itself. What was made for others is
  // theirs: else those who left had left in vain.
  void PlaceBegun(const std::vector<GangId>& begun, const std::vector<GangId>& awaiting_room) {
    if (begun.empty()) return;
    NominatedRoom room(overlay_, scratch_);
    for (const GangId id : begun) room.Keep(id);
    for (const GangId id : awaiting_room) {
      if (!WhyNotTried(cluster_, cluster_.gang(id)).has_value()) KeepAwaited(room, id);
    }
    ServeAll(begun, [&](GangId id) {
      PlaceWithin(room, id);
      if (lost_.contains(id) && !placed_.contains(id)) room.Keep(id);
    });
    for (const GangId id : awaiting_room) room.Give(id);
    RoomFreed();
  }

  // Whose grace is over, and who found no room all the same.
  void DecideOnLost() {
    std::vector<GangId> gangs, in_order;
    for (const auto& [id, completes] : lost_) {
      Decision& decision = decisions_[IndexOf(id)];
      const Gang& gang = cluster_.gang(id);
      if (completes)
        decision.look_again = std::min(decision.look_again, GraceEnds(cluster_, overlay_.tree(), policy_, gang));
      const bool has_hope = placed_.contains(id) || decision.nominations.has_value() || gang.nominated > 0;
      if (!completes && !has_hope && gang.Count(model::TaskStatus::kBinding) == 0) gangs.push_back(id);
    }
    if (gangs.empty()) return;
    ServeAll(gangs, [&](GangId id) { in_order.push_back(id); });
    std::vector<GangId> others;
    for (const GangId id : in_order) {
      if (GoesAfterGrace(cluster_, overlay_.tree(), cluster_.gang(id))) {
        eviction_.EvictLost(id, decisions_[IndexOf(id)]);
      } else if (cluster_.gang(id).Count(model::TaskStatus::kPending) > 0) {
        others.push_back(id);
      }
    }
    const GangId has_room =
        eviction_.EvictOneOfLost(others, [this](GangId id) -> Decision& { return decisions_[IndexOf(id)]; });
    if (has_room == model::kNone) return;
    std::erase_if(placements_, [&](const auto& placement) { return placement.first == IndexOf(has_room); });
  }

  // Who finds the room free that was made for it takes it. Only then the others look elsewhere, where it is nobody's;
  // and on nodes that another one had kept only if they precede it.
  void PlaceAwaited(std::vector<GangId> gangs) {
    std::set<GangId> placed;
    ServeAll(gangs, [&](GangId id) {
      LooksForRoom(id);
      const Resources before = overlay_.taken_from(cluster_.gang(id).queue);
      auto placement = std::make_unique<GangPlacement>(overlay_, scratch_, policy_, id, Tells(id));
      if (!placement->PlaceMinimumAsNominated()) return;
      repacking_.Placed(*placement);
      Placed(std::move(placement), before);
      placed.insert(id);
    });
    std::erase_if(gangs, [&](GangId id) { return placed.contains(id); });
    NominatedRoom room(overlay_, scratch_);
    for (const GangId id : gangs) KeepAwaited(room, id);
    ServeAll(gangs, [&](GangId id) {
      const bool leaves = had_nodes_ != model::kNone && !kept_.holds() && !Precedes(id, had_nodes_);
      if (leaves) kept_.Hold(had_nodes_, cluster_.reservation()->nodes);
      PlaceWithin(room, id);
      if (leaves) kept_.Release();
    });
  }

  // Of a gang that lost members since, and needs more, nobody reckoned with what it has.
  void KeepAwaited(NominatedRoom& room, GangId id) const {
    const Gang& gang = cluster_.gang(id);
    if (gang.nominated >= gang.min_member - gang.ready()) room.Keep(id);
  }

  void PlaceWithin(NominatedRoom& room, GangId id) {
    room.Give(id);
    RoomFreed();
    PlaceMinimum(id);
  }

  void RoomFreed() {
    eviction_.RoomFreed();
    repacking_.RoomFreed();
  }

  // Those of its pods that are made again have the room that is kept for them.
  void PlaceMoved(GangId id) {
    moved_.Give(id);
    RoomFreed();
    if (PlaceMinimum(id)) {
      if (!nothing_kept_.has_value()) nothing_kept_.emplace(overlay_, std::vector<std::pair<GangId, Lacking>>(), 0);
      GangPlacement& placed = *placements_.back().second;
      const Gang& gang = cluster_.gang(id);
      for (int left = gang.nominated - std::max(gang.min_member - gang.ready(), 0); left > 0; --left) {
        if (!placed.wants_more() || !placed.PlaceOneMore(*nothing_kept_)) break;
      }
      return;
    }
    const std::optional<model::Reason>& reason = decisions_[IndexOf(id)].reason;
    const bool has_room = reason.has_value() && reason->kind == model::Reason::Kind::kRoomAwaited;
    if (!has_room) moved_.Take(id);
  }

  // ---- nodes that are kept for one gang

  bool HasNodes(GangId id) const {
    const std::optional<model::Reservation>& has = cluster_.reservation();
    return has.has_value() && has->gang == id && has->uid == cluster_.gang(id).uid;
  }

  absl::Time KeepsFrom(GangId id) const { return cluster_.gang(id).created + policy_.keeps_after; }

  // By priority, of its queue or in it.
  bool Precedes(GangId id, GangId other) const {
    const Gang& a = cluster_.gang(id);
    const Gang& b = cluster_.gang(other);
    if (a.queue != b.queue) return cluster_.queue(a.queue).priority > cluster_.queue(b.queue).priority;
    return cluster_.PriorityOf(a) > cluster_.PriorityOf(b);
  }

  // As it says itself: how long others like it took holds nobody to anything. What is expected of those who are there
  // only ever comes before what they said, so that it lets nobody in.
  bool EndsBeforeTheyAreNeeded(GangId id) const {
    return kept_.holds() && kept_.nodes().start != absl::InfiniteFuture() &&
           EndOf(cluster_, id, now_) <= kept_.nodes().expected;
  }

  bool MayHaveNodesKept(GangId id) const {
    return !kept_.holds() && policy_.keeps_for > absl::ZeroDuration() && now_ >= KeepsFrom(id) &&
           now_ >= cluster_.gang(id).passed_over_until;
  }

  // For one that found no room.
  void KeepNodes(const GangPlacement& placement) {
    const GangId id = placement.gang();
    if (!MayHaveNodesKept(id)) return;
    const std::optional<Wanted> wanted = placement.wanted();
    if (!wanted.has_value() || CannotFit(*wanted)) return;
    const model::KeptNodes* const before = HasNodes(id) ? &cluster_.reservation()->nodes : nullptr;
    Decision& decision = decisions_[IndexOf(id)];
    if (before != nullptr && now_ < before->found + policy_.keeps_same) {
      decision.kept = *before;
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

  // ---- room of a queue that is kept for one of its gangs

  // What its minimum needs; before it is let in, what its PodGroup says.
  Resources AsksOf(GangId id) {
    const Gang& gang = cluster_.gang(id);
    Resources room;
    return gang.admitted && !gang.tasks.empty() ? NeedsOf(overlay_, gang, room) : Admission::Missing(gang);
  }

  // Who completes what has begun, or has room that was made for it, goes before all of them.
  void LeavesClaims(GangId id) {
    if (claims_.empty()) return;
    const Gang& gang = cluster_.gang(id);
    if (HasBegun(gang) || gang.nominated > 0 || lost_.contains(id)) return claims_.KeepNothing();
    claims_.KeepFrom(id);
  }

  bool MayClaim(GangId id) const {
    const Gang& gang = cluster_.gang(id);
    return overlay_.tree().limits() && policy_.keeps_for > absl::ZeroDuration() && now_ >= KeepsFrom(id) &&
           now_ >= gang.passed_over_until && gang.nominated == 0 && !HasBegun(gang) && !lost_.contains(id);
  }

  // It waits for something else than room for now.
  void GoesOnClaiming(GangId id) {
    if (!claims_.Has(id)) return;
    const model::QueueClaim claim = *cluster_.gang(id).claim;
    decisions_[IndexOf(id)].claim = claim;
    claims_.Refused(id, claim, AsksOf(id));
  }

  // For one that has its pods, and found no room.
  void ClaimQueue(const GangPlacement& placement) {
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

  // `has_hope`: nodes could take it if others ended.
  void Claim(GangId id, const Resources& asks, absl::FunctionRef<bool()> has_hope) {
    const bool had = claims_.Has(id);
    claims_.Drop(id);
    if (!MayClaim(id) || claims_.ComesAfterAnother(id)) return;
    scratch_.standstill().HangsOnAll();  // on whether nodes could take it, too
    Decision& decision = decisions_[IndexOf(id)];
    const model::QueueClaim* const before = had ? &*cluster_.gang(id).claim : nullptr;
    std::optional<model::QueueClaim> claim;
    if (before != nullptr && now_ < before->found + policy_.keeps_same) {
      claim = *before;
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

  // Of one whose queue has no room: what is free there is kept for another, or what becomes free for itself.
  void TellWhoseRoomItIs(Decision& decision) const {
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

  // Something of it is not free yet: else it is no room that the gang waits for.
  bool Gathers(const model::KeptNodes& nodes) const {
    return std::any_of(nodes.spots.begin(), nodes.spots.end(), [&](const model::KeptNodes::Spot& spot) {
      for (model::Dim dim = 0; dim < spot.amounts.size(); ++dim) {
        if (spot.amounts[dim] > std::max<std::int64_t>(overlay_.free(spot.row, dim), 0)) return true;
      }
      return !overlay_.FreeBesideRoom(spot, {});
    });
  }

  // No more than what was looked for before in vain.
  bool CannotFit(const Wanted& wanted) const {
    return std::any_of(cannot_fit_.begin(), cannot_fit_.end(), [&](const Wanted& before) {
      const auto less = [](const auto& a, const auto& b) { return a.first == b.first && a.second <= b.second; };
      return before.areas.front().rows() == nullptr && before.by_shape.size() == wanted.by_shape.size() &&
             std::equal(before.by_shape.begin(), before.by_shape.end(), wanted.by_shape.begin(), less);
    });
  }

  // `could_use_them`: one of its pods would have room on them.
  void TellWhoHasNodes(Decision& decision, absl::FunctionRef<bool()> could_use_them) {
    if (!kept_.holds() || !decision.reason.has_value() || decision.reason->kind != model::Reason::Kind::kNoRoom) return;
    if (!Tells(decision.gang)) return;
    const bool own = decision.gang == kept_.gang();
    if (!own && !could_use_them()) return;
    const Gang& gang = cluster_.gang(kept_.gang());
    decision.reason->kept_nodes = static_cast<int>(kept_.nodes().spots.size());
    decision.reason->kept_until_ends = kept_.nodes().ends;
    if (!own) decision.reason->kept_for = model::KeyOf(gang.ns, gang.name);
  }

  // Of one that waits for room, and wants pods of the shape: a reader sees nodes with room that is not said otherwise.
  void TellOfOthers(Decision& decision, model::ShapeId shape) {
    if (others_.empty() || !decision.reason.has_value() || decision.reason->kind != model::Reason::Kind::kNoRoom)
      return;
    if (decision.reason->kept_nodes > 0 || !Tells(decision.gang)) return;
    const RoomOfOthers::InTheWay kept = others_.KeptFrom(shape, cluster_.PriorityOf(cluster_.gang(decision.gang)));
    if (kept.nodes == 0) return;
    decision.reason->kept_nodes = kept.nodes;
    decision.reason->kept_for = model::KeyOf(cluster_.task(kept.first).ns, cluster_.task(kept.first).name);
  }

  bool CouldUseThem(model::ShapeId shape) {
    const auto [it, fresh] = could_use_.emplace(shape, false);
    if (fresh) it->second = kept_.CouldTake(cluster_.shape(shape).request);
    return it->second;
  }
  bool CouldUseThem(const GangPlacement& placement) {
    const std::optional<Wanted> wanted = placement.wanted();
    const auto any = [&](const auto& by_shape) {
      return std::any_of(by_shape.begin(), by_shape.end(), [&](const auto& each) { return CouldUseThem(each.first); });
    };
    return wanted.has_value() &&
           (any(wanted->by_shape) || std::any_of(wanted->parts.begin(), wanted->parts.end(),
                                                 [&](const auto& part) { return any(part.by_shape); }));
  }

  // ---- in turn

  // Of one that was let in in this call.
  void PlaceFresh(Admission& admission, Turns& turns, GangId id) {
    if (!PlaceMinimum(id)) return;
    admission.Placed(id);
    Resources missing;
    missing.Subtract(Admission::Missing(cluster_.gang(id)));
    turns.Count(id, missing);
  }
  Resources TakenSince(model::QueueId queue, const Resources& before) const {
    Resources taken = overlay_.taken_from(queue);
    taken.Subtract(before);
    return taken;
  }

  // Lets gangs in and returns those that have pods to place already.
  std::vector<GangId> Admit(Admission& admission, Turns& turns, bool within) {
    std::vector<GangId> with_pods;
    QueueOrder owed(overlay_, within && shares_.has_value() ? &*shares_ : nullptr, {});
    const auto count = [&](GangId id) {
      turns.Count(id, Admission::Missing(cluster_.gang(id)));
      owed.Count(cluster_.gang(id).queue, Admission::Missing(cluster_.gang(id)));
    };
    if (within) std::for_each(cluster_.awaiting_pods().begin(), cluster_.awaiting_pods().end(), count);
    Resources room;
    const auto missing = [&](GangId id) -> const Resources& { return room = Admission::Missing(cluster_.gang(id)); };
    for (GangId id; (id = within ? turns.NextWithin(missing) : turns.NextBeyond()) != model::kNone;) {
      Decision& decision = decisions_[IndexOf(id)];
      const bool is_owed = within && shares_.has_value() && owed.Within(cluster_.gang(id).queue, missing(id));
      LeavesClaims(id);
      decision.reason = admission.Admit(
          id, is_owed, claims_.Has(id), [&]() -> const Resources& { return eviction_.HeldByLower(id); },
          [&](model::Reason::Kind kind) { return is_told_(id, kind); });
      decision.admit = !decision.reason.has_value();
      decision.short_of_minimum = !decision.admit;
      if (!decision.admit) {
        scratch_.standstill().HasOthers();
        if (RefusedByLimit(cluster_.gang(id), admission.full_queue())) {
          Claim(id, Admission::Missing(cluster_.gang(id)), [&] { return FitsInSum(missing(id)); });
          TellWhoseRoomItIs(decision);
        } else {
          GoesOnClaiming(id);
        }
        TellWhatItHangsOn(*decision.reason);
        if (now_ < KeepsFrom(id)) decision.look_again = std::min(decision.look_again, KeepsFrom(id));
        continue;
      }
      GoesOnClaiming(id);
      count(id);
      if (cluster_.gang(id).tasks.empty()) {
        lacking_.emplace_back(id, Lacking::kPods);
      } else {
        with_pods.push_back(id);
      }
    }
    return with_pods;
  }

  // By what its queue, or one above it, may hold; not by what the cluster has. kNone: by no queue.
  bool RefusedByLimit(const Gang& gang, model::QueueId full) const {
    if (full == model::kNone) return false;
    const Resources missing = Admission::Missing(gang);
    for (model::Dim dim = 0; dim < missing.size(); ++dim) {
      if (missing[dim] > 0 && dim != model::kPods && overlay_.tree().PlaceLimit(full, dim) != model::kUnlimited)
        return true;
    }
    return false;
  }
  bool FitsInSum(const Resources& amounts) const {
    for (model::Dim dim = 0; dim < amounts.size(); ++dim) {
      if (amounts[dim] > cluster_.total()[dim]) return false;
    }
    return true;
  }

  // One that is not let in.
  void TellWhatItHangsOn(const model::Reason& reason) {
    Standstill& standstill = scratch_.standstill();
    if (reason.kind == model::Reason::Kind::kQuotaFull) standstill.HangsOnAll();
    if (reason.kind != model::Reason::Kind::kClusterFull && reason.kind != model::Reason::Kind::kQueueFull) return;
    standstill.HangsOnSums();
    if (policy_.preempt) standstill.HangsOnGangs();
  }

  // What is beyond the minima comes after all of them, a task at a time; between queues by what they deserve, in a
  // queue by what the gangs have.
  void PlaceRests() {
    if (wanting_more_.empty()) return;
    if (others_.KeepAll()) OthersKeepElse();
    KeptRoom kept = KeepRoom();
    if (kept_.holds()) {
      for (const model::KeptNodes::Spot& spot : kept_.nodes().spots) {
        if (cluster_.present(spot.row)) kept.AlsoKeep(kept_.gang(), spot);
      }
    }
    std::map<model::QueueId, SurplusLine> within, beyond;
    for (auto& [placement, taken] : wanting_more_) {
      if (const GangId first = eviction_.UnsettledBy(placement->gang()); first != model::kNone) {
        placement->LeaveRestTo(first);
        continue;
      }
      const Gang& gang = cluster_.gang(placement->gang());
      SurplusLine::Entry entry{cluster_.PriorityOf(gang), {}, placement, gang.held, &gang};
      entry.has.Add(taken);
      entry.share = PartOfCluster(entry.has);
      within[gang.queue].Add(std::move(entry));
    }
    PlaceRestsOf(within, kept, &beyond);
    PlaceRestsOf(beyond, kept, nullptr);
  }

  // `later`: gets those with whom their queue would not keep within its share; nullptr: all have their turn.
  void PlaceRestsOf(std::map<model::QueueId, SurplusLine>& lines, const KeptRoom& kept,
                    std::map<model::QueueId, SurplusLine>* later) {
    std::vector<model::QueueId> queues;
    for (const auto& [queue, line] : lines) queues.push_back(queue);
    if (queues.empty()) return;
    QueueOrder order(overlay_, queues.size() > 1 ? shares() : nullptr, queues);
    for (model::QueueId queue = order.First(); queue != model::kNone; queue = order.First()) {
      SurplusLine& line = lines.at(queue);
      if (line.empty()) {
        order.Done(queue);
        continue;
      }
      SurplusLine::Entry entry = line.Take();
      if (later != nullptr && !order.Within(queue, OneOf(*entry.gang))) {
        (*later)[queue].Add(std::move(entry));
        while (!line.empty()) (*later)[queue].Add(line.Take());
        continue;
      }
      const Resources before = overlay_.taken_from(queue);
      if (!claims_.empty()) claims_.KeepFrom(entry.placement->gang(), /*surplus=*/true);
      if (!entry.placement->PlaceOneMore(kept)) continue;
      entry.has.Add(TakenSince(queue, before));
      entry.share = PartOfCluster(entry.has);
      line.Add(std::move(entry));
      order.Moved(queue);
    }
  }

  // What one of its pods asks for, where they differ the mean of them.
  static Resources OneOf(const Gang& gang) {
    const std::int64_t pods = std::max(gang.Count(model::TaskStatus::kPending), 1);
    Resources one;
    for (model::Dim dim = 0; dim < gang.asks.size(); ++dim) one.Set(dim, (gang.asks[dim] + pods - 1) / pods);
    return one;
  }

  Part PartOfCluster(const Resources& amounts) const {
    Part most;
    for (model::Dim dim = 0; dim < amounts.size(); ++dim) {
      if (dim == model::kPods || cluster_.total()[dim] <= 0) continue;
      const Part part{amounts[dim], cluster_.total()[dim]};
      if (most < part) most = part;
    }
    return most;
  }

  KeptRoom KeepRoom() {
    for (const GangId id : cluster_.awaiting_pods()) {
      if (cluster_.gang(id).tasks.empty()) lacking_.emplace_back(id, Lacking::kPods);
    }
    const std::map<GangId, Lacking> what(lacking_.begin(), lacking_.end());
    std::vector<GangId> gangs;
    for (const auto& [id, lacking] : what) gangs.push_back(id);
    std::vector<std::pair<GangId, Lacking>> in_order;
    ServeAll(gangs, [&](GangId id) { in_order.emplace_back(id, what.at(id)); });
    return KeptRoom(overlay_, in_order, policy_.keep_budget);
  }

  std::size_t IndexOf(GangId id) {
    auto [it, fresh] = index_.emplace(id, decisions_.size());
    if (fresh) {
      decisions_.emplace_back();
      decisions_.back().gang = id;
    }
    return it->second;
  }

  const Cluster& cluster_;
  const Policy& policy_;
  const absl::Time now_;
  Scratch& scratch_;
  const IsTold is_told_;
  Overlay overlay_;
  RoomOfOthers others_;
  Eviction eviction_;
  MovedRoom moved_;
  HeldRoom kept_;
  QueueClaims claims_;
  GangId had_nodes_ = model::kNone;  // kept for it before this call; it waits
  Repacking repacking_;
  std::optional<KeptRoom> nothing_kept_;
  std::optional<PodsThatEnd> ending_;
  int looks_for_nodes_ = kLooksForNodes;
  std::vector<Wanted> cannot_fit_;
  absl::flat_hash_map<model::ShapeId, bool> could_use_;
  std::optional<Shares> shares_;
  std::map<GangId, bool> lost_;  // who lost members, and whether that is completed before all others
  std::set<GangId> placed_;      // have their minimum by this call
  // By need of the lines: there was room for it when this call began; and whether there may be still.
  std::vector<bool> met_, may_begin_;
  std::set<GangId> changed_;   // since the last call, and are to be tried
  bool several_wait_ = false;  // gangs of several queues do
  Decisions decisions_;
  absl::flat_hash_map<GangId, std::size_t> index_;
  std::vector<std::pair<std::size_t, std::unique_ptr<GangPlacement>>> placements_;
  std::vector<std::pair<GangPlacement*, Resources>> wanting_more_;  // with what their minima took
  std::vector<std::pair<GangId, Lacking>> lacking_;                 // let in, and not placed
  // Whose decisions say already that they wait for room (WaitsForRoomAlone).
  std::vector<std::pair<std::size_t, model::ShapeId>> wait_alike_;
};

}  // namespace

Decisions Schedule(const Cluster& cluster, const Policy& policy, absl::Time now, Scratch& scratch) {
  return Schedule(cluster, policy, now, scratch, [](GangId, model::Reason::Kind) { return false; });
}

Decisions Schedule(const Cluster& cluster, const Policy& policy, absl::Time now, Scratch& scratch, IsTold is_told) {
  scratch.Begin(cluster);
  scratch.standstill().Begin(cluster, policy, now);
  Decisions decisions = Cycle(cluster, policy, now, scratch, is_told).Run();
  scratch.standstill().End(cluster, decisions);
  scratch.End();
  return decisions;
}

std::optional<Decisions> ScheduleFew(const Cluster& cluster, const Policy& policy, absl::Time now, Scratch& scratch) {
  if (!scratch.standstill().MayLookAtFew(cluster, policy, now)) return std::nullopt;
  scratch.Begin(cluster);
  std::optional<Decisions> decisions =
      Cycle(cluster, policy, now, scratch, [](GangId, model::Reason::Kind) { return false; }).RunFew();
  if (!decisions.has_value()) scratch.standstill().LookAtAll();
  scratch.End();
  return decisions;
}

bool StandsStill(const Cluster& cluster, const Policy& policy, absl::Time now, Scratch& scratch) {
  return scratch.standstill().Holds(cluster, policy, now, scratch);
}

}  // namespace gangway::gang
