// What commands print. Names, messages and annotations that come from files or servers go through here, so that none of
// them writes to the terminal (base/printable.h). Containers' logs and the bytes of YAML and JSON, which are exact, do
// not: PutExact.
#pragma once

#include <cstdio>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace gangway::cmd {

// Lines of ours, flushed. False: they could not be written.
bool Put(std::FILE* to, absl::string_view lines);
// Bytes as they are, flushed.
bool PutExact(std::FILE* to, absl::string_view bytes);
// One line, whatever stands in it.
bool PutLine(std::FILE* to, absl::string_view line);
// The same on standard error.
void Note(absl::string_view line);
// Whether somebody looks at it; and whether colours are welcome there: not with NO_COLOR (https://no-color.org) or on a
// terminal that has none.
bool IsTerminal(std::FILE* to);
bool TakesColours(std::FILE* to);
// "gangway job list: ..." on standard error.
void Say(absl::string_view command, absl::string_view what);
// The same of a status; its exit code (exit_code.h).
int Complain(absl::string_view command, const absl::Status& status);

}  // namespace gangway::cmd
