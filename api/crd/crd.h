// CustomResourceDefinitions of Volcano's types, written from their field tables.
//
// What Volcano's own definitions accept these accept, what their schemas refuse these refuse: the same group, version, names,
// scope, columns and subresources, so that one can stand in for the other and the objects stay.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "api/volcano/custom_types.h"

namespace gangway::api {

// "jobs.batch.volcano.sh"
std::string CrdName(const Resource& resource);

// One apiextensions.k8s.io/v1 CustomResourceDefinition as JSON. Pure: the same table always gives the same text.
std::string CrdJson(const volcano::CustomType& type);

// The same as a YAML document, keys sorted.
std::string CrdYaml(const volcano::CustomType& type);

}  // namespace gangway::api
