#include "cmd/terminal/output.h"

#include <unistd.h>

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "base/printable.h"
#include "cmd/terminal/exit_code.h"

namespace gangway::cmd {

bool Put(std::FILE* to, absl::string_view lines) { return PutExact(to, Lines(lines)); }

bool PutExact(std::FILE* to, absl::string_view bytes) {
  return std::fwrite(bytes.data(), 1, bytes.size(), to) == bytes.size() && std::fflush(to) == 0;
}

bool PutLine(std::FILE* to, absl::string_view line) { return PutExact(to, absl::StrCat(OneLine(line), "\n")); }

void Note(absl::string_view line) { PutLine(stderr, line); }

bool IsTerminal(std::FILE* to) { return isatty(fileno(to)) != 0; }

bool TakesColours(std::FILE* to) {
  const char* const no_color = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  return IsTerminal(to) && (no_color == nullptr || *no_color == '\0') &&
         (terminal == nullptr || absl::string_view(terminal) != "dumb");
}

void Say(absl::string_view command, absl::string_view what) { Note(absl::StrCat("gangway ", command, ": ", what)); }

int Complain(absl::string_view command, const absl::Status& status) {
  Say(command, status.message());
  return ExitCodeOf(status);
}

}  // namespace gangway::cmd
