// `gangway explain`: why a job waits or where it runs, and what would help. Only reads.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cmd/caller/api_caller.h"
#include "cmd/terminal/command_line.h"

namespace gangway::cmd {

// Lives from before the flags are parsed until the command has run.
class ExplainCommand {
 public:
  explicit ExplainCommand(CommandLine app);
  ExplainCommand(const ExplainCommand&) = delete;
  ExplainCommand& operator=(const ExplainCommand&) = delete;
  bool chosen() const;
  // The exit code: 0 explained, and with --what-if it would start; 1 it would not, is not there, or may not be read; 2
  // a flag is wrong or nobody answers.
  int Run() const;

 private:
  absl::StatusOr<int> Explain() const;

  CommandLine command_;
  ServerFlags server_;
  std::vector<std::string> what_;  // "job ctr" or "job/ctr"
  std::string ns_, output_, lang_, scheduler_name_, scheduler_conf_;
  std::vector<std::string> what_if_;
};

}  // namespace gangway::cmd
