// What becomes of a Job, before anything of it is written: its phase and status, and which of its pods must go.
#pragma once

#include <cstdint>

#include "absl/time/time.h"
#include "api/volcano/job.h"
#include "plugin/lifecycle/job/job_view.h"
#include "plugin/lifecycle/job/record.h"
#include "plugin/lifecycle/job/roster.h"
#include "plugin/lifecycle/job/verdict.h"
#include "plugin/lifecycle/policy/transitions.h"

namespace gangway::lifecycle {

struct JobOutcome {
  Roster roster;
  Verdict verdict;
  Record record;                   // what stands of it in `status`
  api::volcano::JobStatus status;  // as it is to be
  JobPhase phase = JobPhase::kPending;
  bool killing = false;  // pods go for a reason this round; none is made

  // Whether a pod of ours is to be removed now. `wanted`: the spec has a place for it.
  bool MustGo(const JobPod& pod, bool wanted, bool restarting) const;
  // Whether a targeted restart removes the pod of this place.
  bool IsRestarting(const TaskPods& task, std::int32_t index) const;
  // Whether the Job's PodGroup is to be removed now.
  bool PodGroupMustGo(const api::volcano::PodGroup& group) const;
  // Whether what is missing may be made: the scheduler has let the gang in. Null: there is no PodGroup.
  bool MayHavePods(const api::volcano::PodGroup* group) const;
};

// Pure. Borrows from the view. The Job asks for at most kMaxPodsPerJob and is not being deleted.
JobOutcome FindOutcome(const JobView& seen, absl::Time now);

}  // namespace gangway::lifecycle
