#include "sandbox/apiserver/apply/typed.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "api/json.h"
#include "api/json_value.h"
#include "base/strings.h"
#include "sandbox/apiserver/apply/walk.h"

namespace gangway::sandbox::apply {
namespace {

namespace json = boost::json;

constexpr std::size_t kMaxMistakes = 100;  // that are told

// How often each step stands in a list, by its text.
absl::flat_hash_map<std::string, int> CountSteps(const schemas::SchemaNode& node, const json::array& list) {
  absl::flat_hash_map<std::string, int> out;
  for (const json::value& element : list) {
    if (const std::optional<PathElement> step = StepOf(node, element)) ++out[step->text()];
  }
  return out;
}

}  // namespace

FieldSet FieldsOf(const json::value& config, const schemas::SchemaNode& type) {
  FieldSet out;
  switch (AtomOf(type, config)) {
    case Atom::kLeaf:
      break;
    case Atom::kMap:
      if (!config.is_object()) break;
      for (const auto& member : config.get_object()) {
        const schemas::SchemaNode* below = MemberNode(type, KeyOf(member));
        if (below == nullptr) continue;
        const json::value& value = member.value();
        const bool leaf = !value.is_null() && AtomOf(*below, value) == Atom::kLeaf;
        const bool empty = value.is_null() || (value.is_object() && value.get_object().empty());
        out.Add(PathElement::Field(KeyOf(member)), leaf || empty || !IsProperty(type, KeyOf(member)),
                FieldsOf(value, *below));
      }
      break;
    case Atom::kList: {
      if (!config.is_array()) break;
      const absl::flat_hash_map<std::string, int> counts = CountSteps(type, config.get_array());
      for (const json::value& element : config.get_array()) {
        std::optional<PathElement> step = StepOf(type, element);
        if (!step.has_value()) continue;
        const bool twice = counts.at(step->text()) > 1;
        out.Add(*std::move(step), true, twice ? FieldSet() : FieldsOf(element, *type.element));
      }
      break;
    }
  }
  out.Sort();
  return out;
}

namespace {

// Go's %v and %#v of a value read from JSON.
std::string GoPlain(const json::value& value) {
  return value.is_string() ? std::string(value.get_string().data(), value.get_string().size()) : api::ToJson(value);
}
absl::string_view GoType(const json::value& value) {
  switch (value.kind()) {
    case json::kind::null:
      return "<nil>";
    case json::kind::bool_:
      return "bool";
    case json::kind::int64:
    case json::kind::uint64:
      return "int64";
    case json::kind::double_:
      return "float64";
    case json::kind::string:
      return "string";
    case json::kind::array:
      return "[]interface {}";
    case json::kind::object:
      return "map[string]interface {}";
  }
  return "";
}

class Checker {
 public:
  std::vector<std::string> errors;

  void Check(const json::value& value, const schemas::SchemaNode& node, const std::string& path) {
    if (value.is_null()) return;
    if (IsMapShape(node)) {
      CheckMap(value, node, path);
    } else if (node.shape == schemas::Shape::kList) {
      CheckList(value, node, path);
    } else if (node.shape == schemas::Shape::kAny) {
      if (value.is_object()) CheckMap(value, node, path);
    } else {
      CheckScalar(value, node, path);
    }
  }

 private:
  void Add(const std::string& path, absl::string_view what) {
    if (errors.size() >= kMaxMistakes) return;
    errors.push_back(path.empty() ? std::string(what) : absl::StrCat(path, ": ", what));
  }

  void CheckMap(const json::value& value, const schemas::SchemaNode& node, const std::string& path) {
    if (!value.is_object()) return Add(path, absl::StrCat("expected map, got &{", GoPlain(value), "}"));
    std::vector<std::pair<absl::string_view, const json::value*>> members;
    for (const auto& member : value.get_object()) members.emplace_back(KeyOf(member), &member.value());
    std::sort(members.begin(), members.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [name, member] : members) {
      const std::string at = absl::StrCat(path, ".", name);
      const schemas::SchemaNode* below = MemberNode(node, name);
      if (below == nullptr) return Add(at, "field not declared in schema");
      Check(*member, *below, at);
    }
  }

  void CheckList(const json::value& value, const schemas::SchemaNode& node, const std::string& path) {
    if (!value.is_array()) return Add(path, absl::StrCat("expected list, got &{", GoPlain(value), "}"));
    absl::flat_hash_set<std::string> seen;
    for (std::size_t i = 0; i < value.get_array().size(); ++i) {
      const json::value& element = value.get_array()[i];
      std::string at = absl::StrCat(path, "[", i, "]");
      if (node.list_type != schemas::ListType::kAtomic) {
        const std::optional<PathElement> step = StepOf(node, element);
        if (!step.has_value()) return Add(path, absl::StrCat("element ", i, ": ", WhyNoStep(node, element)));
        std::string shown;
        step->AppendTo(shown);
        if (!seen.insert(step->text()).second) Add(path, absl::StrCat("duplicate entries for key ", shown));
        at = absl::StrCat(path, shown);
      }
      Check(element, *node.element, at);
    }
  }

  static std::string WhyNoStep(const schemas::SchemaNode& node, const json::value& element) {
    if (node.list_type == schemas::ListType::kSet) {
      if (element.is_object()) return "associative list without keys has an element that's a map type";
      if (element.is_array()) return "not supported: associative list with lists as elements";
      return "associative list without keys has an element that's an explicit null";
    }
    if (element.is_null()) return "associative list with keys may not have a null element";
    if (!element.is_object()) return "associative list with keys may not have non-map elements";
    std::string keys;
    for (const std::string_view key : node.element_keys) {
      absl::StrAppend(&keys, keys.empty() ? "" : " ", api::JsonString(View(key)));
    }
    return absl::StrCat("associative list with keys has an element that omits all key fields [", keys,
                        "] (and doesn't have default values for any key fields)");
  }

  void CheckScalar(const json::value& value, const schemas::SchemaNode& node, const std::string& path) {
    const bool scalar = value.is_number() || value.is_string() || value.is_bool();
    switch (node.shape) {
      case schemas::Shape::kInt32:
      case schemas::Shape::kInt64:
      case schemas::Shape::kNumber:
        if (!value.is_number()) Add(path, absl::StrCat("expected numeric (int or float), got ", GoType(value)));
        return;
      case schemas::Shape::kString:
      case schemas::Shape::kBase64:
        if (!value.is_string())
          Add(path, absl::StrCat("expected string, got &value.valueUnstructured{Value:", api::ToJson(value), "}"));
        return;
      case schemas::Shape::kBool:
        if (!value.is_bool()) Add(path, absl::StrCat("expected boolean, got &{", GoPlain(value), "}"));
        return;
      default:
        if (!scalar) Add(path, absl::StrCat("expected any scalar, got &{", GoPlain(value), "}"));
    }
  }
};

}  // namespace

std::vector<std::string> Mistakes(const json::value& config, const schemas::SchemaNode& type) {
  Checker checker;
  checker.Check(config, type, "");
  return std::move(checker.errors);
}

json::value Without(const json::value& object, const FieldSet& fields, const schemas::SchemaNode& type) {
  const auto below = [](const json::value& value, const FieldSet::Node* found, const schemas::SchemaNode* node) {
    return found != nullptr && found->children != nullptr && node != nullptr ? Without(value, *found->children, *node)
                                                                             : value;
  };
  if (object.is_object()) {
    json::object out;
    if (AtomOf(type, object) == Atom::kLeaf) return out;
    for (const auto& member : object.get_object()) {
      const FieldSet::Node* found = fields.Find(PathElement::Field(KeyOf(member)));
      if (found != nullptr && found->member) continue;
      out.emplace(member.key(), below(member.value(), found, MemberNode(type, KeyOf(member))));
    }
    return out;
  }
  if (object.is_array()) {
    json::array out;
    if (AtomOf(type, object) == Atom::kLeaf) return out;
    for (const json::value& element : object.get_array()) {
      const std::optional<PathElement> step = StepOf(type, element);
      const FieldSet::Node* found = step.has_value() ? fields.Find(*step) : nullptr;
      if (found != nullptr && found->member) continue;
      out.push_back(below(element, found, type.element));
    }
    return out;
  }
  return object;
}

void DropZeros(json::value& object, const schemas::SchemaNode& type) {
  if (object.is_array() && type.element != nullptr) {
    for (json::value& element : object.get_array()) DropZeros(element, *type.element);
  }
  if (!object.is_object()) return;
  json::object& members = object.get_object();
  for (auto at = members.begin(); at != members.end();) {
    const schemas::SchemaNode* below = MemberNode(type, KeyOf(*at));
    if (below != nullptr) DropZeros(at->value(), *below);
    const schemas::SchemaProperty* property =
        type.shape == schemas::Shape::kObject ? type.Find(StdView(KeyOf(*at))) : nullptr;
    at = property != nullptr && property->drops_zero && IsZero(at->value()) ? api::EraseMember(members, at) : at + 1;
  }
}

void WriteAsGo(json::value& object, const schemas::SchemaNode& type) {
  if (object.is_array() && type.element != nullptr) {
    for (json::value& element : object.get_array()) WriteAsGo(element, *type.element);
  }
  if (!object.is_object()) return;
  json::object& members = object.get_object();
  if (type.has_zeros) {
    for (const schemas::SchemaProperty& property : type.properties) {
      if (property.zero == nullptr) continue;
      json::value& value = members[{property.name.data(), property.name.size()}];
      if (value.is_null()) value = *property.zero;
    }
  }
  for (auto at = members.begin(); at != members.end();) {
    const schemas::SchemaProperty* property =
        type.shape == schemas::Shape::kObject ? type.Find(StdView(KeyOf(*at))) : nullptr;
    const schemas::SchemaNode* below = property != nullptr ? property->node : MemberNode(type, KeyOf(*at));
    if (below != nullptr) WriteAsGo(at->value(), *below);
    at = property != nullptr && property->drops_zero && IsZero(at->value()) ? api::EraseMember(members, at) : at + 1;
  }
}

FieldSet WithNamedParents(const FieldSet& fields, const schemas::SchemaNode* type) {
  FieldSet out;
  for (const FieldSet::Node& node : fields.nodes()) {
    if (node.children == nullptr) {
      out.Add(node.step, node.member, {});
      continue;
    }
    const schemas::SchemaNode* below = nullptr;
    bool named = false;
    if (type != nullptr && node.step.kind() == StepKind::kField) {
      below = MemberNode(*type, node.step.text());
      named = IsProperty(*type, node.step.text());
    } else if (type != nullptr && node.step.kind() == StepKind::kKeys && type->shape == schemas::Shape::kList) {
      below = type->element;
    }
    out.Add(node.step, node.member || named, WithNamedParents(*node.children, below));
  }
  return out;
}

}  // namespace gangway::sandbox::apply
