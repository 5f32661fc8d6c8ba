#include "cmd/translate/object_check.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/json_value.h"
#include "api/schemas/schemas.h"
#include "base/nearest.h"

namespace gangway::cmd {
namespace {

using api::FieldError;
using api::FieldErrors;

FieldError UnknownField(const schemas::Schema& schema, const std::string& path) {
  const std::size_t dot = path.rfind('.');
  const std::string around = dot == std::string::npos ? "" : path.substr(0, dot);
  const std::string near =
      Nearest(path.substr(dot == std::string::npos ? 0 : dot + 1), schemas::FieldsAt(schema, around));
  return {FieldError::Type::kForbidden, path, "", "there is no such field",
          near.empty() ? "remove it, or correct its name or its place" : absl::StrCat("did you mean ", near, "?")};
}

}  // namespace

convert::TypeComplaints CheckTypes(const api::Resource& resource, const boost::json::value& object) {
  const schemas::Schema& schema = *schemas::Schemas::Shared().For(resource);
  schemas::Findings findings = schemas::Check(object, schema);
  convert::TypeComplaints out;
  for (const std::string& path : findings.unknown) out.unknown.push_back(UnknownField(schema, path));
  out.errors = std::move(findings.errors);
  if (!out.unknown.empty()) {
    boost::json::value known = object;
    schemas::Prune(known, schema);
    out.known = api::ToJson(known);
  }
  return out;
}

void AddUnheard(FieldErrors more, FieldErrors& errors) {
  const std::size_t heard = errors.size();
  for (FieldError& error : more) {
    const auto same = [&](const FieldError& e) { return e.field == error.field; };
    const auto end = errors.begin() + static_cast<std::ptrdiff_t>(heard);
    if (std::find_if(errors.begin(), end, same) == end) errors.push_back(std::move(error));
  }
}

}  // namespace gangway::cmd
