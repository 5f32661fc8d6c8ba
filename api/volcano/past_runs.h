// How long runs before took, as a PodGroup tells.
#pragma once

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace gangway::api::volcano {

// On a Job's PodGroup, by the controller that makes it: "runs=3 longest=12m30s", of the last Jobs of the namespace
// with the very same spec that have Completed. An estimate: nothing ends then.
inline constexpr absl::string_view kPastRunsAnnotation = "gangway.io/past-runs";

struct PastRuns {
  int runs = 0;  // 0: there were none
  absl::Duration longest = absl::ZeroDuration();
  friend bool operator==(const PastRuns&, const PastRuns&) = default;
};

std::string FormatPastRuns(const PastRuns& past);
// nullopt: it does not read, or tells of none.
std::optional<PastRuns> ParsePastRuns(absl::string_view text);

}  // namespace gangway::api::volcano
