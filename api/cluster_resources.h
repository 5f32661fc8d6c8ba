// Kinds of Kubernetes' own that Gangway does not need to run: the sandbox serves them, so that a cluster's manifests
// can be rehearsed there.
#pragma once

#include "api/resource.h"

namespace gangway::api {

// Compare by address, as those of api/resource.h.
inline constexpr Resource kBatchCronJobs{"batch", "v1", "cronjobs", "cronjob", "CronJob", true, "cj", "all"};
inline constexpr Resource kIngresses{"networking.k8s.io", "v1", "ingresses", "ingress", "Ingress", true, "ing"};
inline constexpr Resource kIngressClasses{"networking.k8s.io", "v1",           "ingressclasses",
                                          "ingressclass",      "IngressClass", false};
inline constexpr Resource kRoles{"rbac.authorization.k8s.io", "v1", "roles", "role", "Role", true};
inline constexpr Resource kRoleBindings{
    "rbac.authorization.k8s.io", "v1", "rolebindings", "rolebinding", "RoleBinding", true};
inline constexpr Resource kClusterRoles{
    "rbac.authorization.k8s.io", "v1", "clusterroles", "clusterrole", "ClusterRole", false};
inline constexpr Resource kClusterRoleBindings{
    "rbac.authorization.k8s.io", "v1", "clusterrolebindings", "clusterrolebinding", "ClusterRoleBinding", false};
inline constexpr Resource kStorageClasses{
    "storage.k8s.io", "v1", "storageclasses", "storageclass", "StorageClass", false, "sc"};
inline constexpr Resource kCsiDrivers{"storage.k8s.io", "v1", "csidrivers", "csidriver", "CSIDriver", false};
inline constexpr Resource kCsiNodes{"storage.k8s.io", "v1", "csinodes", "csinode", "CSINode", false};
inline constexpr Resource kCsiStorageCapacities{
    "storage.k8s.io", "v1", "csistoragecapacities", "csistoragecapacity", "CSIStorageCapacity", true};
inline constexpr Resource kVolumeAttachments{"storage.k8s.io",   "v1", "volumeattachments", "volumeattachment",
                                             "VolumeAttachment", false};
inline constexpr Resource kResourceClaims{"resource.k8s.io", "v1", "resourceclaims", "resourceclaim",
                                          "ResourceClaim",   true};
inline constexpr Resource kResourceClaimTemplates{
    "resource.k8s.io", "v1", "resourceclaimtemplates", "resourceclaimtemplate", "ResourceClaimTemplate", true};
inline constexpr Resource kDeviceClasses{"resource.k8s.io", "v1", "deviceclasses", "deviceclass", "DeviceClass", false};
inline constexpr Resource kResourceSlices{"resource.k8s.io", "v1", "resourceslices", "resourceslice",
                                          "ResourceSlice",   false};
inline constexpr Resource kMutatingWebhookConfigurations{"admissionregistration.k8s.io",
                                                         "v1",
                                                         "mutatingwebhookconfigurations",
                                                         "mutatingwebhookconfiguration",
                                                         "MutatingWebhookConfiguration",
                                                         false,
                                                         {},
                                                         "api-extensions"};
inline constexpr Resource kValidatingWebhookConfigurations{"admissionregistration.k8s.io",
                                                           "v1",
                                                           "validatingwebhookconfigurations",
                                                           "validatingwebhookconfiguration",
                                                           "ValidatingWebhookConfiguration",
                                                           false,
                                                           {},
                                                           "api-extensions"};
inline constexpr Resource kCustomResourceDefinitions{"apiextensions.k8s.io",
                                                     "v1",
                                                     "customresourcedefinitions",
                                                     "customresourcedefinition",
                                                     "CustomResourceDefinition",
                                                     false,
                                                     "crd,crds",
                                                     "api-extensions"};

}  // namespace gangway::api
