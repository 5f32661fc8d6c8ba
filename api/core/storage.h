// Claims, volumes, storage classes, and what CSI drivers say of nodes and room: the fields we read. Views: never
// encoded.
#pragma once

#include <cstdint>
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
struct CsiVolumeSource {
  std::string driver, volume_handle;
  static constexpr std::string_view kName = "CSIPersistentVolumeSource";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&CsiVolumeSource::driver>("driver", ""),
                      MakeField<&CsiVolumeSource::volume_handle>("volumeHandle", "what the driver calls it"));
  }
};
// Of the kinds that CSI drivers have taken over: each has one of these.
struct InTreeVolumeSource {
  std::string volume_id, pd_name, disk_uri;
  static constexpr std::string_view kName = "InTreeVolumeSource";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&InTreeVolumeSource::volume_id>("volumeID", ""),
                      MakeField<&InTreeVolumeSource::pd_name>("pdName", ""),
                      MakeField<&InTreeVolumeSource::disk_uri>("diskURI", ""));
  }
};
struct PersistentVolumeSpec {
  std::optional<VolumeNodeAffinity> node_affinity;
  std::optional<CsiVolumeSource> csi;
  std::optional<InTreeVolumeSource> aws_elastic_block_store, azure_disk, cinder, gce_persistent_disk, portworx_volume;
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
                      MakeField<&PersistentVolumeSpec::claim>("claimRef", ""),
                      MakeField<&PersistentVolumeSpec::csi>("csi", ""),
                      MakeField<&PersistentVolumeSpec::aws_elastic_block_store>("awsElasticBlockStore", ""),
                      MakeField<&PersistentVolumeSpec::azure_disk>("azureDisk", ""),
                      MakeField<&PersistentVolumeSpec::cinder>("cinder", ""),
                      MakeField<&PersistentVolumeSpec::gce_persistent_disk>("gcePersistentDisk", ""),
                      MakeField<&PersistentVolumeSpec::portworx_volume>("portworxVolume", ""));
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

struct VolumeNodeResources {
  std::optional<std::int32_t> count;
  static constexpr std::string_view kName = "VolumeNodeResources";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&VolumeNodeResources::count>("count", "volumes that a node can attach"));
  }
};
struct CsiNodeDriver {
  std::string name;
  std::optional<VolumeNodeResources> allocatable;
  static constexpr std::string_view kName = "CSINodeDriver";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&CsiNodeDriver::name>("name", ""),
                      MakeField<&CsiNodeDriver::allocatable>("allocatable", ""));
  }
};
struct CsiNodeSpec {
  std::vector<CsiNodeDriver> drivers;
  static constexpr std::string_view kName = "CSINodeSpec";
  static constexpr bool kView = true;
  static constexpr auto Fields() { return MakeFields(MakeField<&CsiNodeSpec::drivers>("drivers", "")); }
};
struct CsiNode {
  ObjectMeta metadata;
  CsiNodeSpec spec;
  static constexpr std::string_view kName = "CSINode";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&CsiNode::metadata>("metadata", "named as the node"),
                      MakeField<&CsiNode::spec>("spec", ""));
  }
};

struct CsiDriverSpec {
  bool storage_capacity = false;
  static constexpr std::string_view kName = "CSIDriverSpec";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(
        MakeField<&CsiDriverSpec::storage_capacity>("storageCapacity", "whether CSIStorageCapacity tells its room"));
  }
};
struct CsiDriver {
  ObjectMeta metadata;
  CsiDriverSpec spec;
  static constexpr std::string_view kName = "CSIDriver";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&CsiDriver::metadata>("metadata", ""), MakeField<&CsiDriver::spec>("spec", ""));
  }
};

struct CsiStorageCapacity {
  ObjectMeta metadata;
  Document node_topology;
  std::string storage_class_name;
  std::optional<Quantity> capacity, maximum_volume_size;
  static constexpr std::string_view kName = "CSIStorageCapacity";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(
        MakeField<&CsiStorageCapacity::metadata>("metadata", ""),
        MakeField<&CsiStorageCapacity::node_topology>("nodeTopology", "a selector of nodes; without one: none"),
        MakeField<&CsiStorageCapacity::storage_class_name>("storageClassName", ""),
        MakeField<&CsiStorageCapacity::capacity>("capacity", "in all"),
        MakeField<&CsiStorageCapacity::maximum_volume_size>("maximumVolumeSize", "of one volume"));
  }
};

struct VolumeAttachmentSource {
  std::string persistent_volume_name;
  static constexpr std::string_view kName = "VolumeAttachmentSource";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&VolumeAttachmentSource::persistent_volume_name>("persistentVolumeName", ""));
  }
};
struct VolumeAttachmentSpec {
  std::string attacher, node_name;
  VolumeAttachmentSource source;
  static constexpr std::string_view kName = "VolumeAttachmentSpec";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&VolumeAttachmentSpec::attacher>("attacher", "the CSI driver"),
                      MakeField<&VolumeAttachmentSpec::node_name>("nodeName", ""),
                      MakeField<&VolumeAttachmentSpec::source>("source", ""));
  }
};
struct VolumeAttachment {
  ObjectMeta metadata;
  VolumeAttachmentSpec spec;
  static constexpr std::string_view kName = "VolumeAttachment";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&VolumeAttachment::metadata>("metadata", ""),
                      MakeField<&VolumeAttachment::spec>("spec", ""));
  }
};

}  // namespace gangway::api::core

extern template struct gangway::api::internal::TypeFor<gangway::api::core::PersistentVolumeClaim>;
extern template struct gangway::api::internal::TypeFor<gangway::api::core::PersistentVolume>;
extern template struct gangway::api::internal::TypeFor<gangway::api::core::StorageClass>;
extern template struct gangway::api::internal::TypeFor<gangway::api::core::CsiNode>;
extern template struct gangway::api::internal::TypeFor<gangway::api::core::CsiDriver>;
extern template struct gangway::api::internal::TypeFor<gangway::api::core::CsiStorageCapacity>;
extern template struct gangway::api::internal::TypeFor<gangway::api::core::VolumeAttachment>;
