#include "api/paddle/paddle_job.h"

#include "absl/strings/match.h"
#include "base/strings.h"

namespace gangway::api::paddle::kubeflow {

const ReplicaSpec* FindReplicas(const PaddleJobSpec& spec, std::string_view role) {
  const auto exact = spec.replica_specs.find(std::string(role));
  if (exact != spec.replica_specs.end()) return &exact->second;
  for (const auto& [key, replicas] : spec.replica_specs) {
    if (absl::EqualsIgnoreCase(key, View(role))) return &replicas;
  }
  return nullptr;
}

}  // namespace gangway::api::paddle::kubeflow
