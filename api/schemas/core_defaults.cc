#include "api/schemas/core_defaults.h"

#include <algorithm>
#include <array>
#include <string>

#include "boost/json.hpp"

namespace gangway::schemas {
namespace {

namespace json = boost::json;

constexpr std::string_view kProbe = "core.v1.Probe", kContainer = "core.v1.Container", kPodSpec = "core.v1.PodSpec",
                           kService = "core.v1.ServiceSpec",
                           kMutatingWebhook = "admissionregistration.v1.MutatingWebhook",
                           kValidatingWebhook = "admissionregistration.v1.ValidatingWebhook";

constexpr std::array kDefaults{
    CoreDefault{kPodSpec, "restartPolicy", R"("Always")"},
    CoreDefault{kPodSpec, "dnsPolicy", R"("ClusterFirst")"},
    CoreDefault{kPodSpec, "schedulerName", R"("default-scheduler")"},
    CoreDefault{kPodSpec, "terminationGracePeriodSeconds", "30"},
    CoreDefault{kPodSpec, "securityContext", "{}"},
    CoreDefault{kContainer, "terminationMessagePath", R"("/dev/termination-log")"},
    CoreDefault{kContainer, "terminationMessagePolicy", R"("File")"},
    CoreDefault{kContainer, "resources", "{}"},
    CoreDefault{"core.v1.ContainerPort", "protocol", R"("TCP")"},
    CoreDefault{"core.v1.HTTPGetAction", "scheme", R"("HTTP")"},
    CoreDefault{"core.v1.HTTPGetAction", "path", R"("/")"},
    CoreDefault{"core.v1.HostPathVolumeSource", "type", R"("")"},
    CoreDefault{"core.v1.ConfigMapVolumeSource", "defaultMode", "420"},
    CoreDefault{"core.v1.SecretVolumeSource", "defaultMode", "420"},
    CoreDefault{"core.v1.DownwardAPIVolumeSource", "defaultMode", "420"},
    CoreDefault{"core.v1.ProjectedVolumeSource", "defaultMode", "420"},
    CoreDefault{"core.v1.ServiceAccountTokenProjection", "expirationSeconds", "3600"},
    CoreDefault{"core.v1.ObjectFieldSelector", "apiVersion", R"("v1")"},
    CoreDefault{"core.v1.Secret", "type", R"("Opaque")"},
    CoreDefault{kService, "type", R"("ClusterIP")"},
    CoreDefault{kService, "sessionAffinity", R"("None")"},
    CoreDefault{kService, "internalTrafficPolicy", R"("Cluster")"},
    CoreDefault{"core.v1.ServicePort", "protocol", R"("TCP")"},
    CoreDefault{"core.v1.EndpointPort", "protocol", R"("TCP")"},
    CoreDefault{"core.v1.PersistentVolumeSpec", "persistentVolumeReclaimPolicy", R"("Retain")"},
    CoreDefault{"core.v1.PersistentVolumeSpec", "volumeMode", R"("Filesystem")"},
    CoreDefault{"core.v1.PersistentVolumeClaimSpec", "volumeMode", R"("Filesystem")"},
    CoreDefault{"networking.v1.NetworkPolicyPort", "protocol", R"("TCP")"},
    CoreDefault{"scheduling.v1.PriorityClass", "preemptionPolicy", R"("PreemptLowerPriority")"},
    CoreDefault{"apps.v1.DeploymentSpec", "replicas", "1"},
    CoreDefault{"apps.v1.DeploymentSpec", "revisionHistoryLimit", "10"},
    CoreDefault{"apps.v1.DeploymentSpec", "progressDeadlineSeconds", "600"},
    CoreDefault{"apps.v1.DeploymentSpec", "strategy",
                R"({"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":"25%","maxSurge":"25%"}})"},
    CoreDefault{"apps.v1.ReplicaSetSpec", "replicas", "1"},
    CoreDefault{"apps.v1.StatefulSetSpec", "replicas", "1"},
    CoreDefault{"apps.v1.StatefulSetSpec", "revisionHistoryLimit", "10"},
    CoreDefault{"apps.v1.StatefulSetSpec", "persistentVolumeClaimRetentionPolicy",
                R"({"whenDeleted":"Retain","whenScaled":"Retain"})"},
    CoreDefault{"apps.v1.StatefulSetSpec", "podManagementPolicy", R"("OrderedReady")"},
    CoreDefault{"apps.v1.StatefulSetSpec", "updateStrategy",
                R"({"type":"RollingUpdate","rollingUpdate":{"partition":0}})"},
    CoreDefault{"apps.v1.DaemonSetSpec", "revisionHistoryLimit", "10"},
    CoreDefault{"apps.v1.DaemonSetSpec", "updateStrategy",
                R"({"type":"RollingUpdate","rollingUpdate":{"maxSurge":0,"maxUnavailable":1}})"},
    CoreDefault{"batch.v1.CronJobSpec", "concurrencyPolicy", R"("Allow")"},
    CoreDefault{"batch.v1.CronJobSpec", "suspend", "false"},
    CoreDefault{"batch.v1.CronJobSpec", "successfulJobsHistoryLimit", "3"},
    CoreDefault{"batch.v1.CronJobSpec", "failedJobsHistoryLimit", "1"},
    CoreDefault{"storage.v1.CSIDriverSpec", "attachRequired", "true"},
    CoreDefault{"storage.v1.CSIDriverSpec", "podInfoOnMount", "false"},
    CoreDefault{"storage.v1.CSIDriverSpec", "storageCapacity", "false"},
    CoreDefault{"storage.v1.CSIDriverSpec", "fsGroupPolicy", R"("ReadWriteOnceWithFSType")"},
    CoreDefault{"storage.v1.CSIDriverSpec", "volumeLifecycleModes", R"(["Persistent"])"},
    CoreDefault{"storage.v1.CSIDriverSpec", "requiresRepublish", "false"},
    CoreDefault{"storage.v1.CSIDriverSpec", "seLinuxMount", "false"},
    CoreDefault{"resource.v1.ExactDeviceRequest", "allocationMode", R"("ExactCount")"},
    CoreDefault{"resource.v1.DeviceSubRequest", "allocationMode", R"("ExactCount")"},
    CoreDefault{"storage.v1.StorageClass", "reclaimPolicy", R"("Delete")"},
    CoreDefault{"storage.v1.StorageClass", "volumeBindingMode", R"("Immediate")"},
    CoreDefault{"rbac.v1.RoleRef", "apiGroup", R"("rbac.authorization.k8s.io")"},
    CoreDefault{kMutatingWebhook, "failurePolicy", R"("Fail")"},
    CoreDefault{kMutatingWebhook, "matchPolicy", R"("Equivalent")"},
    CoreDefault{kMutatingWebhook, "namespaceSelector", "{}"},
    CoreDefault{kMutatingWebhook, "objectSelector", "{}"},
    CoreDefault{kMutatingWebhook, "timeoutSeconds", "10"},
    CoreDefault{kMutatingWebhook, "reinvocationPolicy", R"("Never")"},
    CoreDefault{kValidatingWebhook, "failurePolicy", R"("Fail")"},
    CoreDefault{kValidatingWebhook, "matchPolicy", R"("Equivalent")"},
    CoreDefault{kValidatingWebhook, "namespaceSelector", "{}"},
    CoreDefault{kValidatingWebhook, "objectSelector", "{}"},
    CoreDefault{kValidatingWebhook, "timeoutSeconds", "10"},
    CoreDefault{"admissionregistration.v1.RuleWithOperations", "scope", R"("*")"},
    CoreDefault{"admissionregistration.v1.ServiceReference", "port", "443"},
    CoreDefault{"apiextensions.v1.CustomResourceDefinitionSpec", "conversion", R"({"strategy":"None"})"},
    CoreDefault{"apiextensions.v1.ServiceReference", "port", "443"},
};

// The tag of an image decides: "latest", named or not, is pulled always.
void ContainerDefaults(json::object& container) {
  if (!container.contains("imagePullPolicy")) {
    const json::value* image = container.if_contains("image");
    std::string_view name;
    if (image != nullptr && image->is_string()) name = {image->get_string().data(), image->get_string().size()};
    const std::size_t slash = name.rfind('/');
    const std::string_view last = slash == std::string_view::npos ? name : name.substr(slash + 1);
    const bool tagged = last.find(':') != std::string_view::npos || last.find('@') != std::string_view::npos;
    container.emplace("imagePullPolicy", !tagged || last.ends_with(":latest") ? "Always" : "IfNotPresent");
  }
}

// Zeros too, as of all that is no pointer there (kubernetes: pkg/apis/core/v1, SetDefaults_Probe).
void ProbeDefaults(json::object& probe) {
  constexpr std::pair<std::string_view, int> kFilled[] = {
      {"timeoutSeconds", 1}, {"periodSeconds", 10}, {"successThreshold", 1}, {"failureThreshold", 3}};
  for (const auto& [name, number] : kFilled) {
    json::value& value = probe[{name.data(), name.size()}];
    if (value.is_null() || value == json::value(0)) value = number;
  }
}

// What is limited and not requested is requested as far as it is limited.
void ResourceDefaults(json::object& resources) {
  json::value* limits = resources.if_contains("limits");
  if (limits == nullptr || !limits->is_object()) return;
  json::value* requests = resources.if_contains("requests");
  if (requests == nullptr) requests = &resources.emplace("requests", json::object()).first->value();
  limits = resources.if_contains("limits");
  if (!requests->is_object()) return;
  for (const json::key_value_pair& limit : limits->get_object())
    requests->get_object().emplace(limit.key(), limit.value());
}

void ServicePortDefaults(json::object& port) {
  const json::value* number = port.if_contains("port");
  if (number != nullptr && !port.contains("targetPort")) port.emplace("targetPort", json::value(*number));
}

// A volume that says nothing of its kind is an empty folder.
void VolumeDefaults(json::object& volume) {
  if (volume.size() <= 1) volume.emplace("emptyDir", json::object());
}

// Ingress always, and Egress where there are rules for it.
void NetworkPolicyDefaults(json::object& spec) {
  if (spec.contains("policyTypes")) return;
  json::array types{"Ingress"};
  const json::value* egress = spec.if_contains("egress");
  if (egress != nullptr && egress->is_array() && !egress->get_array().empty()) types.emplace_back("Egress");
  spec.emplace("policyTypes", std::move(types));
}

// A container on the node's network has its ports on the node.
void PodSpecDefaults(json::object& spec) {
  const json::value* host_network = spec.if_contains("hostNetwork");
  if (host_network == nullptr || *host_network != json::value(true)) return;
  for (const std::string_view list : {"containers", "initContainers"}) {
    json::value* containers = spec.if_contains({list.data(), list.size()});
    if (containers == nullptr || !containers->is_array()) continue;
    for (json::value& container : containers->get_array()) {
      json::value* ports = container.is_object() ? container.get_object().if_contains("ports") : nullptr;
      if (ports == nullptr || !ports->is_array()) continue;
      for (json::value& port : ports->get_array()) {
        if (!port.is_object()) continue;
        json::object& fields = port.get_object();
        const json::value* number = fields.if_contains("containerPort");
        if (number != nullptr && !fields.contains("hostPort")) fields.emplace("hostPort", json::value(*number));
      }
    }
  }
}

// Of pods, not of their templates (kubernetes: pkg/apis/core/v1, SetDefaults_Pod).
void PodDefaults(json::object& pod) {
  json::value* spec = pod.if_contains("spec");
  if (spec != nullptr && spec->is_object()) spec->get_object().emplace("enableServiceLinks", true);
}

// Of Jobs, not of what CronJobs make them from (kubernetes: pkg/apis/batch/v1, SetDefaults_Job).
void BatchJobDefaults(json::object& job) {
  json::value* spec = job.if_contains("spec");
  if (spec == nullptr || !spec->is_object()) return;
  json::object& fields = spec->get_object();
  const bool indexed = fields.contains("parallelism");
  if (!fields.contains("completions") && !indexed) fields.emplace("completions", 1);
  fields.emplace("parallelism", 1);
  fields.emplace("backoffLimit", 6);
  fields.emplace("completionMode", "NonIndexed");
  fields.emplace("suspend", false);
  fields.emplace("manualSelector", false);
  fields.emplace("podReplacementPolicy", fields.contains("podFailurePolicy") ? "Failed" : "TerminatingOrFailed");
}

// Who is no service account is known to the group of roles (kubernetes: pkg/apis/rbac/v1, SetDefaults_Subject).
void SubjectDefaults(json::object& subject) {
  const json::value* kind = subject.if_contains("kind");
  if (kind != nullptr && (*kind == "User" || *kind == "Group"))
    subject.emplace("apiGroup", "rbac.authorization.k8s.io");
}

// kubernetes: pkg/apis/core/v1, SetDefaults_NodeStatus
void NodeStatusDefaults(json::object& status) {
  const json::value* capacity = status.if_contains("capacity");
  if (capacity == nullptr || status.contains("allocatable")) return;
  const json::value copy = *capacity;
  status.emplace("allocatable", copy);
}

// kubernetes: pkg/apis/core/v1, Convert_v1_PodStatus_To_core_PodStatus
void PodStatusDefaults(json::object& status) {
  const json::value* ip = status.if_contains("podIP");
  if (ip == nullptr || !ip->is_string() || ip->get_string().empty() || status.contains("podIPs")) return;
  const json::value copy = *ip;
  status.emplace("podIPs", json::array{json::object{{"ip", copy}}});
}

// kubernetes: pkg/apis/core/v1, SetDefaults_LimitRangeItem
void LimitRangeItemDefaults(json::object& item) {
  const json::value* type = item.if_contains("type");
  if (type == nullptr || !type->is_string() || type->get_string() != "Container") return;
  for (const auto& [from, to] :
       {std::pair{"max", "default"}, {"default", "defaultRequest"}, {"min", "defaultRequest"}}) {
    const json::value* amounts = item.if_contains(from);
    if (amounts == nullptr || !amounts->is_object()) continue;
    const json::object copy = amounts->get_object();
    json::value& filled = item[to];
    if (filled.is_null()) filled.emplace_object();
    if (!filled.is_object()) continue;
    for (const json::key_value_pair& amount : copy) filled.get_object().emplace(amount.key(), amount.value());
  }
}

// kubernetes: resource/v1, SetDefaults_ExactDeviceRequest
void DeviceRequestDefaults(json::object& request) {
  const json::value* const mode = request.if_contains("allocationMode");
  const bool counts = mode == nullptr || !mode->is_string() || mode->get_string() == "ExactCount";
  const json::value* const count = request.if_contains("count");
  if (counts && (count == nullptr || (count->is_int64() && count->get_int64() == 0))) request["count"] = 1;
}

// kubernetes: apiextensions/v1, SetDefaults_CustomResourceDefinitionSpec
void DefinitionNamesDefaults(json::object& names) {
  const json::value* kind = names.if_contains("kind");
  if (kind == nullptr || !kind->is_string()) return;
  const json::string& text = kind->get_string();
  std::string lower(text.data(), text.size());
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  std::string list(text.data(), text.size());
  names.emplace("singular", lower);
  names.emplace("listKind", list + "List");
}

}  // namespace

std::span<const CoreDefault> CoreDefaults() { return kDefaults; }

DeriveDefaults DerivedDefaultsOf(std::string_view definition) {
  if (definition == "core.v1.Pod") return PodDefaults;
  if (definition == kPodSpec) return PodSpecDefaults;
  if (definition == kContainer) return ContainerDefaults;
  if (definition == kProbe) return ProbeDefaults;
  if (definition == "core.v1.ResourceRequirements") return ResourceDefaults;
  if (definition == "core.v1.Volume") return VolumeDefaults;
  if (definition == "core.v1.ServicePort") return ServicePortDefaults;
  if (definition == "networking.v1.NetworkPolicySpec") return NetworkPolicyDefaults;
  if (definition == "batch.v1.Job") return BatchJobDefaults;
  if (definition == "core.v1.NodeStatus") return NodeStatusDefaults;
  if (definition == "core.v1.PodStatus") return PodStatusDefaults;
  if (definition == "core.v1.LimitRangeItem") return LimitRangeItemDefaults;
  if (definition == "rbac.v1.Subject") return SubjectDefaults;
  if (definition == "resource.v1.ExactDeviceRequest" || definition == "resource.v1.DeviceSubRequest")
    return DeviceRequestDefaults;
  if (definition == "apiextensions.v1.CustomResourceDefinitionNames") return DefinitionNamesDefaults;
  return nullptr;
}

}  // namespace gangway::schemas
