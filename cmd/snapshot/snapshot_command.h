// `gangway snapshot`: what the scheduler and the controllers read of a cluster, in one file.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "cmd/caller/api_caller.h"
#include "cmd/terminal/command_line.h"

namespace gangway::cmd {

class SnapshotCommand {
 public:
  explicit SnapshotCommand(CommandLine app);
  bool chosen() const;
  int Run() const;

 private:
  absl::StatusOr<int> Take() const;

  CommandLine command_;
  ServerFlags server_;
  std::string file_;
  bool anonymise_ = false;
};

}  // namespace gangway::cmd
