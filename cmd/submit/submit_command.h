// `gangway submit`: what `python -m paddlerec.run -m config.yaml -b backend.yaml` did for Kubernetes
// (docs/paddlerec.md).
#pragma once

#include <string>
#include <vector>

#include "cmd/caller/api_caller.h"
#include "cmd/terminal/command_line.h"

namespace gangway::cmd {

struct SubmitFlags {
  ServerFlags server;
  std::string model, backend, ns, queue, target = "volcano", volcano_version = "1.13", timeout = "5m";
  std::vector<std::string> claims;  // NAME:/PATH
  bool replace = false, dry_run = false;
};

// Lives from before the flags are parsed until the command has run.
class SubmitCommand {
 public:
  explicit SubmitCommand(CommandLine app);
  SubmitCommand(const SubmitCommand&) = delete;
  SubmitCommand& operator=(const SubmitCommand&) = delete;
  bool chosen() const;
  // The exit code: 0 submitted, or printed with --dry-run; 1 the API server refused it, did not answer or has the job
  // already; 2 a flag or a file is wrong; 3 the job that --replace deletes is not gone in time.
  int Run() const;

 private:
  CommandLine command_;
  SubmitFlags flags_;
};

}  // namespace gangway::cmd
