#include "plugin/lifecycle/job_plugins/pod_draft.h"

#include <utility>

#include "api/json_value.h"

namespace gangway::lifecycle {

namespace json = boost::json;

std::string TextAt(const json::object& object, json::string_view key) {
  const json::value* const value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string(value->as_string()) : std::string();
}

void AppendEnv(json::object& container, absl::string_view name, absl::string_view value) {
  ListAt(container, "env").push_back(json::object{{"name", api::JsonView(name)}, {"value", api::JsonView(value)}});
}

void AddMount(json::object& container, absl::string_view volume, absl::string_view path, absl::string_view sub_path) {
  json::object mount{{"mountPath", api::JsonView(path)}, {"name", api::JsonView(volume)}};
  if (!sub_path.empty()) mount["subPath"] = api::JsonView(sub_path);
  ListAt(container, "volumeMounts").push_back(std::move(mount));
}

void SetIfEmpty(json::object& object, json::string_view key, absl::string_view value) {
  json::value& slot = object[key];
  if (!slot.is_string() || slot.as_string().empty()) slot = api::JsonView(value);
}

void ExposePort(json::object& container, absl::string_view name, std::int64_t port) {
  json::array& ports = ListAt(container, "ports");
  for (const json::value& one : ports) {
    const json::value* const number = one.is_object() ? one.as_object().if_contains("containerPort") : nullptr;
    if (number != nullptr && number->is_int64() && number->as_int64() == port) return;
  }
  json::object entry{{"containerPort", port}};
  if (!name.empty()) entry["name"] = api::JsonView(name);
  ports.push_back(std::move(entry));
}

}  // namespace gangway::lifecycle
