// A file as text.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace gangway {

// All of it. NotFound: it cannot be opened; InvalidArgument: it is a folder. Both say where, and what to do or why not.
absl::StatusOr<std::string> ReadTextFile(const std::string& path);

}  // namespace gangway
