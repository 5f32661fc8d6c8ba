// A scheduler that does as Volcano's, in virtual time, alone and with an extender of each mode: the actions enqueue and
// allocate of its sessions, and preempt and reclaim where they are asked for, one second apart, with the plugins
// priority, gang (which protects nobody), overcommit (1.2), predicates (room on a node), binpack, and of proportion
// what a queue deserves when it reclaims. A job of which a pod is evicted begins anew. Its questions are answered by
// the code that answers them over HTTP. volcano: actions/enqueue, actions/allocate, actions/preempt, actions/reclaim,
// plugins/priority, plugins/gang, plugins/overcommit, plugins/binpack, plugins/proportion
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plugin/extender/verbs/verb.h"
#include "tests/plugin/extender/beside/world.h"

namespace gangway::beside {

// What a call holds the scheduler up: fixed, and for each byte that Go encodes and sends; predicates are asked by
// several workers at once. And what the plan of a session takes, for each byte of it. Assumed, so that a run is the
// same everywhere; the last is what bench/plugin/extender measures.
struct CallCost {
  Seconds each = 0.0005, per_byte = 1e-8, plan_per_byte = 3.5e-10;
  int workers = 4;
};

struct Options {
  std::optional<extender::Mode> mode;  // nullopt: nobody is asked
  bool preempts = false;               // its actions are enqueue, allocate, preempt
  bool reclaims = false;               // and reclaim
  unsigned seed = 1;                   // of nodes that score the same
  CallCost cost;
  Seconds until = 6 * 3600;  // who has not started by then never does
};

struct Placed {
  Seconds waited = 0;
  int racks = 0;
};

// A pod on its node, from when its gang is bound.
struct Stay {
  int job = 0, node = 0;  // indices of the workload's
  Seconds from = 0, to = 0;
  bool evicted = false;  // itself or another of its gang: to is when it went, not when it was done
};

struct Outcome {
  std::map<std::string, Placed> placed;  // by name of the job
  std::vector<Stay> stays;               // by when they begin
  std::vector<std::string> never;        // came, and were not placed
  std::vector<std::string> let_in_vain;  // of those the ones that were let in
  Seconds makespan = 0;                  // when the last one that was placed ends
  double fragments = 0;  // free cpu on nodes that also run something, of all cpu: mean while anybody waits
  double undone = 0;     // placements that were taken back, for each that stayed
  int evicted = 0;       // pods
  int begun_anew = 0;    // gangs of which pods were evicted, each time
  Seconds lost = 0;      // that their pods had run
  std::map<std::string, std::size_t> calls;  // by verb
  std::size_t bytes = 0;                     // of all bodies
  std::size_t plans = 0;                     // calls for which something was planned; all others are look-ups
  std::vector<std::string> broken;           // gangs of which a part was bound, nodes that hold too much
  std::size_t all_calls() const;
};

Outcome Run(const Workload& workload, const Options& options = {});

// Gangs of 1 to 16 pods, most of them small, drawn from a seed; `close` of four must lie in one rack, and each
// `urgent`th goes before others (0: none).
Workload Draw(unsigned seed, int jobs, int close = 0, int urgent = 0);

// A row for each, in Markdown: of all days together.
struct Told {
  std::string name;
  std::vector<Outcome> outcomes;  // by day
};
std::string TableOf(const std::vector<Workload>& days, const std::vector<Told>& told);
// The same about those that go before others, and those that went for them.
std::string UrgentTableOf(const std::vector<Workload>& days, const std::vector<Told>& told);

// What docs/extender.md tells of: five days, with a gang a day that no node has room for, and five on which each eighth
// gang goes before others; by Volcano alone and with each mode, in the order of its tables.
struct Documented {
  std::vector<Workload> days, urgent_days;
  std::vector<Told> told;         // Volcano alone, light, steer, full
  std::vector<Told> urgent_told;  // Volcano alone without preempt, with it, full
  std::string Table() const { return TableOf(days, told); }
  std::string UrgentTable() const { return UrgentTableOf(urgent_days, urgent_told); }
};
Documented RunDocumented();

}  // namespace gangway::beside
