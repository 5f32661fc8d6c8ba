// The lines that make a shell ask `gangway __complete`.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace gangway::cmd {

// Of bash, zsh or fish; "" for another.
std::string LinesOf(absl::string_view shell);

}  // namespace gangway::cmd
