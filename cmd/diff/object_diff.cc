#include "cmd/diff/object_diff.h"

#include <boost/json.hpp>

#include "api/manifest/yaml_writer.h"

namespace gangway::cmd {
namespace {

namespace json = boost::json;

constexpr const char* kServersOwn[] = {"managedFields", "resourceVersion",   "generation",
                                       "uid",           "creationTimestamp", "selfLink"};

void AddTexts(const json::object& from, json::string_view key, json::object& to) {
  const json::value* const added = from.if_contains(key);
  if (added == nullptr || !added->is_object()) return;
  json::value& there = to[key];
  if (!there.is_object()) there.emplace_object();
  for (const json::key_value_pair& text : added->get_object()) there.get_object()[text.key()] = text.value();
}

}  // namespace

json::value Replaced(const json::value& live, const json::value& ours) {
  json::value out = live;
  if (!out.is_object() || !ours.is_object()) return ours;
  json::object& object = out.get_object();
  for (const json::key_value_pair& member : ours.get_object()) {
    if (member.key() == "status") continue;
    if (member.key() != "metadata") {
      object[member.key()] = member.value();
    } else if (json::object* const metadata = object["metadata"].if_object();
               metadata != nullptr && member.value().is_object()) {
      for (const char* key : {"labels", "annotations"}) AddTexts(member.value().get_object(), key, *metadata);
    }
  }
  return out;
}

std::string ShownAs(const json::value& value) {
  const json::object* const object = value.if_object();
  if (object == nullptr) return "";
  json::value shown = value;
  shown.get_object().erase("status");
  if (json::value* const metadata = shown.get_object().if_contains("metadata");
      metadata != nullptr && metadata->is_object()) {
    for (const char* key : kServersOwn) metadata->get_object().erase(key);
    if (json::value* const annotations = metadata->get_object().if_contains("annotations");
        annotations != nullptr && annotations->is_object()) {
      annotations->get_object().erase("kubectl.kubernetes.io/last-applied-configuration");
      if (annotations->get_object().empty()) metadata->get_object().erase("annotations");
    }
  }
  std::string out;
  api::AppendYaml(shown, api::KeyOrder::kSorted, {}, out);
  return out;
}

}  // namespace gangway::cmd
