// How soon who connects is let in: a connection costs more than most calls, so that who comes and goes without end
// would take the server from those who are there. The others wait in the kernel's queue.
#pragma once

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "base/mutex.h"
#include "base/rate_limiter.h"

namespace gangway::extender {

struct ArrivalLimits {
  int at_once = 64;
  int per_second = 200;
  // For so long after somebody was cut off, since he comes again at once.
  absl::Duration wary = absl::Seconds(1);
  int per_second_wary = 50;
};

// Thread-safe.
class Arrivals {
 public:
  explicit Arrivals(const ArrivalLimits& limits = {});

  bool TryTake(absl::Time now);
  // When TryTake will next succeed, if nobody is cut off until then; a time in the past means now.
  absl::Time NextAt(absl::Time now);
  void SomebodyWasCutOff(absl::Time now);

 private:
  RateLimiter& Now(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const absl::Duration wary_for_;
  Mutex mu_;
  RateLimiter usual_ ABSL_GUARDED_BY(mu_), wary_ ABSL_GUARDED_BY(mu_);
  absl::Time wary_until_ ABSL_GUARDED_BY(mu_) = absl::InfinitePast();
};

}  // namespace gangway::extender
