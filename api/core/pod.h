// core/v1 Pod: the fields we read. A view: never encoded.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/meta.h"

namespace gangway::api::core {

struct ResourceRequirements {
  ResourceList requests, limits;
  static constexpr std::string_view kName = "ResourceRequirements";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(
        MakeField<&ResourceRequirements::requests>("requests", "what is reserved"),
        MakeField<&ResourceRequirements::limits>("limits", "what is allowed; also the request where that is absent"));
  }
};

struct ContainerPort {
  std::string name, protocol, host_ip;
  std::int32_t container_port = 0, host_port = 0;
  static constexpr std::string_view kName = "ContainerPort";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(
        MakeField<&ContainerPort::name>("name", ""), MakeField<&ContainerPort::protocol>("protocol", ""),
        MakeField<&ContainerPort::host_ip>("hostIP", ""),
        MakeField<&ContainerPort::container_port>("containerPort", ""),
        MakeField<&ContainerPort::host_port>("hostPort", "a port of the node; one pod a node can have it"));
  }
};

struct Probe {
  std::int32_t initial_delay_seconds = 0;
  static constexpr std::string_view kName = "Probe";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&Probe::initial_delay_seconds>("initialDelaySeconds", ""));
  }
};

struct Container {
  std::string name, image, restart_policy;  // restartPolicy: "Always" makes an init container a sidecar
  ResourceRequirements resources;
  std::vector<ContainerPort> ports;
  std::optional<Probe> readiness_probe;
  static constexpr std::string_view kName = "Container";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&Container::name>("name", ""), MakeField<&Container::image>("image", ""),
                      MakeField<&Container::ports>("ports", ""), MakeField<&Container::resources>("resources", ""),
                      MakeField<&Container::restart_policy>("restartPolicy", ""),
                      MakeField<&Container::readiness_probe>("readinessProbe", ""));
  }
};

struct Toleration {
  std::string key, op, value, effect;
  std::optional<std::int64_t> toleration_seconds;
  static constexpr std::string_view kName = "Toleration";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&Toleration::key>("key", ""), MakeField<&Toleration::op>("operator", ""),
                      MakeField<&Toleration::value>("value", ""), MakeField<&Toleration::effect>("effect", ""),
                      MakeField<&Toleration::toleration_seconds>("tolerationSeconds", ""));
  }
};

struct SelectorRequirement {  // of node selectors and label selectors
  std::string key, op;
  std::vector<std::string> values;
  static constexpr std::string_view kName = "SelectorRequirement";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&SelectorRequirement::key>("key", ""),
                      MakeField<&SelectorRequirement::op>("operator", "In NotIn Exists DoesNotExist Gt Lt"),
                      MakeField<&SelectorRequirement::values>("values", ""));
  }
};
struct NodeSelectorTerm {
  std::vector<SelectorRequirement> match_expressions, match_fields;
  static constexpr std::string_view kName = "NodeSelectorTerm";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&NodeSelectorTerm::match_expressions>("matchExpressions", ""),
                      MakeField<&NodeSelectorTerm::match_fields>("matchFields", ""));
  }
};
struct NodeSelector {
  std::vector<NodeSelectorTerm> terms;
  static constexpr std::string_view kName = "NodeSelector";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&NodeSelector::terms>("nodeSelectorTerms", "any of these"));
  }
};
struct NodeAffinity {
  std::optional<NodeSelector> required;
  Document preferred;
  static constexpr std::string_view kName = "NodeAffinity";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&NodeAffinity::required>("requiredDuringSchedulingIgnoredDuringExecution", ""),
                      MakeField<&NodeAffinity::preferred>("preferredDuringSchedulingIgnoredDuringExecution", ""));
  }
};
struct Affinity {
  std::optional<NodeAffinity> node_affinity;
  Document pod_affinity, pod_anti_affinity;
  static constexpr std::string_view kName = "Affinity";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&Affinity::node_affinity>("nodeAffinity", ""),
                      MakeField<&Affinity::pod_affinity>("podAffinity", ""),
                      MakeField<&Affinity::pod_anti_affinity>("podAntiAffinity", ""));
  }
};
struct SchedulingGate {
  std::string name;
  static constexpr std::string_view kName = "PodSchedulingGate";
  static constexpr bool kView = true;
  static constexpr auto Fields() { return MakeFields(MakeField<&SchedulingGate::name>("name", "")); }
};

struct PodSpec {
  std::string node_name, scheduler_name, priority_class_name, preemption_policy, restart_policy, hostname, subdomain;
  std::optional<std::int32_t> priority;
  std::optional<std::int64_t> termination_grace_period_seconds, active_deadline_seconds;
  bool host_network = false;
  std::vector<Container> containers, init_containers;
  std::map<std::string, std::string> node_selector;
  std::optional<Affinity> affinity;
  std::vector<Toleration> tolerations;
  ResourceList overhead;
  std::optional<ResourceRequirements> resources;  // pod-level
  std::vector<SchedulingGate> scheduling_gates;
  Document resource_claims, topology_spread_constraints, volumes;
  Document scheduling_group, workload_ref;  // gangs of Kubernetes' own, by the name of 1.36 and of 1.35
  static constexpr std::string_view kName = "PodSpec";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(
        MakeField<&PodSpec::node_name>("nodeName", ""), MakeField<&PodSpec::scheduler_name>("schedulerName", ""),
        MakeField<&PodSpec::priority_class_name>("priorityClassName", ""),
        MakeField<&PodSpec::preemption_policy>("preemptionPolicy", "PreemptLowerPriority Never"),
        MakeField<&PodSpec::priority>("priority", ""), MakeField<&PodSpec::restart_policy>("restartPolicy", ""),
        MakeField<&PodSpec::hostname>("hostname", ""), MakeField<&PodSpec::subdomain>("subdomain", ""),
        MakeField<&PodSpec::termination_grace_period_seconds>("terminationGracePeriodSeconds", ""),
        MakeField<&PodSpec::active_deadline_seconds>("activeDeadlineSeconds", ""),
        MakeField<&PodSpec::host_network>("hostNetwork", ""), MakeField<&PodSpec::containers>("containers", ""),
        MakeField<&PodSpec::init_containers>("initContainers", ""),
        MakeField<&PodSpec::node_selector>("nodeSelector", ""), MakeField<&PodSpec::affinity>("affinity", ""),
        MakeField<&PodSpec::tolerations>("tolerations", ""), MakeField<&PodSpec::overhead>("overhead", ""),
        MakeField<&PodSpec::resources>("resources", ""), MakeField<&PodSpec::scheduling_gates>("schedulingGates", ""),
        MakeField<&PodSpec::resource_claims>("resourceClaims", ""),
        MakeField<&PodSpec::topology_spread_constraints>("topologySpreadConstraints", ""),
        MakeField<&PodSpec::volumes>("volumes", ""), MakeField<&PodSpec::scheduling_group>("schedulingGroup", ""),
        MakeField<&PodSpec::workload_ref>("workloadRef", ""));
  }
};

struct ContainerStateTerminated {
  std::int32_t exit_code = 0;
  std::string reason, message;
  Time started_at, finished_at;
  static constexpr std::string_view kName = "ContainerStateTerminated";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&ContainerStateTerminated::exit_code>("exitCode", ""),
                      MakeField<&ContainerStateTerminated::reason>("reason", ""),
                      MakeField<&ContainerStateTerminated::message>("message", ""),
                      MakeField<&ContainerStateTerminated::started_at>("startedAt", ""),
                      MakeField<&ContainerStateTerminated::finished_at>("finishedAt", ""));
  }
};
struct ContainerStateWaiting {
  std::string reason, message;
  static constexpr std::string_view kName = "ContainerStateWaiting";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&ContainerStateWaiting::reason>("reason", ""),
                      MakeField<&ContainerStateWaiting::message>("message", ""));
  }
};
struct ContainerStateRunning {
  Time started_at;
  static constexpr std::string_view kName = "ContainerStateRunning";
  static constexpr bool kView = true;
  static constexpr auto Fields() { return MakeFields(MakeField<&ContainerStateRunning::started_at>("startedAt", "")); }
};
struct ContainerState {
  std::optional<ContainerStateWaiting> waiting;
  std::optional<ContainerStateRunning> running;
  std::optional<ContainerStateTerminated> terminated;
  static constexpr std::string_view kName = "ContainerState";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&ContainerState::waiting>("waiting", ""),
                      MakeField<&ContainerState::running>("running", ""),
                      MakeField<&ContainerState::terminated>("terminated", ""));
  }
};
struct ContainerStatus {
  std::string name;
  bool ready = false;
  std::int32_t restart_count = 0;
  ContainerState state, last_state;
  std::optional<ResourceRequirements> resources =
      {};                                 // what it has, which a resize makes another than what it asks for
  ResourceList allocated_resources = {};  // what the kubelet promised it
  std::optional<bool> started = {};       // it runs, and has passed its startup probe
  static constexpr std::string_view kName = "ContainerStatus";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&ContainerStatus::name>("name", ""), MakeField<&ContainerStatus::ready>("ready", ""),
                      MakeField<&ContainerStatus::restart_count>("restartCount", ""),
                      MakeField<&ContainerStatus::state>("state", ""),
                      MakeField<&ContainerStatus::last_state>("lastState", ""),
                      MakeField<&ContainerStatus::resources>("resources", ""),
                      MakeField<&ContainerStatus::allocated_resources>("allocatedResources", ""),
                      MakeField<&ContainerStatus::started>("started", ""));
  }
};
struct PodCondition {
  std::string type, status, reason, message;
  Time last_transition_time;
  static constexpr std::string_view kName = "PodCondition";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&PodCondition::type>("type", ""), MakeField<&PodCondition::status>("status", ""),
                      MakeField<&PodCondition::reason>("reason", ""), MakeField<&PodCondition::message>("message", ""),
                      MakeField<&PodCondition::last_transition_time>("lastTransitionTime", ""));
  }
};
struct PodStatus {
  std::string phase, reason, message, pod_ip, host_ip, nominated_node_name;
  Time start_time;
  std::vector<PodCondition> conditions;
  std::vector<ContainerStatus> container_statuses, init_container_statuses;
  std::optional<ResourceRequirements> resources;  // pod-level, as those of a container
  ResourceList allocated_resources;
  static constexpr std::string_view kName = "PodStatus";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&PodStatus::phase>("phase", "Pending Running Succeeded Failed Unknown"),
                      MakeField<&PodStatus::conditions>("conditions", ""),
                      MakeField<&PodStatus::message>("message", ""), MakeField<&PodStatus::reason>("reason", ""),
                      MakeField<&PodStatus::nominated_node_name>("nominatedNodeName", "room is kept for it there"),
                      MakeField<&PodStatus::host_ip>("hostIP", ""), MakeField<&PodStatus::pod_ip>("podIP", ""),
                      MakeField<&PodStatus::start_time>("startTime", ""),
                      MakeField<&PodStatus::container_statuses>("containerStatuses", ""),
                      MakeField<&PodStatus::init_container_statuses>("initContainerStatuses", ""),
                      MakeField<&PodStatus::resources>("resources", ""),
                      MakeField<&PodStatus::allocated_resources>("allocatedResources", ""));
  }
};

struct Pod {
  ObjectMeta metadata;
  PodSpec spec;
  PodStatus status;
  static constexpr std::string_view kName = "Pod";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&Pod::metadata>("metadata", ""), MakeField<&Pod::spec>("spec", ""),
                      MakeField<&Pod::status>("status", ""));
  }
  bool bound() const { return !spec.node_name.empty(); }
  // Succeeded or Failed: nothing of it runs any more.
  bool ended() const { return status.phase == "Succeeded" || status.phase == "Failed"; }
};

}  // namespace gangway::api::core

extern template struct gangway::api::internal::TypeFor<gangway::api::core::Pod>;
extern template struct gangway::api::internal::TypeFor<gangway::api::core::PodSpec>;
