// Exponential back-off with jitter, as a value.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "absl/time/time.h"
#include "base/random.h"

namespace gangway {

struct Backoff {
  absl::Duration initial = absl::Milliseconds(100);
  absl::Duration max = absl::Minutes(1);
  double factor = 2.0;
  double jitter = 0.5;  // the share of a delay that chance decides

  // The delay before another try after `attempt` failures in a row before this one (0: the first). In
  // [d * (1 - jitter), d], where d = min(initial * factor^attempt, max).
  absl::Duration Next(int attempt, std::uint64_t random) const {
    const double most = absl::FDivDuration(max, initial);
    const double grown = std::min(std::pow(factor, std::max(attempt, 0)), most);
    return initial * (grown * (1.0 - jitter * UnitInterval(random)));
  }
};

}  // namespace gangway
