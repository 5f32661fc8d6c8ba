#include "plugin/gang/decide_all.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "plugin/gang/admit.h"
#include "plugin/gang/cycle.h"
#include "plugin/gang/kept_room.h"
#include "plugin/gang/lost_member.h"
#include "plugin/gang/minimum.h"
#include "plugin/gang/nominated_room.h"
#include "plugin/gang/order.h"
#include "plugin/gang/standstill.h"
#include "plugin/gang/usable.h"

namespace gangway::gang {

using model::Cluster;
using model::Decision;
using model::Decisions;
using model::Gang;
using model::GangId;
using model::Resources;

namespace {

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

class CycleOfAll : private Cycle {
 public:
  CycleOfAll(const Cluster& cluster, const Policy& policy, absl::Time now, Scratch& scratch, IsTold is_told)
      : Cycle(cluster, policy, now, scratch, is_told) {}

  Decisions Run() {
    decisions_.reserve(cluster_.waiting().size());
    index_.reserve(cluster_.waiting().size());
    Waiting waiting = WhoWaits();
    Standstill& standstill = scratch_.standstill();
    if (!waiting.moved.empty() || !waiting.begun.empty() || !waiting.awaiting_room.empty() || !lost_.empty())
      standstill.HasOthers();
    several_wait_ = OfSeveralQueues(false);
    if (several_wait_ || (!waiting.outside.empty() && OfSeveralQueues(true)))
      shares_.emplace(cluster_, overlay_.tree(), policy_.sharing);
    if (!waiting.first.empty()) had_nodes_ = waiting.first.back();
    PlaceBegun(waiting.begun, waiting.awaiting_room);
    PlaceAwaited(std::move(waiting.awaiting_room));
    ServeAll(waiting.moved, [&](GangId id) { PlaceMoved(id); });
    PlaceFirst(std::move(waiting.first));
    PlaceAndLetIn(waiting.inside, waiting.outside);
    if (policy_.place_surplus) kept_.Without([&] { PlaceRests(); });
    claims_.KeepNothing();
    DecideOnLost();
    TellWhatIsNotWritten(std::move(waiting.untold), waiting.served);
    TellAll();
    if (eviction_.tried()) standstill.TriedVictims();
    if (!decisions_.empty()) decisions_.front().look_again = std::min(decisions_.front().look_again, moved_.until());
    return std::move(decisions_);
  }

 private:
  // By how they come to their minimum, in the order of cluster.waiting().
  struct Waiting {
    std::vector<GangId> moved, begun, awaiting_room;
    std::vector<GangId> first;            // for whom nodes were kept, last, and before it who precedes it
    std::vector<GangId> inside, outside;  // that are let in, and that are not
    std::vector<GangId> untold;           // of any of these, who is let in and it is not written
    std::vector<GangId> served;           // of any of these, see IsServed
  };

  // Notes who lost members.
  Waiting WhoWaits() {
    Waiting waiting;
    for (const GangId id : cluster_.waiting()) {
      const Gang& gang = cluster_.gang(id);
      const bool is_moved = moved_.PodsOf(id) > 0;
      const bool completes = IsInGrace(cluster_, overlay_.tree(), policy_, gang, now_);
      if (completes || HasLostMember(cluster_, gang)) lost_.emplace(id, completes);
      // Who has begun was let in, and for whom room was made, whatever its phase says: that may not have been written,
      // or not yet, and one that was evicted is Pending again when its pods are gone.
      const bool let_in = gang.admitted || is_moved || HasBegun(gang) || gang.nominated > 0;
      if (let_in && !gang.admitted) waiting.untold.push_back(id);
      const bool is_served = IsServed(gang) && !is_moved;
      if (is_served) waiting.served.push_back(id);
      (is_moved && gang.nominated > 0 ? waiting.moved
       : !let_in                      ? waiting.outside
       : HasBegun(gang) || completes  ? waiting.begun
       : is_served                    ? waiting.inside
       : gang.nominated > 0           ? waiting.awaiting_room
       : HasNodes(id)                 ? waiting.first
                                      : waiting.inside)
          .push_back(id);
    }
    if (waiting.first.empty()) return waiting;
    std::vector<GangId>& inside = waiting.inside;
    const auto behind = std::stable_partition(inside.begin(), inside.end(),
                                              [&](GangId id) { return Precedes(id, waiting.first.front()); });
    waiting.first.insert(waiting.first.begin(), inside.begin(), behind);
    inside.erase(inside.begin(), behind);
    return waiting;
  }

  // Room was made for its minimum, and pods made since took it, or room elsewhere: what is said of the others counts no
  // more. Kept, it would be room for more than the minimum, and theirs when those go that it was made for.
  bool IsServed(const Gang& gang) const {
    return gang.nominated > 0 && policy_.choose_victims && HasMinimum(cluster_, gang);
  }

  Turns TurnsOf(const std::vector<GangId>& gangs) const { return Turns(overlay_, shares(), policy_, gangs); }

  // Those with whom their queues keep within their shares.
  template <class F>
  void Serve(Turns& turns, F serve) {
    Resources room;
    const auto needs = [&](GangId id) -> const Resources& { return NeedsOf(cluster_.gang(id), room); };
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

  // Each keeps the room that a refused binding leaves to it, until it looks for itself. What was made for others is
  // theirs: else those who left had left in vain.
  void PlaceBegun(const std::vector<GangId>& begun, const std::vector<GangId>& awaiting_room) {
    if (begun.empty()) return;
    NominatedRoom room(overlay_, scratch_);
    for (const GangId id : begun) room.Keep(id);
    if (!awaiting_room.empty()) {
      room.CountOn(eviction_.Going());
      eviction_.LeaveRoomIn(&room);
    }
    for (const GangId id : awaiting_room) {
      if (IsAwaited(id) && !WhyNotTried(cluster_, cluster_.gang(id)).has_value()) room.KeepUntilPodsEnd(id);
    }
    ServeAll(begun, [&](GangId id) {
      PlaceWithin(room, id);
      if (lost_.contains(id) && !placed_.contains(id) && !IsRoomAwaited(id)) room.Keep(id);
    });
    for (const GangId id : awaiting_room) room.Give(id);
    eviction_.LeaveRoomIn(nullptr);
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
    for (const GangId id : gangs) {
      if (IsAwaited(id)) room.Keep(id);
    }
    ServeAll(gangs, [&](GangId id) {
      const bool leaves = had_nodes_ != model::kNone && !kept_.holds() && !Precedes(id, had_nodes_);
      if (leaves) kept_.Hold(had_nodes_, cluster_.reservation()->nodes);
      PlaceWithin(room, id);
      if (leaves) kept_.Release();
    });
  }

  // The room that was made for it is all it needs: it may have lost members since.
  bool IsAwaited(GangId id) const {
    const Gang& gang = cluster_.gang(id);
    return gang.nominated >= gang.min_member - gang.ready();
  }

  void PlaceWithin(NominatedRoom& room, GangId id) {
    room.Give(id);
    RoomFreed();
    PlaceMinimum(id);
  }

  void PlaceFirst(std::vector<GangId> first) {
    if (first.empty()) return;
    first.pop_back();
    ServeAll(first, [&](GangId id) { PlaceMinimum(id); });
    PlaceMinimum(had_nodes_);
  }

  // Who keeps within what its queue deserves, let in or not, comes before who does not.
  void PlaceAndLetIn(const std::vector<GangId>& inside, const std::vector<GangId>& outside) {
    Turns let_in = TurnsOf(inside), not_let_in = TurnsOf(outside);
    let_in.ForEachLine(
        [&](model::QueueId queue, const auto& line) { scratch_.standstill().lines().SetLine(queue, line); });
    Serve(let_in, [&](GangId id) { PlaceMinimum(id); });
    Admission admission(overlay_, policy_, now_);
    std::vector<GangId> with_pods = Admit(admission, not_let_in, true);
    Turns fresh = TurnsOf(with_pods);
    Serve(fresh, [&](GangId id) { PlaceFresh(admission, not_let_in, id); });
    while (const std::optional<GangId> id = Next(let_in)) PlaceMinimum(*id);
    while (const std::optional<GangId> id = Next(fresh)) PlaceFresh(admission, not_let_in, *id);
    ServeAll(Admit(admission, not_let_in, false), [&](GangId id) { PlaceMinimum(id); });
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
    if (!IsRoomAwaited(id)) moved_.Take(id);
  }

  // Others go for it, and the overlay has its room.
  bool IsRoomAwaited(GangId id) {
    const std::optional<model::Reason>& reason = decisions_[IndexOf(id)].reason;
    return reason.has_value() && reason->kind == model::Reason::Kind::kRoomAwaited;
  }

  // Of one that was let in in this call.
  void PlaceFresh(Admission& admission, Turns& turns, GangId id) {
    if (!PlaceMinimum(id)) return;
    admission.Placed(id);
    Resources missing;
    missing.Subtract(Admission::Missing(cluster_.gang(id)));
    turns.Count(id, missing);
  }

  // Lets gangs in and returns those that have pods to place already.
  std::vector<GangId> Admit(Admission& admission, Turns& turns, bool within) {
    std::vector<GangId> with_pods;
    QueueOrder owed(overlay_, within && shares_.has_value() ? &*shares_ : nullptr, {});
    const auto count = [&](GangId id) {
      turns.Count(id, Admission::Missing(cluster_.gang(id)));
      owed.Count(cluster_.gang(id).queue, Admission::Missing(cluster_.gang(id)));
    };
    if (within) CountAwaited(turns, owed);
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

  // Those that were let in before and whose pods are not there: thousands, of few queues, while evicted ones come back.
  void CountAwaited(Turns& turns, QueueOrder& owed) const {
    std::map<model::QueueId, std::pair<GangId, Resources>> by_queue;
    for (const GangId id : cluster_.awaiting_pods()) {
      const Gang& gang = cluster_.gang(id);
      by_queue.try_emplace(gang.queue, id, Resources()).first->second.second.Add(Admission::Missing(gang));
    }
    for (const auto& [queue, awaited] : by_queue) {
      const auto& [any_of_it, sum] = awaited;
      turns.Count(any_of_it, sum);
      owed.Count(queue, sum);
    }
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

  // That it was let in; that what is kept for it counts no more.
  void TellWhatIsNotWritten(std::vector<GangId> untold, const std::vector<GangId>& served) {
    std::sort(untold.begin(), untold.end(), [&](GangId a, GangId b) {
      const Gang &one = cluster_.gang(a), &other = cluster_.gang(b);
      return std::tie(one.ns, one.name) < std::tie(other.ns, other.name);
    });
    for (const GangId id : untold) decisions_[IndexOf(id)].admit = true;
    for (const GangId id : served) decisions_[IndexOf(id)].nominations.emplace();
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

  // What is beyond the minima comes after all of them, a task at a time; between queues by what they deserve, in a
  // queue by what the gangs have.
  void PlaceRests() {
    if (wanting_more_.empty()) return;
    if (others_.KeepAll()) OthersKeepElse();
    bool has_room = false;
    std::map<model::QueueId, SurplusLine> within, beyond;
    for (auto& [placement, taken] : wanting_more_) {
      GangId first = eviction_.UnsettledBy(placement->gang());
      if (first == model::kNone) first = eviction_.GoesFor(placement->gang());
      if (first != model::kNone) {
        placement->LeaveRestTo(first);
        continue;
      }
      const Gang& gang = cluster_.gang(placement->gang());
      SurplusLine::Entry entry{cluster_.PriorityOf(gang), {}, placement, gang.held, &gang};
      entry.has.Add(taken);
      entry.share = PartOfCluster(entry.has);
      has_room = has_room || placement->HasRoomForMore();
      within[gang.queue].Add(std::move(entry));
    }
    if (!has_room) return;  // nothing has to be kept from them
    KeptRoom kept = KeepRoom();
    if (kept_.holds()) {
      for (const model::KeptNodes::Spot& spot : kept_.nodes().spots) {
        if (cluster_.present(spot.row)) kept.AlsoKeep(kept_.gang(), spot);
      }
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

  GangId had_nodes_ = model::kNone;  // kept for it before this call; it waits
  std::optional<KeptRoom> nothing_kept_;
};

}  // namespace

Decisions DecideOnAll(const Cluster& cluster, const Policy& policy, absl::Time now, Scratch& scratch, IsTold is_told) {
  return CycleOfAll(cluster, policy, now, scratch, is_told).Run();
}

}  // namespace gangway::gang
