// Which resources a scheduler of ours reads beside pods, PodGroups, queues and claims, for little more than their
// facts.
#pragma once

#include "api/cluster_resources.h"
#include "api/core/node.h"
#include "api/core/objects.h"
#include "api/core/storage.h"
#include "api/resource.h"
#include "api/scheduling_resources.h"
#include "api/volcano/hyper_node.h"
#include "kube/runtime/informer.h"

namespace gangway::scheduler {

// What keeps a pod where its volumes are, and where others let it: without it pods that need it wait, and all others go
// on.
inline const kube::Selection kIfAllowed{.keep = false, .optional = true, .unless_forbidden = true};

// `watch_for`: called as watch_for.operator()<T>(resource, selection) for each, T being its type; gives the informer.
// `groups`: of PodGroups, told after the quotas that they ask for room in.
template <class WatchFor>
void WatchFacts(WatchFor&& watch_for, kube::AnyInformer& groups) {
  const kube::Selection always{.keep = false};
  kube::Selection everywhere = kIfAllowed;
  everywhere.everywhere = true;
  watch_for.template operator()<api::core::Node>(api::kNodes, always);
  watch_for.template operator()<api::core::PriorityClass>(api::kPriorityClasses, always);
  watch_for.template operator()<api::core::PodDisruptionBudget>(api::kPodDisruptionBudgets, kIfAllowed);
  watch_for.template operator()<api::core::PersistentVolume>(api::kPersistentVolumes, kIfAllowed);
  watch_for.template operator()<api::core::StorageClass>(api::kStorageClasses, kIfAllowed);
  watch_for.template operator()<api::core::CsiNode>(api::kCsiNodes, kIfAllowed);
  watch_for.template operator()<api::core::CsiDriver>(api::kCsiDrivers, kIfAllowed);
  watch_for.template operator()<api::core::CsiStorageCapacity>(api::kCsiStorageCapacities, everywhere);
  watch_for.template operator()<api::core::VolumeAttachment>(api::kVolumeAttachments, kIfAllowed);
  groups.After(watch_for.template operator()<api::core::ResourceQuota>(api::kResourceQuotas, kIfAllowed));
  watch_for.template operator()<api::volcano::HyperNode>(api::volcano::kHyperNodes, kIfAllowed);
  watch_for.template operator()<api::core::PartialObject>(api::kNamespaces, kIfAllowed);
}

}  // namespace gangway::scheduler
