#include "api/schemas/value_rules.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/civil_time.h"
#include "absl/time/time.h"
#include "api/field_table.h"
#include "base/strings.h"

namespace gangway::schemas::declared {

using api::FieldError;
using api::FieldErrors;

namespace {

// Values held against rules, and bytes of texts held against patterns, of one object.
constexpr std::int64_t kMaxSteps = 1'000'000;  // some tenths of a second

std::string Text(double number) {
  return std::floor(number) == number && std::abs(number) < 1e15 ? absl::StrCat(static_cast<std::int64_t>(number))
                                                                 : absl::StrCat(number);
}
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
  if (format == "uuid") return IsUuid(text);
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

}  // namespace

FieldErrors JudgeValue(const json::value& value, const json::value& schema, const Patterns& patterns,
                       const std::string& path, const json::value* before) {
  Judging judging(patterns);
  judging.Judge(value, schema, path, before);
  return judging.Take();
}

}  // namespace gangway::schemas::declared
