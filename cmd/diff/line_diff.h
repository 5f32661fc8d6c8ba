// Two texts as `diff -u` compares them. The distribution packages no library that does.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace gangway::cmd {

// "" when they are equal, else with the two names, three lines around each change, and as few changes as there can be.
// Texts that have little in common (thousands of changes) are replaced as a whole.
std::string UnifiedDiff(absl::string_view before, absl::string_view after, absl::string_view before_name,
                        absl::string_view after_name);

}  // namespace gangway::cmd
