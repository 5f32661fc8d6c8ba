#include "plugin/lifecycle/pod_draft.h"

#include <utility>

namespace gangway::lifecycle {

namespace json = boost::json;

namespace {
json::string_view Text(absl::string_view s) { return {s.data(), s.size()}; }
}  // namespace

std::string TextAt(const json::object& object, json::string_view key) {
  const json::value* const value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string(value->as_string()) : std::string();
}

void AppendEnv(json::object& container, absl::string_view name, absl::string_view value) {
  ListAt(container, "env").push_back(json::object{{"name", Text(name)}, {"value", Text(value)}});
}

void AddMount(json::object& container, absl::string_view volume, absl::string_view path, absl::string_view sub_path) {
  json::object mount{{"mountPath", Text(path)}, {"name", Text(volume)}};
  if (!sub_path.empty()) mount["subPath"] = Text(sub_path);
  ListAt(container, "volumeMounts").push_back(std::move(mount));
}

void SetIfEmpty(json::object& object, json::string_view key, absl::string_view value) {
  json::value& slot = object[key];
  if (!slot.is_string() || slot.as_string().empty()) slot = Text(value);
}

void ExposePort(json::object& container, absl::string_view name, std::int64_t port) {
  json::array& ports = ListAt(container, "ports");
  for (const json::value& one : ports) {
    const json::value* const number = one.is_object() ? one.as_object().if_contains("containerPort") : nullptr;
    if (number != nullptr && number->is_int64() && number->as_int64() == port) return;
  }
  json::object entry{{"containerPort", port}};
  if (!name.empty()) entry["name"] = Text(name);
  ports.push_back(std::move(entry));
}

}  // namespace gangway::lifecycle
