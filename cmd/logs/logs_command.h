// `gangway logs`: the logs of all pods of a job, its flags as kubectl names them.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cmd/caller/api_caller.h"
#include "cmd/logs/log_choice.h"
#include "cmd/logs/log_output.h"
#include "cmd/terminal/command_line.h"

namespace gangway::cmd {

struct LogsFlags {
  ServerFlags server;
  std::string ns, job;
  bool follow = false, previous = false, timestamps = false, all_containers = true, prefix = true;
  std::vector<std::string> tasks, containers;
  std::int64_t tail = -1;
  std::string since, since_time;
  int max_log_requests = 100;
};

// Lives from before the flags are parsed until it has run.
class LogsCommand {
 public:
  explicit LogsCommand(CommandLine app);
  bool chosen() const;
  // Standard output has the logs, standard error what there is to say about them. The exit code (api_caller.h): with -f
  // 0 when the job is Completed, 3 when it has ended otherwise.
  int Run();

 private:
  absl::StatusOr<LogChoice> Choice() const;
  absl::Status Print(ApiCaller& caller, const api::volcano::Job& job, LogChoice choice);
  absl::Status Follow(ApiCaller& caller, const api::volcano::Job& job, LogChoice choice);

  CommandLine command_;
  LogsFlags flags_;
};

}  // namespace gangway::cmd
