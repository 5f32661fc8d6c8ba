// Text that somebody else wrote, made fit to be shown: none of it moves a cursor, sets colours or titles, hides, or
// turns round what stands beside it. That is: no control characters (C0, DEL, C1), no marks, overrides and isolates of
// direction, nothing invisible, no separators of lines, and no bytes that are no UTF-8. They are written as \u001b,
// \u202e, \U000e0041, \xff. What has been escaped is not changed again.
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace gangway {

// Whether the code point may be shown as it is.
bool IsPrintable(std::uint32_t code_point);

// For a place within a line: line feeds and tabs are written as \n and \t, so that nobody adds lines of their own.
std::string OneLine(absl::string_view text);
// For what has lines of ours: line feeds and tabs stay.
std::string Lines(absl::string_view text);

// As OneLine, for HTML and XML: neither an element nor, between quotes, the end of an attribute.
std::string MarkupText(absl::string_view text);

// How JSON writes a code point in ASCII: \u001b; above 16 bits two of these.
std::string EscapeForJson(std::uint32_t code_point);
// JSON that says the same: within its strings such characters become JSON's escapes. `json` must be JSON.
std::string PrintableJson(absl::string_view json);

}  // namespace gangway
