// `gangway simulate`: what of a snapshot and of jobs to come would run when.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "cmd/terminal/command_line.h"
#include "plugin/simulate/course.h"

namespace gangway::cmd {

class SimulateCommand {
 public:
  explicit SimulateCommand(CommandLine app);
  bool chosen() const;
  int Run() const;

 private:
  absl::StatusOr<simulate::Course> Live() const;

  CommandLine command_;
  std::string snapshot_, jobs_, output_, runs_ = "1h", scheduler_name_ = "volcano", scheduler_conf_;
};

}  // namespace gangway::cmd
