// Texts of others within HTML. All that a page shows of names, messages and annotations goes through here.
#pragma once

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace gangway::dashboard {

inline constexpr std::size_t kMaxText = 600;  // bytes of one text; what is longer ends in "…"

// Fit for an element's text and for an attribute in double quotes: no character means anything to HTML, none moves,
// hides or turns round what stands beside it (base/printable.h).
std::string Escaped(absl::string_view text);

// The text of HTML that Escaped made the texts of: without tags; escapes stay as they are.
std::string WithoutTags(absl::string_view html);

}  // namespace gangway::dashboard
