#include "cmd/terminal/command_line.h"

#include <utility>

#include <CLI/CLI.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/nearest.h"
#include "cmd/terminal/exit_code.h"
#include "cmd/terminal/output.h"

namespace gangway::cmd {
namespace {

// The command that was read last, with the words before it: "gangway job view".
struct Place {
  const CLI::App* command;
  std::string words;
};

Place PlaceIn(const CLI::App& app) {
  Place place{&app, app.get_name()};
  while (!place.command->get_subcommands().empty()) {
    place.command = place.command->get_subcommands().front();
    absl::StrAppend(&place.words, " ", place.command->get_name());
  }
  return place;
}

std::vector<std::string> FlagsOf(const CLI::App& command) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) flags.push_back(name);
  }
  return flags;
}

std::vector<std::string> CommandsOf(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* one : command.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(one->get_name());
  return names;
}

bool IsFlag(absl::string_view word) { return word.size() > 1 && word.front() == '-'; }

std::string NoSuchFlag(absl::string_view word, const Place& place) {
  const absl::string_view flag = word.substr(0, word.find('='));
  absl::string_view name = flag;
  const std::string near = absl::ConsumePrefix(&name, "--") ? Nearest(name, FlagsOf(*place.command)) : "";
  return absl::StrCat("there is no flag ", flag, near.empty() ? "" : absl::StrCat("; did you mean --", near, "?"),
                      near.empty() ? "; see " : " See ", place.words, " --help");
}

std::string UselessWord(absl::string_view word, const Place& place) {
  const std::vector<std::string> commands = CommandsOf(*place.command);
  if (!commands.empty()) return NoSuchCommand(word, commands, place.words);
  const bool takes_files = place.command->get_option_no_throw("--filename") != nullptr;
  return absl::StrCat("\"", word, "\" belongs to no flag",
                      takes_files ? absl::StrCat("; did you mean -f ", word, "?") : "",
                      takes_files ? " See " : "; see ", place.words, " --help");
}

// What nobody understood comes before what is missing: it may be that.
std::string Complaint(const CLI::App& app, const CLI::ParseError& error, const Place& place) {
  std::vector<std::string> left = app.remaining(/*recurse=*/true);
  std::erase(left, "--");
  for (const std::string& word : left) {
    if (IsFlag(word)) return NoSuchFlag(word, place);
  }
  if (!left.empty()) return UselessWord(left.front(), place);
  return absl::StrCat(error.what(), "; see ", place.words, " --help");
}

}  // namespace

std::string NoSuchCommand(absl::string_view word, const std::vector<std::string>& commands, absl::string_view program) {
  const std::string near = Nearest(word, commands);
  return absl::StrCat("there is no command \"", word, "\"",
                      near.empty() ? "; see " : absl::StrCat("; did you mean ", near, "? See "), program, " --help");
}

Flag Flag::Required() {
  option_->required();
  return *this;
}
Flag Flag::ShowDefault() {
  option_->capture_default_str();
  return *this;
}
Flag Flag::Within(std::int64_t least, std::int64_t most) {
  option_->check(CLI::Range(least, most));
  return *this;
}
Flag Flag::NotNegative() {
  option_->check(CLI::NonNegativeNumber);
  return *this;
}
Flag Flag::OneOf(std::vector<std::string> values) {
  option_->check(CLI::IsMember(std::move(values)));
  return *this;
}
Flag Flag::Values(int least, int most) {
  option_->expected(least, most);
  return *this;
}
Flag Flag::OneEach() {
  option_->allow_extra_args(false);
  return *this;
}
Flag Flag::SplitAt(char delimiter) {
  option_->delimiter(delimiter);
  return *this;
}
Flag Flag::Excludes(Flag other) {
  option_->excludes(other.option_);
  return *this;
}
Flag Flag::FromEnvironment(const std::string& variable) {
  option_->envname(variable);
  return *this;
}

CommandLine CommandLine::Add(const std::string& name, const std::string& about) {
  return CommandLine(app_->add_subcommand(name, about));
}
void CommandLine::RequireCommand() { app_->require_subcommand(1); }
void CommandLine::Footer(const std::string& text) { app_->footer(text); }

Flag CommandLine::Add(const std::string& names, std::string& value, const std::string& help) {
  return Flag(app_->add_option(names, value, help));
}
Flag CommandLine::Add(const std::string& names, std::vector<std::string>& values, const std::string& help) {
  return Flag(app_->add_option(names, values, help));
}
Flag CommandLine::Add(const std::string& names, int& value, const std::string& help) {
  return Flag(app_->add_option(names, value, help));
}
Flag CommandLine::Add(const std::string& names, std::int64_t& value, const std::string& help) {
  return Flag(app_->add_option(names, value, help));
}
Flag CommandLine::Add(const std::string& names, std::uint64_t& value, const std::string& help) {
  return Flag(app_->add_option(names, value, help));
}
Flag CommandLine::AddSwitch(const std::string& names, bool& value, const std::string& help) {
  return Flag(app_->add_flag(names, value, help));
}
Flag CommandLine::AddSwitch(const std::string& names, std::string& value, const std::string& help) {
  return Flag(app_->add_flag(names, value, help));
}

bool CommandLine::chosen() const { return app_->parsed(); }
bool CommandLine::given(const std::string& flag) const { return app_->count(flag) > 0; }
std::string CommandLine::chosen_below() const {
  const std::vector<CLI::App*> below = app_->get_subcommands();
  return below.empty() ? "" : below.front()->get_name();
}

MainCommand::MainCommand(const std::string& name, const std::string& about, const std::string& version)
    : CommandLine(nullptr), owned_(std::make_unique<CLI::App>(about, name)) {
  app_ = owned_.get();
  app_->set_version_flag("--version", version);
}
MainCommand::~MainCommand() = default;

std::optional<int> MainCommand::Read(int argc, const char* const* argv) {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) return app_->exit(error);
    const Place place = PlaceIn(*app_);
    Note(absl::StrCat(place.words, ": ", Complaint(*app_, error, place)));
    return kNoAnswer;
  }
  return std::nullopt;
}

Completion MainCommand::Complete(const std::vector<std::string>& typed) const {
  Completion out;
  const CLI::App* command = app_;
  const CLI::Option* open = nullptr;  // whose value comes next
  for (std::size_t i = 0; i + 1 < typed.size(); ++i) {
    const std::string& word = typed[i];
    if (std::exchange(open, nullptr) != nullptr) continue;
    if (IsFlag(word)) {
      const CLI::Option* const option = command->get_option_no_throw(word.substr(0, word.find('=')));
      if (option != nullptr && option->get_items_expected_max() > 0 && !absl::StrContains(word, '=')) open = option;
      continue;
    }
    const std::vector<const CLI::App*> below =
        command->get_subcommands([&](const CLI::App* one) { return one->check_name(word); });
    if (!below.empty() && out.given.empty()) {
      command = below.front();
      out.commands.push_back(word);
    } else {
      out.given.push_back(word);
    }
  }
  const std::string begun = typed.empty() ? "" : typed.back();
  out.begun = begun;
  if (open == nullptr && IsFlag(begun) && absl::StrContains(begun, '=')) {
    open = command->get_option_no_throw(begun.substr(0, begun.find('=')));
    out.begun = begun.substr(begun.find('=') + 1);
    if (open == nullptr || open->get_items_expected_max() == 0) return out;
  }
  if (open != nullptr) {
    out.flag = open->get_name();
    return out;
  }
  if (absl::StartsWith(begun, "-")) {
    for (const CLI::Option* const option : command->get_options()) {
      for (const std::string& name : option->get_lnames()) {
        if (absl::StartsWith("--" + name, begun)) out.words.push_back({"--" + name, option->get_description()});
      }
    }
    return out;
  }
  if (!out.given.empty()) return out;
  for (const CLI::App* const below : command->get_subcommands([](const CLI::App*) { return true; })) {
    if (absl::StartsWith(below->get_name(), begun)) out.words.push_back({below->get_name(), below->get_description()});
  }
  return out;
}

}  // namespace gangway::cmd
