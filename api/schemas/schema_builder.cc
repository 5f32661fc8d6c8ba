#include "api/schemas/schema_builder.h"

#include <algorithm>
#include <span>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "api/openapi/crd_defaults.h"
#include "api/paddle/embedded.h"
#include "api/schemas/core_defaults.h"
#include "api/schemas/go_fields.h"
#include "api/volcano/embedded.h"
#include "base/check.h"
#include "base/strings.h"
#include "boost/json.hpp"

namespace gangway::schemas {
namespace {

namespace json = boost::json;

// "core.v1.Pod" of "io.k8s.api.core.v1.Pod"; "" of what is no type of an API group's.
std::string_view WithinGroups(std::string_view definition) {
  for (const std::string_view groups :
       {std::string_view("io.k8s.api."), std::string_view("io.k8s.apiextensions-apiserver.pkg.apis.")}) {
    if (definition.starts_with(groups)) return definition.substr(groups.size());
  }
  return {};
}

std::string_view Text(const json::value& value) {
  const json::string& s = value.get_string();
  return {s.data(), s.size()};
}
std::string_view TextAt(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains({key.data(), key.size()});
  return value != nullptr && value->is_string() ? Text(*value) : std::string_view();
}

Shape ShapeOfDefinition(std::string_view name) {
  if (name == "io.k8s.apimachinery.pkg.api.resource.Quantity") return Shape::kQuantity;
  if (name == "io.k8s.apimachinery.pkg.util.intstr.IntOrString") return Shape::kIntOrString;
  if (name == "io.k8s.apimachinery.pkg.apis.meta.v1.Time") return Shape::kTime;
  if (name == "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime") return Shape::kTime;
  return Shape::kAny;
}

Shape ShapeOfSchema(std::string_view type, std::string_view format) {
  if (type == "boolean") return Shape::kBool;
  if (type == "integer") return format == "int32" ? Shape::kInt32 : Shape::kInt64;
  if (type == "number") return Shape::kNumber;
  if (type == "array") return Shape::kList;
  if (type == "string") {
    return format == "byte" ? Shape::kBase64 : format == "date-time" ? Shape::kTime : Shape::kString;
  }
  return Shape::kAny;
}

Shape ShapeOfKind(api::Kind kind) {
  switch (kind) {
    case api::Kind::kBool:
      return Shape::kBool;
    case api::Kind::kInt32:
      return Shape::kInt32;
    case api::Kind::kInt64:
      return Shape::kInt64;
    case api::Kind::kString:
      return Shape::kString;
    case api::Kind::kQuantity:
      return Shape::kQuantity;
    case api::Kind::kTime:
    case api::Kind::kMicroTime:
      return Shape::kTime;
    case api::Kind::kDocument:
    case api::Kind::kOptional:
      return Shape::kAny;
    case api::Kind::kList:
      return Shape::kList;
    case api::Kind::kMap:
      return Shape::kMap;
    case api::Kind::kObject:
      return Shape::kObject;
  }
  return Shape::kAny;
}

// The first eight bytes as a number that orders as the text does.
std::uint64_t BeginningOf(std::string_view name) {
  std::uint64_t beginning = 0;
  for (std::size_t i = 0; i < sizeof(beginning); ++i)
    beginning = beginning << 8 | (i < name.size() ? static_cast<unsigned char>(name[i]) : 0u);
  return beginning;
}

void CompleteObject(SchemaNode& node) {
  node.SortProperties();
  for (const SchemaProperty& property : node.properties) {
    if (property.required) node.required.push_back(property.name);
  }
}

}  // namespace

std::string_view SchemaArena::Intern(std::string_view text) {
  const auto at = texts.find(text);
  return at != texts.end() ? *at : *texts.emplace(text).first;
}

const SchemaProperty* SchemaNode::Find(std::string_view name) const {
  const std::uint64_t beginning = BeginningOf(name);
  auto at = std::lower_bound(beginnings.begin(), beginnings.end(), beginning);
  for (; at != beginnings.end() && *at == beginning; ++at) {
    const SchemaProperty& property = properties[static_cast<std::size_t>(at - beginnings.begin())];
    if (property.name == name) return &property;
  }
  return nullptr;
}

void SchemaNode::SortProperties() {
  std::sort(properties.begin(), properties.end(),
            [](const SchemaProperty& a, const SchemaProperty& b) { return a.name < b.name; });
  beginnings.clear();
  for (const SchemaProperty& property : properties) beginnings.push_back(BeginningOf(property.name));
}

SchemaBuilder::SchemaBuilder(const json::object& definitions, SchemaArena& arena)
    : definitions_(definitions), arena_(arena) {}

SchemaNode* SchemaBuilder::New(Shape shape, bool custom) {
  SchemaNode& node = arena_.nodes.emplace_back();
  node.shape = shape;
  node.custom = custom;
  return &node;
}

const SchemaNode* SchemaBuilder::FromDefinition(std::string_view name, bool custom) {
  if (const auto at = by_definition_.find({name, custom}); at != by_definition_.end()) return at->second;
  const json::value* definition = definitions_.if_contains({name.data(), name.size()});
  GW_CHECK(definition != nullptr && definition->is_object());
  const json::object& schema = definition->get_object();
  const std::string_view stable_name = arena_.Intern(name);
  SchemaNode* node = New(ShapeOfDefinition(name), custom);
  by_definition_.emplace(std::pair(stable_name, custom), node);  // before its properties, which may lead back here
  if (node->shape == Shape::kAny && TextAt(schema, "type") == "object") {
    FillObject(schema, custom, *node);
    if (!custom) AddGoFields(name, *node);
    if (const std::string_view type = WithinGroups(name); !type.empty()) {
      node->pod_spec = type == "core.v1.PodSpec";
      AddCoreDefaults(type, *node);
    }
  }
  return node;
}

const SchemaNode* SchemaBuilder::FromSchema(const json::object& schema, bool custom) {
  if (const std::string_view ref = TextAt(schema, "$ref"); !ref.empty()) {
    const SchemaNode* referred = FromDefinition(ref.substr(ref.rfind('/') + 1), custom);
    const std::string_view map_type = TextAt(schema, "x-kubernetes-map-type");
    if (map_type.empty() || (map_type == "atomic") == referred->atomic) return referred;
    SchemaNode* node = &arena_.nodes.emplace_back(*referred);
    node->atomic = map_type == "atomic";
    return node;
  }
  SchemaNode* node = New(ShapeOfSchema(TextAt(schema, "type"), TextAt(schema, "format")), custom);
  if (TextAt(schema, "type") == "object") {
    FillObject(schema, custom, *node);
  } else if (node->shape == Shape::kList) {
    FillList(schema, custom, *node);
  }
  if (const json::value* values = schema.if_contains("enum")) {
    for (const json::value& value : values->get_array()) node->one_of.push_back(arena_.Intern(Text(value)));
  }
  return node;
}

void SchemaBuilder::FillList(const json::object& schema, bool custom, SchemaNode& node) {
  const json::value* items = schema.if_contains("items");
  GW_CHECK(items != nullptr && items->is_object());
  node.element = FromSchema(items->get_object(), custom);
  if (const json::value* keys = schema.if_contains("x-kubernetes-list-map-keys")) {
    for (const json::value& key : keys->get_array()) node.keys.map_keys.push_back(arena_.Intern(Text(key)));
  }
  if (TextAt(schema, "x-kubernetes-patch-strategy").find("merge") != std::string_view::npos) {
    node.keys.merges = true;
    node.keys.merge_key = arena_.Intern(TextAt(schema, "x-kubernetes-patch-merge-key"));
  }
  node.keys.set = TextAt(schema, "x-kubernetes-list-type") == "set";
  // kube-openapi: schemaconv, getListElementRelationship
  const std::string_view list_type = TextAt(schema, "x-kubernetes-list-type");
  if (list_type == "set") {
    node.list_type = ListType::kSet;
  } else if (list_type == "map") {
    node.list_type = ListType::kMap;
    node.element_keys = node.keys.map_keys;
  } else if (list_type.empty() && node.keys.merges) {
    node.list_type = node.keys.merge_key.empty() ? ListType::kSet : ListType::kMap;
    if (!node.keys.merge_key.empty()) node.element_keys = {node.keys.merge_key};
  }
  std::sort(node.element_keys.begin(), node.element_keys.end());
}

// An object with properties, a map, or one of which nothing is known.
void SchemaBuilder::FillObject(const json::object& schema, bool custom, SchemaNode& node) {
  const json::value* properties = schema.if_contains("properties");
  const json::value* values = schema.if_contains("additionalProperties");
  node.atomic = TextAt(schema, "x-kubernetes-map-type") == "atomic";
  if (values != nullptr && values->is_object()) {
    node.shape = Shape::kMap;
    node.element = FromSchema(values->get_object(), custom);
    return;
  }
  if (properties == nullptr) {
    node.shape = Shape::kFree;
    return;
  }
  node.shape = Shape::kObject;
  const json::value* required = schema.if_contains("required");
  const bool top_level = schema.contains("x-kubernetes-group-version-kind");
  for (const json::key_value_pair& property : properties->get_object()) {
    SchemaProperty made;
    made.name = arena_.Intern({property.key().data(), property.key().size()});
    made.node = FromSchema(property.value().get_object(), custom);
    made.is_status = top_level && made.name == "status";
    if (required != nullptr) {
      const json::array& names = required->get_array();
      made.required =
          std::any_of(names.begin(), names.end(), [&](const json::value& n) { return Text(n) == made.name; });
    }
    node.properties.push_back(made);
  }
  CompleteObject(node);
}

void SchemaBuilder::AddGoFields(std::string_view definition, SchemaNode& node) {
  static const json::value kNull(nullptr), kText(""), kFalse(false), kNumber(0), kQuantity("0"),
      kObject = json::object();
  const std::span<const GoFields> all = AllGoFields();
  const auto entry = std::lower_bound(all.begin(), all.end(), definition,
                                      [](const GoFields& e, std::string_view d) { return e.definition < d; });
  if (entry == all.end() || entry->definition != definition) return;
  for (const absl::string_view word : absl::StrSplit(View(entry->fields), ' ')) {
    const std::string_view name = StdView(word.substr(0, word.size() - 1));
    const auto property = std::find_if(node.properties.begin(), node.properties.end(),
                                       [&](const SchemaProperty& p) { return p.name == name; });
    GW_CHECK(property != node.properties.end());
    switch (word.back()) {
      case '-':
        property->drops_zero = true;
        break;
      case '=':
        property->zero = &kObject;
        break;
      case '?':
        property->zero = &kNull;
        break;
      case '$':
        property->zero = &kText;
        break;
      case '!':
        property->zero = &kFalse;
        break;
      case '#':
        property->zero = &kNumber;
        break;
      case '%':
        property->zero = &kQuantity;
        break;
      default:
        GW_CHECK(false);
    }
    node.has_zeros = node.has_zeros || property->zero != nullptr;
  }
}

void SchemaBuilder::AddCoreDefaults(std::string_view definition, SchemaNode& node) {
  const auto add = [&](std::string_view name, std::string_view text) {
    const auto property = std::find_if(node.properties.begin(), node.properties.end(),
                                       [&](const SchemaProperty& p) { return p.name == name; });
    GW_CHECK(property != node.properties.end());
    property->default_value = &arena_.values.emplace_back(json::parse({text.data(), text.size()}));
  };
  if (node.custom) {
    for (const api::CrdDefault& entry : api::CrdDefaults()) {
      if (entry.definition == definition) add(entry.property, entry.json);
    }
    return;
  }
  for (const CoreDefault& entry : CoreDefaults()) {
    if (entry.definition == definition) add(entry.property, entry.json);
  }
  node.derive_defaults = DerivedDefaultsOf(definition);
}

const SchemaNode* SchemaBuilder::FromTable(const api::Type& type) {
  if (const auto at = by_table_.find(&type); at != by_table_.end()) return at->second;
  SchemaNode* node = New(Shape::kObject, /*custom=*/true);
  by_table_.emplace(&type, node);
  for (std::size_t i = 0; i < type.field_count; ++i) {
    const api::Field& field = type.fields[i];
    SchemaProperty made;
    made.name = field.name;
    made.node = FromField(type, field);
    node->properties.push_back(made);
  }
  CompleteObject(*node);
  return node;
}

const SchemaNode* SchemaBuilder::FromField(const api::Type& owner, const api::Field& field) {
  api::volcano::Embedded embedded = api::volcano::EmbeddedIn(owner, field);
  if (const absl::string_view definition = api::paddle::DefinitionIn(owner, field); !definition.empty())
    embedded = {definition};
  // A custom object's own metadata is read before its schema is asked.
  const bool metadata = View(field.name) == "metadata" && absl::EndsWith(embedded.definition, "meta.v1.ObjectMeta");
  if (!embedded.definition.empty()) return FromDefinition(StdView(embedded.definition), /*custom=*/!metadata);
  if (embedded.table != nullptr) return FromTableType(*embedded.table);
  return FromTableType(*field.type);
}

const SchemaNode* SchemaBuilder::FromTableType(const api::Type& type) {
  if (type.kind == api::Kind::kOptional) return FromTableType(*type.element);
  if (type.kind == api::Kind::kObject) return FromTable(type);
  SchemaNode* node = New(ShapeOfKind(type.kind), /*custom=*/true);
  if (type.kind == api::Kind::kList || type.kind == api::Kind::kMap) node->element = FromTableType(*type.element);
  return node;
}

void SchemaBuilder::Finish() {
  for (bool changed = true; changed;) {
    changed = false;
    for (SchemaNode& node : arena_.nodes) {
      if (node.has_defaults) continue;
      const auto below = [](const SchemaProperty& p) { return p.default_value != nullptr || p.node->has_defaults; };
      node.has_defaults = node.derive_defaults != nullptr || (node.shape == Shape::kQuantity && !node.custom) ||
                          (node.element != nullptr && node.element->has_defaults) ||
                          std::any_of(node.properties.begin(), node.properties.end(), below);
      changed |= node.has_defaults;
    }
  }
}

}  // namespace gangway::schemas
