#include "api/volcano/judge.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/json.h"
#include "api/name.h"
#include "base/strings.h"
#include "boost/json.hpp"

namespace gangway::api::volcano {

using boost::json::value;

const value* Member(const value& object, absl::string_view key) {
  const boost::json::object* members = object.if_object();
  if (members == nullptr) return nullptr;
  const auto it = members->find({key.data(), key.size()});
  return it == members->end() || it->value().is_null() ? nullptr : &it->value();
}

void CheckName(const value& object, FieldErrors& errors) {
  const value* metadata = Member(object, "metadata");
  const value* name = metadata == nullptr ? nullptr : Member(*metadata, "name");
  const value* prefix = metadata == nullptr ? nullptr : Member(*metadata, "generateName");
  const bool unnamed = name == nullptr || !name->is_string() || name->get_string().empty();
  if (unnamed) {
    if (prefix != nullptr && prefix->is_string() && !prefix->get_string().empty()) return;
    return AddError(errors, FieldError::Type::kRequired, "metadata.name", "", "name or generateName is required");
  }
  const absl::string_view text{name->get_string().data(), name->get_string().size()};
  for (const std::string& complaint : CheckDns1123Subdomain(text))
    AddInvalid(errors, "metadata.name", JsonString(text), complaint);
}

Verdict Judge::Invalid(FieldErrors errors) const {
  const Resource& resource = *request_.resource;
  Verdict verdict{422, "Invalid", std::move(errors), {}};
  verdict.message = absl::StrCat(View(resource.kind), ".", View(resource.group), " \"", Name(),
                                 "\" is invalid: ", JoinFieldErrors(verdict.errors));
  return verdict;
}

Verdict Judge::Refused(FieldErrors errors) const {
  Verdict verdict{400, "", std::move(errors), {}};
  const auto text = [](std::string* out, const FieldError& error) { absl::StrAppend(out, error.ToString()); };
  const absl::string_view kind = View(request_.resource->singular);
  verdict.message = absl::StrCat(kind, " ", request_.ns.substr(0, kMaxSubdomainLength), request_.ns.empty() ? "" : "/",
                                 Name(), " is refused: ", absl::StrJoin(verdict.errors, "; ", text));
  return verdict;
}

std::string Judge::Name() const { return FullName().substr(0, kMaxSubdomainLength); }

std::string Judge::FullName() const {
  if (!request_.name.empty() || object_ == nullptr) return request_.name;
  const value* metadata = Member(*object_, "metadata");
  const value* name = metadata == nullptr ? nullptr : Member(*metadata, "name");
  if (name == nullptr && metadata != nullptr) name = Member(*metadata, "generateName");
  return name != nullptr && name->is_string()
             ? std::string(absl::string_view(name->get_string().data(), name->get_string().size()))
             : std::string();
}

}  // namespace gangway::api::volcano
