// Job plugins: what they make beside the pods and what they put into them (Volcano: pkg/controllers/job/plugins).
//
// One file each: plugin_<name>.cc. Every plugin of Volcano, and paddle, which Volcano lacks.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "api/json.h"
#include "api/resource.h"
#include "api/volcano/job.h"
#include "plugin/lifecycle/job_plugins/ssh_key.h"

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
  std::string body;                         // the whole object; "" = it cannot be made yet, and the Job waits for it
  // Of objects whose content is not read back (Secrets): which content it is, as an annotation of the object says, and
  // the merge patch that gives an older one this content.
  std::string revision, update;
};

struct PodDraft;
// What a plugin does to the pods of a task; an error says why there can be no such pods.
using PodStep = std::function<absl::Status(const api::volcano::TaskSpec& task, PodDraft& draft)>;

// What the Job's plugins put into every pod, and what they make beside them. Names in alphabetical order act in this
// order, so env, volumes and mounts stand in the same order in every pod.
struct PluginEffects {
  std::vector<PodStep> steps;  // they refer to the Job, which must outlive them
  std::vector<WantedObject> objects;
  std::vector<std::string> complaints;  // about flags that do not read
};

// `ssh_key` is what the plugin ssh makes a Secret of, when it has to; null: there is none yet.
// NotFound: "failed to get plugin <name>"; InvalidArgument: the Job lacks what a plugin needs.
absl::StatusOr<PluginEffects> EffectsOfPlugins(const api::volcano::Job& job, const SshKeyPair* ssh_key = nullptr);

// The addresses of every task: keys VC_<TASK>_HOSTS, VC_<TASK>_NUM and <task>.host.
std::map<std::string, std::string> HostLists(const api::volcano::Job& job);

// The Secret of the plugin ssh.
std::string SshSecretName(const api::volcano::Job& job);
// The annotation of it that says which hosts its `config` is about.
inline constexpr char kSshConfigKey[] = "gangway.io/ssh-config";
// Whether the Job has the plugin ssh, and whether its Secret takes a key pair that somebody has to make.
bool WantsSsh(const api::volcano::Job& job);
bool WantsSshKey(const api::volcano::Job& job);

// {"name":...,"namespace":...,"ownerReferences":[the Job as controller]}, and annotations where there are some.
std::string OwnedMetadata(const api::volcano::Job& job, absl::string_view name,
                          const std::map<std::string, std::string>& annotations = {});
// Writes the beginning of an object of the Job's: apiVersion, kind, metadata. The object is left open.
api::JsonWriter& BeginOwned(const api::volcano::Job& job, const api::Resource& resource, absl::string_view name,
                            api::JsonWriter& json);
// {"volcano.sh/job-name":...,"volcano.sh/job-namespace":...}: what selects the Job's pods.
void WritePodSelector(const api::volcano::Job& job, api::JsonWriter& json);
// A config map of the Job's.
WantedObject OwnedConfigMap(const api::volcano::Job& job, std::string name, std::map<std::string, std::string> data);
// The Job as controlling owner.
api::OwnerReference OwnerReferenceTo(const api::volcano::Job& job);

}  // namespace gangway::lifecycle
