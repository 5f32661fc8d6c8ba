// Job plugins: what they make beside the pods and what they put into them (spec: volcano-job 6).
//
// Built: env, svc. The other names that admission knows (ssh, tensorflow, mpi, pytorch, hcclrank, ray) are refused here with
// Unimplemented: a Job that asks for one stays Pending and its event says why; it is never run without what it asked for.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "api/resource.h"
#include "api/volcano/job.h"

namespace gangway::lifecycle {

// Flags of svc, as in the Job: "--publish-not-ready-addresses=true".
struct SvcFlags {
  bool publish_not_ready_addresses = false;
  bool disable_network_policy = false;
  bool inject_hosts_env = true;
};
// As Go's flag package reads them: -name or --name, =value, booleans without a value are true. The first that does not read ends
// the reading; what was read before it stays.
SvcFlags ParseSvcFlags(const std::vector<std::string>& flags);

// An object that a plugin wants to exist.
struct WantedObject {
  const api::Resource* resource = nullptr;
  std::string name;
  std::map<std::string, std::string> data;  // of config maps: kept equal
  std::string body;                          // the whole object
};

// What the Job's plugins put into every pod, and what they make beside them. Names in alphabetical order act in this order.
struct PluginEffects {
  struct EnvVar {
    std::string name;
    enum class From { kTaskIndex, kConfigMap } from = From::kTaskIndex;  // kConfigMap: the key of the same name
  };
  std::vector<EnvVar> env;       // into containers and init containers
  std::string config_map;        // mounted at /etc/volcano where not empty
  bool host_names = false;       // hostname and subdomain
  std::vector<WantedObject> objects;
  std::vector<std::string> names;  // of the plugins, for status.controlledResources
};

// NotFound: "failed to get plugin <name>"; Unimplemented: known, not built.
absl::StatusOr<PluginEffects> EffectsOfPlugins(const api::volcano::Job& job);

// The addresses of every task: keys VC_<TASK>_HOSTS, VC_<TASK>_NUM and <task>.host.
std::map<std::string, std::string> HostLists(const api::volcano::Job& job);

// {"name":...,"namespace":...,"ownerReferences":[the Job as controller]}
std::string OwnedMetadata(const api::volcano::Job& job, absl::string_view name);
// The Job as controlling owner.
api::OwnerReference OwnerReferenceTo(const api::volcano::Job& job);

}  // namespace gangway::lifecycle
