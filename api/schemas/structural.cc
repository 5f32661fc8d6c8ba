// Whether a schema can be declared (apiextensions: structural schemas).
#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/schemas/declared_schema.h"
#include "api/schemas/value_rules.h"

namespace gangway::schemas {
namespace {

namespace json = boost::json;
using api::FieldError;
using api::FieldErrors;
using declared::AbslView;
using declared::CollectPatterns;
using declared::CompilePattern;
using declared::FlagOf;
using declared::ForEachBelow;
using declared::JsonText;
using declared::kMaxErrors;
using declared::kMaxPattern;
using declared::ListOf;
using declared::Member;
using declared::ObjectOf;
using declared::Patterns;
using declared::TextOf;

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
    // What is missing in it its own schema may fill in.
    for (FieldError& error : declared::JudgeValue(*given, schema, patterns, absl::StrCat(path, ".default"), nullptr)) {
      if (error.type != FieldError::Type::kRequired && errors_.size() < kMaxErrors) errors_.push_back(std::move(error));
    }
  }

  FieldErrors errors_;
};

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

}  // namespace gangway::schemas
