// PaddleJobs of a cluster with what belongs to them, for `gangway import`.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cmd/caller/api_caller.h"
#include "cmd/doctor/checks.h"
#include "translator/lifecycle/migration.h"

namespace gangway::cmd {

// One PaddleJob as it was seen; `view` borrows from the rest.
struct SeenJob {
  api::paddle::PaddleJob job;
  std::optional<api::volcano::PodGroup> group;
  std::optional<api::volcano::Job> volcano_job;
  std::optional<api::ObjectMeta> record;
  paddle_lifecycle::MigrationView view;
};

// All of a namespace ("": of all), or the one of this name; in the order of their keys. NotFound: there is no such job,
// or no such type.
absl::StatusOr<std::vector<std::unique_ptr<SeenJob>>> SeeJobs(ApiCaller& caller, const std::string& ns,
                                                              const std::string& name = {});

// paddle-operator, if it runs: "deployment paddle-system/x".
absl::StatusOr<std::string> FindOperator(ApiCaller& caller);

// Carries out a plan's writes, stage by stage, one after the other.
absl::Status CarryOutPlan(ApiCaller& caller, const kube::Plan& plan);

}  // namespace gangway::cmd
