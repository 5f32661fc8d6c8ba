// `gangway validate`: judges manifests as Volcano's admission would, without a cluster.
#pragma once

#include <string>
#include <vector>

#include "cmd/terminal/command_line.h"
#include "cmd/translate/translate_command.h"

namespace gangway::cmd {

// Lives from before the flags are parsed until the command has run.
class ValidateCommand {
 public:
  explicit ValidateCommand(CommandLine app);
  bool chosen() const;
  // The exit code: 0 every object would be taken, 1 one would be refused, 2 a flag is wrong or an input cannot be read.
  int Run() const;

 private:
  CommandLine command_;
  std::vector<std::string> inputs_;
  TranslateFlags flags_;
  std::string output_ = "text";
};

}  // namespace gangway::cmd
