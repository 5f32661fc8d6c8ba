// What a kubelet does to a container beside running it, core/v1: probes, lifecycle hooks, and as whom it runs. Views:
// never encoded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/field_table.h"

namespace gangway::sandbox {

struct ExecAction {
  std::vector<std::string> command;
  static constexpr std::string_view kName = "ExecAction";
  static constexpr bool kView = true;
  static constexpr auto Fields() { return api::MakeFields(api::MakeField<&ExecAction::command>("command", "")); }
};
struct HttpHeader {
  std::string name, value;
  static constexpr std::string_view kName = "HTTPHeader";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&HttpHeader::name>("name", ""),
                           api::MakeField<&HttpHeader::value>("value", ""));
  }
};
struct HttpGetAction {
  std::string path, host, scheme;
  api::Document port;  // a number, or the name of one of the container's ports
  std::vector<HttpHeader> http_headers;
  static constexpr std::string_view kName = "HTTPGetAction";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(
        api::MakeField<&HttpGetAction::path>("path", ""), api::MakeField<&HttpGetAction::host>("host", ""),
        api::MakeField<&HttpGetAction::scheme>("scheme", ""), api::MakeField<&HttpGetAction::port>("port", ""),
        api::MakeField<&HttpGetAction::http_headers>("httpHeaders", ""));
  }
};
struct TcpSocketAction {
  std::string host;
  api::Document port;
  static constexpr std::string_view kName = "TCPSocketAction";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&TcpSocketAction::host>("host", ""),
                           api::MakeField<&TcpSocketAction::port>("port", ""));
  }
};
struct GrpcAction {
  std::int32_t port = 0;
  std::string service;
  static constexpr std::string_view kName = "GRPCAction";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&GrpcAction::port>("port", ""),
                           api::MakeField<&GrpcAction::service>("service", ""));
  }
};
struct SleepAction {
  std::int64_t seconds = 0;
  static constexpr std::string_view kName = "SleepAction";
  static constexpr bool kView = true;
  static constexpr auto Fields() { return api::MakeFields(api::MakeField<&SleepAction::seconds>("seconds", "")); }
};

// One of these is set.
struct HostedHandler {
  std::optional<ExecAction> exec;
  std::optional<HttpGetAction> http_get;
  std::optional<TcpSocketAction> tcp_socket;
  std::optional<GrpcAction> grpc;    // of probes
  std::optional<SleepAction> sleep;  // of hooks
  static constexpr std::string_view kName = "LifecycleHandler";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&HostedHandler::exec>("exec", ""),
                           api::MakeField<&HostedHandler::http_get>("httpGet", ""),
                           api::MakeField<&HostedHandler::tcp_socket>("tcpSocket", ""),
                           api::MakeField<&HostedHandler::sleep>("sleep", ""));
  }
};

struct HostedProbe {
  std::optional<ExecAction> exec;
  std::optional<HttpGetAction> http_get;
  std::optional<TcpSocketAction> tcp_socket;
  std::optional<GrpcAction> grpc;
  std::int32_t initial_delay_seconds = 0, timeout_seconds = 1, period_seconds = 10;
  std::int32_t success_threshold = 1, failure_threshold = 3;
  std::optional<std::int64_t> termination_grace_period_seconds;
  static constexpr std::string_view kName = "Probe";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(
        api::MakeField<&HostedProbe::exec>("exec", ""), api::MakeField<&HostedProbe::http_get>("httpGet", ""),
        api::MakeField<&HostedProbe::tcp_socket>("tcpSocket", ""), api::MakeField<&HostedProbe::grpc>("grpc", ""),
        api::MakeField<&HostedProbe::initial_delay_seconds>("initialDelaySeconds", ""),
        api::MakeField<&HostedProbe::timeout_seconds>("timeoutSeconds", ""),
        api::MakeField<&HostedProbe::period_seconds>("periodSeconds", ""),
        api::MakeField<&HostedProbe::success_threshold>("successThreshold", ""),
        api::MakeField<&HostedProbe::failure_threshold>("failureThreshold", ""),
        api::MakeField<&HostedProbe::termination_grace_period_seconds>("terminationGracePeriodSeconds", ""));
  }
  HostedHandler handler() const { return {exec, http_get, tcp_socket, grpc, {}}; }
};

struct HostedLifecycle {
  std::optional<HostedHandler> post_start, pre_stop;
  std::string stop_signal;
  static constexpr std::string_view kName = "Lifecycle";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&HostedLifecycle::post_start>("postStart", ""),
                           api::MakeField<&HostedLifecycle::pre_stop>("preStop", ""),
                           api::MakeField<&HostedLifecycle::stop_signal>("stopSignal", ""));
  }
};

// Of a container or, with the groups, of a pod.
struct HostedSecurity {
  std::optional<std::int64_t> run_as_user, run_as_group, fs_group;
  std::optional<bool> run_as_non_root, allow_privilege_escalation, privileged, read_only_root;
  std::vector<std::int64_t> supplemental_groups;
  api::Document capabilities, seccomp_profile, se_linux_options, app_armor_profile, sysctls;
  std::string proc_mount, supplemental_groups_policy, fs_group_change_policy;
  static constexpr std::string_view kName = "SecurityContext";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&HostedSecurity::run_as_user>("runAsUser", ""),
                           api::MakeField<&HostedSecurity::run_as_group>("runAsGroup", ""),
                           api::MakeField<&HostedSecurity::run_as_non_root>("runAsNonRoot", ""),
                           api::MakeField<&HostedSecurity::fs_group>("fsGroup", ""),
                           api::MakeField<&HostedSecurity::supplemental_groups>("supplementalGroups", ""),
                           api::MakeField<&HostedSecurity::allow_privilege_escalation>("allowPrivilegeEscalation", ""),
                           api::MakeField<&HostedSecurity::privileged>("privileged", ""),
                           api::MakeField<&HostedSecurity::read_only_root>("readOnlyRootFilesystem", ""),
                           api::MakeField<&HostedSecurity::capabilities>("capabilities", ""),
                           api::MakeField<&HostedSecurity::seccomp_profile>("seccompProfile", ""),
                           api::MakeField<&HostedSecurity::se_linux_options>("seLinuxOptions", ""),
                           api::MakeField<&HostedSecurity::app_armor_profile>("appArmorProfile", ""),
                           api::MakeField<&HostedSecurity::proc_mount>("procMount", ""),
                           api::MakeField<&HostedSecurity::sysctls>("sysctls", ""),
                           api::MakeField<&HostedSecurity::supplemental_groups_policy>("supplementalGroupsPolicy", ""),
                           api::MakeField<&HostedSecurity::fs_group_change_policy>("fsGroupChangePolicy", ""));
  }
};

}  // namespace gangway::sandbox
