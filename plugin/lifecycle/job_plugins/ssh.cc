// ssh: the containers of a Job reach each other over ssh, with keys of the Job's own.
//
//   flag                   default      |  Secret <job>-ssh, mounted at the path in containers and init containers:
//   --ssh-key-file-path    /root/.ssh   |    id_rsa, id_rsa.pub     the given keys, or a pair made for the Job
//   --ssh-private-key      made         |    authorized_keys        the public key
//   --ssh-public-key       made         |    config                 every host of the Job, its address and the port
//   --ssh-port             22           |
//
// The Secret is made once and goes when the Job ends: keys stay through restarts, or a pod that is restarted alone
// could not talk to the others, whose files are mounted by sub-path and never change. Only `config` is written anew,
// when the hosts change.
#include <map>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/hash.h"
#include "plugin/lifecycle/job_plugins/flags.h"
#include "plugin/lifecycle/job_plugins/plugins.h"
#include "plugin/lifecycle/job_plugins/pod_draft.h"
#include "plugin/lifecycle/job_plugins/task_hosts.h"

namespace gangway::lifecycle {
namespace {

using api::JsonWriter;
using api::volcano::Job;
using api::volcano::TaskSpec;

constexpr char kDefaultPath[] = "/root/.ssh";
constexpr std::int64_t kDefaultPort = 22;
constexpr char kMountedFolder[] = ".ssh";
constexpr const char* kFiles[] = {"id_rsa", "id_rsa.pub", "authorized_keys", "config"};

struct SshFlags {
  std::string path = kDefaultPath, private_key, public_key;
  std::int64_t port = kDefaultPort;
};

SshFlags ReadSshFlags(const PluginFlags& texts, std::string* complaint = nullptr) {
  SshFlags flags;
  std::string wrong = ReadFlags(texts,
                                {{"ssh-key-file-path", &flags.path},
                                 {"ssh-private-key", &flags.private_key},
                                 {"ssh-public-key", &flags.public_key},
                                 {"ssh-port", &flags.port}},
                                FlagValues::kSecret);
  if (flags.port < 1 || flags.port > 65535) flags.port = kDefaultPort;
  if (complaint != nullptr) *complaint = std::move(wrong);
  return flags;
}

void ComplainAboutKeys(const SshFlags& flags, PluginEffects& effects) {
  if (flags.private_key.empty() == flags.public_key.empty()) return;
  Complain("ssh",
           flags.private_key.empty()
               ? "--ssh-public-key is not used without --ssh-private-key; a pair of keys is made instead"
               : "--ssh-private-key is given without --ssh-public-key, so no host accepts it",
           effects);
}

std::string Config(const Job& job, const SshFlags& flags) {
  std::string out = "StrictHostKeyChecking no\nUserKnownHostsFile /dev/null\n";
  for (const TaskSpec& task : job.spec.tasks) {
    for (const std::string& address : AddressesOf(job, task)) {
      absl::StrAppend(&out, "Host ", address.substr(0, address.find('.')), "\n  HostName ", address, "\n  Port ",
                      flags.port, "\n");
    }
  }
  return out;
}

WantedObject KeySecret(const Job& job, const SshFlags& flags, const SshKeyPair* key) {
  const std::string config = absl::Base64Escape(Config(job, flags));
  WantedObject wanted;
  wanted.resource = &api::kSecrets;
  wanted.name = SshSecretName(job);
  wanted.revision = absl::StrCat(absl::Hex(StableHash(config), absl::kZeroPad16));
  const std::map<std::string, std::string> annotations = {{kSshConfigKey, wanted.revision}};
  JsonWriter update(wanted.update);
  update.BeginObject()
      .Key("metadata")
      .BeginObject()
      .Key("annotations")
      .BeginObject()
      .Field(kSshConfigKey, wanted.revision)
      .EndObject()
      .EndObject();
  update.Key("data").BeginObject().Field("config", config).EndObject().EndObject();
  const SshKeyPair given = {flags.private_key, flags.public_key};
  if (!flags.private_key.empty()) key = &given;
  if (key == nullptr) return wanted;
  const std::string public_key = absl::Base64Escape(key->public_key);
  JsonWriter json(wanted.body);
  json.BeginObject().Field("apiVersion", api::kSecrets.ApiVersion()).Field("kind", std::string(api::kSecrets.kind));
  json.RawField("metadata", OwnedMetadata(job, wanted.name, annotations)).Key("data").BeginObject();
  json.Field("authorized_keys", public_key).Field("config", config);
  json.Field("id_rsa", absl::Base64Escape(key->private_key)).Field("id_rsa.pub", public_key).EndObject().EndObject();
  return wanted;
}

absl::Status AddToPod(const Job& job, const std::string& path, PodDraft& draft) {
  const std::string secret = SshSecretName(job);
  EachContainer(draft.spec, Containers::kAll,
                [&](boost::json::object& container) { AddMount(container, secret, path, kMountedFolder); });
  boost::json::array items;
  for (const char* const file : kFiles) {
    items.push_back(boost::json::object{{"key", file}, {"path", absl::StrCat(kMountedFolder, "/", file)}});
  }
  // Where ssh looks for keys by itself, it takes none that others may read.
  const int mode = path == kDefaultPath ? 0600 : 0644;
  ListAt(draft.spec, "volumes")
      .push_back(boost::json::object{
          {"name", secret},
          {"secret", boost::json::object{{"secretName", secret}, {"items", std::move(items)}, {"defaultMode", mode}}}});
  return absl::OkStatus();
}

const PluginFlags* SshFlagsOf(const Job& job) {
  const auto it = job.spec.plugins.find("ssh");
  return it == job.spec.plugins.end() ? nullptr : &it->second;
}

}  // namespace

std::string SshSecretName(const Job& job) { return absl::StrCat(job.metadata.name, "-ssh"); }
bool WantsSsh(const Job& job) { return SshFlagsOf(job) != nullptr; }
bool WantsSshKey(const Job& job) {
  const PluginFlags* const texts = SshFlagsOf(job);
  return texts != nullptr && ReadSshFlags(*texts).private_key.empty();
}

absl::Status AddSsh(const Job& job, const PluginFlags& texts, const SshKeyPair* key, PluginEffects& effects) {
  std::string complaint;
  const SshFlags flags = ReadSshFlags(texts, &complaint);
  Complain("ssh", complaint, effects);
  ComplainAboutKeys(flags, effects);
  effects.objects.push_back(KeySecret(job, flags, key));
  effects.steps.push_back(
      [&job, path = flags.path](const TaskSpec&, PodDraft& draft) { return AddToPod(job, path, draft); });
  return absl::OkStatus();
}

}  // namespace gangway::lifecycle
