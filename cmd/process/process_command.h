// The flags of `gangway scheduler` and `gangway controller`, as settings.h lists them.
#pragma once

#include <map>
#include <string>

#include "cmd/process/settings.h"
#include "cmd/terminal/command_line.h"

namespace gangway::cmd {

// Lives from before the flags are parsed until the process has run.
class ProcessCommand {
 public:
  ProcessCommand(CommandLine app, ProcessKind kind);
  bool chosen() const;
  int Run() const;

 private:
  const ProcessKind kind_;
  CommandLine command_;
  std::map<std::string, std::string> texts_;  // by flag
  std::string config_;
};

}  // namespace gangway::cmd
