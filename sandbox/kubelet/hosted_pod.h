// core/v1 Pod as a kubelet reads it: what runs, and what it needs of other objects. A view: never encoded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/core/pod.h"
#include "api/meta.h"
#include "sandbox/kubelet/hosted_handler.h"

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
struct FieldSelector {
  std::string field_path;
  static constexpr std::string_view kName = "ObjectFieldSelector";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&FieldSelector::field_path>("fieldPath", ""));
  }
};
struct ResourceSelector {
  std::string container, resource;
  std::optional<api::Quantity> divisor;
  static constexpr std::string_view kName = "ResourceFieldSelector";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&ResourceSelector::container>("containerName", ""),
                           api::MakeField<&ResourceSelector::resource>("resource", ""),
                           api::MakeField<&ResourceSelector::divisor>("divisor", ""));
  }
};
struct EnvVarSource {
  std::optional<SourceKey> config_map, secret;
  std::optional<FieldSelector> field;
  std::optional<ResourceSelector> resource;
  static constexpr std::string_view kName = "EnvVarSource";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&EnvVarSource::config_map>("configMapKeyRef", ""),
                           api::MakeField<&EnvVarSource::secret>("secretKeyRef", ""),
                           api::MakeField<&EnvVarSource::field>("fieldRef", ""),
                           api::MakeField<&EnvVarSource::resource>("resourceFieldRef", ""));
  }
};
struct EnvVar {
  std::string name, value;
  std::optional<EnvVarSource> value_from;
  static constexpr std::string_view kName = "EnvVar";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&EnvVar::name>("name", ""), api::MakeField<&EnvVar::value>("value", ""),
                           api::MakeField<&EnvVar::value_from>("valueFrom", ""));
  }
};
struct EnvFromSource {
  std::string prefix;
  std::optional<SourceKey> config_map, secret;
  static constexpr std::string_view kName = "EnvFromSource";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&EnvFromSource::prefix>("prefix", ""),
                           api::MakeField<&EnvFromSource::config_map>("configMapRef", ""),
                           api::MakeField<&EnvFromSource::secret>("secretRef", ""));
  }
};

struct VolumeMount {
  std::string name, mount_path, sub_path, sub_path_expr;
  bool read_only = false;
  static constexpr std::string_view kName = "VolumeMount";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&VolumeMount::name>("name", ""),
                           api::MakeField<&VolumeMount::mount_path>("mountPath", ""),
                           api::MakeField<&VolumeMount::sub_path>("subPath", ""),
                           api::MakeField<&VolumeMount::sub_path_expr>("subPathExpr", ""),
                           api::MakeField<&VolumeMount::read_only>("readOnly", ""));
  }
};

struct HostedContainer {
  std::string name, image, restart_policy;  // restartPolicy: "Always" makes an init container a sidecar
  std::vector<std::string> command, args;
  std::string working_dir, termination_message_path, termination_message_policy;
  api::core::ResourceRequirements resources;
  std::vector<VolumeMount> volume_mounts;
  std::optional<HostedProbe> startup_probe, liveness_probe, readiness_probe;
  std::optional<HostedLifecycle> lifecycle;
  std::optional<HostedSecurity> security;
  std::vector<api::core::ContainerPort> ports;
  api::Document volume_devices, restart_policy_rules;
  bool keeps_stdin = false, tty = false;
  std::vector<EnvVar> env;
  std::vector<EnvFromSource> env_from;
  static constexpr std::string_view kName = "Container";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(
        api::MakeField<&HostedContainer::name>("name", ""), api::MakeField<&HostedContainer::image>("image", ""),
        api::MakeField<&HostedContainer::restart_policy>("restartPolicy", ""),
        api::MakeField<&HostedContainer::command>("command", ""), api::MakeField<&HostedContainer::args>("args", ""),
        api::MakeField<&HostedContainer::working_dir>("workingDir", ""),
        api::MakeField<&HostedContainer::termination_message_path>("terminationMessagePath", ""),
        api::MakeField<&HostedContainer::termination_message_policy>("terminationMessagePolicy",
                                                                     "File FallbackToLogsOnError"),
        api::MakeField<&HostedContainer::resources>("resources", ""),
        api::MakeField<&HostedContainer::volume_mounts>("volumeMounts", ""),
        api::MakeField<&HostedContainer::startup_probe>("startupProbe", ""),
        api::MakeField<&HostedContainer::liveness_probe>("livenessProbe", ""),
        api::MakeField<&HostedContainer::readiness_probe>("readinessProbe", ""),
        api::MakeField<&HostedContainer::lifecycle>("lifecycle", ""),
        api::MakeField<&HostedContainer::security>("securityContext", ""),
        api::MakeField<&HostedContainer::ports>("ports", ""),
        api::MakeField<&HostedContainer::volume_devices>("volumeDevices", ""),
        api::MakeField<&HostedContainer::restart_policy_rules>("restartPolicyRules", ""),
        api::MakeField<&HostedContainer::keeps_stdin>("stdin", ""), api::MakeField<&HostedContainer::tty>("tty", ""),
        api::MakeField<&HostedContainer::env>("env", ""), api::MakeField<&HostedContainer::env_from>("envFrom", ""));
  }
};

struct KeyToPath {
  std::string key, path;
  std::optional<std::int32_t> mode;
  static constexpr std::string_view kName = "KeyToPath";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&KeyToPath::key>("key", ""), api::MakeField<&KeyToPath::path>("path", ""),
                           api::MakeField<&KeyToPath::mode>("mode", ""));
  }
};
struct SourceVolume {  // of a config map, of a secret within a projection
  std::string name;
  std::optional<std::int32_t> default_mode;
  std::vector<KeyToPath> items;
  bool optional = false;
  static constexpr std::string_view kName = "SourceVolume";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(
        api::MakeField<&SourceVolume::name>("name", ""), api::MakeField<&SourceVolume::default_mode>("defaultMode", ""),
        api::MakeField<&SourceVolume::items>("items", ""), api::MakeField<&SourceVolume::optional>("optional", ""));
  }
};
struct SecretVolume {
  std::string name;
  std::optional<std::int32_t> default_mode;
  std::vector<KeyToPath> items;
  bool optional = false;
  static constexpr std::string_view kName = "SecretVolumeSource";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&SecretVolume::name>("secretName", ""),
                           api::MakeField<&SecretVolume::default_mode>("defaultMode", ""),
                           api::MakeField<&SecretVolume::items>("items", ""),
                           api::MakeField<&SecretVolume::optional>("optional", ""));
  }
};
struct ClaimVolume {
  std::string claim_name;
  bool read_only = false;
  static constexpr std::string_view kName = "PersistentVolumeClaimVolumeSource";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&ClaimVolume::claim_name>("claimName", ""),
                           api::MakeField<&ClaimVolume::read_only>("readOnly", ""));
  }
};
struct DownwardFile {
  std::string path;
  std::optional<std::int32_t> mode;
  std::optional<FieldSelector> field;
  std::optional<ResourceSelector> resource;
  static constexpr std::string_view kName = "DownwardAPIVolumeFile";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&DownwardFile::path>("path", ""),
                           api::MakeField<&DownwardFile::mode>("mode", ""),
                           api::MakeField<&DownwardFile::field>("fieldRef", ""),
                           api::MakeField<&DownwardFile::resource>("resourceFieldRef", ""));
  }
};
struct DownwardVolume {  // also within a projection
  std::vector<DownwardFile> items;
  std::optional<std::int32_t> default_mode;
  static constexpr std::string_view kName = "DownwardAPIVolumeSource";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&DownwardVolume::items>("items", ""),
                           api::MakeField<&DownwardVolume::default_mode>("defaultMode", ""));
  }
};
struct EmptyDirVolume {
  std::string medium;
  std::optional<api::Quantity> size_limit;
  static constexpr std::string_view kName = "EmptyDirVolumeSource";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&EmptyDirVolume::medium>("medium", "Memory"),
                           api::MakeField<&EmptyDirVolume::size_limit>("sizeLimit", ""));
  }
};
struct HostPathVolume {
  std::string path, type;
  static constexpr std::string_view kName = "HostPathVolumeSource";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&HostPathVolume::path>("path", ""),
                           api::MakeField<&HostPathVolume::type>("type", ""));
  }
};
struct TokenProjection {
  std::string audience, path;
  std::int64_t expiration_seconds = 3600;
  static constexpr std::string_view kName = "ServiceAccountTokenProjection";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&TokenProjection::audience>("audience", ""),
                           api::MakeField<&TokenProjection::path>("path", ""),
                           api::MakeField<&TokenProjection::expiration_seconds>("expirationSeconds", ""));
  }
};
struct Projection {
  std::optional<SourceVolume> config_map, secret;
  std::optional<DownwardVolume> downward;
  std::optional<TokenProjection> token;
  static constexpr std::string_view kName = "VolumeProjection";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&Projection::config_map>("configMap", ""),
                           api::MakeField<&Projection::secret>("secret", ""),
                           api::MakeField<&Projection::downward>("downwardAPI", ""),
                           api::MakeField<&Projection::token>("serviceAccountToken", ""));
  }
};
struct ProjectedVolume {
  std::vector<Projection> sources;
  std::optional<std::int32_t> default_mode;
  static constexpr std::string_view kName = "ProjectedVolumeSource";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&ProjectedVolume::sources>("sources", ""),
                           api::MakeField<&ProjectedVolume::default_mode>("defaultMode", ""));
  }
};
struct HostedVolume {
  std::string name;
  std::optional<SourceVolume> config_map;
  std::optional<SecretVolume> secret;
  std::optional<ClaimVolume> claim;
  std::optional<ProjectedVolume> projected;
  std::optional<DownwardVolume> downward;
  std::optional<EmptyDirVolume> empty_dir;
  std::optional<HostPathVolume> host_path;
  api::Document ephemeral;  // its claim is POD-VOLUME
  static constexpr std::string_view kName = "Volume";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&HostedVolume::name>("name", ""),
                           api::MakeField<&HostedVolume::config_map>("configMap", ""),
                           api::MakeField<&HostedVolume::secret>("secret", ""),
                           api::MakeField<&HostedVolume::claim>("persistentVolumeClaim", ""),
                           api::MakeField<&HostedVolume::projected>("projected", ""),
                           api::MakeField<&HostedVolume::downward>("downwardAPI", ""),
                           api::MakeField<&HostedVolume::empty_dir>("emptyDir", ""),
                           api::MakeField<&HostedVolume::host_path>("hostPath", ""),
                           api::MakeField<&HostedVolume::ephemeral>("ephemeral", ""));
  }
};

struct HostAlias {
  std::string ip;
  std::vector<std::string> hostnames;
  static constexpr std::string_view kName = "HostAlias";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&HostAlias::ip>("ip", ""),
                           api::MakeField<&HostAlias::hostnames>("hostnames", ""));
  }
};

struct ReadinessGate {
  std::string condition_type;
  static constexpr std::string_view kName = "PodReadinessGate";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&ReadinessGate::condition_type>("conditionType", ""));
  }
};

struct HostedSpec {
  std::string node_name, scheduler_name, restart_policy, hostname, subdomain, service_account_name;
  bool host_network = false, host_pid = false, host_ipc = false, share_process_namespace = false;
  std::optional<std::int64_t> termination_grace_period_seconds, active_deadline_seconds;
  std::optional<HostedSecurity> security;
  std::vector<ReadinessGate> readiness_gates;
  std::vector<HostAlias> host_aliases;
  std::vector<HostedContainer> containers, init_containers;
  std::vector<api::core::Toleration> tolerations;
  std::vector<api::core::SchedulingGate> scheduling_gates;
  std::vector<HostedVolume> volumes;
  std::vector<SourceKey> image_pull_secrets;
  static constexpr std::string_view kName = "PodSpec";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(
        api::MakeField<&HostedSpec::node_name>("nodeName", ""),
        api::MakeField<&HostedSpec::scheduler_name>("schedulerName", ""),
        api::MakeField<&HostedSpec::restart_policy>("restartPolicy", ""),
        api::MakeField<&HostedSpec::hostname>("hostname", ""), api::MakeField<&HostedSpec::subdomain>("subdomain", ""),
        api::MakeField<&HostedSpec::service_account_name>("serviceAccountName", ""),
        api::MakeField<&HostedSpec::host_network>("hostNetwork", ""),
        api::MakeField<&HostedSpec::host_pid>("hostPID", ""), api::MakeField<&HostedSpec::host_ipc>("hostIPC", ""),
        api::MakeField<&HostedSpec::share_process_namespace>("shareProcessNamespace", ""),
        api::MakeField<&HostedSpec::termination_grace_period_seconds>("terminationGracePeriodSeconds", ""),
        api::MakeField<&HostedSpec::active_deadline_seconds>("activeDeadlineSeconds", ""),
        api::MakeField<&HostedSpec::security>("securityContext", ""),
        api::MakeField<&HostedSpec::readiness_gates>("readinessGates", ""),
        api::MakeField<&HostedSpec::host_aliases>("hostAliases", ""),
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
