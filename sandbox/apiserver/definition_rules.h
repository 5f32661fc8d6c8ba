// What a CustomResourceDefinition must look like to be declared (apiextensions-apiserver:
// pkg/apis/apiextensions/validation).
#pragma once

#include "api/field_error.h"
#include "boost/json/object.hpp"

namespace gangway::sandbox {

void CheckDefinition(const boost::json::object& definition, api::FieldErrors& errors);
void CheckDefinitionChange(const boost::json::object& before, const boost::json::object& after,
                           api::FieldErrors& errors);

}  // namespace gangway::sandbox
