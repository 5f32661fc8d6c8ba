#include "api/schemas/declared_schema.h"

#include <algorithm>
#include <utility>

#include "api/schemas/schema_builder.h"
#include "api/schemas/schema_node.h"
#include "api/schemas/value_rules.h"
#include "base/check.h"
#include "base/strings.h"

namespace gangway::schemas {
namespace {

namespace json = boost::json;
using api::FieldErrors;
using declared::AbslView;
using declared::FlagOf;
using declared::ListOf;
using declared::Member;
using declared::ObjectOf;
using declared::Patterns;
using declared::TextOf;

const SchemaNode* MetadataNode() { return Schemas::Shared().For(api::kPods)->root->Find("metadata")->node; }

class Compiler {
 public:
  explicit Compiler(SchemaArena& arena) : arena_(arena) {}

  // Each default with the type that it is of; those deepest down come first.
  const std::vector<std::pair<json::value*, const SchemaNode*>>& defaults() const { return defaults_; }

  const SchemaNode* Root(const json::value& schema) {
    SchemaNode* const root = Node(schema);
    GW_CHECK(root->shape == Shape::kObject || root->shape == Shape::kFree);
    if (root->shape == Shape::kFree) root->shape = Shape::kObject, root->keeps_unknown = true;
    AddTypeMeta(*root);
    Finish(*root);
    return root;
  }

 private:
  SchemaNode* New(Shape shape) {
    SchemaNode& node = arena_.nodes.emplace_back();
    node.shape = shape;
    node.custom = true;
    return &node;
  }

  SchemaNode* Node(const json::value& value) {
    const json::object* const schema = value.if_object();
    if (schema == nullptr) return New(Shape::kAny);
    const absl::string_view type = TextOf(*schema, "type");
    SchemaNode* node = New(FlagOf(*schema, "x-kubernetes-int-or-string") ? Shape::kIntOrString
                           : type == "boolean"                           ? Shape::kBool
                           : type == "integer"                           ? Shape::kInt64
                           : type == "number"                            ? Shape::kNumber
                           : type == "string"                            ? Shape::kString
                           : type == "array"                             ? Shape::kList
                           : type == "object"                            ? Shape::kObject
                                                                         : Shape::kAny);
    node->nullable = FlagOf(*schema, "nullable");
    if (node->shape == Shape::kObject) FillObject(*schema, *node);
    if (node->shape == Shape::kList) FillList(*schema, *node);
    return node;
  }

  void FillObject(const json::object& schema, SchemaNode& node) {
    const json::object* const properties = ObjectOf(schema, "properties");
    const json::value* const others = Member(schema, "additionalProperties");
    const bool keeps = FlagOf(schema, "x-kubernetes-preserve-unknown-fields");
    node.atomic = TextOf(schema, "x-kubernetes-map-type") == "atomic";
    const bool embedded = FlagOf(schema, "x-kubernetes-embedded-resource");
    if ((properties == nullptr || properties->empty()) && !embedded) {
      if (others != nullptr && others->is_object()) {
        node.shape = Shape::kMap;
        node.element = Node(*others);
        return;
      }
      if (keeps || (others != nullptr && others->is_bool() && others->get_bool())) {
        node.shape = Shape::kFree;
        return;
      }
    }
    node.keeps_unknown = keeps;
    if (properties != nullptr) {
      for (const auto& member : *properties) {
        SchemaProperty made;
        made.name = arena_.Intern(StdView(AbslView(member.key())));
        made.node = Node(member.value());
        const json::object* const below = member.value().if_object();
        const json::value* const given = below == nullptr ? nullptr : Member(*below, "default");
        if (given != nullptr) {
          made.default_value = &arena_.values.emplace_back(*given);
          defaults_.emplace_back(&arena_.values.back(), made.node);
        }
        node.properties.push_back(made);
      }
    }
    if (embedded) AddTypeMeta(node);
    Finish(node);
  }

  void FillList(const json::object& schema, SchemaNode& node) {
    const json::value* const items = Member(schema, "items");
    node.element = items == nullptr ? New(Shape::kAny) : Node(*items);
    const absl::string_view list_type = TextOf(schema, "x-kubernetes-list-type");
    node.keys.set = list_type == "set";
    if (list_type == "set") node.list_type = ListType::kSet;
    if (list_type != "map") return;
    node.list_type = ListType::kMap;
    if (const json::array* const keys = ListOf(schema, "x-kubernetes-list-map-keys")) {
      for (const json::value& key : *keys)
        node.keys.map_keys.push_back(arena_.Intern(StdView(AbslView(key.get_string()))));
    }
    node.element_keys = node.keys.map_keys;
    std::sort(node.element_keys.begin(), node.element_keys.end());
  }

  // What every object has, whatever its schema says of it.
  void AddTypeMeta(SchemaNode& node) {
    std::erase_if(node.properties, [](const SchemaProperty& property) {
      return property.name == "apiVersion" || property.name == "kind" || property.name == "metadata";
    });
    SchemaProperty api_version, kind, metadata;
    api_version.name = "apiVersion", kind.name = "kind", metadata.name = "metadata";
    api_version.node = kind.node = New(Shape::kString);
    metadata.node = MetadataNode();
    node.properties.insert(node.properties.end(), {api_version, kind, metadata});
  }

  // Its properties are complete.
  void Finish(SchemaNode& node) { node.SortProperties(); }

  SchemaArena& arena_;
  std::vector<std::pair<json::value*, const SchemaNode*>> defaults_;
};

// Those below first: a node is made before them.
void MarkDefaults(SchemaArena& arena) {
  for (auto node = arena.nodes.rbegin(); node != arena.nodes.rend(); ++node) {
    node->has_defaults = (node->element != nullptr && node->element->has_defaults) ||
                         std::any_of(node->properties.begin(), node->properties.end(), [](const SchemaProperty& p) {
                           return p.default_value != nullptr || p.node->has_defaults;
                         });
  }
}

}  // namespace

struct DeclaredSchema::Parts {
  json::value source;
  SchemaArena arena;
  Patterns patterns;
  Schema schema;
};

DeclaredSchema::DeclaredSchema(absl::string_view kind, json::value source) : parts_(std::make_unique<Parts>()) {
  parts_->source = std::move(source);
  declared::CollectPatterns(parts_->source, parts_->patterns);
  parts_->schema.kind = parts_->arena.Intern(StdView(kind));
  Compiler compiler(parts_->arena);
  parts_->schema.root = compiler.Root(parts_->source);
  parts_->schema.custom = true;
  parts_->schema.declared = this;
  MarkDefaults(parts_->arena);
  // A default may leave out what has a default of its own.
  for (const auto& [value, node] : compiler.defaults()) {
    Schema below;
    below.root = node;
    ApplyDefaults(*value, below);
  }
}

DeclaredSchema::~DeclaredSchema() = default;
const Schema& DeclaredSchema::schema() const { return parts_->schema; }
const json::value& DeclaredSchema::source() const { return parts_->source; }

FieldErrors DeclaredSchema::Judge(const json::value& object, const json::value* before) const {
  return declared::JudgeValue(object, parts_->source, parts_->patterns, "", before);
}

}  // namespace gangway::schemas
