// One history of the embedded cluster on a simulated loop: jobs, faults and chaos from a seed, judged by the checkers.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "base/loop.h"
#include "base/random.h"
#include "base/simulated_loop.h"
#include "sandbox/cluster/cluster.h"
#include "tests/simulation/checkers.h"
#include "tests/simulation/incidents.h"
#include "tests/simulation/replicas.h"

namespace gangway::testutil {

// Kills a component once, when it has sent so many writes.
struct CrashPoint {
  sandbox::Component component = sandbox::Component::kScheduler;
  int write = 0;            // from 1
  bool write_lost = false;  // the write itself never arrives; otherwise only its reply is lost
};

struct HistoryOptions {
  std::uint64_t seed = 1;
  bool random_jobs = true;    // else one seed job: 2 servers, 2 trainers
  bool random_faults = true;  // what can go wrong between the components (incidents.h)
  bool chaos = true;          // what belongs to a cluster's life: evictions, deleted pods, silent and deleted nodes
  // Two of the controllers and two of the scheduler, behind lease and fence. None of them writes while another one
  // leads. Without random faults each is stopped now and then.
  bool two_replicas = false;
  Leak leak = Leak::kNone;
  // Of the jobs and incidents that the seed draws (HistoryResult::drawn), only those of these numbers; the others never
  // happen.
  std::optional<std::vector<std::size_t>> keep;
  bool contended = false;      // many jobs in little room (contended.h) instead of those above
  bool placed = false;         // contended, and where pods lie matters
  bool ranked = false;         // contended, and who goes first and who must leave matters
  bool pieces = false;         // contended, and room must be gathered
  bool many_come = false;      // for whom it must
  bool losing = false;         // contended, and gangs lose members
  bool repeating = false;      // contended, and the same jobs come again
  bool bindings_fail = false;  // for no reason: what was placed by what they would have brought is not judged
  bool paddle = false;         // the jobs are PaddleJobs, of either dialect
  // By components that replace others, or by two replicas: what is not judged by when each was stopped begins then.
  absl::Duration disturbed_for;
  std::set<Rule> stop_when;  // the first violation of one of these ends the history
  std::optional<CrashPoint> crash;
  // Replaces a component by another one on the same loop, with a client of its own that these faults befall; made anew
  // when it crashes.
  std::function<std::shared_ptr<void>(Loop&, sandbox::Cluster&, sandbox::Faults)> replace_scheduler,
      replace_controllers;
  std::function<void(sandbox::JournalRecord&)> falsify;          // what the API server does, as a wrong one would do it
  std::function<void(const sandbox::JournalRecord&)> on_record;  // to print a history while it is replayed
  // How long jobs may take before the history is judged.
  absl::Duration limit = absl::Hours(3);
};

struct HistoryResult {
  std::vector<std::string> violations;
  std::set<Rule> broken;
  std::uint64_t journal_hash = 0;  // of every record, in order
  std::size_t records = 0;
  std::map<sandbox::Component, int> writes;   // sent by each component
  std::vector<std::string> drawn;             // jobs and incidents, in one line each
  IncidentCounts incidents;                   // that took effect
  std::map<sandbox::Component, int> leaders;  // how often the lease of two replicas went from one to the other
};

HistoryResult RunHistory(const HistoryOptions& options);

}  // namespace gangway::testutil
