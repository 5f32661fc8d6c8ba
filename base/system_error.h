// Why the system refused something.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace gangway {

// Unavailable: "WHAT: No such file or directory". Never OK, as absl::ErrnoToStatus is for an errno that a library left
// at 0, and of one code, whatever the system's reason is.
absl::Status SystemError(absl::string_view what, int error);

}  // namespace gangway
