#include "api/field_error.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace gangway::api {
namespace {

// Kubernetes' words for the type (apimachinery: field.ErrorType.String).
std::string_view Title(FieldError::Type type) {
  switch (type) {
    case FieldError::Type::kRequired:
      return "Required value";
    case FieldError::Type::kInvalid:
    case FieldError::Type::kTypeInvalid:
      return "Invalid value";
    case FieldError::Type::kNotSupported:
      return "Unsupported value";
    case FieldError::Type::kDuplicate:
      return "Duplicate value";
    case FieldError::Type::kNotFound:
      return "Not found";
    case FieldError::Type::kForbidden:
      return "Forbidden";
    case FieldError::Type::kTooLong:
      return "Too long";
    case FieldError::Type::kTooMany:
      return "Too many";
  }
  return "Invalid value";
}

}  // namespace

std::string_view FieldError::Reason() const {
  switch (type) {
    case Type::kRequired:
      return "FieldValueRequired";
    case Type::kInvalid:
      return "FieldValueInvalid";
    case Type::kNotSupported:
      return "FieldValueNotSupported";
    case Type::kDuplicate:
      return "FieldValueDuplicate";
    case Type::kNotFound:
      return "FieldValueNotFound";
    case Type::kForbidden:
      return "FieldValueForbidden";
    case Type::kTooLong:
      return "FieldValueTooLong";
    case Type::kTypeInvalid:
      return "FieldValueTypeInvalid";
    case Type::kTooMany:
      return "FieldValueTooMany";
  }
  return "FieldValueInvalid";
}

std::string FieldError::Message() const {
  const std::string_view title = Title(type);
  std::string out(title);
  if (!value.empty()) absl::StrAppend(&out, ": ", value);
  if (!rule.empty()) absl::StrAppend(&out, ": ", rule);
  if (!fix.empty()) absl::StrAppend(&out, " (", fix, ")");
  return out;
}

std::string FieldError::ToString() const { return field.empty() ? Message() : absl::StrCat(field, ": ", Message()); }

std::string JoinFieldErrors(const FieldErrors& errors) {
  if (errors.size() == 1) return errors.front().ToString();
  const auto text = [](std::string* out, const FieldError& error) { absl::StrAppend(out, error.ToString()); };
  return absl::StrCat("[", absl::StrJoin(errors, ", ", text), "]");
}

std::string ChildPath(absl::string_view path, absl::string_view key) {
  return path.empty() ? std::string(key) : absl::StrCat(path, ".", key);
}

std::string IndexPath(absl::string_view path, std::size_t index) { return absl::StrCat(path, "[", index, "]"); }

}  // namespace gangway::api
