// What a PodGroup's status should be (Volcano: pkg/scheduler/framework/session.go, jobStatus).
#pragma once

#include <string>

#include "absl/time/time.h"
#include "api/volcano/scheduling.h"
#include "plugin/model/cluster.h"

namespace gangway::scheduler {

struct StatusInput {
  const model::Cluster& cluster;
  const model::Gang& gang;
  const api::volcano::PodGroupStatus& now_written;
  bool told = false;  // a reason that keeps the gang from starting, or from being whole, is told
  std::string reason_text;
  std::string release_message;     // set: pods are about to be released
  std::string part_bound_message;  // set: their time has come, and none of them may be released
  std::string transition_id;
  absl::Time now;
  std::string release_reason = "NotWhole";  // or Preempted, Reclaimed, Moved, LostMember
};

// Phases, in this order:
// clang-format off
//   Unknown    pods run, the gang was whole before, and what it lacks is told
//   Completed  as many pods as the minimum have ended, and none is left that has not
//   Running    as many pods as the minimum have a node
//   as it is   while bindings are under way, or the gang is not whole and that is not told yet; Completed while no pods come
//   Inqueue    it is let in
//   Pending    otherwise
// clang-format on
// A pod that failed counts as scheduled but not against Unknown. The first time, the minima of tasks and sub-groups
// must be met, too: what is said to have been whole is not released any more. Conditions are added or replaced, never
// taken away; all are True, as Volcano's: of Scheduled and Unschedulable the one with the newer transition holds.
api::volcano::PodGroupStatus WantedStatus(const StatusInput& in);

// The merge patch from one status to the other; "" when they say the same. Transition ids alone are no difference.
std::string StatusPatch(const api::volcano::PodGroupStatus& before, const api::volcano::PodGroupStatus& after);

// Nothing but the numbers of running, succeeded and failed pods.
bool OnlyCountsDiffer(const api::volcano::PodGroupStatus& before, const api::volcano::PodGroupStatus& after);

// Condition and event of a gang that never was whole, of whose pods none may be released.
inline constexpr absl::string_view kGangPartBound = "GangPartBound";
inline constexpr absl::string_view kScheduledReason = "tasks in gang are ready to be scheduled";
inline constexpr absl::string_view kUnschedulableReason = "NotEnoughResources";

}  // namespace gangway::scheduler
