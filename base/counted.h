// "1 pod", "2 pods": how many there are of something, as a sentence says it.
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace gangway {

// Of words that have an s for several.
std::string Counted(std::int64_t count, absl::string_view what);

}  // namespace gangway
