#include "api/paddle/job_roles.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"

namespace gangway::api::paddle {
namespace {

bool Contains(const std::vector<std::string>& tasks, const std::string& name) {
  return std::find(tasks.begin(), tasks.end(), name) != tasks.end();
}

std::string TheTasksAre(const std::vector<std::string>& tasks) {
  return tasks.empty() ? "there is no task at all" : absl::StrCat("the tasks are ", absl::StrJoin(tasks, ", "));
}

absl::StatusOr<std::string> Find(const char* flag, const std::optional<std::string>& given, const char* otherwise,
                                 const std::vector<std::string>& tasks) {
  if (!given) return Contains(tasks, otherwise) ? std::string(otherwise) : std::string();
  if (Contains(tasks, *given)) return *given;
  return absl::InvalidArgumentError(
      absl::StrCat("--", flag, "=", *given, ": there is no such task; ", TheTasksAre(tasks)));
}

absl::Status CheckDistinct(const char* one_flag, const std::string& one, const char* other_flag,
                           const std::string& other) {
  if (one.empty() || one != other) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("task ", one, " cannot be both --", one_flag, " and --", other_flag));
}

}  // namespace

absl::StatusOr<RoleTasks> FindRoles(const RoleFlags& flags, const std::vector<std::string>& tasks) {
  RoleTasks roles;
  GW_ASSIGN_OR_RETURN(roles.server, Find("server", flags.server, "ps", tasks));
  GW_ASSIGN_OR_RETURN(roles.worker, Find("worker", flags.worker, "worker", tasks));
  GW_ASSIGN_OR_RETURN(roles.heter, Find("heter", flags.heter, "heter", tasks));
  GW_RETURN_IF_ERROR(CheckDistinct("server", roles.server, "worker", roles.worker));
  GW_RETURN_IF_ERROR(CheckDistinct("server", roles.server, "heter", roles.heter));
  GW_RETURN_IF_ERROR(CheckDistinct("worker", roles.worker, "heter", roles.heter));
  if (roles.none()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "no task is a server or a worker; name them with --server=<task> and --worker=<task>; ", TheTasksAre(tasks)));
  }
  if (!roles.heter.empty() && (roles.server.empty() || roles.worker.empty())) {
    return absl::InvalidArgumentError(
        absl::StrCat("task ", roles.heter, ", the heter trainers, needs servers and workers beside it; name them with ",
                     "--server=<task> and --worker=<task>; ", TheTasksAre(tasks)));
  }
  return roles;
}

absl::Status CheckPort(std::int64_t port, int most) {
  if (port >= 1 && port + most <= 65535) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("--port=", port, ": must be from 1 to ", 65535 - most));
}

}  // namespace gangway::api::paddle
