// What Kubernetes demands of single kinds beyond their schema: keys of config maps, ports of services, what of a pod may change.
#pragma once

#include "api/field_error.h"
#include "api/resource.h"
#include "boost/json/object.hpp"

namespace gangway::sandbox {

// Whether its spec.template is a pod's.
bool HasPodTemplate(const api::Resource& resource);

// Of an object as it will be stored.
void CheckKind(const api::Resource& resource, const boost::json::object& object, api::FieldErrors& errors);

// Of an update.
void CheckKindChange(const api::Resource& resource, const boost::json::object& before, const boost::json::object& after,
                     api::FieldErrors& errors);

}  // namespace gangway::sandbox
