// When what was asked of a job has come true. Pure.
#pragma once

#include <string>

#include "api/volcano/job.h"

namespace gangway::cmd {

enum class JobVerb { kSuspend, kResume, kDelete };
const char* NameOf(JobVerb verb);  // "suspend"

struct WaitVerdict {
  enum class Kind { kWaits, kReached, kNever };
  Kind kind = Kind::kWaits;
  std::string why;  // kNever only: "it is Completed"
  friend bool operator==(const WaitVerdict&, const WaitVerdict&) = default;
};

// `now` is what has the job's name, null for nothing; `uid` whom the verb was about. A suspended job is Aborted. A
// resumed one runs, or has run to its end.
WaitVerdict JudgeWait(JobVerb verb, const api::volcano::Job* now, const std::string& uid);

}  // namespace gangway::cmd
