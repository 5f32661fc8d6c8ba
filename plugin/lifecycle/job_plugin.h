// Job plugins: what they make beside the pods and what they put into them (spec: volcano-job 6).
//
// Built: env and svc here, hcclrank, mpi, pytorch, ray and tensorflow in plugin_*.cc. ssh is refused with Unimplemented: a Job that
// asks for it stays Pending and its event says why; it is never run without what it asked for.
#pragma once

#include <functional>
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
// As ReadFlags reads them; `complaint` gets its answer.
SvcFlags ParseSvcFlags(const std::vector<std::string>& flags, std::string* complaint = nullptr);

// An object that a plugin wants to exist.
struct WantedObject {
  const api::Resource* resource = nullptr;
  std::string name;
  std::map<std::string, std::string> data;  // of config maps: kept equal
  std::string body;                          // the whole object
};

struct PodDraft;
// What a plugin does to the pods of a task; an error says why there can be no such pods.
using PodStep = std::function<absl::Status(const api::volcano::TaskSpec& task, PodDraft& draft)>;

// What the Job's plugins put into every pod, and what they make beside them. Names in alphabetical order act in this order.
struct PluginEffects {
  struct EnvVar {
    std::string name;
    enum class From { kTaskIndex, kConfigMap } from = From::kTaskIndex;  // kConfigMap: the key of the same name
  };
  std::vector<EnvVar> env;       // into containers and init containers
  std::string config_map;        // mounted at /etc/volcano where not empty
  bool host_names = false;       // hostname and subdomain
  std::vector<PodStep> steps;  // after all of that; they refer to the Job, which must outlive them
  std::vector<WantedObject> objects;
  std::vector<std::string> complaints;  // about flags that do not read
  std::vector<std::string> names;  // of the plugins, for status.controlledResources
};

// NotFound: "failed to get plugin <name>"; Unimplemented: known, not built; InvalidArgument: the Job lacks what a plugin needs.
absl::StatusOr<PluginEffects> EffectsOfPlugins(const api::volcano::Job& job);

// The addresses of every task: keys VC_<TASK>_HOSTS, VC_<TASK>_NUM and <task>.host.
std::map<std::string, std::string> HostLists(const api::volcano::Job& job);

// {"name":...,"namespace":...,"ownerReferences":[the Job as controller]}
std::string OwnedMetadata(const api::volcano::Job& job, absl::string_view name);
// The Job as controlling owner.
api::OwnerReference OwnerReferenceTo(const api::volcano::Job& job);

}  // namespace gangway::lifecycle
