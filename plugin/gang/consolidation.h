// Free room that lies in pieces is brought together: gangs that may be moved are placed elsewhere, so that another,
// which waits, has room for its minimum. KAI Scheduler: actions/consolidation
//
// A gang may be moved when all its pods say so (gangway.io/movable), and some controller makes them again; as a whole,
// when all of it may be evicted now (victims.h), from any queue, for a gang whose priority is no lower than its own.
// One that was moved stays for a while. One trial places all: the gang that waits, and every one that is moved, whole;
// as few go as are found to be enough, those with fewer pods before others, of one size and priority those that have
// started last.
//
// No two gangs move each other in turn: each time a gang that waited begins and all others go on, so fewer wait after
// it than before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "plugin/gang/area.h"
#include "plugin/gang/eviction_trial.h"
#include "plugin/gang/holders.h"
#include "plugin/gang/overlay.h"
#include "plugin/gang/policy.h"
#include "plugin/gang/preemptor.h"
#include "plugin/gang/reservation.h"
#include "plugin/gang/victims.h"
#include "plugin/model/decision.h"

namespace gangway::gang {

// What is free in all of the cluster is enough: who is moved takes as much again.
bool IsInTheSum(const Overlay& overlay, const Preemptor& preemptor);
// For a gang of that priority, were it not that it was moved before or may not be evicted now.
bool IsMovedFor(const model::Cluster& cluster, const Candidate& candidate, std::int32_t priority);
// The gang is, when `whole` is what may go of it: all that it has on nodes, and each pod says that it may.
bool IsMovedWith(const model::Cluster& cluster, const Bundle& whole);

// For one gang. All must outlive it.
class Consolidation {
 public:
  Consolidation(const Overlay& overlay, const Preemptor& preemptor, const Wanted& wanted, EvictionTrial& trial,
                Victims& victims)
      : overlay_(overlay),
        cluster_(overlay.cluster()),
        preemptor_(preemptor),
        wanted_(wanted),
        trial_(trial),
        victims_(victims) {}

  // True: the gang, and those that are moved, are placed in the overlay, and these are taken away from where they are.
  // False: all is as before.
  bool Find(const Holders& holders, const Policy& policy, absl::Time now);
  std::vector<Bundle> moved() const;
  // Where these are placed then.
  const std::vector<model::Placement>& moves() const { return moves_; }
  // When more may be moved though nothing happens.
  absl::Time look_again() const { return look_again_; }

 private:
  struct Mover {
    Bundle bundle;
    std::int32_t priority = 0;
    absl::Time started, created;
    bool stays = false;  // it found no room elsewhere
  };
  // The movers that go so that a row takes more pods.
  struct Step {
    std::vector<std::size_t> movers;
    std::int64_t copies = 0;  // more
    std::int64_t pods = 0;    // that go
  };

  // Notes when more may be, also where nobody is moved then.
  std::vector<Candidate> MayMove(const Holders& holders, const Policy& policy, absl::Time now);
  void FindMovers(const std::vector<Candidate>& may_move);
  bool FindIn(const Area& area);
  bool Gather(const Area& area);
  Step BestStep(model::ShapeId shape, const Area& area) const;
  Step StepOn(model::Row row, model::ShapeId shape) const;
  void Take(std::size_t mover);
  void GiveBackAll();
  bool Try();
  std::size_t Spare();
  void PreferOne();

  const Overlay& overlay_;
  const model::Cluster& cluster_;
  const Preemptor& preemptor_;
  const Wanted& wanted_;
  EvictionTrial& trial_;
  Victims& victims_;
  std::vector<Mover> movers_;  // those that rather go first
  absl::flat_hash_map<model::Row, std::vector<std::size_t>> on_row_;
  std::vector<std::size_t> chosen_;  // of movers_
  std::vector<model::Placement> moves_;
  absl::Time look_again_ = absl::InfiniteFuture();
};

}  // namespace gangway::gang
