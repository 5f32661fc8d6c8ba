#include "plugin/gang/nobody_leaves.h"

#include <algorithm>
#include <vector>

#include "plugin/gang/eviction_trial.h"
#include "plugin/gang/fit.h"
#include "plugin/gang/holders.h"
#include "plugin/gang/later_going.h"
#include "plugin/gang/overlay.h"
#include "plugin/gang/preemptor.h"
#include "plugin/gang/reclaim.h"
#include "plugin/gang/victims.h"

namespace gangway::gang {
namespace {

using Why = NobodyLeaves::Why;

class Count {
 public:
  Count(Overlay& overlay, const Policy& policy, absl::Time now, const Preemptor& preemptor, const Holders& holders)
      : overlay_(overlay),
        policy_(policy),
        now_(now),
        preemptor_(preemptor),
        holders_(holders),
        victims_(overlay.cluster(), overlay.tree(), policy, now),
        later_(overlay.cluster(), overlay.tree(), policy, now, preemptor.asks_for_nothing),
        reclaim_(overlay, policy, now) {
    victims_.Count(holders.going(), 1);
  }

  NobodyLeaves Run() {
    NobodyLeaves out;
    const std::vector<Candidate> above = reclaim_.CandidatesInTime(preemptor_, holders_);
    out.kept_by_queue = static_cast<int>(reclaim_.KeptByQueues(preemptor_, holders_).size());
    out.above = static_cast<int>(above.size()) + out.kept_by_queue;
    if (out.above == 0) return {Why::kNobodyIsAbove};
    if (!policy_.reclaim) return {Why::kNothingIsTakenBack};
    if (!preemptor_.preempts) return {Why::kEvictsNever};
    for (const Candidate& candidate : above) ++(out.*NumberOf(candidate));
    if (out.could_go > 0) out.fits_then = FitsWithout();
    return out;
  }

 private:
  // What of it goes, if it goes alone, is taken down.
  int NobodyLeaves::* NumberOf(const Candidate& candidate) {
    const absl::Time rests_until = reclaim_.RestsUntil(candidate.gang, preemptor_.gang);
    const std::optional<Bundle>& whole = victims_.Whole(candidate.gang, preemptor_.asks_for_nothing);
    const bool in_time = whole.has_value() && rests_until <= now_;
    if (in_time && MayGo(*whole)) {
      goes_.push_back(*whole);
      return &NobodyLeaves::could_go;
    }
    bool some = false;
    for (const Bundle& bundle : victims_.Surplus(candidate.gang, preemptor_.asks_for_nothing)) {
      if (!MayGo(bundle)) continue;
      goes_.push_back(bundle);
      some = true;
    }
    if (some) return &NobodyLeaves::could_go;
    if (in_time) return victims_.WithinBudgets(whole->tasks) ? &NobodyLeaves::dear : &NobodyLeaves::kept_by_budget;
    return later_.From(candidate.gang, rests_until).has_value() ? &NobodyLeaves::later : &NobodyLeaves::never;
  }
  bool MayGo(const Bundle& bundle) {
    return victims_.WithinBudgets(bundle.tasks) && reclaim_.LossBy(preemptor_, bundle, {}).allowed;
  }

  bool FitsWithout() {
    Scratch scratch;
    EvictionTrial trial(overlay_, scratch, policy_);
    overlay_.Mark();
    trial.TakeAway(holders_.going());
    for (const Bundle& bundle : goes_) trial.TakeAway(bundle.tasks);
    const bool fits = trial.CouldFit(preemptor_) && trial.Place(preemptor_);
    overlay_.Unmark();
    return fits;
  }

  Overlay& overlay_;
  const Policy& policy_;
  const absl::Time now_;
  const Preemptor& preemptor_;
  const Holders& holders_;
  Victims victims_;
  const LaterGoing later_;
  Reclaim reclaim_;
  std::vector<Bundle> goes_;
};

}  // namespace

std::optional<NobodyLeaves> WhyNobodyLeaves(const model::Cluster& cluster, const Policy& policy, absl::Time now,
                                            model::GangId id) {
  Overlay overlay(cluster, constraint::AllKinds(), policy.packing);
  const std::optional<Preemptor> preemptor = FindPreemptor(overlay, id);
  if (!preemptor.has_value()) return std::nullopt;
  const Holders holders(cluster, overlay.tree(), policy, now);
  const model::QueueId queue = cluster.gang(id).queue;
  if (!holders.AnyInOtherQueues(queue)) return std::nullopt;
  if (Reclaim(overlay, policy, now).EntitledLevels(queue, preemptor->sum) == 0) return std::nullopt;
  return Count(overlay, policy, now, *preemptor, holders).Run();
}

}  // namespace gangway::gang
