#include "sandbox/apiserver/apply/walk.h"

#include <utility>
#include <vector>

#include "base/strings.h"

namespace gangway::sandbox::apply {
namespace {

namespace json = boost::json;

const schemas::SchemaNode kDeduced;  // Shape::kAny: maps are granular, lists atomic

}  // namespace

bool IsMapShape(const schemas::SchemaNode& node) {
  return node.shape == schemas::Shape::kObject || node.shape == schemas::Shape::kMap ||
         node.shape == schemas::Shape::kFree;
}

Atom AtomOf(const schemas::SchemaNode& node, const json::value& value) {
  if (node.shape == schemas::Shape::kAny) return value.is_object() || value.is_null() ? Atom::kMap : Atom::kLeaf;
  if (IsMapShape(node)) return node.atomic ? Atom::kLeaf : Atom::kMap;
  if (node.shape == schemas::Shape::kList)
    return node.list_type == schemas::ListType::kAtomic ? Atom::kLeaf : Atom::kList;
  return Atom::kLeaf;
}

const schemas::SchemaNode* MemberNode(const schemas::SchemaNode& node, absl::string_view name) {
  switch (node.shape) {
    case schemas::Shape::kObject: {
      const schemas::SchemaProperty* property = node.Find(StdView(name));
      if (property == nullptr && node.keeps_unknown) return &kDeduced;
      return property == nullptr ? nullptr : property->node;
    }
    case schemas::Shape::kMap:
      return node.element;
    case schemas::Shape::kFree:
    case schemas::Shape::kAny:
      return &kDeduced;
    default:
      return nullptr;
  }
}

bool IsProperty(const schemas::SchemaNode& node, absl::string_view name) {
  return node.shape == schemas::Shape::kObject && node.Find(StdView(name)) != nullptr;
}

bool IsZero(const json::value& value) {
  switch (value.kind()) {
    case json::kind::null:
      return true;
    case json::kind::bool_:
      return !value.get_bool();
    case json::kind::int64:
      return value.get_int64() == 0;
    case json::kind::uint64:
      return value.get_uint64() == 0;
    case json::kind::double_:
      return value.get_double() == 0;
    case json::kind::string:
      return value.get_string().empty();
    case json::kind::array:
      return value.get_array().empty();
    case json::kind::object:
      return value.get_object().empty();
  }
  return false;
}

std::optional<PathElement> StepOf(const schemas::SchemaNode& list, const json::value& element) {
  if (list.list_type == schemas::ListType::kSet) {
    if (element.is_object() || element.is_array() || element.is_null()) return std::nullopt;
    return PathElement::Value(element);
  }
  const json::object* object = element.if_object();
  if (object == nullptr) return std::nullopt;
  std::vector<std::pair<absl::string_view, const json::value*>> keys;
  keys.reserve(list.element_keys.size());
  for (const std::string_view name : list.element_keys) {
    const json::value* value = object->if_contains({name.data(), name.size()});
    if (value == nullptr) {
      const schemas::SchemaProperty* property = list.element->Find(name);
      if (property != nullptr) value = property->default_value;
      // What Go always writes the published schema has as a default, too.
      if (value == nullptr && property != nullptr && property->zero != nullptr && !property->zero->is_null())
        value = property->zero;
    }
    if (value != nullptr) keys.emplace_back(View(name), value);
  }
  if (keys.empty()) return std::nullopt;
  return PathElement::Keys(keys);
}

}  // namespace gangway::sandbox::apply
