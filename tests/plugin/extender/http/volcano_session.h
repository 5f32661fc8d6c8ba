// One session of a scheduler that does as Volcano's, asked of an extender: its actions enqueue, allocate, preempt and
// reclaim with the plugins priority, gang (which protects the minimum from reclaim), predicates (room on a node) and
// binpack. volcano: actions/enqueue, actions/allocate, actions/preempt (its first phase), actions/reclaim
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "tests/plugin/extender/http/volcano_client.h"

namespace gangway::testutil {

struct SessionOutcome {
  bool extender_there = true;
  std::vector<std::string> let_in;           // jobs that became Inqueue, by name
  std::map<std::string, std::string> bound;  // pods to nodes: what would be bound at its end
  std::map<std::string, std::string> held;   // placed and not bound: of jobs that were not ready
  std::map<std::string, int> bound_by_job;
  std::set<std::string> skipped;  // pods whose scoring was an error: without a node, and without a fit error
  std::map<std::string, std::string> evicted;    // pods that go, from which node
  std::map<std::string, std::string> pipelined;  // pods to the nodes that they have once those are gone
  std::set<std::string> overused;                // queues of which nothing was looked at
};

// `body`: of onSessionOpen. Which verbs are asked is Volcano's configuration; without `session` onSessionOpen is not.
struct AskedVerbs {
  bool session = true, predicate = true, prioritize = true, ready = true, enqueueable = true, events = true;
  bool overused = false;
  bool preempt = false, reclaim = false;  // actions; preemptable and reclaimable are asked in them
};
inline constexpr AskedVerbs kFullVerbs{.overused = true, .preempt = true, .reclaim = true};
SessionOutcome RunSession(VolcanoClient& client, absl::string_view body, const AskedVerbs& asked = {});

// The TaskInfo of the pod of that name, as JSON.
std::string TaskIn(absl::string_view body, absl::string_view pod);

// Of which gangs fewer than their minimum are bound, and not none; and which nodes hold more than they have.
std::vector<std::string> BrokenPromises(absl::string_view body, const SessionOutcome& outcome);

}  // namespace gangway::testutil
