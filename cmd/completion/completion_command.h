// `gangway completion bash|zsh|fish`, and what the shells ask as one types.
#pragma once

#include <string>
#include <vector>

#include "cmd/terminal/command_line.h"

namespace gangway::cmd {

// Lives from before the flags are parsed until the command has run.
class CompletionCommand {
 public:
  explicit CompletionCommand(CommandLine app);
  CompletionCommand(const CompletionCommand&) = delete;
  CompletionCommand& operator=(const CompletionCommand&) = delete;
  bool chosen() const;
  // Prints the shell's lines. The exit code: 2 for a shell that there is not.
  int Run() const;

 private:
  CommandLine command_;
  std::string shell_;
};

// `gangway __complete WORD...`, the last word being the one to complete: a candidate a line, after a tab what it is,
// and at the end ":4", or ":0" where files may stand. The protocol of cobra, which kubectl expects of its plugins
// (https://pkg.go.dev/github.com/spf13/cobra#ShellCompDirective). Never fails: who asks is a shell.
inline constexpr char kCompleteCommand[] = "__complete";
int PrintCompletions(const MainCommand& app, const std::vector<std::string>& typed);

}  // namespace gangway::cmd
