// Go's time.Duration as text, exactly as Go reads and prints it: "1m30s", "300ms", "-1.5h".
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace gangway::api {

// InvalidArgument with Go's text: `time: invalid duration "abc"`. The range is that of 64-bit nanoseconds, about 292
// years.
absl::StatusOr<absl::Duration> ParseGoDuration(absl::string_view text);

// "1h0m0s", "1.5s", "300ms", "0s". Beyond 64-bit nanoseconds it is the nearest that Go has; parts of nanoseconds are
// dropped.
std::string FormatGoDuration(absl::Duration duration);

}  // namespace gangway::api
