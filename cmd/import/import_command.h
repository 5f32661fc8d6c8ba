// `gangway import`: what runs under paddle-operator becomes ours, and goes back (docs/commands.md).
#pragma once

#include <string>
#include <vector>

#include "cmd/caller/api_caller.h"
#include "cmd/terminal/command_line.h"
#include "cmd/translate/translate_command.h"

namespace gangway::cmd {

struct ImportFlags {
  ServerFlags server;
  TranslateFlags translate;  // as the controller has them that will keep the jobs
  std::string ns, timeout = "5m";
  std::vector<std::string> names;
  bool all_namespaces = false, apply = false, rollback = false, include_running = false;
};

// Lives from before the flags are parsed until the command has run.
class ImportCommand {
 public:
  explicit ImportCommand(CommandLine app);
  ImportCommand(const ImportCommand&) = delete;
  ImportCommand& operator=(const ImportCommand&) = delete;
  bool chosen() const;
  // The exit code: 0 the plan was printed, or all was done; 1 the API server refused something, a job cannot be taken
  // over or brought back, or paddle-operator still runs; 2 a flag is wrong; 3 what was to go is not gone in time.
  int Run() const;

 private:
  CommandLine command_;
  ImportFlags flags_;
};

}  // namespace gangway::cmd
