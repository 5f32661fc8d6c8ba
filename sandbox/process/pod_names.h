// The names by which pods find each other: what a cluster's DNS says of pods and Services, as lines of /etc/hosts.
// Pure.
//
// A pod with `hostname` and `subdomain` has the name HOSTNAME.SUBDOMAIN of the headless Service that selects it; a
// Service's own name stands for every pod that it selects, as nothing here forwards a cluster IP. A pod that is not
// ready has names only where publishNotReadyAddresses says so (kubernetes/dns: specification).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/field_table.h"
#include "api/meta.h"
#include "sandbox/kubelet/hosted_pod.h"

namespace gangway::sandbox {

struct NamingServiceSpec {
  std::map<std::string, std::string> selector;
  std::string cluster_ip;
  bool publish_not_ready_addresses = false;
  static constexpr std::string_view kName = "ServiceSpec";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(
        api::MakeField<&NamingServiceSpec::selector>("selector", ""),
        api::MakeField<&NamingServiceSpec::cluster_ip>("clusterIP", ""),
        api::MakeField<&NamingServiceSpec::publish_not_ready_addresses>("publishNotReadyAddresses", ""));
  }
};
struct NamingService {
  api::ObjectMeta metadata;
  NamingServiceSpec spec;
  static constexpr std::string_view kName = "Service";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&NamingService::metadata>("metadata", ""),
                           api::MakeField<&NamingService::spec>("spec", ""));
  }
  bool headless() const { return spec.cluster_ip == "None"; }
};

struct NamedPod {
  std::string ns, ip, hostname, subdomain;
  std::map<std::string, std::string> labels;
  bool ready = false;
  friend bool operator==(const NamedPod&, const NamedPod&) = default;
};
// Of a pod that has this address.
NamedPod NamedPodOf(const HostedPod& pod, const std::string& ip);

// What every pod of the namespace `ns` sees of the others.
std::string SharedHostsLines(absl::string_view ns, const std::vector<NamedPod>& pods,
                             const std::vector<const NamingService*>& services);

// The line by which pods of the namespace `ns` find the API server: kubernetes.default.svc and its other names.
std::string ApiServerHostsLine(absl::string_view ns, absl::string_view ip);

// The host name of a pod: `hostname`, or its own name (at most 63 bytes, as a kubelet cuts it).
std::string HostnameOf(const HostedPod& pod);

// The whole file of one pod: localhost, itself, its hostAliases, and `shared`.
std::string HostsFile(const HostedPod& pod, absl::string_view ip, absl::string_view shared);

}  // namespace gangway::sandbox
