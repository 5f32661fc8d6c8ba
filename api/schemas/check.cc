// Check, Prune and ApplyDefaults: walks over an object along its schema's nodes.
#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/core/pod_validation.h"
#include "api/field_rules.h"
#include "api/json_value.h"
#include "api/quantity.h"
#include "api/schemas/schema_node.h"
#include "api/schemas/schemas.h"
#include "base/strings.h"
#include "boost/json.hpp"

namespace gangway::schemas {
namespace {

namespace json = boost::json;

constexpr std::size_t kMaxFindings = 50;

std::string_view KeyOf(const json::key_value_pair& member) { return {member.key().data(), member.key().size()}; }

// Where a walk is, as links on the stack: text is made only when there is something to say.
struct Place {
  const Place* above = nullptr;
  std::string_view key = {};
  std::size_t index = 0;
  bool indexed = false;

  std::string ToString() const {
    if (above == nullptr) return {};
    std::string path = above->ToString();
    if (indexed) {
      absl::StrAppend(&path, "[", index, "]");
    } else {
      absl::StrAppend(&path, path.empty() ? "" : ".", View(key));
    }
    return path;
  }
};

bool IsInteger(const json::value& value, std::int64_t low, std::int64_t high) {
  const std::int64_t* number = value.if_int64();
  return number != nullptr && *number >= low && *number <= high;
}

// "2026-11-21T05:11:53Z" is what nearly all times look like.
bool IsTime(absl::string_view text) {
  constexpr std::string_view kLike = "0000-00-00T00:00:00Z";
  bool plain = text.size() == kLike.size();
  for (std::size_t i = 0; plain && i < text.size(); ++i) {
    plain = kLike[i] == '0' ? text[i] >= '0' && text[i] <= '9' : text[i] == kLike[i];
  }
  const auto two = [&](std::size_t at) { return (text[at] - '0') * 10 + (text[at + 1] - '0'); };
  if (plain && two(5) >= 1 && two(5) <= 12 && two(8) >= 1 && two(8) <= 28 && two(11) < 24 && two(14) < 60 &&
      two(17) < 60) {
    return true;
  }
  return api::ParseTime(text).ok();
}

bool IsBase64(absl::string_view text) {
  std::size_t length = 0, padding = 0;
  for (const char c : text) {
    if (c == '\n' || c == '\r') continue;
    const bool digit =
        (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '/';
    if (c == '=') ++padding;
    if ((!digit && c != '=') || (digit && padding != 0)) return false;
    ++length;
  }
  return length % 4 == 0 && padding <= 2;
}

// What `value` should have been; "" when it is that.
std::string_view WantedInstead(const json::value& value, Shape shape) {
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min(),
                         kMax = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kMin32 = std::numeric_limits<std::int32_t>::min(),
                         kMax32 = std::numeric_limits<std::int32_t>::max();
  switch (shape) {
    case Shape::kAny:
      return {};
    case Shape::kFree:
    case Shape::kObject:
    case Shape::kMap:
      return value.is_object() ? "" : "an object";
    case Shape::kList:
      return value.is_array() ? "" : "a list";
    case Shape::kString:
      return value.is_string() ? "" : "a string";
    case Shape::kBase64:
      return value.is_string() && IsBase64(api::AbslView(value.get_string())) ? "" : "a string in base64";
    case Shape::kBool:
      return value.is_bool() ? "" : "a boolean";
    case Shape::kInt32:
      return IsInteger(value, kMin32, kMax32) ? "" : "a 32-bit integer";
    case Shape::kInt64:
      return IsInteger(value, kMin, kMax) ? "" : "a 64-bit integer";
    case Shape::kNumber:
      return value.is_number() ? "" : "a number";
    case Shape::kIntOrString:
      return value.is_string() || IsInteger(value, kMin32, kMax32) ? "" : "an integer or a string";
    case Shape::kQuantity:
      if (value.is_number()) return {};
      return value.is_string() && api::Quantity::Parse(api::AbslView(value.get_string())).ok()
                 ? ""
                 : "a quantity such as \"500m\" or \"2Gi\"";
    case Shape::kTime:
      return value.is_string() && IsTime(api::AbslView(value.get_string())) ? ""
                                                                            : "a time such as \"2026-11-21T05:11:53Z\"";
  }
  return {};
}

class Checker {
 public:
  explicit Checker(Findings& findings) : findings_(findings) {}

  // `judged`: rules count here.
  void Visit(const json::value& value, const SchemaNode& node, const Place& place, bool judged) {
    if (value.is_null() && node.nullable) return;
    if (const std::string_view wanted = WantedInstead(value, node.shape); !wanted.empty()) {
      WrongType(value, node, place, wanted);
      return;
    }
    switch (node.shape) {
      case Shape::kObject:
        VisitObject(value, node, place, judged);
        break;
      case Shape::kMap:
        for (const json::key_value_pair& member : value.get_object()) {
          if (!member.value().is_null()) Visit(member.value(), *node.element, {&place, KeyOf(member)}, judged);
        }
        break;
      case Shape::kList: {
        std::size_t index = 0;
        for (const json::value& element : value.get_array()) {
          Visit(element, *node.element, {&place, {}, index++, true}, judged);
        }
        break;
      }
      case Shape::kString:
        if (judged && !node.custom && !node.one_of.empty()) CheckEnum(value, node, place);
        break;
      case Shape::kAny:
      case Shape::kFree:
      case Shape::kBase64:
      case Shape::kBool:
      case Shape::kInt32:
      case Shape::kInt64:
      case Shape::kNumber:
      case Shape::kQuantity:
      case Shape::kIntOrString:
      case Shape::kTime:
        break;
    }
  }

 private:
  void VisitObject(const json::value& value, const SchemaNode& node, const Place& place, bool judged) {
    const json::object& object = value.get_object();
    const bool judged_below = judged && (!node.pod_spec || node.custom);
    std::size_t required = 0;
    for (const json::key_value_pair& member : object) {
      const SchemaProperty* property = node.Find(KeyOf(member));
      if (property == nullptr) {
        if (!node.keeps_unknown) Unknown({&place, KeyOf(member)});
        continue;
      }
      if (member.value().is_null()) continue;
      if (property->required && !IsAbsent(member.value(), node)) ++required;
      Visit(member.value(), *property->node, {&place, property->name}, judged_below && !property->is_status);
    }
    if (judged_below && required < node.required.size()) Missing(object, node, place);
    if (judged && node.pod_spec && !node.custom) AddErrors(api::core::CheckPodSpec(value, place.ToString()));
  }

  // A CustomResourceDefinition takes an empty text for a value.
  static bool IsAbsent(const json::value& value, const SchemaNode& node) {
    return value.is_null() || (!node.custom && IsEmptyText(value));
  }
  static bool IsEmptyText(const json::value& value) { return value.is_string() && value.get_string().empty(); }

  void Missing(const json::object& object, const SchemaNode& node, const Place& place) {
    for (const std::string_view name : node.required) {
      const json::value* value = object.if_contains({name.data(), name.size()});
      if (value != nullptr && !IsAbsent(*value, node)) continue;
      AddErrors({{api::FieldError::Type::kRequired, Place{&place, name}.ToString(), {}, {}, {}}});
    }
  }

  // An empty text is absent to Kubernetes.
  void CheckEnum(const json::value& value, const SchemaNode& node, const Place& place) {
    if (IsEmptyText(value) || std::find(node.one_of.begin(), node.one_of.end(),
                                        StdView(api::AbslView(value.get_string()))) != node.one_of.end())
      return;
    std::string rule = "supported values: ";
    for (const std::string_view allowed : node.one_of) {
      absl::StrAppend(&rule, allowed == node.one_of.front() ? "" : ", ", "\"", View(allowed), "\"");
    }
    AddErrors({{api::FieldError::Type::kNotSupported, place.ToString(), api::ToJson(value), std::move(rule), {}}});
  }

  void WrongType(const json::value& value, const SchemaNode& node, const Place& place, std::string_view wanted) {
    const std::string found = Shortened(value.is_object()  ? "an object"
                                        : value.is_array() ? "a list"
                                                           : api::ToJson(value));
    std::string rule = absl::StrCat("must be ", View(wanted));
    if (node.custom) {
      // A quantity is a text with a pattern there (recorded: admission row 125).
      const bool pattern = node.shape == Shape::kQuantity && value.is_string();
      AddErrors({{pattern ? api::FieldError::Type::kInvalid : api::FieldError::Type::kTypeInvalid,
                  place.ToString(),
                  Shortened(api::ToJson(value)),
                  std::move(rule),
                  {}}});
    } else if (findings_.unreadable.empty()) {
      const std::string path = place.ToString();
      findings_.unreadable = absl::StrCat(path, path.empty() ? "" : ": ", rule, ", not ", found);
    }
  }

  static std::string Shortened(std::string text) {
    constexpr std::size_t kMax = 80;
    if (text.size() <= kMax) return text;
    std::size_t end = kMax;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // not within a character
    return text.substr(0, end) + "...";
  }

  void Unknown(const Place& place) {
    if (findings_.unknown.size() < kMaxFindings) findings_.unknown.push_back(place.ToString());
  }
  void AddErrors(api::FieldErrors errors) {
    for (api::FieldError& error : errors) {
      if (findings_.errors.size() < kMaxFindings) findings_.errors.push_back(std::move(error));
    }
  }

  Findings& findings_;
};

void PruneNode(json::value& value, const SchemaNode& node) {
  if (node.shape == Shape::kList && value.is_array()) {
    for (json::value& element : value.get_array()) PruneNode(element, *node.element);
    return;
  }
  if ((node.shape != Shape::kObject && node.shape != Shape::kMap) || !value.is_object()) return;
  json::object& object = value.get_object();
  for (auto at = object.begin(); at != object.end();) {
    const SchemaProperty* property = node.shape == Shape::kMap ? nullptr : node.Find(KeyOf(*at));
    const SchemaNode* below = node.shape == Shape::kMap ? node.element : property == nullptr ? nullptr : property->node;
    if (below == nullptr && node.keeps_unknown) {
      ++at;
    } else if (below == nullptr || (at->value().is_null() && !below->nullable)) {
      at = api::EraseMember(object, at);
    } else {
      PruneNode(at->value(), *below);
      ++at;
    }
  }
}

void MakeCanonical(json::value& value) {
  const absl::StatusOr<api::Quantity> quantity =
      api::Quantity::Parse(value.is_string() ? std::string(api::AbslView(value.get_string())) : api::ToJson(value));
  if (!quantity.ok()) return;
  const std::string text = quantity->ToString();
  if (!value.is_string() || api::AbslView(value.get_string()) != text)
    value = json::string_view(text.data(), text.size());
}

void FillIn(json::value& value, const SchemaNode& node) {
  if (!node.has_defaults) return;
  if (node.shape == Shape::kQuantity) {
    MakeCanonical(value);
  } else if (node.shape == Shape::kList && value.is_array()) {
    for (json::value& element : value.get_array()) FillIn(element, *node.element);
  } else if (node.shape == Shape::kMap && value.is_object()) {
    for (json::key_value_pair& member : value.get_object()) FillIn(member.value(), *node.element);
  } else if (node.shape == Shape::kObject && value.is_object()) {
    json::object& object = value.get_object();
    for (json::key_value_pair& member : object) {
      if (const SchemaProperty* property = node.Find(KeyOf(member))) FillIn(member.value(), *property->node);
    }
    for (const SchemaProperty& property : node.properties) {
      if (property.default_value == nullptr) continue;
      const json::value* present = object.if_contains({property.name.data(), property.name.size()});
      if (present == nullptr || (present->is_null() && !property.node->nullable))
        object[{property.name.data(), property.name.size()}] = *property.default_value;
    }
    if (node.derive_defaults != nullptr) node.derive_defaults(object);
  }
}

}  // namespace

Findings Check(const json::value& object, const Schema& schema) {
  Findings findings;
  Checker(findings).Visit(object, *schema.root, {}, schema.judged);
  return findings;
}

std::vector<std::string> FieldsAt(const Schema& schema, absl::string_view path) {
  const SchemaNode* node = schema.root;
  const auto enter = [&node] {
    while (node != nullptr && node->shape == Shape::kList) node = node->element;
  };
  if (!path.empty()) {
    for (const absl::string_view step : absl::StrSplit(path, '.')) {
      enter();
      if (node == nullptr) return {};
      if (node->shape == Shape::kMap) {
        node = node->element;
      } else {
        const SchemaProperty* property = node->Find(StdView(step.substr(0, step.find('['))));
        node = property == nullptr ? nullptr : property->node;
      }
    }
  }
  enter();
  std::vector<std::string> names;
  if (node == nullptr || node->shape != Shape::kObject) return names;
  for (const SchemaProperty& property : node->properties) names.emplace_back(property.name);
  return names;
}

void Prune(json::value& object, const Schema& schema) { PruneNode(object, *schema.root); }

void ApplyDefaults(json::value& object, const Schema& schema) {
  if (schema.table != nullptr) api::ApplyTableDefaults(*schema.table, object);
  FillIn(object, *schema.root);
}

}  // namespace gangway::schemas
