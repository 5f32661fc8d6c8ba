// What a cluster's own controllers would write of Deployments and ReplicaSets, as far as the embedded cluster plays
// them: pods are made and deleted up to the number that is asked for, a changed template replaces them, and the status
// says how far that is. Not played: pausing, roll-backs, surges, deadlines. Pure.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "api/field_table.h"
#include "api/meta.h"
#include "kube/plan/plan.h"
#include "sandbox/kubelet/hosted_pod.h"

namespace gangway::sandbox {

struct WorkloadStrategy {
  std::string type;
  static constexpr std::string_view kName = "DeploymentStrategy";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&WorkloadStrategy::type>("type", "Recreate RollingUpdate"));
  }
};
struct WorkloadSpec {
  std::optional<std::int32_t> replicas;
  api::Document selector, pod_template;
  std::optional<WorkloadStrategy> strategy;
  static constexpr std::string_view kName = "DeploymentSpec";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&WorkloadSpec::replicas>("replicas", ""),
                           api::MakeField<&WorkloadSpec::selector>("selector", ""),
                           api::MakeField<&WorkloadSpec::pod_template>("template", ""),
                           api::MakeField<&WorkloadSpec::strategy>("strategy", ""));
  }
};
struct WorkloadCondition {
  std::string type, status;
  api::Time last_transition_time;
  friend bool operator==(const WorkloadCondition&, const WorkloadCondition&) = default;
  static constexpr std::string_view kName = "DeploymentCondition";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&WorkloadCondition::type>("type", ""),
                           api::MakeField<&WorkloadCondition::status>("status", ""),
                           api::MakeField<&WorkloadCondition::last_transition_time>("lastTransitionTime", ""));
  }
};
struct WorkloadStatus {
  std::int32_t replicas = 0, updated = 0, ready = 0, available = 0;
  std::int64_t observed_generation = 0;
  std::int32_t terminating = 0;  // of a ReplicaSet: pods that are being deleted, beside `replicas`
  std::vector<WorkloadCondition> conditions = {};
  friend bool operator==(const WorkloadStatus&, const WorkloadStatus&) = default;
  static constexpr std::string_view kName = "DeploymentStatus";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&WorkloadStatus::replicas>("replicas", ""),
                           api::MakeField<&WorkloadStatus::updated>("updatedReplicas", ""),
                           api::MakeField<&WorkloadStatus::ready>("readyReplicas", ""),
                           api::MakeField<&WorkloadStatus::available>("availableReplicas", ""),
                           api::MakeField<&WorkloadStatus::observed_generation>("observedGeneration", ""),
                           api::MakeField<&WorkloadStatus::terminating>("terminatingReplicas", ""),
                           api::MakeField<&WorkloadStatus::conditions>("conditions", ""));
  }
};
// A Deployment or a ReplicaSet. A view: never encoded.
struct Workload {
  api::ObjectMeta metadata;
  WorkloadSpec spec;
  WorkloadStatus status;
  static constexpr std::string_view kName = "Workload";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&Workload::metadata>("metadata", ""),
                           api::MakeField<&Workload::spec>("spec", ""),
                           api::MakeField<&Workload::status>("status", ""));
  }
  std::int32_t wanted() const { return spec.replicas.value_or(1); }
};

// `pods` and `sets` are those that it controls, by name.
kube::Plan SyncReplicaSet(const Workload& set, const std::vector<std::shared_ptr<const HostedPod>>& pods);
kube::Plan SyncDeployment(const Workload& deployment, const std::vector<std::shared_ptr<const Workload>>& sets,
                          absl::Time now);

}  // namespace gangway::sandbox
