// A token bucket that is told the time.
#pragma once

#include <algorithm>

#include "absl/time/time.h"

namespace gangway {

// Lets `burst` through at once and `per_second` from then on. Zero or less per second: no limit.
// Thread-compatible.
class RateLimiter {
 public:
  RateLimiter(double per_second, int burst)
      : interval_(per_second > 0 ? absl::Seconds(1) / per_second : absl::ZeroDuration()),
        slack_(interval_ * std::max(burst - 1, 0)) {}

  // Takes a token if there is one.
  bool TryTake(absl::Time now) {
    if (now < NextAt()) return false;
    full_at_ = std::max(full_at_, now) + interval_;
    return true;
  }
  // When TryTake will next succeed; a time in the past means now.
  absl::Time NextAt() const { return full_at_ - slack_; }

 private:
  absl::Duration interval_;  // between tokens
  absl::Duration slack_;
  absl::Time full_at_ = absl::InfinitePast();  // when the bucket will be full, less one interval
};

}  // namespace gangway
