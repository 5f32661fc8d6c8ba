// Pods that no Job made: each that names our scheduler and belongs to no PodGroup gets one (spec: volcano-job 5.4).
#pragma once

#include <string>

#include "api/core/pod.h"
#include "kube/plan/plan.h"

namespace gangway::lifecycle {

// Whether the pod waits for a group: named `scheduler`, no group annotation, not ended, not being deleted.
bool WantsGroup(const api::core::Pod& pod, absl::string_view scheduler);

// "podgroup-<uid of the controlling owner>", or of the pod itself.
std::string GroupNameFor(const api::core::Pod& pod);

// Pure: the group where there is none, then the pod's annotation. Owners' annotations are not looked at: minMember is 1.
kube::Plan ReconcileBarePod(const api::core::Pod& pod, bool group_exists);

}  // namespace gangway::lifecycle
