// The flags of `gangway scheduler` and `gangway controller`, as settings.h lists them.
#pragma once

#include <map>
#include <string>

#include "cmd/process/settings.h"

namespace CLI {
class App;
}

namespace gangway::cmd {

// Lives from before the flags are parsed until the process has run.
class ProcessCommand {
 public:
  ProcessCommand(CLI::App& app, ProcessKind kind);
  bool chosen() const;
  int Run() const;

 private:
  const ProcessKind kind_;
  CLI::App* const command_;
  std::map<std::string, std::string> texts_;  // by flag
  std::string config_;
};

}  // namespace gangway::cmd
