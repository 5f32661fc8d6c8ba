// How much time passes while nothing is broken.
#pragma once

#include <algorithm>

#include "absl/time/time.h"

namespace gangway::testutil {

class CalmTime {
 public:
  // What is between `now`, which never goes back, and `until` does not count.
  void Disturbed(absl::Time now, absl::Time until) {
    const absl::Time from = std::max(now, until_);
    if (until <= from) return;
    disturbed_ += until - from;
    until_ = until;
  }
  // Both behind the `now` of the last call.
  absl::Duration Between(absl::Time from, absl::Time to) const { return At(to) - At(from); }

 private:
  absl::Time At(absl::Time time) const { return time - disturbed_ + std::max(until_ - time, absl::ZeroDuration()); }

  absl::Duration disturbed_;
  absl::Time until_ = absl::UnixEpoch();
};

}  // namespace gangway::testutil
