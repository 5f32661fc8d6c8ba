#include "api/field_rules.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include <boost/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "api/field_walk.h"
#include "api/json.h"
#include "api/json_value.h"
#include "api/name.h"
#include "api/quantity.h"
#include "base/strings.h"

namespace gangway::api {
namespace {

using boost::json::value;

constexpr std::size_t kMaxShownBytes = 128;

const Type& Unwrap(const Type& type) { return type.kind == Kind::kOptional ? *type.element : type; }

const value* Find(const value& object, std::string_view key) {
  const auto& members = object.get_object();
  const auto it = members.find(key);
  return it == members.end() || it->value().is_null() ? nullptr : &it->value();
}

std::string Shown(const value& v) {
  std::string json = ToJson(v);
  if (json.size() > kMaxShownBytes) json = absl::StrCat(json.substr(0, kMaxShownBytes), "...");
  return json;
}

std::string_view JsonTypeName(const value& v) {
  switch (v.kind()) {
    case boost::json::kind::null:
      return "null";
    case boost::json::kind::bool_:
      return "a boolean";
    case boost::json::kind::int64:
    case boost::json::kind::uint64:
    case boost::json::kind::double_:
      return "a number";
    case boost::json::kind::string:
      return "a string";
    case boost::json::kind::array:
      return "a list";
    case boost::json::kind::object:
      return "an object";
  }
  return "a value";
}

std::optional<std::int64_t> AsInteger(const value& v) {
  if (const std::int64_t* i = v.if_int64()) return *i;
  return std::nullopt;  // uint64 is beyond what any field holds
}

// Wrong types.
class TypeChecker {
 public:
  TypeChecker(absl::string_view path, FieldErrors& errors) : errors_(errors), path_(path) {}

  void Check(const Type& wrapped, const value& v) {
    const Type& type = Unwrap(wrapped);
    if (Full(errors_)) return;
    switch (type.kind) {
      case Kind::kBool:
        return Expect(v.is_bool(), v, "a boolean, true or false", "write it without quotes");
      case Kind::kInt32:
        return CheckInteger(v, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max());
      case Kind::kInt64:
        return CheckInteger(v, std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max());
      case Kind::kString:
        return Expect(v.is_string(), v, "a string", "put it in quotes");
      case Kind::kQuantity:
        return CheckQuantity(v);
      case Kind::kTime:
      case Kind::kMicroTime:
        return CheckTime(v);
      case Kind::kDocument:
        return;
      case Kind::kList:
        return CheckList(type, v);
      case Kind::kMap:
        return CheckMap(type, v);
      case Kind::kObject:
        return CheckObject(type, v);
      case Kind::kOptional:
        return;
    }
  }

 private:
  void Expect(bool ok, const value& v, absl::string_view what, absl::string_view fix = {}) {
    if (ok) return;
    AddFieldError(errors_, FieldError::Type::kTypeInvalid, path_, Shown(v),
                  absl::StrCat("must be ", what, ", not ", View(JsonTypeName(v))),
                  v.is_structured() || v.is_null() ? absl::string_view() : fix);
  }

  void CheckInteger(const value& v, std::int64_t low, std::int64_t high) {
    if (!v.is_number()) return Expect(false, v, "a whole number", v.is_string() ? "write it without quotes" : "");
    const std::optional<std::int64_t> i = AsInteger(v);
    if (!i.has_value() || *i < low || *i > high) {
      AddFieldError(errors_, FieldError::Type::kTypeInvalid, path_, Shown(v),
                    absl::StrCat("must be a whole number from ", low, " to ", high));
    }
  }

  void CheckQuantity(const value& v) {
    if (!v.is_string() && !v.is_number()) return Expect(false, v, "a quantity");
    const absl::StatusOr<Quantity> quantity =
        Quantity::Parse(v.is_string() ? std::string(AbslView(v.get_string())) : ToJson(v));
    if (quantity.ok()) return;
    AddFieldError(errors_, FieldError::Type::kInvalid, path_, Shown(v), "must be a quantity",
                  "such as 500m, 2, 16Gi: a number and one of n u m k M G T P E Ki Mi Gi Ti Pi Ei");
  }

  void CheckTime(const value& v) {
    if (!v.is_string()) return Expect(false, v, "a time");
    if (ParseTime(AbslView(v.get_string())).ok()) return;
    AddFieldError(errors_, FieldError::Type::kInvalid, path_, Shown(v), "must be a time of RFC 3339",
                  "such as 2026-11-21T05:11:53Z");
  }

  void CheckList(const Type& type, const value& v) {
    if (!v.is_array()) return Expect(false, v, "a list");
    const std::size_t size = v.get_array().size();
    if (size > kMaxListedObjects && Unwrap(*type.element).kind == Kind::kObject) {
      return AddFieldError(errors_, FieldError::Type::kInvalid, path_, absl::StrCat(size),
                           absl::StrCat("must have at most ", kMaxListedObjects, " items"));
    }
    std::size_t index = 0;
    for (const value& element : v.get_array()) {
      const PathStep step(path_, "[", index++, "]");
      Check(*type.element, element);
    }
  }

  void CheckMap(const Type& type, const value& v) {
    if (!v.is_object()) return Expect(false, v, "an object");
    for (const auto& member : v.get_object()) {
      const PathStep step(path_, path_.empty() ? "" : ".", absl::string_view(member.key().data(), member.key().size()));
      Check(*type.element, member.value());
    }
  }

  void CheckObject(const Type& type, const value& v) {
    if (!v.is_object()) return Expect(false, v, "an object");
    for (std::size_t i = 0; i < type.field_count; ++i) {
      const Field& field = type.fields[i];
      const value* const member = Find(v, field.name);
      if (member == nullptr) continue;
      const PathStep step(path_, path_.empty() ? "" : ".", View(field.name));
      Check(*field.type, *member);
    }
  }

  FieldErrors& errors_;
  std::string path_;  // of what is looked at
};

// Broken rules of values whose type is right.
class RuleChecker {
 public:
  RuleChecker(absl::string_view path, FieldErrors& errors) : errors_(errors), path_(path) {}

  void Check(const Type& wrapped, const value& v) {
    const Type& type = Unwrap(wrapped);
    if (Full(errors_)) return;
    if (type.kind == Kind::kList && v.is_array()) {
      std::size_t index = 0;
      for (const value& element : v.get_array()) {
        const PathStep step(path_, "[", index++, "]");
        Check(*type.element, element);
      }
    } else if (type.kind == Kind::kMap && v.is_object()) {
      for (const auto& member : v.get_object()) {
        const PathStep step(path_, path_.empty() ? "" : ".",
                            absl::string_view(member.key().data(), member.key().size()));
        Check(*type.element, member.value());
      }
    } else if (type.kind == Kind::kObject && v.is_object()) {
      for (std::size_t i = 0; i < type.field_count; ++i) {
        const PathStep step(path_, path_.empty() ? "" : ".", View(type.fields[i].name));
        CheckField(type.fields[i], v);
      }
    }
  }

 private:
  void Add(FieldError::Type type, absl::string_view shown, absl::string_view rule) {
    AddFieldError(errors_, type, path_, shown, rule);
  }

  // At its path.
  void CheckField(const Field& field, const value& object) {
    const value* v = Find(object, field.name);
    if (v == nullptr) {
      if (field.required) Add(FieldError::Type::kRequired, "", View(field.doc));
      return;
    }
    if (const std::optional<std::int64_t> number = AsInteger(*v)) CheckNumber(field, *v, *number);
    if (v->is_string()) CheckString(field, *v);
    if (v->is_array()) CheckItems(field, *v);
    Check(*field.type, *v);
  }

  void CheckNumber(const Field& field, const value& v, std::int64_t number) {
    if (field.minimum.has_value() && number < *field.minimum) {
      Add(FieldError::Type::kInvalid, Shown(v), absl::StrCat("must be at least ", *field.minimum));
    }
    if (field.maximum.has_value() && number > *field.maximum) {
      Add(FieldError::Type::kInvalid, Shown(v), absl::StrCat("must be at most ", *field.maximum));
    }
  }

  void CheckItems(const Field& field, const value& v) {
    const auto size = static_cast<std::int64_t>(v.get_array().size());
    if (field.min_items.has_value() && size < *field.min_items) {
      Add(FieldError::Type::kInvalid, absl::StrCat(size),
          absl::StrCat("must have at least ", *field.min_items, " items"));
    }
    if (field.one_of.empty()) return;
    std::size_t index = 0;
    for (const value& element : v.get_array()) {
      const PathStep step(path_, "[", index++, "]");
      CheckOneOf(field, element);
    }
  }

  void CheckString(const Field& field, const value& v) {
    const absl::string_view text = AbslView(v.get_string());
    const auto size = static_cast<std::int64_t>(text.size());
    if (field.min_length.has_value() && size < *field.min_length) {
      return Add(FieldError::Type::kInvalid, Shown(v), "must not be empty");
    }
    if (field.max_length.has_value() && size > *field.max_length) {
      return Add(FieldError::Type::kTooLong, "", absl::StrCat("may not be more than ", *field.max_length, " bytes"));
    }
    CheckOneOf(field, v);
    CheckPattern(field, text);
  }

  void CheckOneOf(const Field& field, const value& v) {
    if (field.one_of.empty() || !v.is_string()) return;
    const std::vector<absl::string_view> allowed = absl::StrSplit(View(field.one_of), ',');
    const absl::string_view text = AbslView(v.get_string());
    for (const absl::string_view word : allowed) {
      if (text == word) return;
    }
    const auto quoted = [](std::string* out, absl::string_view word) { absl::StrAppend(out, "\"", word, "\""); };
    Add(FieldError::Type::kNotSupported, Shown(v),
        absl::StrCat("supported values: ", absl::StrJoin(allowed, ", ", quoted)));
  }

  void CheckPattern(const Field& field, absl::string_view text) {
    if (field.pattern.empty()) return;
    Complaints complaints;
    if (field.pattern == "dns1123label") complaints = CheckDns1123Label(text);
    if (field.pattern == "dns1123subdomain") complaints = CheckDns1123Subdomain(text);
    if (field.pattern == kNoColon && text.find(':') != absl::string_view::npos)
      complaints.push_back("must not contain ':'");
    for (const std::string& complaint : complaints) Add(FieldError::Type::kInvalid, JsonString(text), complaint);
  }

  FieldErrors& errors_;
  std::string path_;  // of what is looked at
};

void ApplyDefaultsTo(const Type& wrapped, value& v) {
  const Type& type = Unwrap(wrapped);
  if (type.kind == Kind::kList && v.is_array()) {
    for (value& element : v.get_array()) ApplyDefaultsTo(*type.element, element);
  } else if (type.kind == Kind::kMap && v.is_object()) {
    for (auto& member : v.get_object()) ApplyDefaultsTo(*type.element, member.value());
  } else if (type.kind == Kind::kObject && v.is_object()) {
    boost::json::object& members = v.get_object();
    for (std::size_t i = 0; i < type.field_count; ++i) {
      const Field& field = type.fields[i];
      const auto it = members.find(field.name);
      if (it != members.end() && !it->value().is_null()) {
        ApplyDefaultsTo(*field.type, it->value());
      } else if (field.default_value.has_value()) {
        const bool boolean = Unwrap(*field.type).kind == Kind::kBool;
        members[field.name] = boolean ? value(*field.default_value != 0) : value(*field.default_value);
      } else if (!field.default_text.empty()) {
        members[field.name] = field.default_text;
      }
    }
  }
}

}  // namespace

void ApplyTableDefaults(const Type& type, value& document) { ApplyDefaultsTo(type, document); }

void CheckTypes(const Type& type, const value& document, absl::string_view path, FieldErrors& errors) {
  TypeChecker(path, errors).Check(type, document);
}

void CheckRules(const Type& type, const value& document, absl::string_view path, FieldErrors& errors) {
  RuleChecker(path, errors).Check(type, document);
}

}  // namespace gangway::api
