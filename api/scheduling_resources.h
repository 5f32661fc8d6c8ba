// Gangs of others. Kubernetes' own, an alpha version: groups of pods, and the workloads that they are made from
// (KEP-4671); and those of the coscheduling plugin. They have nothing to do with Volcano's PodGroup but the name.
#pragma once

#include "api/resource.h"

namespace gangway::api {

// Compare by address, as those of api/resource.h.
inline constexpr Resource kWorkloads{"scheduling.k8s.io", "v1alpha2", "workloads", "workload", "Workload"};
inline constexpr Resource kKubernetesPodGroups{"scheduling.k8s.io", "v1alpha2", "podgroups", "podgroup", "PodGroup"};
// Of the coscheduling plugin (kubernetes-sigs/scheduler-plugins).
inline constexpr Resource kCoschedulingPodGroups{"scheduling.x-k8s.io", "v1alpha1", "podgroups", "podgroup",
                                                 "PodGroup"};

}  // namespace gangway::api
