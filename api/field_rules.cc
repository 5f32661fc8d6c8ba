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
#include "api/json.h"
#include "api/json_value.h"
#include "api/name.h"
#include "api/quantity.h"
#include "base/strings.h"

namespace gangway::api {
namespace {

using boost::json::value;

constexpr std::size_t kMaxErrors = 100;  // of one document; more helps nobody
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
    case boost::json::kind::null: return "null";
    case boost::json::kind::bool_: return "a boolean";
    case boost::json::kind::int64:
    case boost::json::kind::uint64:
    case boost::json::kind::double_: return "a number";
    case boost::json::kind::string: return "a string";
    case boost::json::kind::array: return "a list";
    case boost::json::kind::object: return "an object";
  }
  return "a value";
}

std::optional<std::int64_t> AsInteger(const value& v) {
  if (const std::int64_t* i = v.if_int64()) return *i;
  return std::nullopt;  // uint64 is beyond what any field holds
}

absl::string_view AsText(const value& v) { return {v.get_string().data(), v.get_string().size()}; }

// Wrong types.
class TypeChecker {
 public:
  explicit TypeChecker(FieldErrors& errors) : errors_(errors) {}

  void Check(const Type& wrapped, const value& v, const std::string& path) {
    const Type& type = Unwrap(wrapped);
    if (errors_.size() >= kMaxErrors) return;
    switch (type.kind) {
      case Kind::kBool: return Expect(v.is_bool(), v, path, "a boolean, true or false", "write it without quotes");
      case Kind::kInt32: return CheckInteger(v, path, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max());
      case Kind::kInt64: return CheckInteger(v, path, std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max());
      case Kind::kString: return Expect(v.is_string(), v, path, "a string", "put it in quotes");
      case Kind::kQuantity: return CheckQuantity(v, path);
      case Kind::kTime:
      case Kind::kMicroTime: return CheckTime(v, path);
      case Kind::kDocument: return;
      case Kind::kList: return CheckList(type, v, path);
      case Kind::kMap: return CheckMap(type, v, path);
      case Kind::kObject: return CheckObject(type, v, path);
      case Kind::kOptional: return;
    }
  }

 private:
  void Expect(bool ok, const value& v, const std::string& path, absl::string_view what, absl::string_view fix = {}) {
    if (ok) return;
    errors_.push_back({FieldError::Type::kTypeInvalid, path, Shown(v),
                       absl::StrCat("must be ", what, ", not ", View(JsonTypeName(v))),
                       v.is_structured() || v.is_null() ? std::string() : std::string(fix)});
  }

  void CheckInteger(const value& v, const std::string& path, std::int64_t low, std::int64_t high) {
    if (!v.is_number()) return Expect(false, v, path, "a whole number", v.is_string() ? "write it without quotes" : "");
    const std::optional<std::int64_t> i = AsInteger(v);
    if (!i.has_value() || *i < low || *i > high) {
      errors_.push_back({FieldError::Type::kTypeInvalid, path, Shown(v),
                         absl::StrCat("must be a whole number from ", low, " to ", high), ""});
    }
  }

  void CheckQuantity(const value& v, const std::string& path) {
    if (!v.is_string() && !v.is_number()) return Expect(false, v, path, "a quantity");
    const absl::StatusOr<Quantity> quantity = Quantity::Parse(v.is_string() ? std::string(AsText(v)) : ToJson(v));
    if (quantity.ok()) return;
    errors_.push_back({FieldError::Type::kInvalid, path, Shown(v), "must be a quantity",
                       "such as 500m, 2, 16Gi: a number and one of n u m k M G T P E Ki Mi Gi Ti Pi Ei"});
  }

  void CheckTime(const value& v, const std::string& path) {
    if (!v.is_string()) return Expect(false, v, path, "a time");
    if (ParseTime(AsText(v)).ok()) return;
    errors_.push_back({FieldError::Type::kInvalid, path, Shown(v), "must be a time of RFC 3339", "such as 2026-11-21T05:11:53Z"});
  }

  void CheckList(const Type& type, const value& v, const std::string& path) {
    if (!v.is_array()) return Expect(false, v, path, "a list");
    std::size_t index = 0;
    for (const value& element : v.get_array()) Check(*type.element, element, IndexPath(path, index++));
  }

  void CheckMap(const Type& type, const value& v, const std::string& path) {
    if (!v.is_object()) return Expect(false, v, path, "an object");
    for (const auto& member : v.get_object()) {
      Check(*type.element, member.value(), ChildPath(path, {member.key().data(), member.key().size()}));
    }
  }

  void CheckObject(const Type& type, const value& v, const std::string& path) {
    if (!v.is_object()) return Expect(false, v, path, "an object");
    for (std::size_t i = 0; i < type.field_count; ++i) {
      const Field& field = type.fields[i];
      if (const value* member = Find(v, field.name)) Check(*field.type, *member, ChildPath(path, View(field.name)));
    }
  }

  FieldErrors& errors_;
};

// Broken rules of values whose type is right.
class RuleChecker {
 public:
  explicit RuleChecker(FieldErrors& errors) : errors_(errors) {}

  void Check(const Type& wrapped, const value& v, const std::string& path) {
    const Type& type = Unwrap(wrapped);
    if (errors_.size() >= kMaxErrors) return;
    if (type.kind == Kind::kList && v.is_array()) {
      std::size_t index = 0;
      for (const value& element : v.get_array()) Check(*type.element, element, IndexPath(path, index++));
    } else if (type.kind == Kind::kMap && v.is_object()) {
      for (const auto& member : v.get_object()) {
        Check(*type.element, member.value(), ChildPath(path, {member.key().data(), member.key().size()}));
      }
    } else if (type.kind == Kind::kObject && v.is_object()) {
      for (std::size_t i = 0; i < type.field_count; ++i) CheckField(type.fields[i], v, path);
    }
  }

 private:
  void Add(FieldError::Type type, const std::string& path, std::string shown, std::string rule, std::string fix = {}) {
    errors_.push_back({type, path, std::move(shown), std::move(rule), std::move(fix)});
  }

  void CheckField(const Field& field, const value& object, const std::string& parent) {
    const std::string path = ChildPath(parent, View(field.name));
    const value* v = Find(object, field.name);
    if (v == nullptr) {
      if (field.required) Add(FieldError::Type::kRequired, path, "", std::string(field.doc));
      return;
    }
    if (const std::optional<std::int64_t> number = AsInteger(*v)) CheckNumber(field, *v, *number, path);
    if (v->is_string()) CheckString(field, *v, path);
    if (v->is_array()) CheckItems(field, *v, path);
    Check(*field.type, *v, path);
  }

  void CheckNumber(const Field& field, const value& v, std::int64_t number, const std::string& path) {
    if (field.minimum.has_value() && number < *field.minimum) {
      Add(FieldError::Type::kInvalid, path, Shown(v), absl::StrCat("must be at least ", *field.minimum));
    }
    if (field.maximum.has_value() && number > *field.maximum) {
      Add(FieldError::Type::kInvalid, path, Shown(v), absl::StrCat("must be at most ", *field.maximum));
    }
  }

  void CheckItems(const Field& field, const value& v, const std::string& path) {
    const auto size = static_cast<std::int64_t>(v.get_array().size());
    if (field.min_items.has_value() && size < *field.min_items) {
      Add(FieldError::Type::kInvalid, path, absl::StrCat(size), absl::StrCat("must have at least ", *field.min_items, " items"));
    }
    if (field.one_of.empty()) return;
    std::size_t index = 0;
    for (const value& element : v.get_array()) CheckOneOf(field, element, IndexPath(path, index++));
  }

  void CheckString(const Field& field, const value& v, const std::string& path) {
    const absl::string_view text = AsText(v);
    const auto size = static_cast<std::int64_t>(text.size());
    if (field.min_length.has_value() && size < *field.min_length) {
      return Add(FieldError::Type::kInvalid, path, Shown(v), "must not be empty");
    }
    if (field.max_length.has_value() && size > *field.max_length) {
      return Add(FieldError::Type::kTooLong, path, "", absl::StrCat("may not be more than ", *field.max_length, " bytes"));
    }
    CheckOneOf(field, v, path);
    CheckPattern(field, text, path);
  }

  void CheckOneOf(const Field& field, const value& v, const std::string& path) {
    if (field.one_of.empty() || !v.is_string()) return;
    const std::vector<absl::string_view> allowed = absl::StrSplit(View(field.one_of), ',');
    const absl::string_view text = AsText(v);
    for (const absl::string_view word : allowed) {
      if (text == word) return;
    }
    const auto quoted = [](std::string* out, absl::string_view word) { absl::StrAppend(out, "\"", word, "\""); };
    Add(FieldError::Type::kNotSupported, path, Shown(v), absl::StrCat("supported values: ", absl::StrJoin(allowed, ", ", quoted)));
  }

  void CheckPattern(const Field& field, absl::string_view text, const std::string& path) {
    if (field.pattern.empty()) return;
    Complaints complaints;
    if (field.pattern == "dns1123label") complaints = CheckDns1123Label(text);
    if (field.pattern == "dns1123subdomain") complaints = CheckDns1123Subdomain(text);
    if (field.pattern == kNoColon && text.find(':') != absl::string_view::npos) complaints.push_back("must not contain ':'");
    for (std::string& complaint : complaints) Add(FieldError::Type::kInvalid, path, JsonString(text), std::move(complaint));
  }

  FieldErrors& errors_;
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
  TypeChecker(errors).Check(type, document, std::string(path));
}

void CheckRules(const Type& type, const value& document, absl::string_view path, FieldErrors& errors) {
  RuleChecker(errors).Check(type, document, std::string(path));
}

}  // namespace gangway::api
