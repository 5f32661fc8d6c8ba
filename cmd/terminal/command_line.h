// Reads a command line. What nobody understood is told with what was meant most likely.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace CLI {
class App;
}

namespace gangway::cmd {

// Absent: go on. Otherwise the exit code: 0 help or the version was asked for and printed, 2 something is wrong, which
// was told on standard error.
std::optional<int> ReadCommandLine(CLI::App& app, int argc, const char* const* argv);

// "there is no command "jobb"; did you mean job? See gangway --help"
std::string NoSuchCommand(absl::string_view word, const std::vector<std::string>& commands, absl::string_view program);

}  // namespace gangway::cmd
