#include "sandbox/apiserver/token_volume.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/cluster_resources.h"
#include "boost/json/parse.hpp"

namespace gangway::sandbox {
namespace {

namespace json = boost::json;

constexpr absl::string_view kMountPath = "/var/run/secrets/kubernetes.io/serviceaccount";

const bool* Wish(const json::object& object) {
  const json::value* const wish = object.if_contains("automountServiceAccountToken");
  return wish == nullptr ? nullptr : wish->if_bool();
}

bool WantsToken(const Store& store, const json::object& pod, const json::object& spec) {
  if (const bool* const wish = Wish(spec)) return *wish;
  const RecordPtr account = store.Find(api::kServiceAccounts, {std::string(TextAt(pod, "metadata.namespace")),
                                                               std::string(FindText(spec, "serviceAccountName"))});
  if (account == nullptr) return false;
  const Draft draft = Draft::OfStored(*account->json);
  const bool* const wish = Wish(draft.object());
  return wish == nullptr || *wish;
}

// False: something is mounted there already.
bool MountInto(const std::string& volume, json::object& container) {
  json::value& list = container["volumeMounts"];
  if (!list.is_array()) list.emplace_array();
  json::array& mounts = list.get_array();
  const bool taken = std::any_of(mounts.begin(), mounts.end(), [](const json::value& each) {
    return each.is_object() && FindText(each.get_object(), "mountPath") == kMountPath;
  });
  if (taken) return false;
  json::object mount(mounts.storage());
  SetText(mount, "name", volume);
  mount["readOnly"] = true;
  SetText(mount, "mountPath", kMountPath);
  mounts.push_back(std::move(mount));
  return true;
}

json::value Volume(const std::string& name) {
  return json::parse(absl::StrCat(
      R"({"name":")", name, R"(","projected":{"sources":[{"serviceAccountToken":{"expirationSeconds":)",
      kMountedTokenSeconds, R"(,"path":"token"}},{"configMap":{"name":")", kRootCaName,
      R"(","items":[{"key":"ca.crt","path":"ca.crt"}]}},)",
      R"({"downwardAPI":{"items":[{"path":"namespace","fieldRef":{"apiVersion":"v1","fieldPath":"metadata.namespace"}}]}}],)",
      R"("defaultMode":420}})"));
}

}  // namespace

void MountToken(const Store& store, const std::string& volume, json::object& pod) {
  json::object& spec = ObjectIn(pod, "spec");
  if (!WantsToken(store, pod, spec)) return;
  std::string name = volume;
  bool there = false;
  if (const json::array* const volumes = FindArray(spec, "volumes")) {
    for (const json::value& each : *volumes) {
      if (there || !each.is_object() || !absl::StartsWith(FindText(each.get_object(), "name"), kTokenVolumePrefix))
        continue;
      name = std::string(FindText(each.get_object(), "name"));
      there = true;
    }
  }
  bool needed = false;
  for (const char* const list : {"initContainers", "containers"}) {
    json::value* const containers = spec.if_contains(list);
    if (containers == nullptr || !containers->is_array()) continue;
    for (json::value& each : containers->get_array())
      if (each.is_object()) needed |= MountInto(name, each.get_object());
  }
  if (there || !needed) return;
  json::value& volumes = spec["volumes"];
  if (!volumes.is_array()) volumes.emplace_array();
  volumes.get_array().push_back(Volume(name));
}

}  // namespace gangway::sandbox
