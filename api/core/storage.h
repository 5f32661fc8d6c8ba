// Claims, volumes and storage classes: the fields we read. Views: never encoded.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/core/pod.h"
#include "api/meta.h"

namespace gangway::api::core {

struct PersistentVolumeClaimSpec {
  std::string volume_name, storage_class_name, volume_mode;
  std::vector<std::string> access_modes;
  ResourceRequirements resources;
  Document selector;
  static constexpr std::string_view kName = "PersistentVolumeClaimSpec";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&PersistentVolumeClaimSpec::volume_name>("volumeName", ""),
                      MakeField<&PersistentVolumeClaimSpec::storage_class_name>("storageClassName", ""),
                      MakeField<&PersistentVolumeClaimSpec::volume_mode>("volumeMode", "Filesystem Block"),
                      MakeField<&PersistentVolumeClaimSpec::access_modes>(
                          "accessModes", "ReadWriteOnce ReadOnlyMany ReadWriteMany ReadWriteOncePod"),
                      MakeField<&PersistentVolumeClaimSpec::resources>("resources", "storage: how many bytes"),
                      MakeField<&PersistentVolumeClaimSpec::selector>("selector", "of the volume's labels"));
  }
};
struct PersistentVolumeClaimStatus {
  std::string phase;
  static constexpr std::string_view kName = "PersistentVolumeClaimStatus";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&PersistentVolumeClaimStatus::phase>("phase", "Pending Bound Lost"));
  }
};
struct PersistentVolumeClaim {
  ObjectMeta metadata;
  PersistentVolumeClaimSpec spec;
  PersistentVolumeClaimStatus status;
  static constexpr std::string_view kName = "PersistentVolumeClaim";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&PersistentVolumeClaim::metadata>("metadata", ""),
                      MakeField<&PersistentVolumeClaim::spec>("spec", ""),
                      MakeField<&PersistentVolumeClaim::status>("status", ""));
  }
};

struct VolumeNodeAffinity {
  std::optional<NodeSelector> required;
  static constexpr std::string_view kName = "VolumeNodeAffinity";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&VolumeNodeAffinity::required>("required", "the nodes that reach it"));
  }
};
struct PersistentVolumeSpec {
  std::optional<VolumeNodeAffinity> node_affinity;
  std::string storage_class_name, volume_mode;
  std::vector<std::string> access_modes;
  ResourceList capacity;
  std::optional<ObjectReference> claim;
  static constexpr std::string_view kName = "PersistentVolumeSpec";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&PersistentVolumeSpec::node_affinity>("nodeAffinity", ""),
                      MakeField<&PersistentVolumeSpec::storage_class_name>("storageClassName", ""),
                      MakeField<&PersistentVolumeSpec::volume_mode>("volumeMode", ""),
                      MakeField<&PersistentVolumeSpec::access_modes>("accessModes", ""),
                      MakeField<&PersistentVolumeSpec::capacity>("capacity", ""),
                      MakeField<&PersistentVolumeSpec::claim>("claimRef", ""));
  }
};
struct PersistentVolumeStatus {
  std::string phase;
  static constexpr std::string_view kName = "PersistentVolumeStatus";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&PersistentVolumeStatus::phase>("phase", "Pending Available Bound Released Failed"));
  }
};
struct PersistentVolume {
  ObjectMeta metadata;
  PersistentVolumeSpec spec;
  PersistentVolumeStatus status;
  static constexpr std::string_view kName = "PersistentVolume";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&PersistentVolume::metadata>("metadata", ""),
                      MakeField<&PersistentVolume::spec>("spec", ""),
                      MakeField<&PersistentVolume::status>("status", ""));
  }
};

struct TopologyLabel {
  std::string key;
  std::vector<std::string> values;
  static constexpr std::string_view kName = "TopologySelectorLabelRequirement";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&TopologyLabel::key>("key", ""), MakeField<&TopologyLabel::values>("values", ""));
  }
};
struct TopologyTerm {
  std::vector<TopologyLabel> labels;
  static constexpr std::string_view kName = "TopologySelectorTerm";
  static constexpr bool kView = true;
  static constexpr auto Fields() { return MakeFields(MakeField<&TopologyTerm::labels>("matchLabelExpressions", "")); }
};
struct StorageClass {
  ObjectMeta metadata;
  std::string provisioner, volume_binding_mode;
  std::vector<TopologyTerm> allowed_topologies;
  static constexpr std::string_view kName = "StorageClass";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(
        MakeField<&StorageClass::metadata>("metadata", ""), MakeField<&StorageClass::provisioner>("provisioner", ""),
        MakeField<&StorageClass::volume_binding_mode>("volumeBindingMode", "Immediate WaitForFirstConsumer"),
        MakeField<&StorageClass::allowed_topologies>("allowedTopologies", "nodes for which volumes are made"));
  }
};

}  // namespace gangway::api::core
