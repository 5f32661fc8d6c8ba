// What the exit codes of all commands mean (docs/commands.md). Of several objects or names the highest counts.
#pragma once

#include "absl/status/status.h"

namespace gangway::cmd {

inline constexpr int kDone = 0;        // done; the answer is yes, or there is nothing to say
inline constexpr int kNo = 1;          // the answer is no: refused, not there, different, or something was found
inline constexpr int kNoAnswer = 2;    // a flag, setting or file cannot be used, or the API server does not answer
inline constexpr int kNotReached = 3;  // begun, and not come to its end: not in time, or never any more

// Of what went wrong with a request or a wait. A request that the API server calls invalid is FailedPrecondition here
// (api_caller.h).
inline int ExitCodeOf(const absl::Status& status) {
  if (status.ok()) return kDone;
  if (absl::IsInvalidArgument(status) || absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status))
    return kNoAnswer;
  return absl::IsCancelled(status) ? kNotReached : kNo;
}

}  // namespace gangway::cmd
