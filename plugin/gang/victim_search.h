// Who must leave so that a gang is placed: of those who may, in order, as few as a trial shows to be enough. Where a
// queue must not lose as many as that frees whole nodes by chance, its gangs go node by node.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <vector>

#include "absl/types/span.h"
#include "plugin/gang/eviction_trial.h"
#include "plugin/gang/holders.h"
#include "plugin/gang/overlay.h"
#include "plugin/gang/preemptor.h"
#include "plugin/gang/reclaim.h"
#include "plugin/gang/victims.h"

namespace gangway::gang {

// What is asked beside between queues.
struct BetweenQueues {
  Overlay& overlay;
  Reclaim& reclaim;
  const std::vector<model::GangId>& placed;  // in this call
  model::GangId has_nodes = model::kNone;    // are kept for it
  bool preempt = true;                       // queues give room to higher priorities
};

// For one gang. All must outlive it.
class VictimSearch {
 public:
  // `between`: nullptr within a queue.
  VictimSearch(const model::Cluster& cluster, const Preemptor& preemptor, EvictionTrial& trial, Victims& victims,
               Holders& holders, const BetweenQueues* between)
      : cluster_(cluster),
        preemptor_(preemptor),
        trial_(trial),
        victims_(victims),
        holders_(holders),
        between_(between) {}

  // True: the gang is placed in the overlay, and who is chosen is taken away. False: all is as before.
  bool Find(absl::Span<const Candidate> candidates);
  const std::vector<Bundle>& chosen() const { return chosen_; }
  // After Find was false for want of places: so it is for who wants as many, and for who wants more up to which gain
  // (Reclaim::MostGain), whatever the priority. nullopt: there were places.
  std::optional<double> lacks_places_up_to() const {
    return had_places_ ? std::nullopt : std::optional<double>(refused_up_to_);
  }

 private:
  bool Try();
  bool TakeIfAllowed(const Bundle& bundle);
  Reclaim::Loss LossBy(const Bundle& bundle);
  bool TakeNext(std::vector<Candidate>& heap);
  bool MayGo(model::GangId gang);  // as a whole, beside those that are chosen
  // A gang is taken away as a whole, which was chosen last then; returned are its members that were chosen before.
  // nullopt: it may not go.
  std::optional<std::vector<Bundle>> TakeWhole(model::GangId gang);
  bool FindInOrder(absl::Span<const Candidate> candidates);
  bool AmountsSuffice() const;
  bool IsChosen(const Bundle& bundle) const;
  std::int64_t Places() { return trial_.Places(preemptor_); }
  bool FindNodeByNode(absl::Span<const Candidate> candidates);
  double PartOf(const model::Resources& amounts) const;
  std::vector<model::GangId> RefusedForOthers() const;
  bool FindWithOneFirst(const std::vector<model::GangId>& first, absl::Span<const Candidate> candidates);
  std::vector<model::Row> RowsOf(model::GangId gang) const;
  bool TakeOfNode(absl::Span<const Candidate> candidates, model::Row row);
  void TakeAll(std::vector<Bundle> bundles);
  void GiveBackAll();
  void SpareUnused();
  bool StillAllowed();
  void Spare();
  bool OthersWouldTakeIt();
  bool CouldTakeIt(const Preemptor& other);
  void PreferOneGang(absl::Span<const Candidate> candidates);

  const model::Cluster& cluster_;
  const Preemptor& preemptor_;
  EvictionTrial& trial_;
  Victims& victims_;
  Holders& holders_;
  const BetweenQueues* const between_;
  std::set<model::GangId> stay_;  // that might not go beside those that are chosen
  std::vector<Bundle> chosen_;
  std::vector<model::GangId> refused_;  // for what their queue would lose, in order
  bool had_places_ = false;
  double refused_up_to_ = std::numeric_limits<double>::infinity();
};

}  // namespace gangway::gang
