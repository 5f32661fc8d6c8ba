// ReplicaSet, StatefulSet, DaemonSet and batch Job: the fields we read. Views: never encoded.
#pragma once

#include <optional>
#include <string>

#include "api/meta.h"

namespace gangway::api::core {

struct WorkloadSpec {
  std::optional<std::int32_t> replicas;
  static constexpr std::string_view kName = "WorkloadSpec";
  static constexpr bool kView = true;
  static constexpr auto Fields() { return MakeFields(MakeField<&WorkloadSpec::replicas>("replicas", "")); }
};
struct WorkloadStatus {
  std::string update_revision;
  static constexpr std::string_view kName = "WorkloadStatus";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&WorkloadStatus::update_revision>("updateRevision",
                                                                  "of a StatefulSet: what its new pods are made from"));
  }
};
struct Workload {
  ObjectMeta metadata;
  WorkloadSpec spec;
  WorkloadStatus status;
  static constexpr std::string_view kName = "Workload";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&Workload::metadata>("metadata", ""), MakeField<&Workload::spec>("spec", ""),
                      MakeField<&Workload::status>("status", ""));
  }
};

}  // namespace gangway::api::core

extern template struct gangway::api::internal::TypeFor<gangway::api::core::Workload>;
