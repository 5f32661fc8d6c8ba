// Rules about an object's metadata and about what may change in it, beyond what its schema says.
#pragma once

#include "absl/strings/string_view.h"
#include "api/field_error.h"
#include "api/resource.h"
#include "sandbox/apiserver/draft/draft.h"

namespace gangway::sandbox {

// Whether its status is written through a subresource only.
bool HasStatusSubresource(const api::Resource& resource);

// The object is complete: it has its name and the server's metadata. `is_new` when it is being created: then its name
// is judged too.
api::FieldErrors CheckObject(const api::Resource& resource, const boost::json::object& object, bool is_new);

// What an update may not change. Both have passed their schema.
api::FieldErrors CheckChange(const api::Resource& resource, const boost::json::object& before,
                             const boost::json::object& after);

// Whether anything but metadata (and status, where that is a subresource) differs.
bool SpecChanged(const api::Resource& resource, const boost::json::object& before, const boost::json::object& after);

// Maps and lists of the metadata that hold nothing are absent.
void DropEmptyMetadata(boost::json::object& metadata);

}  // namespace gangway::sandbox
