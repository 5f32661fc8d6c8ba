#include "api/volcano/job_plugins.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "api/paddle/job_roles.h"
#include "api/volcano/admission_rules.h"
#include "base/strings.h"

namespace gangway::api::volcano {
namespace {

// What Go's flag package makes of `--master=launcher`, `-master launcher`, ... ; the default when it is not there.
std::string FlagValue(const std::vector<std::string>& flags, absl::string_view name, absl::string_view otherwise) {
  std::string found(otherwise);
  for (std::size_t i = 0; i < flags.size(); ++i) {
    absl::string_view flag = flags[i];
    if (!absl::ConsumePrefix(&flag, "--") && !absl::ConsumePrefix(&flag, "-")) continue;
    if (!absl::ConsumePrefix(&flag, name)) continue;
    if (absl::ConsumePrefix(&flag, "=")) {
      found = std::string(flag);
    } else if (flag.empty() && i + 1 < flags.size()) {
      found = flags[i + 1];
    }
  }
  return found;
}

std::optional<std::string> FlagGiven(const std::vector<std::string>& flags, absl::string_view name) {
  const std::string not_given(1, '\0');
  std::string found = FlagValue(flags, name, not_given);
  return found == not_given ? std::nullopt : std::optional<std::string>(std::move(found));
}

}  // namespace

void CheckMpiPlugin(const JobSpec& spec, const std::vector<std::string>& flags, FieldErrors& errors) {
  const std::string master = FlagValue(flags, "master", "master");
  const bool there =
      std::any_of(spec.tasks.begin(), spec.tasks.end(), [&](const TaskSpec& task) { return task.name == master; });
  if (there) return;
  AddInvalid(errors, "spec.plugins.mpi", "", absl::StrCat("no task is called ", master, ", the master of the MPI job"),
             "name one so, or name the task that it is: --master=<task>");
}

void CheckPaddlePlugin(const JobSpec& spec, const std::vector<std::string>& flags, FieldErrors& errors) {
  std::vector<std::string> tasks;
  for (const TaskSpec& task : spec.tasks) tasks.push_back(task.name);
  const paddle::RoleFlags roles = {FlagGiven(flags, "server"), FlagGiven(flags, "worker"), FlagGiven(flags, "heter")};
  const auto refuse = [&](const absl::Status& status) {
    if (!status.ok()) AddInvalid(errors, "spec.plugins.paddle", "", std::string(status.message()));
  };
  refuse(paddle::FindRoles(roles, tasks).status());
  std::int64_t port = 0;
  if (absl::SimpleAtoi(FlagValue(flags, "port", ""), &port)) refuse(paddle::CheckPort(port, 0));
}

const JobPlugin* FindJobPlugin(absl::string_view name) {
  const auto* const at = std::find_if(std::begin(kJobPlugins), std::end(kJobPlugins),
                                      [&](const JobPlugin& plugin) { return View(plugin.name) == name; });
  return at == std::end(kJobPlugins) ? nullptr : at;
}

}  // namespace gangway::api::volcano
