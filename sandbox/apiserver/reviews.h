// Kinds that are asked and never stored: what one may do, and who one is.
#pragma once

#include <span>

#include "absl/strings/string_view.h"
#include "api/resource.h"

namespace gangway::sandbox {

// Compare by address, as those of api/resource.h.
std::span<const api::Resource* const> Reviews();
// The one that is asked at this path; nullptr: none.
const api::Resource* FindReview(absl::string_view path);

}  // namespace gangway::sandbox
