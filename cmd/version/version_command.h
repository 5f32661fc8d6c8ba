// `gangway version`: which version this is and, with --check, whether it is whole and finds the types that it works
// with.
#pragma once

#include "cmd/caller/api_caller.h"
#include "cmd/terminal/command_line.h"

namespace gangway::cmd {

// Lives from before the flags are parsed until the command has run.
class VersionCommand {
 public:
  explicit VersionCommand(CommandLine app);
  VersionCommand(const VersionCommand&) = delete;
  VersionCommand& operator=(const VersionCommand&) = delete;
  bool chosen() const;
  // The exit code: 0 printed, and nothing is wrong, 1 something is, 2 a flag is wrong or the API server does not
  // answer.
  int Run() const;

 private:
  int CheckInstallation() const;
  int CheckServer() const;

  CommandLine command_;
  ServerFlags server_;
  bool check_ = false, strict_ = false;
};

}  // namespace gangway::cmd
