// Room of a queue that is kept for one of its gangs until it has it (gang/queue_claims.h).
#pragma once

#include "absl/time/time.h"

namespace gangway::model {

struct QueueClaim {
  int ends = 0;         // pods of the queue, or of one above it, that must end before
  absl::Time start;     // by when they will have ended; InfiniteFuture: nobody knows
  absl::Time expected;  // no later than that, as runs before took: an estimate
  absl::Time found;     // when this was looked for
  absl::Time since;     // when `ends` became less, or the gang claimed it
  friend bool operator==(const QueueClaim&, const QueueClaim&) = default;
};

}  // namespace gangway::model
