// The schema of a field table whose fields may be types of Kubernetes.
#pragma once

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "api/field_table.h"
#include "boost/json/value.hpp"

namespace gangway::api {

// What stands where a type of Kubernetes is embedded: a reference to it, or the type itself. `definition` is its name
// in KubernetesSchemas(), "io.k8s.api.core.v1.PodTemplateSpec".
using EmbedType = absl::FunctionRef<boost::json::object(absl::string_view definition)>;

// As WriteSchema has it (api/field_table.h), with the embedded types of api/volcano/embedded.h and
// api/paddle/embedded.h in their places. Pure.
boost::json::value SchemaOfTable(const Type& type, EmbedType embed);

}  // namespace gangway::api
