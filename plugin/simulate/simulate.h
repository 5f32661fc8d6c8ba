// A cluster in virtual time under the scheduler's own decisions (plugin/gang), without an API server: what the
// controllers and the kubelets would do is done at once. Pods of a gang are made once it is let in and run once they
// have nodes; a gang runs from when its minimum has nodes for as long as the longest of its pods is expected to, and
// then ends whole. One that loses its minimum by eviction begins anew, with nothing done; one that is moved
// (gang/consolidation.h) goes on where it was. Pods that belong to no gang stay for ever.
//
// Pure: the same facts, arrivals and options give the same course.
#pragma once

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "plugin/explain/cluster_facts.h"
#include "plugin/gang/policy.h"
#include "plugin/simulate/course.h"

namespace gangway::simulate {

// A gang that comes later, or that is there and has no pods yet.
struct Arrival {
  absl::Time comes;       // before the beginning: it is there from then on
  model::GangFacts gang;  // its phase and `created` are set when it comes
  std::vector<model::PodFacts> pods;
};

struct Options {
  gang::Policy policy;
  // Of gangs none of whose pods says how long it runs (model::PodFacts::lasts), and that know of none before them
  // (model::GangFacts::past_runs).
  absl::Duration runs = absl::Hours(1);
  absl::Duration grace = absl::Seconds(30);            // of pods that are evicted
  absl::Duration evictions_apart = absl::Seconds(15);  // rounds that may evict
  // Nothing has come or ended for so long: who waits then waits for ever.
  absl::Duration patience = absl::Hours(24);
  std::size_t max_rounds = 5'000'000;
};

// `now`: when the facts were so. What they say of pods to come belongs to gangs of theirs, by name. InvalidArgument:
// two gangs of one name. ResourceExhausted: more rounds than the options allow.
absl::StatusOr<Course> Simulate(const explain::ClusterFacts& facts, absl::Time now, std::vector<Arrival> arrivals,
                                const Options& options);

}  // namespace gangway::simulate
