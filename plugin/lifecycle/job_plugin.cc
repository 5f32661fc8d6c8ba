#include "plugin/lifecycle/job_plugin.h"

#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "api/core/pod.h"
#include "api/json.h"
#include "plugin/lifecycle/words.h"

namespace gangway::lifecycle {
namespace {

using api::JsonWriter;
using api::volcano::Job;
using api::volcano::TaskSpec;

// "--name=value" in parts; nullopt when it is no flag.
struct Flag {
  absl::string_view name;
  std::optional<absl::string_view> value;
};
std::optional<Flag> ParseFlag(absl::string_view text) {
  if (text.size() < 2 || text[0] != '-') return std::nullopt;
  text.remove_prefix(text[1] == '-' ? 2 : 1);
  if (text.empty() || text[0] == '-' || text[0] == '=') return std::nullopt;
  const auto equal = text.find('=');
  if (equal == absl::string_view::npos) return Flag{text, std::nullopt};
  return Flag{text.substr(0, equal), text.substr(equal + 1)};
}

// strconv.ParseBool.
std::optional<bool> ParseBool(absl::string_view text) {
  for (const char* yes : {"1", "t", "T", "true", "TRUE", "True"}) if (text == yes) return true;
  for (const char* no : {"0", "f", "F", "false", "FALSE", "False"}) if (text == no) return false;
  return std::nullopt;
}

// What the hosts of a task are called, from its template.
struct TemplateNames {
  struct Spec {
    std::string hostname, subdomain;
    static constexpr std::string_view kName = "PodSpec";
    static constexpr bool kView = true;
    static constexpr auto Fields() {
      return api::MakeFields(api::MakeField<&Spec::hostname>("hostname", ""), api::MakeField<&Spec::subdomain>("subdomain", ""));
    }
  };
  Spec spec;
  static constexpr std::string_view kName = "PodTemplateSpec";
  static constexpr bool kView = true;
  static constexpr auto Fields() { return api::MakeFields(api::MakeField<&TemplateNames::spec>("spec", "")); }
};

std::vector<std::string> HostsOf(const Job& job, const TaskSpec& task) {
  TemplateNames names;
  if (!task.pod_template.empty()) {
    // A template that does not decode has no names of its own; building its pods says what is wrong with it.
    if (absl::StatusOr<TemplateNames> read = api::Decode<TemplateNames>(task.pod_template.json); read.ok()) names = *read;
  }
  const std::string& domain = names.spec.subdomain.empty() ? job.metadata.name : names.spec.subdomain;
  std::vector<std::string> hosts;
  if (!names.spec.hostname.empty() && task.replicas > 0) {
    hosts.push_back(absl::StrCat(names.spec.hostname, ".", domain));
    return hosts;
  }
  for (std::int32_t i = 0; i < task.replicas; ++i) {
    hosts.push_back(absl::StrCat(job.metadata.name, "-", task.name, "-", i, ".", domain));
  }
  return hosts;
}

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

bool KnownToAdmission(absl::string_view name) {
  for (const char* known : {"ssh", "tensorflow", "mpi", "pytorch", "hcclrank", "ray"}) {
    if (name == known) return true;
  }
  return false;
}

}  // namespace

SvcFlags ParseSvcFlags(const std::vector<std::string>& flags) {
  SvcFlags out;
  for (const std::string& text : flags) {
    const std::optional<Flag> flag = ParseFlag(text);
    if (!flag) break;
    bool* target = flag->name == "publish-not-ready-addresses" ? &out.publish_not_ready_addresses
                   : flag->name == "disable-network-policy"    ? &out.disable_network_policy
                   : flag->name == "inject-hosts-env"          ? &out.inject_hosts_env
                                                               : nullptr;
    if (target == nullptr) break;
    const std::optional<bool> value = flag->value ? ParseBool(*flag->value) : true;
    if (!value) break;
    *target = *value;
  }
  return out;
}

absl::StatusOr<PluginEffects> EffectsOfPlugins(const Job& job) {
  PluginEffects effects;
  for (const auto& [name, flags] : job.spec.plugins) {  // a map: in alphabetical order
    if (name == "env") {
      AddEnv(effects);
    } else if (name == "svc") {
      AddSvc(job, ParseSvcFlags(flags), effects);
    } else if (KnownToAdmission(name)) {
      return absl::UnimplementedError(absl::StrCat("job plugin ", name, " is not built into this version of gangway"));
    } else {
      return absl::NotFoundError(absl::StrCat("failed to get plugin ", name));
    }
    effects.names.push_back(name);
  }
  return effects;
}

std::map<std::string, std::string> HostLists(const Job& job) {
  std::map<std::string, std::string> lists;
  for (const TaskSpec& task : job.spec.tasks) {
    const std::vector<std::string> hosts = HostsOf(job, task);
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
