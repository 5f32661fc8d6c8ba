#include "api/paddle/embedded.h"

#include "api/paddle/paddle_job.h"

namespace gangway::api::paddle {

absl::string_view DefinitionIn(const Type& owner, const Field& field) {
  if (field.type->kind != Kind::kDocument) return {};
  const bool role = &owner == &TypeOf<RoleSpec>() || &owner == &TypeOf<kubeflow::ReplicaSpec>();
  if (role && field.name == "template") return "io.k8s.api.core.v1.PodTemplateSpec";
  if (&owner == &TypeOf<kubeflow::ReplicaStatus>() && field.name == "labelSelector") {
    return "io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector";
  }
  return {};
}

}  // namespace gangway::api::paddle
