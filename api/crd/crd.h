// CustomResourceDefinitions of Volcano's types and of Paddle's, written from their field tables.
//
// What the originals' definitions accept these accept, what their schemas refuse these refuse: the same group, version,
// names, scope, columns and subresources, so that one can stand in for the other and the objects stay.
#pragma once

#include <string>

#include "api/kind.h"

namespace gangway::api {

// "jobs.batch.volcano.sh"
std::string CrdName(const Resource& resource);

// Of a custom kind: one apiextensions.k8s.io/v1 CustomResourceDefinition as JSON. Pure: the same table always gives the
// same text.
std::string CrdJson(const KindRow& kind);

// The same as a YAML document, keys sorted.
std::string CrdYaml(const KindRow& kind);

}  // namespace gangway::api
