// What is to be done about a Job now: the first command or event that asks for something, and the row of the phase
// table it leads to.
#pragma once

#include <string>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/time/time.h"
#include "kube/plan/plan.h"
#include "plugin/lifecycle/job/happenings.h"
#include "plugin/lifecycle/policy/transitions.h"

namespace gangway::lifecycle {

struct Verdict {
  Action action = Action::kSyncJob;
  Transition transition;
  Happening cause;                                  // of the action; its event is kNone for a plain sync
  const api::volcano::Command* command = nullptr;   // that is carried out
  std::vector<const api::volcano::Command*> spent;  // commands to delete
  absl::btree_set<std::string> held;                // names of pods whose loss is not answered yet: not made anew
  absl::btree_map<DelayKey, absl::Time> delayed;    // the delayed actions under way, from now on
  absl::Time look_again = absl::InfiniteFuture();
  std::vector<kube::EventNote> notes;  // without their object
};

// Pure. `phase` is the Job's.
Verdict Judge(const JobView& seen, const Roster& roster, const Record& record, JobPhase phase, absl::Time now);

}  // namespace gangway::lifecycle
