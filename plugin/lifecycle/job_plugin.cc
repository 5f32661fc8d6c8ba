#include "plugin/lifecycle/job_plugin.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "plugin/lifecycle/plugins.h"
#include "plugin/lifecycle/words.h"

namespace gangway::lifecycle {
namespace {

using api::JsonWriter;
using api::volcano::Job;

struct Plugin {
  absl::string_view name;
  absl::Status (*add)(const Job& job, const PluginFlags& flags, PluginEffects& effects);
};
constexpr Plugin kPlugins[] = {
    {"env", AddEnv}, {"hcclrank", AddHcclrank}, {"mpi", AddMpi}, {"paddle", AddPaddle},
    {"pytorch", AddPytorch}, {"ray", AddRay}, {"svc", AddSvc}, {"tensorflow", AddTensorflow},
};

}  // namespace

void Complain(absl::string_view plugin, const std::string& complaint, PluginEffects& effects) {
  if (!complaint.empty()) effects.complaints.push_back(absl::StrCat("job plugin ", plugin, ": ", complaint));
}

absl::StatusOr<PluginEffects> EffectsOfPlugins(const Job& job, const SshKeyPair* ssh_key) {
  PluginEffects effects;
  for (const auto& [name, flags] : job.spec.plugins) {  // a map: in alphabetical order
    if (name == "ssh") {
      AddSsh(job, flags, ssh_key, effects);
      continue;
    }
    const auto* const plugin = std::find_if(std::begin(kPlugins), std::end(kPlugins), [&](const Plugin& one) { return one.name == name; });
    if (plugin == std::end(kPlugins)) return absl::NotFoundError(absl::StrCat("failed to get plugin ", name));
    GW_RETURN_IF_ERROR(plugin->add(job, flags, effects));
  }
  return effects;
}

api::OwnerReference OwnerReferenceTo(const Job& job) {
  return {api::kJobs.ApiVersion(), std::string(api::kJobs.kind), job.metadata.name, job.metadata.uid, true, true};
}

std::string OwnedMetadata(const Job& job, absl::string_view name, const std::map<std::string, std::string>& annotations) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject().Field("name", name).Field("namespace", job.metadata.ns);
  if (!annotations.empty()) {
    json.Key("annotations").BeginObject();
    for (const auto& [key, value] : annotations) json.Field(key, value);
    json.EndObject();
  }
  json.Key("ownerReferences").BeginArray().Raw(api::Encode(OwnerReferenceTo(job))).EndArray().EndObject();
  return out;
}

JsonWriter& BeginOwned(const Job& job, const api::Resource& resource, absl::string_view name, JsonWriter& json) {
  return json.BeginObject().Field("apiVersion", resource.ApiVersion()).Field("kind", std::string(resource.kind))
      .RawField("metadata", OwnedMetadata(job, name));
}

void WritePodSelector(const Job& job, JsonWriter& json) {
  json.BeginObject().Field(kJobNameKey, job.metadata.name).Field(kJobNamespaceKey, job.metadata.ns).EndObject();
}

WantedObject OwnedConfigMap(const Job& job, std::string name, std::map<std::string, std::string> data) {
  WantedObject wanted;
  wanted.resource = &api::kConfigMaps;
  wanted.name = std::move(name);
  wanted.data = std::move(data);
  JsonWriter json(wanted.body);
  BeginOwned(job, *wanted.resource, wanted.name, json).Key("data").BeginObject();
  for (const auto& [key, value] : wanted.data) json.Field(key, value);
  json.EndObject().EndObject();
  return wanted;
}

}  // namespace gangway::lifecycle
