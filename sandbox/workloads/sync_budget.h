// What a cluster's own controller would write of a PodDisruptionBudget: how many of its pods are healthy, how many must
// be, and how many may go. A share, or how many may be missing, is of what a Deployment or a ReplicaSet asks for: of
// pods with another controller, a Job's too, nobody knows how many there are to be, and none may go. Not played:
// unhealthyPodEvictionPolicy, evictions that were granted and are not seen yet. Pure.
// kubernetes: pkg/controller/disruption
#pragma once

#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "sandbox/workloads/sync_workloads.h"

namespace gangway::sandbox {

struct BudgetCondition {
  std::string type, status, reason, message;
  std::int64_t observed_generation = 0;
  api::Time last_transition_time;
  static constexpr std::string_view kName = "Condition";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&BudgetCondition::type>("type", ""),
                           api::MakeField<&BudgetCondition::status>("status", ""),
                           api::MakeField<&BudgetCondition::reason>("reason", ""),
                           api::MakeField<&BudgetCondition::message>("message", ""),
                           api::MakeField<&BudgetCondition::observed_generation>("observedGeneration", ""),
                           api::MakeField<&BudgetCondition::last_transition_time>("lastTransitionTime", ""));
  }
};
struct BudgetSpec {
  api::Document selector, min_available, max_unavailable;  // the last two: 2 or "50%"; "": absent
  static constexpr std::string_view kName = "PodDisruptionBudgetSpec";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&BudgetSpec::selector>("selector", ""),
                           api::MakeField<&BudgetSpec::min_available>("minAvailable", ""),
                           api::MakeField<&BudgetSpec::max_unavailable>("maxUnavailable", ""));
  }
};
struct BudgetStatus {
  std::int32_t current_healthy = 0, desired_healthy = 0, expected_pods = 0, disruptions_allowed = 0;
  std::int64_t observed_generation = 0;
  std::vector<BudgetCondition> conditions = {};
  static constexpr std::string_view kName = "PodDisruptionBudgetStatus";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&BudgetStatus::current_healthy>("currentHealthy", ""),
                           api::MakeField<&BudgetStatus::desired_healthy>("desiredHealthy", ""),
                           api::MakeField<&BudgetStatus::expected_pods>("expectedPods", ""),
                           api::MakeField<&BudgetStatus::disruptions_allowed>("disruptionsAllowed", ""),
                           api::MakeField<&BudgetStatus::observed_generation>("observedGeneration", ""),
                           api::MakeField<&BudgetStatus::conditions>("conditions", ""));
  }
};
// A view: never encoded.
struct Budget {
  api::ObjectMeta metadata;
  BudgetSpec spec;
  BudgetStatus status;
  static constexpr std::string_view kName = "Budget";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&Budget::metadata>("metadata", ""), api::MakeField<&Budget::spec>("spec", ""),
                           api::MakeField<&Budget::status>("status", ""));
  }
};

// Whether it is about the pod; a selector that cannot be read, or is absent, is about none.
bool IsAbout(const Budget& budget, const HostedPod& pod);

// `pods` are those that it is about. `wanted_by` says how many pods the controller of a pod wants, with the uid by
// which it counts once; nullopt: that is not known.
struct Scale {
  std::string uid;
  std::int32_t wanted = 0;
};
kube::Plan SyncBudget(const Budget& budget, const std::vector<std::shared_ptr<const HostedPod>>& pods,
                      absl::FunctionRef<std::optional<Scale>(const HostedPod&)> wanted_by, absl::Time now);

}  // namespace gangway::sandbox
