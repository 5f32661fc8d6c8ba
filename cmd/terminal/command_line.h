// What a command understands, and reading it. What nobody understood is told with what was meant most likely.
//
// CLI11 behind functions: it is all headers, and compiling it takes longer than the commands themselves.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace gangway::cmd {

// A flag or a word of a command; a handle that lives as long as its MainCommand. What takes something returns the same.
class Flag {
 public:
  Flag Required();
  Flag ShowDefault();  // in --help: what its variable holds now
  Flag Within(std::int64_t least, std::int64_t most);
  Flag NotNegative();
  Flag OneOf(std::vector<std::string> values);
  // How many values it has; in all, wherever they stand.
  Flag Values(int least, int most);
  // Of a list: one value each time that it is given, so that words may follow it.
  Flag OneEach();
  // Of a list: a value of several, with this between them.
  Flag SplitAt(char delimiter);
  Flag Excludes(Flag other);
  // Where it is not given, what the environment's variable holds.
  Flag FromEnvironment(const std::string& variable);

 private:
  friend class CommandLine;
  explicit Flag(CLI::Option* option) : option_(option) {}
  CLI::Option* option_;
};

// A command: its flags, words and commands below it. A handle that lives as long as its MainCommand.
class CommandLine {
 public:
  CommandLine Add(const std::string& name, const std::string& about);
  void RequireCommand();  // one of those that were added
  void Footer(const std::string& text);

  // `names` as "-n,--namespace", or "job" for a word. The variable keeps its value when nothing is given, and must live
  // until the command line was read.
  Flag Add(const std::string& names, std::string& value, const std::string& help);
  Flag Add(const std::string& names, std::vector<std::string>& values, const std::string& help);
  Flag Add(const std::string& names, int& value, const std::string& help);
  Flag Add(const std::string& names, std::int64_t& value, const std::string& help);
  Flag Add(const std::string& names, std::uint64_t& value, const std::string& help);
  Flag AddSwitch(const std::string& names, bool& value, const std::string& help);
  Flag AddSwitch(const std::string& names, std::string& value, const std::string& help);  // "true" or "false"

  // After reading: whether it is the command, or one above it; whether the flag was given; the command below it.
  bool chosen() const;
  bool given(const std::string& flag) const;
  std::string chosen_below() const;

 protected:
  explicit CommandLine(CLI::App* app) : app_(app) {}
  CLI::App* app_;
};

// What may stand where a command line ends.
struct Completion {
  struct Word {
    std::string word, about;
  };
  std::vector<Word> words;  // commands, and flags where a dash was begun; in the order in which they were added
  std::vector<std::string> commands;  // those that stand before: {"job", "view"}
  std::vector<std::string> given;     // words of the last of them that are no flags and no flag's
  std::string flag;                   // whose value it is, by its longest name: "--namespace"; "" for none
  std::string begun;                  // of the word, or of the value behind the `=` of `--flag=`
};

class MainCommand : public CommandLine {
 public:
  MainCommand(const std::string& name, const std::string& about, const std::string& version);
  ~MainCommand();
  MainCommand(const MainCommand&) = delete;
  MainCommand& operator=(const MainCommand&) = delete;

  // Absent: go on. Otherwise the exit code: 0 help or the version was asked for and printed, 2 something is wrong,
  // which was told on standard error.
  std::optional<int> Read(int argc, const char* const* argv);
  // Of the words that were typed; the last, perhaps empty, is the one to complete. What is offered begins with it.
  Completion Complete(const std::vector<std::string>& typed) const;

 private:
  std::unique_ptr<CLI::App> owned_;
};

// "there is no command "jobb"; did you mean job? See gangway --help"
std::string NoSuchCommand(absl::string_view word, const std::vector<std::string>& commands, absl::string_view program);

}  // namespace gangway::cmd
