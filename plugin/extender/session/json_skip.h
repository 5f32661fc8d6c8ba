// The end of a JSON value that nobody looks into, found at the speed of memory.
//
// Most of a session's body stands in it several times: whoever reads it once steps over the rest. What is stepped over
// is not checked, but that its strings end, that no backslash stands outside them, and that as many brackets close as
// open; nothing of it is trusted.
#pragma once

#include <cstddef>

#include "absl/strings/string_view.h"

namespace gangway::extender {

// Brackets within each other; beyond, nothing that a scheduler sends.
inline constexpr int kMaxSkippedDepth = 1'000;

// `at`: its first byte. absl::string_view::npos: it is cut off, too deep, or not JSON. No byte beyond the text is read.
std::size_t EndOfValue(absl::string_view json, std::size_t at);
// The same of an object or list in which `at` is: behind one of its members.
std::size_t EndOfRest(absl::string_view json, std::size_t at);
// The same of a string, whose opening quote is at `at`. `escapes`: set when there is a backslash in it.
std::size_t EndOfString(absl::string_view json, std::size_t at, bool& escapes);
// Both as processors without AVX2 find them; for tests.
std::size_t EndOfValueByBytes(absl::string_view json, std::size_t at);
std::size_t EndOfRestByBytes(absl::string_view json, std::size_t at);

}  // namespace gangway::extender
