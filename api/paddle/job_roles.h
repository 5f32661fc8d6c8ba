// Which tasks of a hand-written Job play which role: what the job plugin paddle goes by, and what admission asks of its
// flags.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace gangway::api::paddle {

// As given; those that are not given are the tasks ps, worker and heter, as far as there are such.
struct RoleFlags {
  std::optional<std::string> server, worker, heter;
};

// Names of tasks; "" = the job has no such role.
struct RoleTasks {
  std::string server, worker, heter;
  bool none() const { return server.empty() && worker.empty() && heter.empty(); }
};

// InvalidArgument, in a user's words: a named task that does not exist, a task with two roles, heter trainers without
// servers and workers, or a job in which nobody has a role.
absl::StatusOr<RoleTasks> FindRoles(const RoleFlags& flags, const std::vector<std::string>& tasks);

// InvalidArgument when `port`, and what is counted from it, is no port. `most`: the largest number that is added to it.
absl::Status CheckPort(std::int64_t port, int most);

}  // namespace gangway::api::paddle
