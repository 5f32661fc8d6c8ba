// Why nobody leaves for a gang that finds no room while its queue holds less than its share, in numbers.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/time/time.h"
#include "plugin/gang/policy.h"
#include "plugin/model/cluster.h"

namespace gangway::gang {

struct NobodyLeaves {
  enum class Why : std::uint8_t {
    kNothingIsTakenBack,  // the policy does not reclaim
    kEvictsNever,         // its priority class, or a pod of it, forbids it
    kNobodyIsAbove,       // no queue beside its own holds more than its share of what it asks for
    kNoneGoes,            // some do, and see the numbers
  };
  Why why = Why::kNoneGoes;
  // Gangs of queues that do, each counted once below.
  int above = 0;
  int kept_by_queue = 0;   // which gives nothing back
  int never = 0;           // all of it may never go, and nothing of it alone
  int kept_by_budget = 0;  // of a disruption budget
  int later = 0;
  int dear = 0;  // its queue would lose more of its share than the other gains, or what is guaranteed
  int could_go = 0;
  bool fits_then = false;  // when all go that could, each for itself; but all that makes room is dear
  friend bool operator==(const NobodyLeaves&, const NobodyLeaves&) = default;
};

// nullopt: nobody holds room in other queues, its queue has its share or does not reach it by that gang, or that waits
// for something else than room. Pure; a look at all that hold room and a trial, for one who asks about one gang.
std::optional<NobodyLeaves> WhyNobodyLeaves(const model::Cluster& cluster, const Policy& policy, absl::Time now,
                                            model::GangId gang);

}  // namespace gangway::gang
