#include "plugin/extender/wire/arrivals.h"

namespace gangway::extender {

Arrivals::Arrivals(const ArrivalLimits& limits)
    : wary_for_(limits.wary), usual_(limits.per_second, limits.at_once), wary_(limits.per_second_wary, 1) {}

RateLimiter& Arrivals::Now(absl::Time now) { return now < wary_until_ ? wary_ : usual_; }

bool Arrivals::TryTake(absl::Time now) {
  const MutexLock lock(mu_);
  return Now(now).TryTake(now);
}

absl::Time Arrivals::NextAt(absl::Time now) {
  const MutexLock lock(mu_);
  return Now(now).NextAt();
}

void Arrivals::SomebodyWasCutOff(absl::Time now) {
  const MutexLock lock(mu_);
  wary_until_ = now + wary_for_;
}

}  // namespace gangway::extender
