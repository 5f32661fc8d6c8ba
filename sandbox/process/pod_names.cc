#include "sandbox/process/pod_names.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace gangway::sandbox {
namespace {

constexpr absl::string_view kDomain = "svc.cluster.local";

// "IP NAME.NS.svc.cluster.local NAME.NS.svc NAME.NS", and NAME alone within its own namespace.
void AppendLine(absl::string_view ip, absl::string_view name, absl::string_view ns, absl::string_view reader,
                std::string& out) {
  absl::StrAppend(&out, ip, "\t", name, ".", ns, ".", kDomain, " ", name, ".", ns, ".svc ", name, ".", ns);
  if (ns == reader) absl::StrAppend(&out, " ", name);
  absl::StrAppend(&out, "\n");
}

bool Selects(const NamingService& service, const NamedPod& pod) {
  if (service.spec.selector.empty() || service.metadata.ns != pod.ns) return false;
  return std::all_of(service.spec.selector.begin(), service.spec.selector.end(), [&](const auto& wanted) {
    const auto it = pod.labels.find(wanted.first);
    return it != pod.labels.end() && it->second == wanted.second;
  });
}

}  // namespace

NamedPod NamedPodOf(const HostedPod& pod, const std::string& ip) {
  NamedPod out{pod.metadata.ns, ip, pod.spec.hostname, pod.spec.subdomain, pod.metadata.labels};
  // pkg/controller/util/endpointslice: one that is being deleted is not ready.
  out.ready = !pod.metadata.deleting() &&
              std::any_of(pod.status.conditions.begin(), pod.status.conditions.end(),
                          [](const auto& each) { return each.type == "Ready" && each.status == "True"; });
  return out;
}

std::string SharedHostsLines(absl::string_view ns, const std::vector<NamedPod>& pods,
                             const std::vector<const NamingService*>& services) {
  std::string out;
  for (const NamingService* const service : services) {
    for (const NamedPod& pod : pods) {
      if (pod.ip.empty() || !Selects(*service, pod)) continue;
      if (!pod.ready && !service->spec.publish_not_ready_addresses) continue;
      AppendLine(pod.ip, service->metadata.name, service->metadata.ns, ns, out);
      if (service->headless() && !pod.hostname.empty() && pod.subdomain == service->metadata.name)
        AppendLine(pod.ip, absl::StrCat(pod.hostname, ".", pod.subdomain), pod.ns, ns, out);
    }
  }
  return out;
}

std::string ApiServerHostsLine(absl::string_view ns, absl::string_view ip) {
  std::string out;
  AppendLine(ip, "kubernetes", "default", ns, out);
  return out;
}

std::string HostnameOf(const HostedPod& pod) {
  std::string name = (pod.spec.hostname.empty() ? pod.metadata.name : pod.spec.hostname).substr(0, 63);
  while (!name.empty() && (name.back() == '-' || name.back() == '.')) name.pop_back();
  return name;
}

std::string HostsFile(const HostedPod& pod, absl::string_view ip, absl::string_view shared) {
  std::string out =
      "# Kept by gangway sandbox: the names of pods and Services.\n127.0.0.1\tlocalhost\n::1\tlocalhost "
      "ip6-localhost\n";
  const std::string hostname = HostnameOf(pod);
  const std::string& subdomain = pod.spec.subdomain;
  absl::StrAppend(&out, ip, "\t");
  if (!subdomain.empty()) absl::StrAppend(&out, hostname, ".", subdomain, ".", pod.metadata.ns, ".", kDomain, " ");
  absl::StrAppend(&out, hostname, "\n");
  for (const HostAlias& alias : pod.spec.host_aliases)
    absl::StrAppend(&out, alias.ip, "\t", absl::StrJoin(alias.hostnames, " "), "\n");
  absl::StrAppend(&out, shared);
  return out;
}

}  // namespace gangway::sandbox
