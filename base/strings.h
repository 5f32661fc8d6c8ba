// Crossing between the two string views, and small text helpers that every room uses.
//
// The packaged Abseil has a string view of its own; `absl::StrCat`, `absl::Status` and map look-ups take only
// that one. `std::string` and literals convert to both, `View` crosses from the standard one.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"

namespace gangway {

inline absl::string_view View(std::string_view s) { return {s.data(), s.size()}; }
inline std::string_view StdView(absl::string_view s) { return {s.data(), s.size()}; }

inline bool IsDigit(char c) { return c >= '0' && c <= '9'; }
inline bool HasControl(absl::string_view s) {
  return std::any_of(s.begin(), s.end(), [](char c) { return absl::ascii_iscntrl(static_cast<unsigned char>(c)); });
}

// Immutable text shared between a store, its watchers and caches.
using Bytes = std::shared_ptr<const std::string>;
inline Bytes MakeBytes(std::string text) { return std::make_shared<const std::string>(std::move(text)); }

// For one segment of a URL's path, or one key or value of its query: all but letters, digits and -._~ becomes %XX.
std::string PercentEncode(absl::string_view text);

}  // namespace gangway
