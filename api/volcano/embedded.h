// What fields of Volcano's types are in truth that their tables have as a document or in part.
#pragma once

#include "absl/strings/string_view.h"
#include "api/field_table.h"

namespace gangway::api::volcano {

struct Embedded {
  absl::string_view definition;  // a type of Kubernetes: "io.k8s.api.core.v1.PodTemplateSpec"
  const Type* table = nullptr;   // or one of ours
};
// Both empty: the field's own type says all.
Embedded EmbeddedIn(const Type& owner, const Field& field);

}  // namespace gangway::api::volcano
