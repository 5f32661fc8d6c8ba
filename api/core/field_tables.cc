// The field tables of the kinds of this folder, compiled here alone.
#include "api/core/node.h"
#include "api/core/objects.h"
#include "api/core/pod.h"
#include "api/core/pod_groups.h"
#include "api/core/storage.h"
#include "api/core/workload.h"

template struct gangway::api::internal::TypeFor<gangway::api::core::Node>;
template struct gangway::api::internal::TypeFor<gangway::api::core::PartialObject>;
template struct gangway::api::internal::TypeFor<gangway::api::core::ConfigMap>;
template struct gangway::api::internal::TypeFor<gangway::api::core::Event>;
template struct gangway::api::internal::TypeFor<gangway::api::core::PodDisruptionBudget>;
template struct gangway::api::internal::TypeFor<gangway::api::core::ResourceQuota>;
template struct gangway::api::internal::TypeFor<gangway::api::core::PriorityClass>;
template struct gangway::api::internal::TypeFor<gangway::api::core::Pod>;
template struct gangway::api::internal::TypeFor<gangway::api::core::PodSpec>;
template struct gangway::api::internal::TypeFor<gangway::api::core::KubernetesPodGroup>;
template struct gangway::api::internal::TypeFor<gangway::api::core::CoschedulingPodGroup>;
template struct gangway::api::internal::TypeFor<gangway::api::core::PersistentVolumeClaim>;
template struct gangway::api::internal::TypeFor<gangway::api::core::PersistentVolume>;
template struct gangway::api::internal::TypeFor<gangway::api::core::StorageClass>;
template struct gangway::api::internal::TypeFor<gangway::api::core::CsiNode>;
template struct gangway::api::internal::TypeFor<gangway::api::core::CsiDriver>;
template struct gangway::api::internal::TypeFor<gangway::api::core::CsiStorageCapacity>;
template struct gangway::api::internal::TypeFor<gangway::api::core::VolumeAttachment>;
template struct gangway::api::internal::TypeFor<gangway::api::core::Workload>;
