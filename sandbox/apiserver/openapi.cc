#include "sandbox/apiserver/openapi.h"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "api/json_value.h"
#include "api/kinds/kinds.h"
#include "api/openapi/kubernetes_schemas.h"
#include "api/openapi/table_schema.h"
#include "api/resource.h"
#include "api/schemas/declared_schema.h"
#include "base/strings.h"
#include "boost/json.hpp"

namespace gangway::sandbox {
namespace {

namespace json = boost::json;

constexpr absl::string_view kOldPrefix = "#/definitions/", kNewPrefix = "#/components/schemas/";
constexpr absl::string_view kKindsKey = "x-kubernetes-group-version-kind";
constexpr absl::string_view kMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.";

json::value TextValue(absl::string_view text) { return api::JsonView(text); }

std::string GroupVersionPath(const api::Resource& resource) {
  return absl::StrCat(resource.group.empty() ? "api/" : "apis/", resource.ApiVersion());
}

json::object KindOf(const api::Resource& resource) {
  return {{"group", TextValue(View(resource.group))},
          {"kind", TextValue(View(resource.kind))},
          {"version", TextValue(View(resource.version))}};
}

json::object Reference(absl::string_view component) {
  return {{"$ref", TextValue(absl::StrCat(kNewPrefix, component))}};
}

// Definitions of OpenAPI v2 are those of v3 but for references, which stand alone there, and for IntOrString.
json::value ToVersion3(const json::value& value) {
  if (value.is_array()) {
    json::array out;
    for (const json::value& element : value.get_array()) out.push_back(ToVersion3(element));
    return out;
  }
  if (!value.is_object()) return value;
  json::object out;
  json::value reference;
  for (const json::key_value_pair& member : value.get_object()) {
    if (member.key() == "$ref" && member.value().is_string()) {
      const json::string& target = member.value().get_string();
      reference = Reference(absl::string_view(target.data(), target.size()).substr(kOldPrefix.size()));
    } else {
      out.emplace(member.key(), ToVersion3(member.value()));
    }
  }
  if (!reference.is_null()) {
    if (out.empty()) return reference;
    out.emplace("allOf", json::array{std::move(reference)});
  }
  if (const json::value* format = out.if_contains("format");
      format != nullptr && *format == TextValue("int-or-string")) {
    out.erase("type");
    out.emplace("oneOf", json::array{json::object{{"type", "integer"}}, json::object{{"type", "string"}}});
  }
  return out;
}

// Names of the definitions that `value` refers to.
void CollectReferences(const json::value& value, absl::btree_set<std::string>& names) {
  if (value.is_array()) {
    for (const json::value& element : value.get_array()) CollectReferences(element, names);
  } else if (value.is_object()) {
    for (const json::key_value_pair& member : value.get_object()) {
      if (member.key() == "$ref" && member.value().is_string()) {
        absl::string_view target(member.value().get_string().data(), member.value().get_string().size());
        names.emplace(target.substr(target.rfind('/') + 1));
      } else {
        CollectReferences(member.value(), names);
      }
    }
  }
}

// "sh.volcano.batch.v1alpha1.Job"
std::string ComponentName(const api::Resource& resource) {
  const std::vector<absl::string_view> parts = absl::StrSplit(View(resource.group), '.');
  return absl::StrCat(absl::StrJoin(parts.rbegin(), parts.rend(), "."), ".", View(resource.version), ".",
                      View(resource.kind));
}

// apiextensions-apiserver: pkg/controller/openapi/builder. As the definition has it, with what every object has.
json::value DeclaredSchema(const api::KindRow& kind) {
  json::value schema = kind.schema->declared->source();
  json::object& object = schema.get_object();
  json::value& properties = object["properties"];
  if (!properties.is_object()) properties.emplace_object();
  properties.get_object()["apiVersion"] = json::object{{"type", "string"}};
  properties.get_object()["kind"] = json::object{{"type", "string"}};
  properties.get_object()["metadata"] = Reference(absl::StrCat(kMeta, "ObjectMeta"));
  object[api::JsonView(kKindsKey)] = json::array{KindOf(*kind.resource)};
  return schema;
}

json::value CustomSchema(const api::KindRow& kind) {
  if (kind.schema != nullptr) return DeclaredSchema(kind);
  json::value schema = api::SchemaOfTable(*kind.table, Reference);
  schema.get_object()["description"] = TextValue(View(kind.doc));
  schema.get_object()[api::JsonView(kKindsKey)] = json::array{KindOf(*kind.resource)};
  return schema;
}

const json::object& Definitions(const json::value& data) { return data.at("definitions").get_object(); }

// The definition that is this resource's kind.
std::string ComponentOf(const api::Resource& resource, const json::object& definitions) {
  if (api::IsCustom(resource)) return ComponentName(resource);
  const json::value wanted = KindOf(resource);
  for (const json::key_value_pair& definition : definitions) {
    const json::value* kinds = definition.value().get_object().if_contains(api::JsonView(kKindsKey));
    if (kinds != nullptr && kinds->get_array().front() == wanted) {
      return std::string(definition.key().data(), definition.key().size());
    }
  }
  return {};
}

json::array QueryParameters(std::span<const absl::string_view> names) {
  json::array out;
  for (const absl::string_view name : names) {
    const bool flag = name == "watch" || name == "allowWatchBookmarks";
    const bool number = name == "limit" || name == "timeoutSeconds" || name == "gracePeriodSeconds";
    out.push_back(json::object{{"in", "query"},
                               {"name", TextValue(name)},
                               {"schema", json::object{{"type", flag     ? "boolean"
                                                                : number ? "integer"
                                                                         : "string"},
                                                       {"uniqueItems", true}}}});
  }
  return out;
}

constexpr std::array<absl::string_view, 3> kWriteParameters{"dryRun", "fieldManager", "fieldValidation"};
constexpr std::array<absl::string_view, 3> kDeleteParameters{"dryRun", "gracePeriodSeconds", "propagationPolicy"};
constexpr std::array<absl::string_view, 9> kListParameters{"allowWatchBookmarks",  "continue",       "fieldSelector",
                                                           "labelSelector",        "limit",          "resourceVersion",
                                                           "resourceVersionMatch", "timeoutSeconds", "watch"};

json::object Content(std::span<const absl::string_view> media_types, json::object schema) {
  json::object content;
  for (const absl::string_view type : media_types) content[api::JsonView(type)] = json::object{{"schema", schema}};
  return {{"content", std::move(content)}};
}

struct Verb {
  absl::string_view method, action;
  std::span<const absl::string_view> parameters;
};

json::object Operation(const Verb& verb, const api::Resource& resource, absl::string_view component) {
  static constexpr std::array<absl::string_view, 1> kJson{"application/json"};
  static constexpr std::array<absl::string_view, 3> kPatches{
      "application/json-patch+json", "application/merge-patch+json", "application/strategic-merge-patch+json"};
  json::object operation{{"x-kubernetes-action", TextValue(verb.action)},
                         {api::JsonView(kKindsKey), KindOf(resource)},
                         {"parameters", QueryParameters(verb.parameters)}};
  if (verb.method == "post" || verb.method == "put") operation["requestBody"] = Content(kJson, Reference(component));
  if (verb.method == "patch") {
    // A custom resource has no strategic merge patch.
    const std::size_t patches = !api::IsCustom(resource) ? kPatches.size() : kPatches.size() - 1;
    operation["requestBody"] = Content(std::span(kPatches).first(patches), Reference(absl::StrCat(kMeta, "Patch")));
  }
  json::object response =
      Content(kJson, verb.action == "list" ? json::object{{"type", "object"}} : Reference(component));
  response["description"] = "OK";
  operation["responses"] = json::object{{"200", std::move(response)}};
  return operation;
}

json::array PathParameters(bool namespaced, bool named) {
  json::array out;
  const auto add = [&](absl::string_view name) {
    out.push_back(json::object{{"in", "path"},
                               {"name", TextValue(name)},
                               {"required", true},
                               {"schema", json::object{{"type", "string"}, {"uniqueItems", true}}}});
  };
  if (namespaced) add("namespace");
  if (named) add("name");
  return out;
}

void AddPaths(const api::Resource& resource, absl::string_view component, json::object& paths) {
  const std::array<Verb, 2> collection{Verb{"get", "list", kListParameters}, Verb{"post", "post", kWriteParameters}};
  const std::array<Verb, 4> item{Verb{"get", "get", {}}, Verb{"put", "put", kWriteParameters},
                                 Verb{"patch", "patch", kWriteParameters}, Verb{"delete", "delete", kDeleteParameters}};
  const std::string base = absl::StrCat("/", GroupVersionPath(resource),
                                        resource.namespaced ? "/namespaces/{namespace}/" : "/", View(resource.plural));
  const auto add = [&](const std::string& path, std::span<const Verb> verbs, bool named) {
    json::object operations{{"parameters", PathParameters(resource.namespaced, named)}};
    for (const Verb& verb : verbs) operations[api::JsonView(verb.method)] = Operation(verb, resource, component);
    paths[api::JsonView(path)] = std::move(operations);
  };
  add(base, collection, /*named=*/false);
  add(absl::StrCat(base, "/{name}"), item, /*named=*/true);
}

// The components, and what they refer to.
json::object Components(const ServedVersions& served, absl::btree_set<std::string> wanted,
                        const json::object& definitions) {
  absl::btree_map<std::string, json::value> made;
  served.ForEach([&](const api::KindRow& kind) {
    if (!kind.custom()) return;
    const std::string component = ComponentName(*kind.resource);
    if (wanted.contains(component)) made.emplace(component, CustomSchema(kind));
  });
  for (const auto& [name, schema] : made) CollectReferences(schema, wanted);
  while (!wanted.empty()) {
    const std::string name = *wanted.begin();
    wanted.erase(wanted.begin());
    const json::value* definition = definitions.if_contains(api::JsonView(name));
    if (definition == nullptr || made.contains(name)) continue;
    CollectReferences(*definition, wanted);
    made.emplace(name, ToVersion3(*definition));
  }
  const std::string patch = absl::StrCat(kMeta, "Patch");
  made.emplace(patch, json::object{{"description", "a merge patch object or a JSON patch list"}, {"type", "object"}});
  json::object out;
  for (auto& [name, schema] : made) out.emplace(api::JsonView(name), std::move(schema));
  return out;
}

// FNV-1a. Clients only ask whether a document has changed.
std::uint64_t HashOf(absl::string_view text, std::uint64_t hash = 0xcbf29ce484222325) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace

std::string OpenApiIndex(const ServedVersions& served) {
  const std::uint64_t kubernetes = HashOf(View(api::KubernetesSchemas()));
  absl::btree_map<std::string, std::uint64_t> hashes;
  served.ForEach([&](const api::KindRow& kind) {
    std::uint64_t& hash = hashes.try_emplace(GroupVersionPath(*kind.resource), kubernetes).first->second;
    if (!kind.custom()) return;
    std::string schema;
    if (kind.schema != nullptr) {
      schema = absl::StrCat(View(kind.resource->kind), api::ToJson(kind.schema->declared->source()));
    } else {
      api::WriteSchema(*kind.table, schema);
    }
    hash = HashOf(schema, hash);
  });
  json::object paths;
  for (const auto& [path, hash] : hashes) {
    paths[api::JsonView(path)] =
        json::object{{"serverRelativeURL",
                      TextValue(absl::StrCat("/openapi/v3/", path, "?hash=", absl::Hex(hash, absl::kZeroPad16)))}};
  }
  return api::ToJson(json::object{{"paths", std::move(paths)}});
}

std::optional<std::string> OpenApiDocument(const ServedVersions& served, absl::string_view group_version_path) {
  const std::string_view text = api::KubernetesSchemas();
  json::monotonic_resource memory(1 << 20);
  const json::value data = json::parse({text.data(), text.size()}, &memory);
  json::object paths;
  absl::btree_set<std::string> wanted;
  served.ForEach([&](const api::KindRow& kind) {
    if (GroupVersionPath(*kind.resource) != group_version_path) return;
    const std::string component = ComponentOf(*kind.resource, Definitions(data));
    AddPaths(*kind.resource, component, paths);
    wanted.insert(component);
  });
  if (paths.empty()) return std::nullopt;
  return api::ToJson(json::object{
      {"openapi", "3.0.0"},
      {"info", json::object{{"title", "Kubernetes"}, {"version", data.at("kubernetes")}}},
      {"paths", std::move(paths)},
      {"components", json::object{{"schemas", Components(served, std::move(wanted), Definitions(data))}}},
  });
}

}  // namespace gangway::sandbox
