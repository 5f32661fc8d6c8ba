// core/v1 Pod as a kubelet reads it: what runs, and what it needs of other objects. A view: never encoded.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/core/pod.h"
#include "api/meta.h"

namespace gangway::sandbox {

// A config map or a secret, whole (`key` empty) or one key of it.
struct SourceKey {
  std::string name, key;
  bool optional = false;
  static constexpr std::string_view kName = "KeySelector";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&SourceKey::name>("name", ""), api::MakeField<&SourceKey::key>("key", ""),
                           api::MakeField<&SourceKey::optional>("optional", ""));
  }
};
struct EnvVarSource {
  std::optional<SourceKey> config_map, secret;
  static constexpr std::string_view kName = "EnvVarSource";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&EnvVarSource::config_map>("configMapKeyRef", ""),
                           api::MakeField<&EnvVarSource::secret>("secretKeyRef", ""));
  }
};
struct EnvVar {
  std::optional<EnvVarSource> value_from;
  static constexpr std::string_view kName = "EnvVar";
  static constexpr bool kView = true;
  static constexpr auto Fields() { return api::MakeFields(api::MakeField<&EnvVar::value_from>("valueFrom", "")); }
};
struct EnvFromSource {
  std::optional<SourceKey> config_map, secret;
  static constexpr std::string_view kName = "EnvFromSource";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&EnvFromSource::config_map>("configMapRef", ""),
                           api::MakeField<&EnvFromSource::secret>("secretRef", ""));
  }
};

struct HostedContainer {
  std::string name, image, restart_policy;  // restartPolicy: "Always" makes an init container a sidecar
  std::optional<api::core::Probe> readiness_probe;
  std::vector<EnvVar> env;
  std::vector<EnvFromSource> env_from;
  static constexpr std::string_view kName = "Container";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(
        api::MakeField<&HostedContainer::name>("name", ""), api::MakeField<&HostedContainer::image>("image", ""),
        api::MakeField<&HostedContainer::restart_policy>("restartPolicy", ""),
        api::MakeField<&HostedContainer::readiness_probe>("readinessProbe", ""),
        api::MakeField<&HostedContainer::env>("env", ""), api::MakeField<&HostedContainer::env_from>("envFrom", ""));
  }
};

struct KeyToPath {
  std::string key;
  static constexpr std::string_view kName = "KeyToPath";
  static constexpr bool kView = true;
  static constexpr auto Fields() { return api::MakeFields(api::MakeField<&KeyToPath::key>("key", "")); }
};
struct SourceVolume {  // of a config map, of a secret within a projection
  std::string name;
  std::vector<KeyToPath> items;
  bool optional = false;
  static constexpr std::string_view kName = "SourceVolume";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&SourceVolume::name>("name", ""),
                           api::MakeField<&SourceVolume::items>("items", ""),
                           api::MakeField<&SourceVolume::optional>("optional", ""));
  }
};
struct SecretVolume {
  std::string name;
  std::vector<KeyToPath> items;
  bool optional = false;
  static constexpr std::string_view kName = "SecretVolumeSource";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&SecretVolume::name>("secretName", ""),
                           api::MakeField<&SecretVolume::items>("items", ""),
                           api::MakeField<&SecretVolume::optional>("optional", ""));
  }
};
struct ClaimVolume {
  std::string claim_name;
  static constexpr std::string_view kName = "PersistentVolumeClaimVolumeSource";
  static constexpr bool kView = true;
  static constexpr auto Fields() { return api::MakeFields(api::MakeField<&ClaimVolume::claim_name>("claimName", "")); }
};
struct Projection {
  std::optional<SourceVolume> config_map, secret;
  static constexpr std::string_view kName = "VolumeProjection";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&Projection::config_map>("configMap", ""),
                           api::MakeField<&Projection::secret>("secret", ""));
  }
};
struct ProjectedVolume {
  std::vector<Projection> sources;
  static constexpr std::string_view kName = "ProjectedVolumeSource";
  static constexpr bool kView = true;
  static constexpr auto Fields() { return api::MakeFields(api::MakeField<&ProjectedVolume::sources>("sources", "")); }
};
struct HostedVolume {
  std::string name;
  std::optional<SourceVolume> config_map;
  std::optional<SecretVolume> secret;
  std::optional<ClaimVolume> claim;
  std::optional<ProjectedVolume> projected;
  static constexpr std::string_view kName = "Volume";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&HostedVolume::name>("name", ""),
                           api::MakeField<&HostedVolume::config_map>("configMap", ""),
                           api::MakeField<&HostedVolume::secret>("secret", ""),
                           api::MakeField<&HostedVolume::claim>("persistentVolumeClaim", ""),
                           api::MakeField<&HostedVolume::projected>("projected", ""));
  }
};

struct HostedSpec {
  std::string node_name, scheduler_name, restart_policy;
  bool host_network = false;
  std::vector<HostedContainer> containers, init_containers;
  std::vector<api::core::Toleration> tolerations;
  std::vector<api::core::SchedulingGate> scheduling_gates;
  std::vector<HostedVolume> volumes;
  std::vector<SourceKey> image_pull_secrets;
  static constexpr std::string_view kName = "PodSpec";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&HostedSpec::node_name>("nodeName", ""),
                           api::MakeField<&HostedSpec::scheduler_name>("schedulerName", ""),
                           api::MakeField<&HostedSpec::restart_policy>("restartPolicy", ""),
                           api::MakeField<&HostedSpec::host_network>("hostNetwork", ""),
                           api::MakeField<&HostedSpec::containers>("containers", ""),
                           api::MakeField<&HostedSpec::init_containers>("initContainers", ""),
                           api::MakeField<&HostedSpec::tolerations>("tolerations", ""),
                           api::MakeField<&HostedSpec::scheduling_gates>("schedulingGates", ""),
                           api::MakeField<&HostedSpec::volumes>("volumes", ""),
                           api::MakeField<&HostedSpec::image_pull_secrets>("imagePullSecrets", ""));
  }
};

struct HostedPod {
  api::ObjectMeta metadata;
  HostedSpec spec;
  api::core::PodStatus status;
  static constexpr std::string_view kName = "Pod";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&HostedPod::metadata>("metadata", ""),
                           api::MakeField<&HostedPod::spec>("spec", ""),
                           api::MakeField<&HostedPod::status>("status", ""));
  }
  bool bound() const { return !spec.node_name.empty(); }
  // Succeeded or Failed: nothing of it runs any more.
  bool ended() const { return status.phase == "Succeeded" || status.phase == "Failed"; }
};

}  // namespace gangway::sandbox
