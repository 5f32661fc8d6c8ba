// What somebody who wrote an unknown word most likely meant.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace gangway {

// The one of `known` that is nearest to `word`, in any letter case, whole or by what follows the last dot; "" when none
// is near.
std::string Nearest(absl::string_view word, const std::vector<std::string>& known);

}  // namespace gangway
