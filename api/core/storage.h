// Claims, volumes and storage classes: the fields we read. Views: never encoded.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/core/pod.h"
#include "api/meta.h"

namespace gangway::api::core {

struct PersistentVolumeClaimSpec {
  std::string volume_name, storage_class_name;
  std::vector<std::string> access_modes;
  static constexpr std::string_view kName = "PersistentVolumeClaimSpec";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&PersistentVolumeClaimSpec::volume_name>("volumeName", ""),
                      MakeField<&PersistentVolumeClaimSpec::storage_class_name>("storageClassName", ""),
                      MakeField<&PersistentVolumeClaimSpec::access_modes>("accessModes", "ReadWriteOnce ReadOnlyMany ReadWriteMany ReadWriteOncePod"));
  }
};
struct PersistentVolumeClaimStatus {
  std::string phase;
  static constexpr std::string_view kName = "PersistentVolumeClaimStatus";
  static constexpr bool kView = true;
  static constexpr auto Fields() { return MakeFields(MakeField<&PersistentVolumeClaimStatus::phase>("phase", "Pending Bound Lost")); }
};
struct PersistentVolumeClaim {
  ObjectMeta metadata;
  PersistentVolumeClaimSpec spec;
  PersistentVolumeClaimStatus status;
  static constexpr std::string_view kName = "PersistentVolumeClaim";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&PersistentVolumeClaim::metadata>("metadata", ""), MakeField<&PersistentVolumeClaim::spec>("spec", ""),
                      MakeField<&PersistentVolumeClaim::status>("status", ""));
  }
};

struct VolumeNodeAffinity {
  std::optional<NodeSelector> required;
  static constexpr std::string_view kName = "VolumeNodeAffinity";
  static constexpr bool kView = true;
  static constexpr auto Fields() { return MakeFields(MakeField<&VolumeNodeAffinity::required>("required", "the nodes that reach it")); }
};
struct PersistentVolumeSpec {
  std::optional<VolumeNodeAffinity> node_affinity;
  static constexpr std::string_view kName = "PersistentVolumeSpec";
  static constexpr bool kView = true;
  static constexpr auto Fields() { return MakeFields(MakeField<&PersistentVolumeSpec::node_affinity>("nodeAffinity", "")); }
};
struct PersistentVolume {
  ObjectMeta metadata;
  PersistentVolumeSpec spec;
  static constexpr std::string_view kName = "PersistentVolume";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&PersistentVolume::metadata>("metadata", ""), MakeField<&PersistentVolume::spec>("spec", ""));
  }
};

struct StorageClass {
  ObjectMeta metadata;
  std::string volume_binding_mode;
  static constexpr std::string_view kName = "StorageClass";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&StorageClass::metadata>("metadata", ""),
                      MakeField<&StorageClass::volume_binding_mode>("volumeBindingMode", "Immediate WaitForFirstConsumer"));
  }
};

}  // namespace gangway::api::core
