#include "api/volcano/past_runs.h"

#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "api/duration.h"

namespace gangway::api::volcano {

std::string FormatPastRuns(const PastRuns& past) {
  return absl::StrCat("runs=", past.runs, " longest=", FormatGoDuration(past.longest));
}

std::optional<PastRuns> ParsePastRuns(absl::string_view text) {
  std::pair<absl::string_view, absl::string_view> words = absl::StrSplit(text, absl::MaxSplits(' ', 1));
  PastRuns past;
  if (!absl::ConsumePrefix(&words.first, "runs=") || !absl::ConsumePrefix(&words.second, "longest=") ||
      !absl::SimpleAtoi(words.first, &past.runs) || past.runs < 1)
    return std::nullopt;
  const absl::StatusOr<absl::Duration> longest = ParseGoDuration(words.second);
  if (!longest.ok() || *longest <= absl::ZeroDuration()) return std::nullopt;
  past.longest = *longest;
  return past;
}

}  // namespace gangway::api::volcano
