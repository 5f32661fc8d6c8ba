// PodGroups that are not Volcano's: Kubernetes' own (scheduling.k8s.io/v1alpha2, KEP-4671) and those of the
// coscheduling plugin (kubernetes-sigs/scheduler-plugins: apis/scheduling/v1alpha1); and how pods name them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/core/pod.h"
#include "api/meta.h"
#include "api/scheduling_resources.h"

namespace gangway::api::core {

inline constexpr char kCoschedulingLabel[] = "scheduling.x-k8s.io/pod-group";

struct PodSchedulingGroup {
  std::string pod_group_name;
  static constexpr std::string_view kName = "PodSchedulingGroup";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&PodSchedulingGroup::pod_group_name>("podGroupName", ""));
  }
};

// The PodGroup of Kubernetes that the pod names; "" when it names none.
inline std::string SchedulingGroupOf(const PodSpec& spec) {
  if (spec.scheduling_group.empty()) return "";
  const absl::StatusOr<PodSchedulingGroup> group = Decode<PodSchedulingGroup>(spec.scheduling_group.json);
  return group.ok() ? group->pod_group_name : "";
}
// The same of coscheduling's.
inline std::string CoschedulingGroupOf(const ObjectMeta& pod) {
  const auto label = pod.labels.find(kCoschedulingLabel);
  return label == pod.labels.end() ? "" : label->second;
}

struct GangSchedulingPolicy {
  std::int32_t min_count = 0;
  static constexpr std::string_view kName = "GangSchedulingPolicy";
  static constexpr bool kView = true;
  static constexpr auto Fields() { return MakeFields(MakeField<&GangSchedulingPolicy::min_count>("minCount", "")); }
};
struct PodGroupSchedulingPolicy {
  std::optional<GangSchedulingPolicy> gang;  // else basic
  static constexpr std::string_view kName = "PodGroupSchedulingPolicy";
  static constexpr bool kView = true;
  static constexpr auto Fields() { return MakeFields(MakeField<&PodGroupSchedulingPolicy::gang>("gang", "")); }
};
struct PodGroupSchedulingConstraints {
  std::vector<Document> topology;
  static constexpr std::string_view kName = "PodGroupSchedulingConstraints";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&PodGroupSchedulingConstraints::topology>("topology", ""));
  }
};
struct KubernetesPodGroupSpec {
  PodGroupSchedulingPolicy policy;
  std::optional<PodGroupSchedulingConstraints> constraints;
  std::vector<Document> resource_claims;
  std::string priority_class_name;
  static constexpr std::string_view kName = "PodGroupSpec";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&KubernetesPodGroupSpec::policy>("schedulingPolicy", ""),
                      MakeField<&KubernetesPodGroupSpec::constraints>("schedulingConstraints", ""),
                      MakeField<&KubernetesPodGroupSpec::resource_claims>("resourceClaims", ""),
                      MakeField<&KubernetesPodGroupSpec::priority_class_name>("priorityClassName", ""));
  }
};
// meta/v1 Condition; written back whole.
struct Condition {
  std::string type, status, reason, message;
  std::int64_t observed_generation = 0;
  Time last_transition_time;
  static constexpr std::string_view kName = "Condition";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&Condition::type>("type", ""), MakeField<&Condition::status>("status", ""),
                      MakeField<&Condition::observed_generation>("observedGeneration", ""),
                      MakeField<&Condition::last_transition_time>("lastTransitionTime", ""),
                      MakeField<&Condition::reason>("reason", ""), MakeField<&Condition::message>("message", ""));
  }
};
struct KubernetesPodGroupStatus {
  std::vector<Condition> conditions;
  static constexpr std::string_view kName = "PodGroupStatus";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&KubernetesPodGroupStatus::conditions>("conditions", ""));
  }
};
struct KubernetesPodGroup {
  ObjectMeta metadata;
  KubernetesPodGroupSpec spec;
  KubernetesPodGroupStatus status;
  static constexpr std::string_view kName = "PodGroup";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&KubernetesPodGroup::metadata>("metadata", ""),
                      MakeField<&KubernetesPodGroup::spec>("spec", ""),
                      MakeField<&KubernetesPodGroup::status>("status", ""));
  }
};

// Whole, as its definition has it.
struct CoschedulingPodGroupSpec {
  std::int32_t min_member = 0;
  ResourceList min_resources;
  std::optional<std::int32_t> schedule_timeout_seconds;
  static constexpr std::string_view kName = "PodGroupSpec";
  static constexpr auto Fields() {
    return MakeFields(
        MakeField<&CoschedulingPodGroupSpec::min_member>("minMember", "pods that start together or not at all")
            .Minimum(1),
        MakeField<&CoschedulingPodGroupSpec::min_resources>("minResources", "what the cluster must have room for"),
        MakeField<&CoschedulingPodGroupSpec::schedule_timeout_seconds>("scheduleTimeoutSeconds",
                                                                       "how long its pods wait for each other"));
  }
};
struct CoschedulingPodGroupStatus {
  std::string phase, occupied_by;
  std::int32_t running = 0, succeeded = 0, failed = 0;
  Time schedule_start_time;
  static constexpr std::string_view kName = "PodGroupStatus";
  static constexpr auto Fields() {
    return MakeFields(
        MakeField<&CoschedulingPodGroupStatus::phase>("phase", "Pending Scheduling Running Failed Finished"),
        MakeField<&CoschedulingPodGroupStatus::occupied_by>("occupiedBy", "the workload whose pods it has"),
        MakeField<&CoschedulingPodGroupStatus::running>("running", "pods"),
        MakeField<&CoschedulingPodGroupStatus::succeeded>("succeeded", "pods"),
        MakeField<&CoschedulingPodGroupStatus::failed>("failed", "pods"),
        MakeField<&CoschedulingPodGroupStatus::schedule_start_time>("scheduleStartTime",
                                                                    "when the first pod was looked at"));
  }
};
struct CoschedulingPodGroup {
  std::string api_version, kind;
  ObjectMeta metadata;
  CoschedulingPodGroupSpec spec;
  CoschedulingPodGroupStatus status;
  static constexpr std::string_view kName = "PodGroup";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&CoschedulingPodGroup::api_version>("apiVersion", ""),
                      MakeField<&CoschedulingPodGroup::kind>("kind", ""),
                      MakeField<&CoschedulingPodGroup::metadata>("metadata", ""),
                      MakeField<&CoschedulingPodGroup::spec>("spec", "what is wanted"),
                      MakeField<&CoschedulingPodGroup::status>("status", "what is"));
  }
};

}  // namespace gangway::api::core

extern template struct gangway::api::internal::TypeFor<gangway::api::core::KubernetesPodGroup>;
extern template struct gangway::api::internal::TypeFor<gangway::api::core::CoschedulingPodGroup>;
