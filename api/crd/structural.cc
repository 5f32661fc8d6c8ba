#include "api/crd/structural.h"

#include <array>
#include <string>
#include <string_view>

#include "absl/strings/strip.h"
#include "api/openapi/crd_defaults.h"
#include "api/openapi/table_schema.h"
#include "api/quantity.h"
#include "base/check.h"
#include "base/strings.h"
#include "boost/json.hpp"

namespace gangway::api {
namespace {

namespace json = boost::json;

// What a CRD's schema may say; the rest is for clients of core types (patch strategies) or not in CRDs (enum).
constexpr std::array<std::string_view, 7> kKept{
    "type",    "format", "required", "x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-map-type",
    "nullable"};

json::object Parsed(absl::string_view text) { return json::parse({text.data(), text.size()}).get_object(); }

// Types whose schema is not the one that is published.
json::object Special(absl::string_view definition) {
  if (absl::EndsWith(definition, ".api.resource.Quantity")) {
    std::string text;
    WriteSchema(TypeOf<Quantity>(), text);
    return Parsed(text);
  }
  if (absl::EndsWith(definition, ".intstr.IntOrString")) {
    return Parsed(R"({"anyOf":[{"type":"integer"},{"type":"string"}],"x-kubernetes-int-or-string":true})");
  }
  if (absl::EndsWith(definition, ".meta.v1.ObjectMeta")) {
    return Parsed(R"({"type":"object","properties":{
        "annotations":{"type":"object","additionalProperties":{"type":"string"}},
        "finalizers":{"type":"array","items":{"type":"string"}},
        "labels":{"type":"object","additionalProperties":{"type":"string"}},
        "name":{"type":"string"},
        "namespace":{"type":"string"}}})");
  }
  return {};
}

class Inliner {
 public:
  explicit Inliner(const json::object& definitions) : definitions_(definitions) {}

  json::object OfDefinition(absl::string_view name) {
    if (json::object special = Special(name); !special.empty()) return special;
    GW_CHECK(++depth_ < kMaxDepth);  // no type that a CRD embeds contains itself
    const json::value* definition = definitions_.if_contains({name.data(), name.size()});
    GW_CHECK(definition != nullptr);
    json::object out = OfSchema(definition->get_object());
    AddDefaults(absl::StripPrefix(name, "io.k8s.api."), out);
    --depth_;
    return out;
  }

 private:
  static constexpr int kMaxDepth = 50;

  json::object OfSchema(const json::object& schema) {
    if (const json::value* ref = schema.if_contains("$ref")) {
      const json::string& target = ref->get_string();
      const absl::string_view path(target.data(), target.size());
      return OfDefinition(path.substr(path.rfind('/') + 1));
    }
    json::object out;
    for (const std::string_view key : kKept) {
      if (const json::value* value = schema.if_contains({key.data(), key.size()})) out[key] = *value;
    }
    if (const json::value* items = schema.if_contains("items")) out["items"] = OfSchema(items->get_object());
    const json::value* values = schema.if_contains("additionalProperties");
    const json::value* properties = schema.if_contains("properties");
    if (values != nullptr) {
      out["additionalProperties"] = OfSchema(values->get_object());
    } else if (properties != nullptr) {
      json::object& members = out["properties"].emplace_object();
      for (const json::key_value_pair& property : properties->get_object()) {
        members[property.key()] = OfSchema(property.value().get_object());
      }
    } else if (out["type"] == "object") {
      out["x-kubernetes-preserve-unknown-fields"] = true;
    }
    return out;
  }

  static void AddDefaults(absl::string_view definition, json::object& schema) {
    for (const CrdDefault& entry : CrdDefaults()) {
      if (View(entry.definition) != definition) continue;
      schema.at("properties").at(entry.property).get_object()["default"] = json::parse(entry.json);
    }
  }

  const json::object& definitions_;
  int depth_ = 0;
};

}  // namespace

json::object StructuralSchema(absl::string_view definition, const json::object& definitions) {
  return Inliner(definitions).OfDefinition(definition);
}

}  // namespace gangway::api
