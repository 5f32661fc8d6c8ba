// `gangway doctor`: what in a cluster keeps jobs from running, and what to do about it. Only reads.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "cmd/caller/api_caller.h"
#include "cmd/doctor/sight.h"
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
  absl::StatusOr<Ailments> ExamineFile() const;
  static int Tell(const absl::StatusOr<Ailments>& found);

  CommandLine command_;
  ServerFlags server_;
  std::string scheduler_conf_;
};

}  // namespace gangway::cmd
