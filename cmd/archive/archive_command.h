// `gangway archive`: what is left of jobs that have ended, in a file or an object store (docs/commands.md).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cmd/archive/sink.h"
#include "cmd/caller/api_caller.h"
#include "cmd/terminal/command_line.h"

namespace gangway::cmd {

struct ArchiveFlags {
  ServerFlags server;
  std::vector<std::string> namespaces;
  std::string file, url, region, credentials_file, ca_file;
  bool is_unsigned = false, hold = false, release = false, once = false;
};

// Lives from before the flags are parsed until the command has run.
class ArchiveCommand {
 public:
  explicit ArchiveCommand(CommandLine app);
  ArchiveCommand(const ArchiveCommand&) = delete;
  ArchiveCommand& operator=(const ArchiveCommand&) = delete;
  bool chosen() const;
  int Run() const;  // the exit code (exit_code.h)

 private:
  absl::Status Check() const;
  absl::StatusOr<std::vector<std::unique_ptr<Sink>>> Sinks(Loop& loop) const;

  CommandLine command_;
  ArchiveFlags flags_;
};

}  // namespace gangway::cmd
