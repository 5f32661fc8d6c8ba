// The flags of `gangway queue list|get|operate`: vcctl's, and names as kubectl takes them.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "cmd/caller/api_caller.h"
#include "cmd/terminal/command_line.h"

namespace gangway::cmd {

struct QueueFlags {
  ServerFlags server;
  std::string name;  // --name or positional
  std::string action, output;
  std::int64_t weight = 0;
};

// Lives from before the flags are parsed until it has run.
class QueueCommand {
 public:
  explicit QueueCommand(CommandLine app);
  bool chosen() const;
  // The exit code (api_caller.h).
  int Run();

 private:
  absl::Status Check(absl::string_view verb) const;
  absl::Status List(ApiCaller& caller) const;
  absl::Status Get(ApiCaller& caller) const;
  absl::Status Operate(ApiCaller& caller) const;

  CommandLine command_;
  QueueFlags flags_;
};

}  // namespace gangway::cmd
