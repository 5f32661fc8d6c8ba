// What Kubernetes demands of roles, their bindings, webhook configurations and custom resource definitions beyond their schema.
#pragma once

#include "api/field_error.h"
#include "api/resource.h"
#include "boost/json/object.hpp"

namespace gangway::sandbox {

// Of an object as it will be stored; nothing of other kinds.
void CheckClusterKind(const api::Resource& resource, const boost::json::object& object, api::FieldErrors& errors);

// Of an update.
void CheckClusterKindChange(const api::Resource& resource, const boost::json::object& before, const boost::json::object& after,
                            api::FieldErrors& errors);

}  // namespace gangway::sandbox
