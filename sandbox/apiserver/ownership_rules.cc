#include "sandbox/apiserver/ownership_rules.h"

#include <initializer_list>

#include "sandbox/apiserver/object_rules.h"
#include "sandbox/apiserver/served_kind.h"

namespace gangway::sandbox {
namespace {

using apply::FieldSet;
using apply::Path;
using apply::PathElement;

FieldSet SetOf(std::initializer_list<std::initializer_list<absl::string_view>> paths) {
  FieldSet out;
  for (const auto& names : paths) {
    Path path;
    for (const absl::string_view name : names) path.push_back(PathElement::Field(name));
    out.Insert(path);
  }
  return out;
}

}  // namespace

const FieldSet& ResetFields(const api::Resource& resource, absl::string_view subresource) {
  static const auto* const kNone = new FieldSet();
  static const auto* const kStatus = new FieldSet(SetOf({{"status"}}));
  static const auto* const kSpec = new FieldSet(SetOf({{"spec"}}));
  static const auto* const kOfPodStatus =
      new FieldSet(SetOf({{"spec"}, {"metadata", "deletionTimestamp"}, {"metadata", "ownerReferences"}}));
  static const auto* const kOfDeploymentStatus = new FieldSet(SetOf({{"spec"}, {"metadata", "labels"}}));
  static const auto* const kWhole = new FieldSet(SetOf({{"spec"}, {"metadata"}}));
  if (!HasStatusSubresource(resource)) return *kNone;
  if (subresource.empty()) return *kStatus;
  if (subresource != "status") return *kNone;
  if (&resource == &api::kPods) return *kOfPodStatus;
  if (&resource == &api::kDeployments) return *kOfDeploymentStatus;
  return ServedAs(resource).status_writes_metadata ? *kSpec : *kWhole;
}

}  // namespace gangway::sandbox
