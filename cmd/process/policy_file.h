// The file of --scheduler-conf.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "plugin/conf/scheduler_conf.h"

namespace gangway::cmd {

// Errors name the file.
absl::StatusOr<conf::SchedulerConf> ReadPolicyFile(const std::string& path);
// Logs what is decided by now, and each line that is not followed.
void LogPolicyFile(const std::string& path, const conf::SchedulerConf& conf);

}  // namespace gangway::cmd
