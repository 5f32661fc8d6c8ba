#include "api/kinds/kubernetes_kinds.h"

#include "api/cluster_resources.h"
#include "api/core/node.h"
#include "api/core/objects.h"
#include "api/core/pod.h"
#include "api/core/storage.h"
#include "api/core/workload.h"
#include "api/scheduling_resources.h"

namespace gangway::api {
namespace {

constexpr ScalePaths kReplicas{".spec.replicas", ".status.replicas", {}};

// Nothing of it is looked at by itself.
constexpr KindRow Plain(const Resource& resource) { return {.resource = &resource}; }
constexpr KindRow WithStatus(const Resource& resource) { return {.resource = &resource, .status = true}; }
template <class View>
constexpr KindRow Seen(const Resource& resource, bool status = false) {
  return {.resource = &resource, .table = &TypeOf<View>(), .status = status};
}
constexpr KindRow Scaled(const Resource& resource) {
  return {.resource = &resource, .table = &TypeOf<core::Workload>(), .status = true, .scale = kReplicas};
}

constexpr KindRow kRows[] = {
    WithStatus(kNamespaces),
    Seen<core::Node>(kNodes, /*status=*/true),
    Seen<core::Pod>(kPods, /*status=*/true),
    WithStatus(kServices),
    Seen<core::ConfigMap>(kConfigMaps),
    Plain(kSecrets),
    Seen<core::Event>(kEvents),
    Plain(kEndpoints),
    Plain(kServiceAccounts),
    Seen<core::PersistentVolume>(kPersistentVolumes, /*status=*/true),
    Seen<core::PersistentVolumeClaim>(kPersistentVolumeClaims, /*status=*/true),
    Plain(kLimitRanges),
    Seen<core::ResourceQuota>(kResourceQuotas, /*status=*/true),
    Plain(kLeases),
    Plain(kNetworkPolicies),
    Seen<core::PodDisruptionBudget>(kPodDisruptionBudgets, /*status=*/true),
    Seen<core::PriorityClass>(kPriorityClasses),
    {.resource = &kKubernetesPodGroups, .status = true, .on_request = true},
    {.resource = &kWorkloads, .on_request = true},
    Scaled(kDeployments),
    Scaled(kReplicaSets),
    Scaled(kStatefulSets),
    Seen<core::Workload>(kDaemonSets, /*status=*/true),
    Seen<core::Workload>(kBatchJobs, /*status=*/true),
    WithStatus(kBatchCronJobs),
    WithStatus(kIngresses),
    Plain(kIngressClasses),
    Plain(kRoles),
    Plain(kRoleBindings),
    Plain(kClusterRoles),
    Plain(kClusterRoleBindings),
    Seen<core::StorageClass>(kStorageClasses),
    Seen<core::CsiDriver>(kCsiDrivers),
    Seen<core::CsiNode>(kCsiNodes),
    Seen<core::CsiStorageCapacity>(kCsiStorageCapacities),
    Seen<core::VolumeAttachment>(kVolumeAttachments, /*status=*/true),
    WithStatus(kResourceClaims),
    Plain(kResourceClaimTemplates),
    Plain(kDeviceClasses),
    Plain(kResourceSlices),
    Plain(kMutatingWebhookConfigurations),
    Plain(kValidatingWebhookConfigurations),
    WithStatus(kCustomResourceDefinitions),
};

}  // namespace

std::span<const KindRow> KubernetesKinds() { return kRows; }

}  // namespace gangway::api
