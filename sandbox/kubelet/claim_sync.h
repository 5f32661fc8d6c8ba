// What Kubernetes' persistent volume controller and the sandbox's provisioner would do about one claim and one volume
// now. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "api/field_table.h"
#include "api/meta.h"
#include "kube/plan/plan.h"
#include "sandbox/kubelet/hosted_pod.h"

namespace gangway::sandbox {

// Claims of classes of this provisioner are given volumes that nothing is stored on.
inline constexpr absl::string_view kProvisioner = "sandbox.gangway.io/volumes";

struct ClaimResources {
  api::ResourceList requests;
  static constexpr std::string_view kName = "VolumeResourceRequirements";
  static constexpr bool kView = true;
  static constexpr auto Fields() { return api::MakeFields(api::MakeField<&ClaimResources::requests>("requests", "")); }
};
struct ClaimSpec {
  std::optional<std::string> storage_class_name;  // absent is not "": a default class may still come
  std::string volume_name, volume_mode;
  std::vector<std::string> access_modes;
  ClaimResources resources;
  api::Document selector;
  static constexpr std::string_view kName = "PersistentVolumeClaimSpec";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&ClaimSpec::storage_class_name>("storageClassName", ""),
                           api::MakeField<&ClaimSpec::volume_name>("volumeName", ""),
                           api::MakeField<&ClaimSpec::volume_mode>("volumeMode", ""),
                           api::MakeField<&ClaimSpec::access_modes>("accessModes", ""),
                           api::MakeField<&ClaimSpec::resources>("resources", ""),
                           api::MakeField<&ClaimSpec::selector>("selector", ""));
  }
};
struct PhaseStatus {
  std::string phase;
  static constexpr std::string_view kName = "PhaseStatus";
  static constexpr bool kView = true;
  static constexpr auto Fields() { return api::MakeFields(api::MakeField<&PhaseStatus::phase>("phase", "")); }
};
struct Claim {
  api::ObjectMeta metadata;
  ClaimSpec spec;
  PhaseStatus status;
  static constexpr std::string_view kName = "PersistentVolumeClaim";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&Claim::metadata>("metadata", ""), api::MakeField<&Claim::spec>("spec", ""),
                           api::MakeField<&Claim::status>("status", ""));
  }
  bool bound() const { return status.phase == "Bound"; }
};

struct VolumeSpec {
  api::ResourceList capacity;
  std::vector<std::string> access_modes;
  std::optional<api::ObjectReference> claim;
  std::string storage_class_name, volume_mode, reclaim_policy;
  static constexpr std::string_view kName = "PersistentVolumeSpec";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&VolumeSpec::capacity>("capacity", ""),
                           api::MakeField<&VolumeSpec::access_modes>("accessModes", ""),
                           api::MakeField<&VolumeSpec::claim>("claimRef", ""),
                           api::MakeField<&VolumeSpec::storage_class_name>("storageClassName", ""),
                           api::MakeField<&VolumeSpec::volume_mode>("volumeMode", ""),
                           api::MakeField<&VolumeSpec::reclaim_policy>("persistentVolumeReclaimPolicy", ""));
  }
};
struct Volume {
  api::ObjectMeta metadata;
  VolumeSpec spec;
  PhaseStatus status;
  static constexpr std::string_view kName = "PersistentVolume";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&Volume::metadata>("metadata", ""), api::MakeField<&Volume::spec>("spec", ""),
                           api::MakeField<&Volume::status>("status", ""));
  }
};

struct StorageClass {
  api::ObjectMeta metadata;
  std::string provisioner, reclaim_policy, binding_mode;
  static constexpr std::string_view kName = "StorageClass";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&StorageClass::metadata>("metadata", ""),
                           api::MakeField<&StorageClass::provisioner>("provisioner", ""),
                           api::MakeField<&StorageClass::reclaim_policy>("reclaimPolicy", ""),
                           api::MakeField<&StorageClass::binding_mode>("volumeBindingMode", ""));
  }
};

// Everything that a claim's fate depends on.
struct ClaimView {
  const Claim& claim;
  const StorageClass* storage_class = nullptr;  // that it names; null: it names none, or there is none of that name
  std::vector<const Volume*> volumes = {};      // all, in the order of their names
};
kube::Plan SyncClaim(const ClaimView& view);

// The claims that a pod's ephemeral volumes are, where they are not there: the pod owns them.
// pkg/controller/volume/ephemeral
kube::Plan MakeEphemeralClaims(const HostedPod& pod, absl::FunctionRef<bool(const std::string& claim)> is_there);

// Whether a volume was made for its claim and is taken away with it: its class's reclaim policy was Delete.
bool GoesWithItsClaim(const Volume& volume);

// `claim`: the one that the volume refers to, whatever its UID; null: there is none.
kube::Plan SyncVolume(const Volume& volume, const Claim* claim);

}  // namespace gangway::sandbox
