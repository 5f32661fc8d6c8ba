#include "plugin/gang/schedule.h"

#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "plugin/gang/admit.h"
#include "plugin/gang/evict.h"
#include "plugin/gang/kept_room.h"
#include "plugin/gang/order.h"
#include "plugin/gang/place.h"

namespace gangway::gang {

using model::Cluster;
using model::Decision;
using model::Decisions;
using model::GangId;

namespace {

// Calls serve(gang) once for each gang, in the order of queues and lines.
template <class F>
void InOrder(const Overlay& overlay, const Policy& policy, const std::vector<GangId>& gangs, F serve) {
  std::vector<QueueLine> lines = LineUp(overlay.cluster(), policy, gangs);
  while (QueueLine* line = NextQueue(overlay, lines)) serve(line->gangs[line->next++]);
}

// Some of its pods have room, and it never was whole: bindings were refused or lost. What it has is of no use to
// anybody before it has the rest, so that comes before all others.
bool HasBegun(const model::Gang& gang) { return !gang.was_whole && gang.ready() > 0; }

class Cycle {
 public:
  Cycle(const Cluster& cluster, const Policy& policy, absl::Time now, Scratch& scratch)
      : cluster_(cluster),
        policy_(policy),
        scratch_(scratch),
        overlay_(cluster, constraint::AllKinds(), policy.packing),
        eviction_(overlay_, scratch, policy, now) {}

  Decisions Run() {
    std::vector<GangId> begun, awaiting_room, inside, outside;
    for (const GangId id : cluster_.waiting()) {
      const model::Gang& gang = cluster_.gang(id);
      (!gang.admitted ? outside : HasBegun(gang) ? begun : gang.nominated > 0 ? awaiting_room : inside).push_back(id);
    }
    PlaceMinima(begun);
    PlaceMinima(awaiting_room);
    PlaceMinima(inside);
    PlaceMinima(Admit(outside));
    if (policy_.place_surplus) PlaceRests();
    for (auto& [index, placement] : placements_) placement->Finish(decisions_[index]);
    return std::move(decisions_);
  }

 private:
  void PlaceMinima(const std::vector<GangId>& gangs) {
    InOrder(overlay_, policy_, gangs, [&](GangId id) {
      auto placement = std::make_unique<GangPlacement>(overlay_, scratch_, policy_, id);
      if (placement->PlaceMinimum()) {
        placed_.emplace(id, placement.get());
      } else if (const std::optional<Lacking> lacking = placement->lacking(); lacking.has_value()) {
        if (*lacking == Lacking::kRoom && eviction_.MakeRoom(id, decisions_[IndexOf(id)])) return;
        lacking_.emplace_back(id, *lacking);
      }
      placements_.emplace_back(IndexOf(id), std::move(placement));
    });
  }

  // Lets gangs in and returns those that have pods to place already.
  std::vector<GangId> Admit(const std::vector<GangId>& gangs) {
    std::vector<GangId> with_pods;
    Admission admission(overlay_, policy_);
    InOrder(overlay_, policy_, gangs, [&](GangId id) {
      Decision& decision = decisions_[IndexOf(id)];
      decision.reason = admission.Admit(id);
      decision.admit = !decision.reason.has_value();
      decision.short_of_minimum = !decision.admit;
      if (!decision.admit) return;
      if (cluster_.gang(id).tasks.empty()) {
        lacking_.emplace_back(id, Lacking::kPods);
      } else {
        with_pods.push_back(id);
      }
    });
    return with_pods;
  }

  // What is beyond the minima comes after all of them, a task at a time, so that no queue's rest crowds out another's.
  void PlaceRests() {
    std::vector<GangId> gangs;
    for (const auto& [id, placement] : placed_) {
      if (placement->wants_more()) gangs.push_back(id);
    }
    if (gangs.empty()) return;
    const KeptRoom kept = KeepRoom();
    std::vector<QueueLine> lines = LineUp(cluster_, policy_, gangs);
    while (QueueLine* line = NextQueue(overlay_, lines)) {
      if (!placed_.at(line->gangs[line->next])->PlaceOneMore(kept)) ++line->next;
    }
  }

  KeptRoom KeepRoom() {
    for (const GangId id : cluster_.awaiting_pods()) {
      if (cluster_.gang(id).tasks.empty()) lacking_.emplace_back(id, Lacking::kPods);
    }
    const std::map<GangId, Lacking> what(lacking_.begin(), lacking_.end());
    std::vector<GangId> gangs;
    for (const auto& [id, lacking] : what) gangs.push_back(id);
    std::vector<std::pair<GangId, Lacking>> in_order;
    InOrder(overlay_, policy_, gangs, [&](GangId id) { in_order.emplace_back(id, what.at(id)); });
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
  Scratch& scratch_;
  Overlay overlay_;
  Eviction eviction_;
  Decisions decisions_;
  absl::flat_hash_map<GangId, std::size_t> index_;
  std::vector<std::pair<std::size_t, std::unique_ptr<GangPlacement>>> placements_;
  std::map<GangId, GangPlacement*> placed_;
  std::vector<std::pair<GangId, Lacking>> lacking_;  // let in, and not placed
};

}  // namespace

Decisions Schedule(const Cluster& cluster, const Policy& policy, absl::Time now, Scratch& scratch) {
  scratch.Begin(cluster);
  Decisions decisions = Cycle(cluster, policy, now, scratch).Run();
  scratch.End();
  return decisions;
}

}  // namespace gangway::gang
