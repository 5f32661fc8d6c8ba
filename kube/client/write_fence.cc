#include "kube/client/write_fence.h"

#include <time.h>

#include "absl/strings/str_cat.h"

namespace gangway::kube {

WriteFence::WriteFence()
    : clock_([] {
        timespec now{};
        clock_gettime(CLOCK_BOOTTIME, &now);
        return absl::TimeFromTimespec(now);
      }) {}

bool IsWriteMethod(absl::string_view method) { return method != "GET" && method != "HEAD" && method != "OPTIONS"; }

absl::Status FencedOff(absl::string_view what) {
  return absl::FailedPreconditionError(absl::StrCat(what, ": not sent: this process does not hold its lease any more"));
}

}  // namespace gangway::kube
