#include "sandbox/process/security.h"

#include "absl/strings/str_cat.h"

namespace gangway::sandbox {
namespace {

bool Says(const api::Document& document) {
  return !document.empty() && document.json != "null" && document.json != "[]" && document.json != "{}";
}

// The container's word comes before the pod's.
template <class T>
std::optional<T> Effective(const HostedPod& pod, const HostedContainer& container,
                           std::optional<T> HostedSecurity::* field) {
  if (container.security && ((*container.security).*field).has_value()) return (*container.security).*field;
  return pod.spec.security ? (*pod.spec.security).*field : std::nullopt;
}

void CheckSecurity(const std::string& path, const HostedSecurity& security, std::vector<std::string>& out) {
  const auto ignored = [&](absl::string_view field, absl::string_view why) {
    out.push_back(absl::StrCat(path, ".securityContext.", field, ": ignored: ", why));
  };
  constexpr absl::string_view kNoBoundary = "a process of this machine is no security boundary";
  if (security.privileged.value_or(false))
    ignored("privileged", "containers have the rights of whoever started the sandbox");
  if (security.read_only_root.value_or(false))
    ignored("readOnlyRootFilesystem", "what is written goes with the container");
  if (Says(security.capabilities)) ignored("capabilities", kNoBoundary);
  if (Says(security.seccomp_profile)) ignored("seccompProfile", kNoBoundary);
  if (Says(security.se_linux_options)) ignored("seLinuxOptions", kNoBoundary);
  if (Says(security.app_armor_profile)) ignored("appArmorProfile", kNoBoundary);
  if (!security.proc_mount.empty() && security.proc_mount != "Default") ignored("procMount", kNoBoundary);
  if (Says(security.sysctls)) ignored("sysctls", "they are the machine's");
  if (security.supplemental_groups_policy == "Strict")
    ignored("supplementalGroupsPolicy", "the groups of /etc/group are added");
  if (security.fs_group_change_policy == "OnRootMismatch")
    ignored("fsGroupChangePolicy", "volumes are given to the group whenever a pod begins");
}

void CheckContainer(const std::string& path, const HostedContainer& container, std::vector<std::string>& out) {
  const auto ignored = [&](absl::string_view field, absl::string_view why) {
    out.push_back(absl::StrCat(path, ".", field, ": ignored: ", why));
  };
  if (container.security) CheckSecurity(path, *container.security, out);
  if (container.lifecycle && !container.lifecycle->stop_signal.empty() && container.lifecycle->stop_signal != "SIGTERM")
    ignored("lifecycle.stopSignal", "containers are asked to end by SIGTERM");
  if (Says(container.volume_devices)) ignored("volumeDevices", "there are no block devices");
  if (Says(container.restart_policy_rules)) ignored("restartPolicyRules", "restartPolicy alone is heeded");
  if (container.keeps_stdin) ignored("stdin", "its standard input is at its end");
  if (container.tty) ignored("tty", "it has no terminal");
}

}  // namespace

std::string PodText(const api::ObjectMeta& pod) { return absl::StrCat(pod.name, "_", pod.ns, "(", pod.uid, ")"); }

absl::StatusOr<std::optional<UserOrder>> UserOf(const HostedPod& pod, const HostedContainer& container) {
  const auto uid = Effective(pod, container, &HostedSecurity::run_as_user);
  const auto gid = Effective(pod, container, &HostedSecurity::run_as_group);
  if (Effective(pod, container, &HostedSecurity::run_as_non_root).value_or(false) && uid.value_or(0) == 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        uid ? "container's runAsUser breaks non-root policy" : "container has runAsNonRoot and image will run as root",
        " (pod: \"", PodText(pod.metadata), "\", container: ", container.name, ")"));
  }
  UserOrder user;
  user.uid = uid.value_or(0);
  user.gid = gid;
  user.no_new_privileges = !Effective(pod, container, &HostedSecurity::allow_privilege_escalation).value_or(true);
  if (pod.spec.security) {
    if (pod.spec.security->fs_group) user.groups.push_back(*pod.spec.security->fs_group);
    const auto& more = pod.spec.security->supplemental_groups;
    user.groups.insert(user.groups.end(), more.begin(), more.end());
  }
  if (!uid && !gid && user.groups.empty() && !user.no_new_privileges) return std::optional<UserOrder>();
  return std::optional<UserOrder>(std::move(user));
}

std::vector<std::string> IgnoredFields(const HostedPod& pod) {
  std::vector<std::string> out;
  if (pod.spec.security) CheckSecurity("spec", *pod.spec.security, out);
  if (pod.spec.active_deadline_seconds) out.push_back("spec.activeDeadlineSeconds: ignored: the pod may run longer");
  constexpr absl::string_view kOwn = ": ignored: each container has processes of its own";
  if (pod.spec.host_pid) out.push_back(absl::StrCat("spec.hostPID", kOwn));
  if (pod.spec.share_process_namespace) out.push_back(absl::StrCat("spec.shareProcessNamespace", kOwn));
  if (pod.spec.host_ipc) out.push_back("spec.hostIPC: ignored: each pod has memory of its own");
  for (const auto& [name, containers] :
       {std::pair("initContainers", &pod.spec.init_containers), std::pair("containers", &pod.spec.containers)}) {
    for (std::size_t i = 0; i < containers->size(); ++i)
      CheckContainer(absl::StrCat("spec.", name, "[", i, "]"), (*containers)[i], out);
  }
  return out;
}

}  // namespace gangway::sandbox
