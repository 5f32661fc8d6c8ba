#include "cmd/completion/completion_command.h"

#include <cstdio>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cmd/completion/names.h"
#include "cmd/completion/shells.h"
#include "cmd/terminal/exit_code.h"
#include "cmd/terminal/output.h"

namespace gangway::cmd {

CompletionCommand::CompletionCommand(CommandLine app)
    : command_(app.Add("completion", "lines for a shell that complete commands, flags and names from the cluster")) {
  command_.Footer(
      "  source <(gangway completion bash)                                        in ~/.bashrc\n"
      "  source <(gangway completion zsh)                                         in ~/.zshrc\n"
      "  gangway completion fish > ~/.config/fish/completions/gangway.fish");
  command_.Add("shell", shell_, "bash, zsh or fish").Required().OneOf({"bash", "zsh", "fish"});
}

bool CompletionCommand::chosen() const { return command_.chosen(); }

int CompletionCommand::Run() const { return PutExact(stdout, LinesOf(shell_)) ? kDone : kNoAnswer; }

int PrintCompletions(const MainCommand& app, const std::vector<std::string>& typed) {
  const Completion at = app.Complete(typed);
  std::string out;
  const auto offer = [&](absl::string_view word, absl::string_view about) {
    if (!absl::StartsWith(word, at.begun)) return;
    absl::StrAppend(&out, word, about.empty() ? "" : "\t", about.substr(0, about.find('\n')), "\n");
  };
  for (const Completion::Word& word : at.words) offer(word.word, word.about);
  bool files = false;
  if (at.words.empty()) {
    const Sought sought = SoughtAt(at);
    for (const std::string& word : sought.words) offer(word, "");
    if (sought.resource != nullptr) {
      for (const std::string& name : NamesOf(*sought.resource, typed)) offer(name, "");
    }
    files = sought.files;
  }
  Put(stdout, absl::StrCat(out, files ? ":0\n" : ":4\n"));
  return kDone;
}

}  // namespace gangway::cmd
