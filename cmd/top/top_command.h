// `gangway top`: queues, who waits and why, and who holds which node, in the terminal. Only reads.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "cmd/caller/api_caller.h"
#include "cmd/terminal/command_line.h"

namespace gangway::cmd {

// Lives from before the flags are parsed until the command has run.
class TopCommand {
 public:
  explicit TopCommand(CommandLine app);
  TopCommand(const TopCommand&) = delete;
  TopCommand& operator=(const TopCommand&) = delete;
  bool chosen() const;
  // The exit code: 0 printed, or ended by a signal; 2 a flag is wrong or nobody answers.
  int Run() const;

 private:
  absl::StatusOr<int> Print() const;

  CommandLine command_;
  ServerFlags server_;
  std::string ns_, every_;
};

}  // namespace gangway::cmd
