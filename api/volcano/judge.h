// What the admissions of single kinds are made of. Internal to this room.
#pragma once

#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "api/field_error.h"
#include "api/field_rules.h"
#include "api/field_table.h"
#include "api/json_value.h"
#include "api/meta.h"
#include "api/volcano/admission.h"
#include "api/volcano/admission_rules.h"
#include "boost/json/value.hpp"

namespace gangway::api::volcano {

// Null when absent, null or in no object.
const boost::json::value* Member(const boost::json::value& object, absl::string_view key);

// metadata.name, or metadata.generateName.
void CheckName(const boost::json::value& object, FieldErrors& errors);

// One admission under way: the object's name for messages, and the verdict once there is one.
class Judge {
 public:
  Judge(const AdmissionRequest& request, const boost::json::value* object) : request_(request), object_(object) {}

  // 422, as the API server's schema validation says it.
  Verdict Invalid(FieldErrors errors) const;
  // 400, as a webhook does.
  Verdict Refused(FieldErrors errors) const;

 private:
  std::string Name() const;  // as much of it as a name can have
  std::string FullName() const;

  const AdmissionRequest& request_;
  const boost::json::value* object_;
};

// Wrong types anywhere; after this the document decodes.
template <class Spec>
FieldErrors TypeErrors(const boost::json::value& object) {
  FieldErrors errors;
  if (!object.is_object()) {
    AddError(errors, FieldError::Type::kTypeInvalid, "", "", "the body must be an object");
    return errors;
  }
  if (const boost::json::value* metadata = Member(object, "metadata"))
    CheckTypes(TypeOf<ObjectMeta>(), *metadata, "metadata", errors);
  if (const boost::json::value* spec = Member(object, "spec")) CheckTypes(TypeOf<Spec>(), *spec, "spec", errors);
  return errors;
}

template <class Spec>
FieldErrors SchemaErrors(const boost::json::value& object) {
  FieldErrors errors;
  CheckName(object, errors);
  if (const boost::json::value* spec = Member(object, "spec")) CheckRules(TypeOf<Spec>(), *spec, "spec", errors);
  return errors;
}

// metadata and spec; a status that does not decode is nobody's business here.
template <class T, class Spec>
T DecodeObject(const boost::json::value& object) {
  T decoded;
  if (const boost::json::value* metadata = Member(object, "metadata")) {
    DecodeInto(ToJson(*metadata), TypeOf<ObjectMeta>(), &decoded.metadata)
        .status.IgnoreError();  // CheckTypes has spoken
  }
  if (const boost::json::value* spec = Member(object, "spec")) {
    DecodeInto(ToJson(*spec), TypeOf<Spec>(), &decoded.spec).status.IgnoreError();  // the same
  }
  return decoded;
}

}  // namespace gangway::api::volcano
