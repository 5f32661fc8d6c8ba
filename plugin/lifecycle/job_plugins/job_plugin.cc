#include "plugin/lifecycle/job_plugins/job_plugin.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/volcano/job_plugins.h"
#include "base/status_macros.h"
#include "plugin/lifecycle/job_plugins/plugins.h"
#include "plugin/lifecycle/words.h"

namespace gangway::lifecycle {
namespace {

using api::JsonWriter;
using api::volcano::Job;

// What each plugin of the table does.
struct Effect {
  std::string_view plugin;
  absl::Status (*add)(const Job& job, const PluginFlags& flags, const SshKeyPair* ssh_key, PluginEffects& effects);
};
template <absl::Status (*Add)(const Job&, const PluginFlags&, PluginEffects&)>
absl::Status WithoutKey(const Job& job, const PluginFlags& flags, const SshKeyPair*, PluginEffects& effects) {
  return Add(job, flags, effects);
}
constexpr Effect kEffects[] = {
    {"env", WithoutKey<AddEnv>},
    {"hcclrank", WithoutKey<AddHcclrank>},
    {"mpi", WithoutKey<AddMpi>},
    {"paddle", WithoutKey<AddPaddle>},
    {"pytorch", WithoutKey<AddPytorch>},
    {"ray", WithoutKey<AddRay>},
    {"ssh", AddSsh},
    {"svc", WithoutKey<AddSvc>},
    {"tensorflow", WithoutKey<AddTensorflow>},
};
static_assert(std::equal(std::begin(kEffects), std::end(kEffects), std::begin(api::volcano::kJobPlugins),
                         std::end(api::volcano::kJobPlugins),
                         [](const Effect& effect, const api::volcano::JobPlugin& plugin) {
                           return effect.plugin == plugin.name;
                         }),
              "every job plugin of the table has its effect here, in the same order");

}  // namespace

void Complain(absl::string_view plugin, const std::string& complaint, PluginEffects& effects) {
  if (!complaint.empty()) effects.complaints.push_back(absl::StrCat("job plugin ", plugin, ": ", complaint));
}

absl::StatusOr<PluginEffects> EffectsOfPlugins(const Job& job, const SshKeyPair* ssh_key) {
  PluginEffects effects;
  for (const auto& [name, flags] : job.spec.plugins) {  // a map: in alphabetical order
    const api::volcano::JobPlugin* const plugin = api::volcano::FindJobPlugin(name);
    if (plugin == nullptr) return absl::NotFoundError(absl::StrCat("failed to get plugin ", name));
    GW_RETURN_IF_ERROR(kEffects[plugin - api::volcano::kJobPlugins].add(job, flags, ssh_key, effects));
  }
  return effects;
}

api::OwnerReference OwnerReferenceTo(const Job& job) {
  return {api::kJobs.ApiVersion(), std::string(api::kJobs.kind), job.metadata.name, job.metadata.uid, true, true};
}

std::string OwnedMetadata(const Job& job, absl::string_view name,
                          const std::map<std::string, std::string>& annotations) {
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
  return json.BeginObject()
      .Field("apiVersion", resource.ApiVersion())
      .Field("kind", std::string(resource.kind))
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
