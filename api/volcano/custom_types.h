// Volcano's types as an API server serves them: what a CustomResourceDefinition says beside its fields and columns.
#pragma once

#include <span>
#include <string_view>

#include "absl/strings/string_view.h"
#include "api/field_table.h"
#include "api/resource.h"

namespace gangway::api::volcano {

struct CustomType {
  const Resource* resource;
  const Type* table;
  std::string_view doc;
  bool status = false;  // has a status subresource (spec: volcano-job 1.1, volcano-scheduler 3.7)
};
// In the order of kAllResources.
std::span<const CustomType> CustomTypes();
// nullptr for resources that are not Volcano's.
const CustomType* FindCustomType(const Resource& resource);

// What a field is in truth that the tables have as a document or in part.
struct Embedded {
  absl::string_view definition;  // a type of Kubernetes: "io.k8s.api.core.v1.PodTemplateSpec"
  const Type* table = nullptr;   // or one of ours
};
// Both empty: the field's own type says all.
Embedded EmbeddedIn(const Type& owner, const Field& field);

}  // namespace gangway::api::volcano
