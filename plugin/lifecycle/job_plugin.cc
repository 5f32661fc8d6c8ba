#include "plugin/lifecycle/job_plugin.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "api/json.h"
#include "base/status_macros.h"
#include "plugin/lifecycle/framework_plugins.h"
#include "plugin/lifecycle/plugin_flags.h"
#include "plugin/lifecycle/task_hosts.h"
#include "plugin/lifecycle/words.h"

namespace gangway::lifecycle {
namespace {

using api::JsonWriter;
using api::volcano::Job;
using api::volcano::TaskSpec;

std::string Underscored(const std::string& task) { return absl::StrReplaceAll(task, {{"-", "_"}}); }
std::string HostsKey(const std::string& task) { return absl::StrCat("VC_", absl::AsciiStrToUpper(Underscored(task)), "_HOSTS"); }
std::string NumKey(const std::string& task) { return absl::StrCat("VC_", absl::AsciiStrToUpper(Underscored(task)), "_NUM"); }

void WritePodLabels(const Job& job, JsonWriter& json) {
  json.BeginObject().Field(kJobNameKey, job.metadata.name).Field(kJobNamespaceKey, job.metadata.ns).EndObject();
}

JsonWriter& BeginObjectOf(const Job& job, const api::Resource& resource, const std::string& name, JsonWriter& json) {
  return json.BeginObject().Field("apiVersion", resource.ApiVersion()).Field("kind", std::string(resource.kind))
      .RawField("metadata", OwnedMetadata(job, name));
}

WantedObject HostConfigMap(const Job& job) {
  WantedObject wanted{&api::kConfigMaps, absl::StrCat(job.metadata.name, "-svc"), HostLists(job), {}};
  JsonWriter json(wanted.body);
  BeginObjectOf(job, *wanted.resource, wanted.name, json).Key("data").BeginObject();
  for (const auto& [key, value] : wanted.data) json.Field(key, value);
  json.EndObject().EndObject();
  return wanted;
}

WantedObject HeadlessService(const Job& job, const SvcFlags& flags) {
  WantedObject wanted{&api::kServices, job.metadata.name, {}, {}};
  JsonWriter json(wanted.body);
  BeginObjectOf(job, *wanted.resource, wanted.name, json).Key("spec").BeginObject().Field("clusterIP", "None");
  if (flags.publish_not_ready_addresses) json.Field("publishNotReadyAddresses", true);
  json.Key("selector");
  WritePodLabels(job, json);
  json.EndObject().EndObject();
  return wanted;
}

WantedObject OwnPodsOnly(const Job& job) {
  WantedObject wanted{&api::kNetworkPolicies, job.metadata.name, {}, {}};
  JsonWriter json(wanted.body);
  BeginObjectOf(job, *wanted.resource, wanted.name, json).Key("spec").BeginObject();
  json.Key("podSelector").BeginObject().Key("matchLabels");
  WritePodLabels(job, json);
  json.EndObject().Key("ingress").BeginArray().BeginObject().Key("from").BeginArray().BeginObject();
  json.Key("podSelector").BeginObject().Key("matchLabels");
  WritePodLabels(job, json);
  json.EndObject().EndObject().EndArray().EndObject().EndArray();
  json.Key("policyTypes").BeginArray().String("Ingress").EndArray().EndObject().EndObject();
  return wanted;
}

void AddEnv(PluginEffects& effects) {
  for (const char* name : {"VK_TASK_INDEX", "VC_TASK_INDEX"}) {
    effects.env.push_back({name, PluginEffects::EnvVar::From::kTaskIndex});
  }
}

void AddSvc(const Job& job, const SvcFlags& flags, PluginEffects& effects) {
  effects.host_names = true;
  effects.config_map = absl::StrCat(job.metadata.name, "-svc");
  if (flags.inject_hosts_env) {
    for (const TaskSpec& task : job.spec.tasks) {
      effects.env.push_back({HostsKey(task.name), PluginEffects::EnvVar::From::kConfigMap});
      effects.env.push_back({NumKey(task.name), PluginEffects::EnvVar::From::kConfigMap});
    }
  }
  effects.objects.push_back(HostConfigMap(job));
  effects.objects.push_back(HeadlessService(job, flags));
  if (!flags.disable_network_policy) effects.objects.push_back(OwnPodsOnly(job));
}

absl::Status AddEnvPlugin(const Job&, const PluginFlags&, PluginEffects& effects) {
  AddEnv(effects);
  return absl::OkStatus();
}
absl::Status AddSvcPlugin(const Job& job, const PluginFlags& flags, PluginEffects& effects) {
  std::string complaint;
  AddSvc(job, ParseSvcFlags(flags, &complaint), effects);
  Complain("svc", complaint, effects);
  return absl::OkStatus();
}
absl::Status RefuseSsh(const Job&, const PluginFlags&, PluginEffects&) {
  return absl::UnimplementedError("job plugin ssh is not built into this version of gangway");
}

struct Plugin {
  absl::string_view name;
  absl::Status (*add)(const Job& job, const PluginFlags& flags, PluginEffects& effects);
};
constexpr Plugin kPlugins[] = {
    {"env", AddEnvPlugin}, {"hcclrank", AddHcclrank}, {"mpi", AddMpi},       {"pytorch", AddPytorch},
    {"ray", AddRay},       {"ssh", RefuseSsh},        {"svc", AddSvcPlugin}, {"tensorflow", AddTensorflow},
};

}  // namespace

SvcFlags ParseSvcFlags(const std::vector<std::string>& flags, std::string* complaint) {
  SvcFlags out;
  std::string wrong = ReadFlags(flags, {{"publish-not-ready-addresses", &out.publish_not_ready_addresses},
                                        {"disable-network-policy", &out.disable_network_policy},
                                        {"inject-hosts-env", &out.inject_hosts_env}});
  if (complaint != nullptr) *complaint = std::move(wrong);
  return out;
}

void Complain(absl::string_view plugin, const std::string& complaint, PluginEffects& effects) {
  if (!complaint.empty()) effects.complaints.push_back(absl::StrCat("job plugin ", plugin, ": ", complaint));
}

absl::StatusOr<PluginEffects> EffectsOfPlugins(const Job& job) {
  PluginEffects effects;
  for (const auto& [name, flags] : job.spec.plugins) {  // a map: in alphabetical order
    const auto* const plugin = std::find_if(std::begin(kPlugins), std::end(kPlugins), [&](const Plugin& one) { return one.name == name; });
    if (plugin == std::end(kPlugins)) return absl::NotFoundError(absl::StrCat("failed to get plugin ", name));
    GW_RETURN_IF_ERROR(plugin->add(job, flags, effects));
    effects.names.push_back(name);
  }
  return effects;
}

std::map<std::string, std::string> HostLists(const Job& job) {
  std::map<std::string, std::string> lists;
  for (const TaskSpec& task : job.spec.tasks) {
    const std::vector<std::string> hosts = AddressesOf(job, task);
    lists[absl::StrCat(Underscored(task.name), ".host")] = absl::StrJoin(hosts, "\n");
    lists[HostsKey(task.name)] = absl::StrJoin(hosts, ",");
    lists[NumKey(task.name)] = absl::StrCat(hosts.size());
  }
  return lists;
}

api::OwnerReference OwnerReferenceTo(const Job& job) {
  return {api::kJobs.ApiVersion(), std::string(api::kJobs.kind), job.metadata.name, job.metadata.uid, true, true};
}

std::string OwnedMetadata(const Job& job, absl::string_view name) {
  std::string out;
  JsonWriter(out).BeginObject().Field("name", name).Field("namespace", job.metadata.ns)
      .Key("ownerReferences").BeginArray().Raw(api::Encode(OwnerReferenceTo(job))).EndArray().EndObject();
  return out;
}

}  // namespace gangway::lifecycle
