#include "sandbox/apiserver/served_kind.h"

#include "api/cluster_resources.h"
#include "api/json_value.h"
#include "api/kinds/kinds.h"
#include "api/scheduling_resources.h"
#include "sandbox/apiserver/cluster_kind_rules.h"
#include "sandbox/apiserver/declared_kinds.h"
#include "sandbox/apiserver/definition_rules.h"
#include "sandbox/apiserver/kind_rules.h"
#include "sandbox/apiserver/server_defaults.h"
#include "sandbox/apiserver/service_address.h"
#include "sandbox/apiserver/stored_kind_rules.h"
#include "sandbox/apiserver/webhooks.h"

namespace gangway::sandbox {
namespace {

namespace json = boost::json;
using api::FieldErrors;

// kube-apiserver: the field label conversions of each kind.
constexpr absl::string_view kPodFields[] = {
    "spec.nodeName", "spec.restartPolicy", "spec.schedulerName",      "spec.hostNetwork",
    "status.phase",  "status.podIP",       "spec.serviceAccountName", "status.nominatedNodeName"};
constexpr absl::string_view kNodeFields[] = {"spec.unschedulable"};
constexpr absl::string_view kNamespaceFields[] = {"status.phase"};
constexpr absl::string_view kEventFields[] = {"involvedObject.kind",
                                              "involvedObject.namespace",
                                              "involvedObject.name",
                                              "involvedObject.uid",
                                              "involvedObject.apiVersion",
                                              "involvedObject.resourceVersion",
                                              "involvedObject.fieldPath",
                                              "reason",
                                              "reportingComponent",
                                              "source",
                                              "type"};
constexpr absl::string_view kSecretFields[] = {"type"};
constexpr absl::string_view kServiceFields[] = {"spec.clusterIP", "spec.type"};
constexpr absl::string_view kReplicaSetFields[] = {"status.replicas"};

void CheckClaimAndModes(const json::object& claim, FieldErrors& errors) {
  CheckClaim(claim, errors);
  CheckAccessModes(claim, errors);
}

void AddInvalid(FieldErrors& errors, absl::string_view field, const json::value* value, absl::string_view rule) {
  errors.push_back({.type = api::FieldError::Type::kInvalid,
                    .field = std::string(field),
                    .value = value == nullptr ? "null" : api::ToJson(*value),
                    .rule = std::string(rule),
                    .fix = ""});
}

// pkg/apis/scheduling/validation: one policy, and a gang of at least one.
void CheckPodGroup(const json::object& group, FieldErrors& errors) {
  const json::value* const policy = FindPath(group, "spec.schedulingPolicy");
  const bool basic = FindPath(group, "spec.schedulingPolicy.basic") != nullptr,
             gang = FindPath(group, "spec.schedulingPolicy.gang") != nullptr;
  if (basic == gang)
    AddInvalid(errors, "spec.schedulingPolicy", policy, "must specify exactly one of: `basic`, `gang`");
  const json::value* const count = FindPath(group, "spec.schedulingPolicy.gang.minCount");
  if (gang && IntAt(group, "spec.schedulingPolicy.gang.minCount", 0) < 1) {
    AddInvalid(errors, "spec.schedulingPolicy.gang.minCount", count, "must be greater than or equal to 1");
  }
}

void CheckPodGroupChange(const json::object& before, const json::object& after, FieldErrors& errors) {
  for (const absl::string_view field :
       {"spec.podGroupTemplateRef", "spec.schedulingPolicy", "spec.schedulingConstraints", "spec.resourceClaims",
        "spec.disruptionMode", "spec.priorityClassName", "spec.priority"}) {
    const json::value* const a = FindPath(before, field);
    const json::value* const b = FindPath(after, field);
    if (a == nullptr || b == nullptr ? a != b : !Equal(*a, *b)) AddInvalid(errors, field, b, "field is immutable");
  }
}

constexpr ServedKind kRows[] = {
    {.resource = &api::kPods,
     .field_labels = kPodFields,
     .generation = true,
     .returns_deleted = true,
     .status_keeps = "ownerReferences",
     .check_change = CheckPodChange,
     .fill_in = FillInPod,
     .keep = KeepQosClass},
    {.resource = &api::kNodes, .field_labels = kNodeFields},
    {.resource = &api::kNamespaces,
     .check_name = api::CheckDns1123Label,
     .field_labels = kNamespaceFields,
     .fill_in = FillInNamespace,
     .keep = KeepNamespaceLabel},
    {.resource = &api::kServices,
     .check_name = api::CheckDns1035Label,
     .field_labels = kServiceFields,
     .create_on_update = true,
     .returns_deleted = true,
     .check = CheckService,
     .check_change = CheckServiceChange,
     .keep = KeepServiceAddress},
    {.resource = &api::kConfigMaps, .check = CheckDataKeys, .check_change = CheckDataChange},
    {.resource = &api::kSecrets,
     .field_labels = kSecretFields,
     .check = CheckSecret,
     .check_change = CheckSecretChange},
    {.resource = &api::kEvents, .field_labels = kEventFields, .create_on_update = true, .check_new = CheckNewEvent},
    {.resource = &api::kEndpoints, .create_on_update = true, .check = CheckEndpoints},
    {.resource = &api::kServiceAccounts, .returns_deleted = true},
    {.resource = &api::kPersistentVolumes,
     .returns_deleted = true,
     .check = CheckVolume,
     .check_change = CheckVolumeChange,
     .fill_in = FillInVolume},
    {.resource = &api::kPersistentVolumeClaims,
     .returns_deleted = true,
     .check = CheckClaimAndModes,
     .check_change = CheckClaimChange,
     .fill_in = FillInClaim},
    {.resource = &api::kLimitRanges, .create_on_update = true, .check = CheckLimitRange},
    {.resource = &api::kResourceQuotas, .returns_deleted = true, .check = CheckQuota, .check_change = CheckQuotaChange},
    {.resource = &api::kLeases, .unconditional_update = false, .create_on_update = true, .check = CheckLease},
    {.resource = &api::kNetworkPolicies, .generation = true},
    {.resource = &api::kPodDisruptionBudgets, .generation = true, .unconditional_update = false, .check = CheckBudget},
    {.resource = &api::kPriorityClasses, .generation = true, .check_change = CheckPriorityClassChange},
    {.resource = &api::kDeployments,
     .generation = true,
     .pod_template = true,
     .status_keeps = "labels",
     .check = CheckWorkload},
    {.resource = &api::kReplicaSets,
     .field_labels = kReplicaSetFields,
     .generation = true,
     .pod_template = true,
     .check = CheckWorkload},
    {.resource = &api::kStatefulSets, .generation = true, .pod_template = true, .check = CheckWorkload},
    {.resource = &api::kDaemonSets,
     .generation = true,
     .pod_template = true,
     .check = CheckWorkload,
     .keep = KeepTemplateCount},
    {.resource = &api::kBatchJobs,
     .generation = true,
     .pod_template = true,
     .check = CheckBatchJob,
     .check_change = CheckBatchJobChange,
     .fill_in = FillInBatchJob},
    {.resource = &api::kBatchCronJobs, .generation = true},
    {.resource = &api::kIngresses, .generation = true},
    {.resource = &api::kIngressClasses, .generation = true},
    {.resource = &api::kRoles, .check_name = api::CheckPathSegment, .create_on_update = true, .check = CheckRole},
    {.resource = &api::kRoleBindings,
     .check_name = api::CheckPathSegment,
     .create_on_update = true,
     .check = CheckRoleBinding,
     .check_change = CheckBindingChange},
    {.resource = &api::kClusterRoles,
     .check_name = api::CheckPathSegment,
     .create_on_update = true,
     .check = CheckClusterRole},
    {.resource = &api::kClusterRoleBindings,
     .check_name = api::CheckPathSegment,
     .create_on_update = true,
     .check = CheckClusterRoleBinding,
     .check_change = CheckBindingChange},
    {.resource = &api::kStorageClasses, .returns_deleted = true, .check_change = CheckStorageClassChange},
    {.resource = &api::kCsiDrivers,
     .generation = true,
     .first_generation = false,
     .unconditional_update = false,
     .returns_deleted = true,
     .check_change = CheckCsiDriverChange},
    {.resource = &api::kCsiNodes,
     .unconditional_update = false,
     .returns_deleted = true,
     .check = CheckCsiNode,
     .check_change = CheckCsiNodeChange},
    {.resource = &api::kCsiStorageCapacities,
     .unconditional_update = false,
     .check = CheckStorageCapacity,
     .check_change = CheckStorageCapacityChange},
    {.resource = &api::kVolumeAttachments,
     .unconditional_update = false,
     .returns_deleted = true,
     .check = CheckVolumeAttachment,
     .check_change = CheckVolumeAttachmentChange},
    {.resource = &api::kResourceClaims,
     .returns_deleted = true,
     .status_writes_metadata = false,
     .check_change = CheckClaimSpecChange,
     .check_status_change = CheckClaimStatusChange},
    {.resource = &api::kResourceClaimTemplates, .returns_deleted = true, .check_change = CheckClaimSpecChange},
    {.resource = &api::kDeviceClasses, .generation = true, .returns_deleted = true},
    {.resource = &api::kResourceSlices, .generation = true, .returns_deleted = true},
    {.resource = &api::kMutatingWebhookConfigurations, .generation = true, .check = CheckWebhooks},
    {.resource = &api::kValidatingWebhookConfigurations, .generation = true, .check = CheckWebhooks},
    {.resource = &api::kKubernetesPodGroups,
     .status_writes_metadata = false,
     .check = CheckPodGroup,
     .check_change = CheckPodGroupChange},
    {.resource = &api::kCustomResourceDefinitions,
     .generation = true,
     .check = CheckDefinition,
     .check_change = CheckDefinitionChange,
     .fill_in = FillInDefinitionStatus},
};
constexpr ServedKind kOfKubernetes{};
constexpr ServedKind kOfADefinition{.generation = true, .unconditional_update = false, .status_writes_metadata = false};

}  // namespace

const ServedKind& ServedAs(const api::Resource& resource) {
  if (resource.declared != nullptr) return DeclaredAs(resource).served_as;
  for (const ServedKind& row : kRows) {
    if (row.resource == &resource) return row;
  }
  return api::IsCustom(resource) ? kOfADefinition : kOfKubernetes;
}

}  // namespace gangway::sandbox
