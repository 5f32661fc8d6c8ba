// What Kubernetes demands, beyond their schema, of kinds that are only kept here: volumes, limit ranges, quotas, endpoints.
#pragma once

#include "api/field_error.h"
#include "api/resource.h"
#include "boost/json/object.hpp"

namespace gangway::sandbox {

// Of an object as it will be stored; nothing of other kinds.
void CheckStoredKind(const api::Resource& resource, const boost::json::object& object, api::FieldErrors& errors);

// Of an update.
void CheckStoredKindChange(const api::Resource& resource, const boost::json::object& before, const boost::json::object& after,
                           api::FieldErrors& errors);

}  // namespace gangway::sandbox
