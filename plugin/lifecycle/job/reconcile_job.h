// What becomes of a Job: the whole lifecycle as one function.
//
//   facts of the view (happenings.h) -> policies (policy/policy.h) -> the phase table (policy/transitions.h) -> phase
//   and status (job_outcome.h)
//   -> writes: status, removals, plugin objects, PodGroup, pods
//
// A status that explains deletions (phase, version, targets) is one stage before them, and the record of which pods
// were created (record.h) is written with the status that first counts them; so a restart of ours between any two
// writes loses neither a reason nor a fact.
//
// Where it differs from Volcano, on purpose: docs/differences.md.
#pragma once

#include "absl/time/time.h"
#include "kube/plan/plan.h"
#include "plugin/lifecycle/job/job_view.h"

namespace gangway::lifecycle {

// Pure: the same view gives the same plan.
kube::Plan ReconcileJob(const JobView& seen, absl::Time now);

}  // namespace gangway::lifecycle
