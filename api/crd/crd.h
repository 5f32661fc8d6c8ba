// CustomResourceDefinitions of Volcano's types and of Paddle's, written from their field tables.
//
// What the originals' definitions accept these accept, what their schemas refuse these refuse: the same group, version, names,
// scope, columns and subresources, so that one can stand in for the other and the objects stay.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/field_table.h"
#include "api/printer_column.h"
#include "api/resource.h"

namespace gangway::api {

// Paths of the scale subresource; empty: there is none.
struct ScalePaths {
  std::string_view replicas, current, selector;
};

// A type and what its definition says beside its fields.
struct DefinedType {
  const Resource* resource;
  const Type* table;
  std::string_view doc;
  std::span<const PrinterColumn> columns;
  bool status = false;  // has a status subresource
  ScalePaths scale = {};
};
// Volcano's, in the order of volcano::CustomTypes().
std::vector<DefinedType> VolcanoTypes();
// PaddleJob of paddle-operator, then kubeflow's.
std::vector<DefinedType> PaddleTypes();

// "jobs.batch.volcano.sh"
std::string CrdName(const Resource& resource);

// One apiextensions.k8s.io/v1 CustomResourceDefinition as JSON. Pure: the same table always gives the same text.
std::string CrdJson(const DefinedType& type);

// The same as a YAML document, keys sorted.
std::string CrdYaml(const DefinedType& type);

}  // namespace gangway::api
