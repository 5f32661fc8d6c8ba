#include "api/schemas/schemas.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "api/field_rules.h"
#include "api/json_value.h"
#include "api/kinds/kinds.h"
#include "api/openapi/kubernetes_schemas.h"
#include "api/schemas/schema_builder.h"
#include "base/check.h"
#include "base/strings.h"
#include "boost/json.hpp"

namespace gangway::schemas {
namespace {

namespace json = boost::json;

std::string Key(absl::string_view api_version, absl::string_view kind) { return absl::StrCat(api_version, " ", kind); }

std::string ApiVersion(absl::string_view group, absl::string_view version) {
  return group.empty() ? std::string(version) : absl::StrCat(group, "/", version);
}

// The definitions that are kinds, each with its apiVersion.
template <class Visit>
void ForEachKind(const json::object& definitions, Visit visit) {
  for (const json::key_value_pair& definition : definitions) {
    const json::value* kinds = definition.value().get_object().if_contains("x-kubernetes-group-version-kind");
    if (kinds == nullptr) continue;
    for (const json::value& kind : kinds->get_array()) {
      visit(std::string_view(definition.key().data(), definition.key().size()),
            ApiVersion(api::AbslView(kind.at("group").get_string()), api::AbslView(kind.at("version").get_string())),
            api::AbslView(kind.at("kind").get_string()));
    }
  }
}

}  // namespace

struct Schemas::Types {
  SchemaArena arena;
  absl::flat_hash_map<std::string, Schema> by_kind;  // apiVersion, blank, kind
};

Schemas::Schemas() : types_(std::make_unique<Types>()) {
  const std::string_view text = api::KubernetesSchemas();
  json::monotonic_resource memory(1 << 20);
  const json::value document = json::parse({text.data(), text.size()}, &memory);
  const json::object& definitions = document.at("definitions").get_object();
  SchemaBuilder builder(definitions, types_->arena);
  ForEachKind(definitions, [&](std::string_view definition, const std::string& api_version, absl::string_view kind) {
    Schema schema;
    schema.kind = types_->arena.Intern(StdView(kind));
    schema.root = builder.FromDefinition(definition, /*custom=*/false);
    types_->by_kind.emplace(Key(api_version, kind), schema);
  });
  for (const api::KindRow& kind : api::Kinds()) {
    if (!kind.custom()) continue;
    const Schema schema{kind.resource->kind, builder.FromTable(*kind.table), /*custom=*/true, kind.table,
                        /*judged=*/kind.origin != api::Origin::kVolcano};
    types_->by_kind.emplace(Key(kind.resource->ApiVersion(), View(kind.resource->kind)), schema);
  }
  builder.Finish();
  for (const api::KindRow& kind : api::Kinds()) GW_CHECK(For(*kind.resource) != nullptr);
}

Schemas::~Schemas() = default;

const Schemas& Schemas::Shared() {
  static const auto* const shared = new Schemas();
  return *shared;
}

const Schema* Schemas::For(const api::Resource& resource) const {
  if (resource.declared != nullptr) return resource.declared->schema;
  return ForKind(resource.ApiVersion(), View(resource.kind));
}

const Schema* Schemas::ForKind(absl::string_view api_version, absl::string_view kind) const {
  const auto at = types_->by_kind.find(Key(api_version, kind));
  return at == types_->by_kind.end() ? nullptr : &at->second;
}

ListKeys ListKeysAt(const Schema& schema, absl::string_view path) {
  const SchemaNode* node = schema.root;
  for (const absl::string_view name : absl::StrSplit(path, '.')) {
    while (node != nullptr && node->shape == Shape::kList) node = node->element;
    if (node == nullptr) return {};
    if (node->shape == Shape::kMap) {
      node = node->element;
    } else {
      const SchemaProperty* property = node->Find(StdView(name));
      node = property == nullptr ? nullptr : property->node;
    }
  }
  return node != nullptr && node->shape == Shape::kList ? node->keys : ListKeys{};
}

std::string UnknownFieldsMessage(const std::vector<std::string>& unknown) {
  return absl::StrCat("strict decoding error: ",
                      absl::StrJoin(unknown, ", ", [](std::string* out, const std::string& path) {
                        absl::StrAppend(out, "unknown field \"", path, "\"");
                      }));
}

}  // namespace gangway::schemas
