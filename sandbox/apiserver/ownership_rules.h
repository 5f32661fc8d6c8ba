// What of a write counts for the ownership of fields: by resource and subresource.
#pragma once

#include "absl/strings/string_view.h"
#include "api/resource.h"
#include "sandbox/apiserver/apply/field_set.h"

namespace gangway::sandbox {

// What the server puts back after a write through `subresource`, so that nobody comes to own it: the status on the
// object itself, the rest through the status (kubernetes: each strategy's GetResetFields).
const apply::FieldSet& ResetFields(const api::Resource& resource, absl::string_view subresource);

}  // namespace gangway::sandbox
