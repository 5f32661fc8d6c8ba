// What an API server knows of an object without looking at others: fields that its type does not have, values of
// another type, required fields. Also within pod templates.
#pragma once

#include <memory>

#include "api/field_error.h"
#include "api/resource.h"
#include "boost/json/fwd.hpp"
#include "translator/files/manifest.h"

namespace gangway::schemas {
class Schemas;
}

namespace gangway::cmd {

// Immutable; const calls may run together. Costs a millisecond to make.
class ObjectCheck {
 public:
  ObjectCheck();
  ~ObjectCheck();

  // `resource` is one that the sandbox serves. Some fifty of each at most; unknown fields with the nearest that there
  // is.
  convert::TypeComplaints Of(const api::Resource& resource, const boost::json::value& object) const;

 private:
  std::unique_ptr<const schemas::Schemas> schemas_;
};

// For the translator: an ObjectCheck made when it is first asked.
convert::TypeCheck TypeCheckOf();

// Appends those of `more` whose fields are not in `errors` yet: the first judge of a field is heard, others say the
// same in other words.
void AddUnheard(api::FieldErrors more, api::FieldErrors& errors);

}  // namespace gangway::cmd
