// What a field of PaddleJob is in truth that the tables have as a document.
#pragma once

#include "absl/strings/string_view.h"
#include "api/field_table.h"

namespace gangway::api::paddle {

// A type of Kubernetes, "io.k8s.api.core.v1.PodTemplateSpec"; "" when the field's own type says all.
absl::string_view DefinitionIn(const Type& owner, const Field& field);

}  // namespace gangway::api::paddle
