// When open pages are next told of what has changed.
#pragma once

#include <algorithm>

#include "absl/time/time.h"

namespace gangway::dashboard {

// Changes that come together are shown together, so long after the first.
inline constexpr absl::Duration kGather = absl::Milliseconds(30);
// In the long run no more often than this; some of what was not needed before may come at once, since one change has
// others behind it (a new queue is opened, and given its share) and should keep nobody waiting for the next.
inline constexpr absl::Duration kPace = absl::Milliseconds(250);
inline constexpr int kAtOnce = 4;

class Pace {
 public:
  absl::Time Next(absl::Time now) const { return std::max(now + kGather, full_at_ - (kAtOnce - 1) * kPace); }
  void Showed(absl::Time now) { full_at_ = std::max(full_at_, now) + kPace; }

 private:
  absl::Time full_at_ = absl::InfinitePast();  // from when on kAtOnce of them may come
};

}  // namespace gangway::dashboard
