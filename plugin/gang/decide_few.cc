#include "plugin/gang/decide_few.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "plugin/gang/alike_minimum.h"
#include "plugin/gang/cycle.h"
#include "plugin/gang/lines.h"
#include "plugin/gang/lost_member.h"
#include "plugin/gang/order.h"
#include "plugin/gang/schedule.h"
#include "plugin/gang/shares.h"
#include "plugin/gang/standstill.h"

namespace gangway::gang {

using model::Cluster;
using model::Decisions;
using model::Gang;
using model::GangId;
using model::Resources;

namespace {

class CycleOfFew : private Cycle {
 public:
  CycleOfFew(const Cluster& cluster, const Policy& policy, absl::Time now, Scratch& scratch, IsTold is_told)
      : Cycle(cluster, policy, now, scratch, is_told) {}

  std::optional<Decisions> Run() {
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
    const auto needs = [&](GangId id) -> const Resources& { return NeedsOf(cluster_.gang(id), room); };
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

  // By need of the lines: there was room for it when this call began; and whether there may be still.
  std::vector<bool> met_, may_begin_;
  std::set<GangId> changed_;  // since the last call, and are to be tried
};

}  // namespace

std::optional<Decisions> DecideOnFew(const Cluster& cluster, const Policy& policy, absl::Time now, Scratch& scratch) {
  return CycleOfFew(cluster, policy, now, scratch, [](GangId, model::Reason::Kind) { return false; }).Run();
}

}  // namespace gangway::gang
