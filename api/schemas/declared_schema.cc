#include "api/schemas/declared_schema.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/civil_time.h"
#include "absl/time/time.h"
#include "api/field_table.h"
#include "api/json_value.h"
#include "api/schemas/schema_builder.h"
#include "api/schemas/schema_node.h"
#include "base/check.h"
#include "base/strings.h"
#include "boost/json.hpp"

namespace gangway::schemas {
namespace {

namespace json = boost::json;
using api::AbslView;
using api::FieldError;
using api::FieldErrors;
using api::JsonView;

constexpr std::size_t kMaxErrors = 50;
// Values held against rules, and bytes of texts held against patterns, of one object.
constexpr std::int64_t kMaxSteps = 1'000'000;  // some tenths of a second
constexpr std::int64_t kPatternMemory = 1 << 20;
constexpr std::size_t kMaxPattern = 4096;

const json::value* Member(const json::object& object, absl::string_view name) {
  return object.if_contains(JsonView(name));
}
absl::string_view TextOf(const json::object& object, absl::string_view name) {
  const json::value* const value = Member(object, name);
  return value != nullptr && value->is_string() ? AbslView(value->get_string()) : absl::string_view();
}
bool FlagOf(const json::object& object, absl::string_view name) {
  const json::value* const value = Member(object, name);
  return value != nullptr && value->is_bool() && value->get_bool();
}
const json::object* ObjectOf(const json::object& object, absl::string_view name) {
  const json::value* const value = Member(object, name);
  return value == nullptr ? nullptr : value->if_object();
}
const json::array* ListOf(const json::object& object, absl::string_view name) {
  const json::value* const value = Member(object, name);
  return value == nullptr ? nullptr : value->if_array();
}
std::optional<double> NumberOf(const json::object& object, absl::string_view name) {
  const json::value* const value = Member(object, name);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  return value->to_number<double>();
}

std::string Text(double number) {
  return std::floor(number) == number && std::abs(number) < 1e15 ? absl::StrCat(static_cast<std::int64_t>(number))
                                                                 : absl::StrCat(number);
}
std::string JsonText(absl::string_view text) { return api::ToJson(json::value(JsonView(text))); }

std::shared_ptr<const re2::RE2> CompilePattern(absl::string_view pattern) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kPatternMemory);
  if (pattern.size() > kMaxPattern) return nullptr;
  auto compiled = std::make_shared<const re2::RE2>(re2::StringPiece(pattern.data(), pattern.size()), options);
  return compiled->ok() ? compiled : nullptr;
}

using Patterns = absl::flat_hash_map<std::string, std::shared_ptr<const re2::RE2>>;

// Calls `visit` with each schema below: properties, items, additional properties, and those that only judge.
template <class Visit>
void ForEachBelow(const json::object& schema, Visit visit) {
  if (const json::object* const properties = ObjectOf(schema, "properties")) {
    for (const auto& member : *properties) visit(member.value());
  }
  for (const absl::string_view name : {"items", "additionalProperties", "not"}) {
    if (const json::value* const below = Member(schema, name)) visit(*below);
  }
  for (const absl::string_view name : {"allOf", "anyOf", "oneOf"}) {
    if (const json::array* const list = ListOf(schema, name)) {
      for (const json::value& below : *list) visit(below);
    }
  }
}

void CollectPatterns(const json::value& schema, Patterns& out) {
  const json::object* const object = schema.if_object();
  if (object == nullptr) return;
  if (const absl::string_view pattern = TextOf(*object, "pattern"); !pattern.empty())
    out.try_emplace(std::string(pattern), CompilePattern(pattern));
  ForEachBelow(*object, [&](const json::value& below) { CollectPatterns(below, out); });
}

// --- judging values

std::size_t Characters(absl::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

bool IsWhole(const json::value& value) {
  if (value.is_int64() || value.is_uint64()) return true;
  if (!value.is_double()) return false;
  const double number = value.get_double();
  return std::floor(number) == number && std::abs(number) < 9.2e18;
}

absl::string_view TypeName(const json::value& value) {
  switch (value.kind()) {
    case json::kind::null:
      return "null";
    case json::kind::bool_:
      return "boolean";
    case json::kind::int64:
    case json::kind::uint64:
      return "integer";
    case json::kind::double_:
      return "number";
    case json::kind::string:
      return "string";
    case json::kind::array:
      return "array";
    case json::kind::object:
      return "object";
  }
  return "";
}

bool HasType(const json::value& value, absl::string_view type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_bool();
  if (type == "integer") return IsWhole(value);
  return type != "number" || value.is_number();
}

bool IsDate(absl::string_view text) {
  absl::CivilDay day;
  return text.size() == 10 && absl::ParseCivilTime(text, &day);
}
bool IsUuid(absl::string_view text) {
  if (text.size() != 36) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? text[i] != '-' : !absl::ascii_isxdigit(static_cast<unsigned char>(text[i]))) return false;
  }
  return true;
}

// Of the formats that are judged.
bool HasFormat(absl::string_view text, absl::string_view format) {
  if (format == "date-time") return api::ParseTime(text).ok();
  if (format == "date") return IsDate(text);
  if (format == "uuid") return IsUuid(absl::AsciiStrToLower(text));
  if (format == "byte") {
    static const re2::RE2 base64("^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$");
    return re2::RE2::FullMatch(re2::StringPiece(text.data(), text.size()), base64);
  }
  return true;
}

class Judging {
 public:
  explicit Judging(const Patterns& patterns) : patterns_(patterns) {}

  FieldErrors Take() { return std::move(errors_); }

  void Judge(const json::value& value, const json::value& schema, const std::string& path, const json::value* before) {
    const json::object* const rules = schema.if_object();
    if (rules == nullptr || !Step(path)) return;
    if (before != nullptr && *before == value) return;
    if (value.is_null() && FlagOf(*rules, "nullable")) return;
    if (!JudgeType(value, *rules, path)) return;
    JudgeEnum(value, *rules, path);
    if (value.is_string()) JudgeText(value, *rules, path);
    if (value.is_number()) JudgeNumber(value, *rules, path);
    if (value.is_array()) JudgeList(value, *rules, path, before);
    if (value.is_object()) JudgeObject(value, *rules, path, before);
    JudgeJunctors(value, *rules, path);
  }

 private:
  bool Step(const std::string& path, std::int64_t cost = 1) {
    if (steps_ < 0) return false;
    if ((steps_ -= cost) >= 0) return true;
    errors_.push_back({FieldError::Type::kInvalid, path, "",
                       absl::StrCat("the object takes more than ", kMaxSteps, " steps to be judged"), ""});
    return false;
  }
  void Add(FieldError::Type type, absl::string_view path, std::string value, std::string rule) {
    if (errors_.size() < kMaxErrors)
      errors_.push_back({type, std::string(path), std::move(value), std::move(rule), {}});
  }
  void AddInvalid(absl::string_view path, const json::value& value, absl::string_view rule) {
    constexpr std::size_t kMaxShown = 80;
    const bool shown =
        !value.is_object() && !value.is_array() && (!value.is_string() || value.get_string().size() <= kMaxShown);
    Add(FieldError::Type::kInvalid, path, shown ? api::ToJson(value) : "", absl::StrCat(path, " in body ", rule));
  }

  bool JudgeType(const json::value& value, const json::object& rules, const std::string& path) {
    std::string_view type = StdView(TextOf(rules, "type"));
    if (FlagOf(rules, "x-kubernetes-int-or-string")) {
      if (value.is_string() || IsWhole(value)) return true;
      type = "integer,string";
    } else if (type.empty() || HasType(value, View(type))) {
      return true;
    }
    Add(FieldError::Type::kTypeInvalid, path, JsonText(TypeName(value)),
        absl::StrCat(path, " in body must be of type ", View(type), ": ", JsonText(TypeName(value))));
    return false;
  }

  void JudgeEnum(const json::value& value, const json::object& rules, absl::string_view path) {
    const json::array* const allowed = ListOf(rules, "enum");
    if (allowed == nullptr || !Step(std::string(path), static_cast<std::int64_t>(allowed->size())) ||
        std::find(allowed->begin(), allowed->end(), value) != allowed->end())
      return;
    const std::string list =
        absl::StrJoin(*allowed, ", ", [](std::string* out, const json::value& each) { *out += api::ToJson(each); });
    Add(FieldError::Type::kNotSupported, path, api::ToJson(value), absl::StrCat("supported values: ", list));
  }

  void JudgeText(const json::value& value, const json::object& rules, const std::string& path) {
    const absl::string_view text = AbslView(value.get_string());
    if (!Step(path, static_cast<std::int64_t>(text.size() / 16))) return;
    const auto length = static_cast<double>(Characters(text));
    if (const auto most = NumberOf(rules, "maxLength"); most.has_value() && length > *most) {
      Add(FieldError::Type::kTooLong, path, "", absl::StrCat("may not be more than ", Text(*most), " bytes"));
    }
    if (const auto least = NumberOf(rules, "minLength"); least.has_value() && length < *least)
      AddInvalid(path, value, absl::StrCat("should be at least ", Text(*least), " chars long"));
    if (const absl::string_view pattern = TextOf(rules, "pattern"); !pattern.empty()) {
      const auto compiled = patterns_.find(pattern);
      if (compiled != patterns_.end() && compiled->second != nullptr &&
          Step(path, static_cast<std::int64_t>(text.size())) &&
          !re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *compiled->second))
        AddInvalid(path, value, absl::StrCat("should match '", pattern, "'"));
    }
    if (const absl::string_view format = TextOf(rules, "format"); !HasFormat(text, format))
      AddInvalid(path, value, absl::StrCat("must be of type ", format));
  }

  void JudgeNumber(const json::value& value, const json::object& rules, absl::string_view path) {
    const double number = value.to_number<double>();
    const absl::string_view format = TextOf(rules, "format");
    if (format == "int32" && IsWhole(value) &&
        (number < std::numeric_limits<std::int32_t>::min() || number > std::numeric_limits<std::int32_t>::max())) {
      AddInvalid(path, value, absl::StrCat("must be of type int32: ", JsonText("int64")));
    }
    if (const auto least = NumberOf(rules, "minimum")) {
      const bool beyond = FlagOf(rules, "exclusiveMinimum");
      if (beyond ? number <= *least : number < *least)
        AddInvalid(
            path, value,
            absl::StrCat(beyond ? "should be greater than " : "should be greater than or equal to ", Text(*least)));
    }
    if (const auto most = NumberOf(rules, "maximum")) {
      const bool below = FlagOf(rules, "exclusiveMaximum");
      if (below ? number >= *most : number > *most)
        AddInvalid(path, value,
                   absl::StrCat(below ? "should be less than " : "should be less than or equal to ", Text(*most)));
    }
    if (const auto factor = NumberOf(rules, "multipleOf"); factor.has_value() && *factor > 0) {
      const double times = number / *factor;
      if (std::abs(times - std::round(times)) > 1e-9)
        AddInvalid(path, value, absl::StrCat("should be a multiple of ", Text(*factor)));
    }
  }

  static std::string KeysOf(const json::value& element, const json::array& keys) {
    json::object out;
    for (const json::value& key : keys) {
      if (!key.is_string() || !element.is_object()) continue;
      if (const json::value* const value = element.get_object().if_contains(key.get_string()))
        out[key.get_string()] = *value;
    }
    return api::ToJson(out);
  }

  void JudgeList(const json::value& value, const json::object& rules, const std::string& path,
                 const json::value* before) {
    const json::array& list = value.get_array();
    const auto size = static_cast<double>(list.size());
    if (const auto most = NumberOf(rules, "maxItems"); most.has_value() && size > *most) {
      Add(FieldError::Type::kTooMany, path, absl::StrCat(list.size()),
          absl::StrCat("must have at most ", Text(*most), " items"));
    }
    if (const auto least = NumberOf(rules, "minItems"); least.has_value() && size < *least)
      AddInvalid(path, value, absl::StrCat("should have at least ", Text(*least), " items"));
    const absl::string_view list_type = TextOf(rules, "x-kubernetes-list-type");
    const json::array* const keys = list_type == "map" ? ListOf(rules, "x-kubernetes-list-map-keys") : nullptr;
    // What an element was is known where elements have keys.
    absl::flat_hash_map<std::string, const json::value*> was;
    if (keys != nullptr && before != nullptr && before->is_array()) {
      for (const json::value& element : before->get_array()) was.emplace(KeysOf(element, *keys), &element);
    }
    absl::flat_hash_set<std::string> seen;
    const json::value* const items = Member(rules, "items");
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (steps_ < 0 || errors_.size() >= kMaxErrors) return;
      const std::string at = api::IndexPath(path, i);
      const json::value* earlier = nullptr;
      if (keys != nullptr || list_type == "set") {
        const std::string identity = keys != nullptr ? KeysOf(list[i], *keys) : api::ToJson(list[i]);
        if (!seen.insert(identity).second) Add(FieldError::Type::kDuplicate, at, identity, "");
        if (const auto found = was.find(identity); found != was.end()) earlier = found->second;
      }
      if (items != nullptr) Judge(list[i], *items, at, earlier);
    }
  }

  void JudgeObject(const json::value& value, const json::object& rules, const std::string& path,
                   const json::value* before) {
    const json::object& object = value.get_object();
    const auto size = static_cast<double>(object.size());
    if (const auto most = NumberOf(rules, "maxProperties"); most.has_value() && size > *most) {
      Add(FieldError::Type::kTooMany, path, absl::StrCat(object.size()),
          absl::StrCat("must have at most ", Text(*most), " items"));
    }
    if (const auto least = NumberOf(rules, "minProperties"); least.has_value() && size < *least)
      AddInvalid(path, value, absl::StrCat("should have at least ", Text(*least), " properties"));
    if (const json::array* const required = ListOf(rules, "required")) {
      for (const json::value& name : *required) {
        if (name.is_string() && !object.contains(name.get_string()))
          Add(FieldError::Type::kRequired, api::ChildPath(path, AbslView(name.get_string())), "", "");
      }
    }
    if (FlagOf(rules, "x-kubernetes-embedded-resource")) {
      for (const absl::string_view name : {"apiVersion", "kind"}) {
        if (TextOf(object, name).empty())
          Add(FieldError::Type::kRequired, api::ChildPath(path, name), "", "must not be empty");
      }
    }
    const json::object* const was = before == nullptr ? nullptr : before->if_object();
    const json::object* const properties = ObjectOf(rules, "properties");
    const json::value* const others = Member(rules, "additionalProperties");
    for (const auto& member : object) {
      if (steps_ < 0 || errors_.size() >= kMaxErrors) return;
      const json::value* below = properties == nullptr ? nullptr : properties->if_contains(member.key());
      if (below == nullptr) below = others;
      if (below == nullptr) continue;
      Judge(member.value(), *below, api::ChildPath(path, AbslView(member.key())),
            was == nullptr ? nullptr : was->if_contains(member.key()));
    }
  }

  // Whether `value` keeps the rules; what is wrong is not told.
  bool Keeps(const json::value& value, const json::value& schema, const std::string& path) {
    FieldErrors told = std::exchange(errors_, {});
    Judge(value, schema, path, nullptr);
    const bool keeps = errors_.empty();
    const bool exhausted = steps_ < 0;
    FieldErrors found = std::exchange(errors_, std::move(told));
    if (exhausted && !found.empty()) errors_.push_back(std::move(found.back()));
    return keeps;
  }

  void JudgeJunctors(const json::value& value, const json::object& rules, const std::string& path) {
    if (const json::array* const all = ListOf(rules, "allOf")) {
      for (const json::value& each : *all) Judge(value, each, path, nullptr);
    }
    const auto count = [&](const json::array& list) {
      return std::count_if(list.begin(), list.end(), [&](const json::value& each) { return Keeps(value, each, path); });
    };
    if (const json::array* const any = ListOf(rules, "anyOf"); any != nullptr && !any->empty() && count(*any) == 0)
      AddInvalid(path, value, "must validate at least one schema (anyOf)");
    if (const json::array* const one = ListOf(rules, "oneOf"); one != nullptr && !one->empty()) {
      if (const auto valid = count(*one); valid != 1) {
        AddInvalid(path, value,
                   absl::StrCat("must validate one and only one schema (oneOf). Found ",
                                valid == 0 ? "none" : absl::StrCat(valid), " valid"));
      }
    }
    if (const json::value* const not_this = Member(rules, "not"); not_this != nullptr && Keeps(value, *not_this, path))
      AddInvalid(path, value, "must not validate the schema (not)");
  }

  const Patterns& patterns_;
  std::int64_t steps_ = kMaxSteps;
  FieldErrors errors_;
};

// --- whether a schema can be declared

constexpr std::array<absl::string_view, 6> kTypes{"array", "boolean", "integer", "number", "object", "string"};

class StructureCheck {
 public:
  FieldErrors Take() { return std::move(errors_); }

  enum class Place { kRoot, kField, kItems };
  void Check(const json::value& value, const std::string& path, Place place) {
    const json::object* const schema = value.if_object();
    if (schema == nullptr) return Add(FieldError::Type::kInvalid, path, "must be an object");
    CheckType(*schema, path, place);
    CheckForbidden(*schema, path);
    CheckPattern(*schema, path);
    CheckList(*schema, path);
    CheckObject(*schema, path);
    for (const absl::string_view name : {"allOf", "anyOf", "oneOf"}) {
      const json::array* const list = ListOf(*schema, name);
      for (std::size_t i = 0; list != nullptr && i < list->size(); ++i)
        CheckJudging((*list)[i], absl::StrCat(path, ".", name, "[", i, "]"));
    }
    if (const json::value* const below = Member(*schema, "not")) CheckJudging(*below, absl::StrCat(path, ".not"));
    CheckDefault(*schema, path);
  }

 private:
  void Add(FieldError::Type type, std::string path, std::string rule, std::string value = {}) {
    if (errors_.size() < kMaxErrors) errors_.push_back({type, std::move(path), std::move(value), std::move(rule), {}});
  }

  void CheckType(const json::object& schema, const std::string& path, Place place) {
    const absl::string_view type = TextOf(schema, "type");
    const std::string at = absl::StrCat(path, ".type");
    if (place == Place::kRoot && type != "object" && !type.empty())
      return Add(FieldError::Type::kInvalid, at, "must be object at the root", JsonText(type));
    if (type.empty()) {
      if (FlagOf(schema, "x-kubernetes-int-or-string") ||
          (place != Place::kRoot && FlagOf(schema, "x-kubernetes-preserve-unknown-fields")))
        return;
      return Add(FieldError::Type::kRequired, at,
                 place == Place::kRoot    ? "must not be empty at the root"
                 : place == Place::kItems ? "must not be empty for specified array items"
                                          : "must not be empty for specified object fields");
    }
    if (std::find(kTypes.begin(), kTypes.end(), type) == kTypes.end()) {
      Add(FieldError::Type::kNotSupported, at,
          absl::StrCat("supported values: ", absl::StrJoin(kTypes, ", ",
                                                           [](std::string* out, absl::string_view each) {
                                                             absl::StrAppend(out, "\"", each, "\"");
                                                           })),
          JsonText(type));
    }
    if (FlagOf(schema, "x-kubernetes-int-or-string"))
      Add(FieldError::Type::kForbidden, at, "must be empty if x-kubernetes-int-or-string is true");
  }

  void CheckForbidden(const json::object& schema, const std::string& path) {
    for (const absl::string_view name :
         {"$ref", "additionalItems", "definitions", "dependencies", "id", "patternProperties"}) {
      if (Member(schema, name) != nullptr)
        Add(FieldError::Type::kForbidden, absl::StrCat(path, ".", name), absl::StrCat(name, " is not supported"));
    }
    if (FlagOf(schema, "uniqueItems"))
      Add(FieldError::Type::kForbidden, absl::StrCat(path, ".uniqueItems"),
          "uniqueItems cannot be set to true since the runtime complexity becomes quadratic");
  }

  void CheckPattern(const json::object& schema, const std::string& path) {
    const absl::string_view pattern = TextOf(schema, "pattern");
    if (pattern.empty() || CompilePattern(pattern) != nullptr) return;
    Add(FieldError::Type::kInvalid, absl::StrCat(path, ".pattern"),
        absl::StrCat("must be a regular expression of Go's of at most ", kMaxPattern, " bytes"),
        JsonText(pattern.substr(0, 80)));
  }

  void CheckList(const json::object& schema, const std::string& path) {
    const bool list = TextOf(schema, "type") == "array";
    const json::value* const items = Member(schema, "items");
    if (list && (items == nullptr || !items->is_object()))
      return Add(FieldError::Type::kRequired, absl::StrCat(path, ".items"), "must be specified");
    if (items != nullptr) Check(*items, absl::StrCat(path, ".items"), Place::kItems);
    const absl::string_view list_type = TextOf(schema, "x-kubernetes-list-type");
    if (list_type.empty()) return;
    const std::string at = absl::StrCat(path, ".x-kubernetes-list-type");
    if (list_type != "atomic" && list_type != "set" && list_type != "map")
      return Add(FieldError::Type::kNotSupported, at, "supported values: \"atomic\", \"map\", \"set\"",
                 JsonText(list_type));
    if (!list)
      return Add(FieldError::Type::kInvalid, absl::StrCat(path, ".type"),
                 "must be array if x-kubernetes-list-type is specified", JsonText(TextOf(schema, "type")));
    if (list_type != "map") return;
    const json::array* const keys = ListOf(schema, "x-kubernetes-list-map-keys");
    const std::string keys_at = absl::StrCat(path, ".x-kubernetes-list-map-keys");
    if (keys == nullptr || keys->empty())
      return Add(FieldError::Type::kRequired, keys_at, "must not be empty if x-kubernetes-list-type is map");
    const json::object* const properties =
        items == nullptr || !items->is_object() ? nullptr : ObjectOf(items->get_object(), "properties");
    for (std::size_t i = 0; i < keys->size(); ++i) {
      const json::value& key = (*keys)[i];
      if (!key.is_string() || properties == nullptr || !properties->contains(key.get_string()))
        Add(FieldError::Type::kInvalid, api::IndexPath(keys_at, i), "must be a property of the items",
            api::ToJson(key));
    }
  }

  void CheckObject(const json::object& schema, const std::string& path) {
    const json::object* const properties = ObjectOf(schema, "properties");
    const json::value* const others = Member(schema, "additionalProperties");
    if (properties != nullptr && !properties->empty() && others != nullptr && !others->is_bool())
      Add(FieldError::Type::kForbidden, absl::StrCat(path, ".additionalProperties"),
          "additionalProperties and properties are mutual exclusive");
    if (others != nullptr && others->is_object())
      Check(*others, absl::StrCat(path, ".additionalProperties"), Place::kField);
    if (properties == nullptr) return;
    for (const auto& member : *properties)
      Check(member.value(), absl::StrCat(path, ".properties[", AbslView(member.key()), "]"), Place::kField);
  }

  // Below allOf, anyOf, oneOf and not nothing is declared, only judged.
  void CheckJudging(const json::value& value, const std::string& path) {
    const json::object* const schema = value.if_object();
    if (schema == nullptr) return Add(FieldError::Type::kInvalid, path, "must be an object");
    for (const absl::string_view name : {"default", "description", "nullable", "title",
                                         "x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"}) {
      if (Member(*schema, name) != nullptr)
        Add(FieldError::Type::kForbidden, absl::StrCat(path, ".", name), "must be undefined to be structural");
    }
    CheckForbidden(*schema, path);
    CheckPattern(*schema, path);
    ForEachBelow(*schema, [&](const json::value& below) {
      if (!below.is_bool()) CheckJudging(below, absl::StrCat(path, "..."));
    });
  }

  void CheckDefault(const json::object& schema, const std::string& path) {
    const json::value* const given = Member(schema, "default");
    if (given == nullptr || !errors_.empty()) return;
    Patterns patterns;
    CollectPatterns(schema, patterns);
    Judging judging(patterns);
    // What is missing in it its own schema may fill in.
    judging.Judge(*given, schema, absl::StrCat(path, ".default"), nullptr);
    for (FieldError& error : judging.Take()) {
      if (error.type != FieldError::Type::kRequired && errors_.size() < kMaxErrors) errors_.push_back(std::move(error));
    }
  }

  FieldErrors errors_;
};

// --- compiling

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

  // Its properties are complete: they are sorted, and their defaults get the defaults within.
  void Finish(SchemaNode& node) {
    std::sort(node.properties.begin(), node.properties.end(),
              [](const SchemaProperty& a, const SchemaProperty& b) { return a.name < b.name; });
  }

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

FieldErrors CheckDeclaredSchema(const json::value& schema, absl::string_view path) {
  StructureCheck check;
  check.Check(schema, std::string(path), StructureCheck::Place::kRoot);
  return check.Take();
}

bool HasExpressions(const json::value& schema) {
  const json::object* const object = schema.if_object();
  if (object == nullptr) return false;
  bool found = object->contains("x-kubernetes-validations");
  ForEachBelow(*object, [&](const json::value& below) { found = found || HasExpressions(below); });
  return found;
}

struct DeclaredSchema::Parts {
  json::value source;
  SchemaArena arena;
  Patterns patterns;
  Schema schema;
};

DeclaredSchema::DeclaredSchema(absl::string_view kind, json::value source) : parts_(std::make_unique<Parts>()) {
  parts_->source = std::move(source);
  CollectPatterns(parts_->source, parts_->patterns);
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
  Judging judging(parts_->patterns);
  judging.Judge(object, parts_->source, "", before);
  return judging.Take();
}

}  // namespace gangway::schemas
