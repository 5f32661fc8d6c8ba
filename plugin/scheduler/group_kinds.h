// The PodGroup of a gang, of whichever kind it is: what it shows of the gang, and what it should show, each in its own
// words.
#pragma once

#include <string>
#include <variant>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/core/pod_groups.h"
#include "api/meta.h"
#include "api/resource.h"
#include "api/volcano/scheduling.h"
#include "plugin/model/cluster.h"

namespace gangway::scheduler {

// In the order of model::GangKind.
using GroupRef = std::variant<const api::volcano::PodGroup*, const api::core::KubernetesPodGroup*,
                              const api::core::CoschedulingPodGroup*>;

const api::ObjectMeta& MetadataOf(const GroupRef& group);

struct GroupTexts {
  std::string reason;      // told: what keeps the gang from starting, or from being whole; "" = nothing
  std::string released;    // not "": pods are about to be released
  std::string part_bound;  // not "": their time has come, and none of them may be released
  std::string released_reason = "NotWhole";  // or Preempted, Reclaimed, Moved
};

struct StatusChange {
  std::string patch;         // merge patch; "" = it is as it should be
  bool starts = false;       // the gang is whole, and the status said so neither now nor before
  bool lets_in = false;      // pods are made when this is written
  bool only_counts = false;  // how many pods run, or have ended, and nothing else
};

// Volcano: group_status.h.
// Kubernetes: PodGroupScheduled is False with the reason, and True from when the gang is whole, for good (kubernetes:
// pkg/scheduler, schedule_one_podgroup.go); GangReleased and GangPartBound are ours. Coscheduling: phase and counts as
// its controller writes them (scheduler-plugins: pkg/controllers/podgroup_controller.go), so that both may run; it has
// no conditions, and what there is to say stands in events.
StatusChange ChangeOf(const GroupRef& group, const model::Cluster& cluster, const model::Gang& gang,
                      const GroupTexts& texts, const std::string& transition_id, absl::Time now);

// Whether its status has a place for a reason.
bool HasPlaceForReason(const GroupRef& group);
bool SaysReason(const GroupRef& group, absl::string_view text);
// Also true where it could not.
bool SaysPartBound(const GroupRef& group);

}  // namespace gangway::scheduler
