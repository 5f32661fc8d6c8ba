// `gangway diff`: what applying the translation of job files would change in a cluster (docs/translate.md).
#pragma once

#include <string>
#include <vector>

#include "cmd/caller/api_caller.h"
#include "cmd/terminal/command_line.h"
#include "cmd/translate/translate_command.h"

namespace gangway::cmd {

class DiffCommand {
 public:
  // Adds the subcommand; its flags are written into this object, which must outlive the parse.
  explicit DiffCommand(CommandLine app);
  DiffCommand(const DiffCommand&) = delete;
  DiffCommand& operator=(const DiffCommand&) = delete;

  bool chosen() const;
  int Run() const;  // the exit code

 private:
  CommandLine command_;
  ServerFlags server_;
  TranslateFlags flags_;
  std::vector<std::string> inputs_;
};

}  // namespace gangway::cmd
