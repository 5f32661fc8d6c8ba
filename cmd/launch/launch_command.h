// `gangway run`: a training from an image and a command, without a file (docs/commands.md).
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "cmd/caller/api_caller.h"
#include "cmd/launch/template.h"
#include "cmd/submit/submission.h"
#include "cmd/terminal/command_line.h"

namespace gangway::cmd {

struct LaunchFlags {
  ServerFlags server;
  Wish wish;
  std::string kind = "job", target = "volcano", volcano_version = "1.13", output = "yaml", timeout;
  bool wait = true, replace = false, dry_run = false;
};

// Lives from before the flags are parsed until the command has run.
class LaunchCommand {
 public:
  explicit LaunchCommand(CommandLine app);
  LaunchCommand(const LaunchCommand&) = delete;
  LaunchCommand& operator=(const LaunchCommand&) = delete;
  bool chosen() const;
  // The exit code (exit_code.h).
  int Run() const;

 private:
  absl::StatusOr<Submission> Make(const Wish& wish) const;
  absl::Status Print(const Submission& submission) const;
  absl::Status Wait(ApiCaller& caller, const Submission& submission, const std::string& uid,
                    absl::Duration patience) const;

  CommandLine command_;
  LaunchFlags flags_;
};

}  // namespace gangway::cmd
