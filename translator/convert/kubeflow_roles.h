// The roles of a PaddleJob of kubeflow.org, as kubeflow's webhook and defaults see them
// (kubeflow/training-operator 1.9: pkg/apis/kubeflow.org/v1). Internal to this room.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/paddle/paddle_job.h"
#include "translator/convert/annotations.h"
#include "translator/convert/codes.h"
#include "translator/convert/mode.h"

namespace gangway::convert {

struct KubeflowRole {
  std::string task;   // "master", "worker"
  std::string field;  // "spec.paddleReplicaSpecs.Worker", with the key as it is written
  const api::paddle::kubeflow::ReplicaSpec* spec = nullptr;  // the job's
  std::int32_t replicas = 1;
  std::string restart_policy;                           // "Never" or "OnFailure"
  bool by_exit_code = false;                            // ExitCode, with "Never"
  std::optional<std::int32_t> container_restarts = {};  // a backoffLimit, counted for each role
};

struct KubeflowRoles {
  std::vector<KubeflowRole> roles;  // master, worker, as far as they have pods
  Lineup lineup;  // arranged findings of all that is wrong with the roles and how they restart and end
  std::optional<std::int32_t> max_restarts;  // of the whole job, where the spec says it and no annotation does
};

// `job` must outlive the result. With an error in the lineup's findings the rest says nothing. Errors: E-EMPTY,
// E-REPLICAS, E-ENUM, E-REFUSED.
//
// A job is elastic when it asks for it and there is an etcd.
KubeflowRoles ReadKubeflowRoles(const api::paddle::kubeflow::PaddleJobSpec& spec, const Annotations& annotations,
                                bool has_etcd, bool strict);

// A text that must be one of `values` ("Always,Never"): E-ENUM when `strict`, else W-ENUM with what is taken in its
// place.
Finding NoSuchValue(absl::string_view field, absl::string_view text, absl::string_view values, absl::string_view taken,
                    bool strict);

}  // namespace gangway::convert
