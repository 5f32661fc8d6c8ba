// The events of a Job as facts of one view, not of a change: what is and what was recorded say what happened, so a
// repeated or a late look at the same world finds the same (Volcano: pkg/controllers/job/job_controller_handler.go).
#pragma once

#include <vector>

#include "plugin/lifecycle/job/record.h"
#include "plugin/lifecycle/job/roster.h"
#include "plugin/lifecycle/policy/policy.h"

namespace gangway::lifecycle {

struct Fact {
  Happening happening;
  // PodEvicted of a pod that has been made anew and does not run yet: only a delay that is under way still counts.
  bool made_anew = false;
};

// What happened and is not answered yet, of the events in `wanted`, in the order in which it is answered: completed
// tasks first, so that a Job that reached its end is not restarted for what happened beside it; then failed and evicted
// pods, by task and index.
std::vector<Fact> FindFacts(const JobView& seen, const Roster& roster, const Record& record, const EventSet& wanted);

}  // namespace gangway::lifecycle
