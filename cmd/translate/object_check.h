// What an API server knows of an object without looking at others: fields that its type does not have, values of
// another type, required fields. Also within pod templates.
#pragma once

#include "api/field_error.h"
#include "api/resource.h"
#include "boost/json/fwd.hpp"
#include "translator/files/manifest.h"

namespace gangway::cmd {

// The translator's convert::TypeCheck. `resource` is one that the sandbox serves. Some fifty of each at most; unknown
// fields with the nearest that there is. Thread-safe; the first call costs several milliseconds.
convert::TypeComplaints CheckTypes(const api::Resource& resource, const boost::json::value& object);

// Appends those of `more` whose fields are not in `errors` yet: the first judge of a field is heard, others say the
// same in other words.
void AddUnheard(api::FieldErrors more, api::FieldErrors& errors);

}  // namespace gangway::cmd
