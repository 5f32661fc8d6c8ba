#include "cmd/process/process_command.h"

#include <cstdlib>
#include <optional>

#include "absl/strings/str_cat.h"
#include "cmd/process/process.h"

namespace gangway::cmd {
namespace {

const char* About(ProcessKind kind) {
  return kind == ProcessKind::kScheduler ? "place gangs of pods on the nodes of a cluster: all of a gang or none"
                                         : "keep Volcano's Jobs, Queues and PodGroups of a cluster as they should be";
}

std::optional<std::string> FromEnvironment(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

}  // namespace

ProcessCommand::ProcessCommand(CommandLine app, ProcessKind kind)
    : kind_(kind), command_(app.Add(ProcessName(kind), About(kind))) {
  command_.Footer(absl::StrCat(
      "Every flag can also stand in the environment (--log-level as GANGWAY_LOG_LEVEL) or in the file of --config;\n"
      "a flag goes before the environment, the environment before the file. See docs/configuration.md.\n"
      "Exit code: 0 ended in order, 2 a setting is wrong or an address cannot be had, 3 the lease was lost.\n\n  "
      "gangway ",
      ProcessName(kind), " --leader-elect --health-addr=0.0.0.0:8081 --metrics-addr=0.0.0.0:8080"));
  command_.Add("--config", config_, "file of settings (YAML)");
  for (const Setting* setting : SettingsOf(kind)) {
    std::string help = setting->help;
    if (setting->fallback[0] != '\0') absl::StrAppend(&help, " [", setting->fallback, "]");
    const std::string name = absl::StrCat("--", setting->flag);
    if (setting->is_switch) {
      command_.AddSwitch(name, texts_[setting->flag], help);
    } else {
      command_.Add(name, texts_[setting->flag], help);
    }
  }
}

bool ProcessCommand::chosen() const { return command_.chosen(); }

int ProcessCommand::Run() const {
  SettingSources sources;
  sources.environment = FromEnvironment;
  sources.config_file = config_;
  if (config_.empty()) sources.config_file = FromEnvironment("GANGWAY_CONFIG").value_or("");
  for (const auto& [flag, text] : texts_) {
    if (command_.given(absl::StrCat("--", flag))) sources.flags[flag] = text;
  }
  return RunProcess(kind_, std::move(sources));
}

}  // namespace gangway::cmd
