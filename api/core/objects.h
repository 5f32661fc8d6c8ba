// Smaller core objects: the fields we read. Views: never encoded.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "api/meta.h"

namespace gangway::api::core {

// An object of which only the metadata matters: Service, Secret, NetworkPolicy, Namespace...
struct PartialObject {
  ObjectMeta metadata;
  static constexpr std::string_view kName = "PartialObjectMetadata";
  static constexpr bool kView = true;
  static constexpr auto Fields() { return MakeFields(MakeField<&PartialObject::metadata>("metadata", "")); }
};

struct ConfigMap {
  ObjectMeta metadata;
  std::map<std::string, std::string> data;
  static constexpr std::string_view kName = "ConfigMap";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&ConfigMap::metadata>("metadata", ""), MakeField<&ConfigMap::data>("data", ""));
  }
};

struct Event {
  ObjectMeta metadata;
  std::string type, reason, message;  // type: Normal or Warning
  ObjectReference involved_object;
  std::int32_t count = 0;
  static constexpr std::string_view kName = "Event";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&Event::metadata>("metadata", ""), MakeField<&Event::type>("type", ""),
                      MakeField<&Event::reason>("reason", ""), MakeField<&Event::message>("message", ""),
                      MakeField<&Event::involved_object>("involvedObject", ""), MakeField<&Event::count>("count", ""));
  }
};

struct PodDisruptionBudgetSpec {
  Document selector;
  static constexpr std::string_view kName = "PodDisruptionBudgetSpec";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&PodDisruptionBudgetSpec::selector>("selector", "of pods; {}: all of the namespace"));
  }
};
struct PodDisruptionBudgetStatus {
  std::int32_t disruptions_allowed = 0;
  static constexpr std::string_view kName = "PodDisruptionBudgetStatus";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&PodDisruptionBudgetStatus::disruptions_allowed>("disruptionsAllowed", ""));
  }
};
struct PodDisruptionBudget {
  ObjectMeta metadata;
  PodDisruptionBudgetSpec spec;
  PodDisruptionBudgetStatus status;
  static constexpr std::string_view kName = "PodDisruptionBudget";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&PodDisruptionBudget::metadata>("metadata", ""),
                      MakeField<&PodDisruptionBudget::spec>("spec", ""),
                      MakeField<&PodDisruptionBudget::status>("status", ""));
  }
};

struct ResourceQuotaSpec {
  std::vector<std::string> scopes;
  Document scope_selector;  // with either it is about some of the namespace's pods
  static constexpr std::string_view kName = "ResourceQuotaSpec";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&ResourceQuotaSpec::scopes>("scopes", ""),
                      MakeField<&ResourceQuotaSpec::scope_selector>("scopeSelector", ""));
  }
};
struct ResourceQuotaStatus {
  ResourceList hard, used;
  static constexpr std::string_view kName = "ResourceQuotaStatus";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&ResourceQuotaStatus::hard>("hard", ""),
                      MakeField<&ResourceQuotaStatus::used>("used", ""));
  }
};
struct ResourceQuota {
  ObjectMeta metadata;
  ResourceQuotaSpec spec;
  ResourceQuotaStatus status;
  static constexpr std::string_view kName = "ResourceQuota";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&ResourceQuota::metadata>("metadata", ""), MakeField<&ResourceQuota::spec>("spec", ""),
                      MakeField<&ResourceQuota::status>("status", ""));
  }
};

struct PriorityClass {
  ObjectMeta metadata;
  std::int32_t value = 0;
  bool global_default = false;
  std::string preemption_policy;
  static constexpr std::string_view kName = "PriorityClass";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&PriorityClass::metadata>("metadata", ""),
                      MakeField<&PriorityClass::value>("value", ""),
                      MakeField<&PriorityClass::global_default>("globalDefault", ""),
                      MakeField<&PriorityClass::preemption_policy>("preemptionPolicy", "PreemptLowerPriority Never"));
  }
};

}  // namespace gangway::api::core

extern template struct gangway::api::internal::TypeFor<gangway::api::core::PartialObject>;
extern template struct gangway::api::internal::TypeFor<gangway::api::core::ConfigMap>;
extern template struct gangway::api::internal::TypeFor<gangway::api::core::Event>;
extern template struct gangway::api::internal::TypeFor<gangway::api::core::PodDisruptionBudget>;
extern template struct gangway::api::internal::TypeFor<gangway::api::core::ResourceQuota>;
extern template struct gangway::api::internal::TypeFor<gangway::api::core::PriorityClass>;
