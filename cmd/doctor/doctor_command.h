// `gangway doctor`: what in a cluster keeps jobs from running, and what to do about it. Only reads.
#pragma once

#include "cmd/caller/api_caller.h"
#include "cmd/terminal/command_line.h"

namespace gangway::cmd {

// Lives from before the flags are parsed until the command has run.
class DoctorCommand {
 public:
  explicit DoctorCommand(CommandLine app);
  DoctorCommand(const DoctorCommand&) = delete;
  DoctorCommand& operator=(const DoctorCommand&) = delete;
  bool chosen() const;
  // The exit code: 0 nothing was found, 1 something was, 2 a flag is wrong or the cluster cannot be looked at.
  int Run() const;

 private:
  CommandLine command_;
  ServerFlags server_;
};

}  // namespace gangway::cmd
