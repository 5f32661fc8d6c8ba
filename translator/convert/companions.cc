#include "translator/convert/companions.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "api/json.h"
#include "base/strings.h"

namespace gangway::convert {
namespace {

// apiVersion, kind and metadata; the object stays open.
void Begin(const CompanionOwner& owner, const api::Resource& resource, absl::string_view name, api::JsonWriter& to) {
  to.BeginObject().Field("apiVersion", resource.ApiVersion()).Field("kind", resource.kind);
  to.Key("metadata").BeginObject().Field("name", name);
  if (!owner.ns.empty()) to.Field("namespace", owner.ns);
  to.Key("labels")
      .BeginObject()
      .Field("paddle-res-name", name == EnvConfigMapName(owner.job) ? owner.job : name)
      .EndObject()
      .EndObject();
}

Companion PodService(const CompanionOwner& owner, const TaskSize& task, std::int32_t index, int first_port, int ports) {
  Companion out{&api::kServices,
                PodName(owner.job, task.name, index),
                {},
                "a name for the pod alone, as paddle-operator gave it"};
  api::JsonWriter to(out.json);
  Begin(owner, api::kServices, out.name, to);
  to.Key("spec").BeginObject().Field("clusterIP", "None").Field("publishNotReadyAddresses", true);
  to.Key("selector").BeginObject();
  if (owner.indexed_jobs) {
    to.Field("batch.kubernetes.io/job-name", absl::StrCat(owner.job, "-", task.name));
    to.Field("batch.kubernetes.io/job-completion-index", absl::StrCat(index));
  } else {
    to.Field("volcano.sh/job-name", owner.job).Field("volcano.sh/task-spec", task.name);
    to.Field("volcano.sh/task-index", absl::StrCat(index));
  }
  to.EndObject();
  to.Key("ports").BeginArray();
  for (int i = 0; i < ports; ++i)
    to.BeginObject().Field("name", absl::StrCat("p-", i)).Field("port", first_port + i).EndObject();
  to.EndArray().EndObject().EndObject();
  return out;
}

}  // namespace

Companion ConfigMapOf(const CompanionOwner& owner, absl::string_view name,
                      const std::map<std::string, std::string>& data, absl::string_view why) {
  Companion out{&api::kConfigMaps, std::string(name), {}, std::string(why)};
  api::JsonWriter to(out.json);
  Begin(owner, api::kConfigMaps, name, to);
  to.Key("data").BeginObject();
  for (const auto& [key, text] : data) to.Field(key, text);
  to.EndObject().EndObject();
  return out;
}

std::vector<Companion> PodServices(const CompanionOwner& owner, const TaskSize& task, int first_port, int ports) {
  std::vector<Companion> out;
  for (std::int32_t i = 0; i < task.replicas; ++i) out.push_back(PodService(owner, task, i, first_port, ports));
  return out;
}

}  // namespace gangway::convert
