// The way back from base/strings.h's PercentEncode.
#pragma once

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace gangway {

// nullopt: broken percent-encoding.
std::optional<std::string> PercentDecode(absl::string_view text, bool plus_is_blank);

}  // namespace gangway
