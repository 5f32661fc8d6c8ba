// What `vcctl queue list` and `vcctl queue get` print. Pure.
#pragma once

#include <string>

#include "absl/types/span.h"
#include "api/volcano/scheduling.h"

namespace gangway::cmd {

// In the order given; the counts are those of `groups`, since a queue's status need not have any. "No resources found"
// without a queue. `wide`: with what pods hold, what the queue deserves of what it wants more of, and what it held of
// late, as far as the scheduler wrote it (api/volcano/queue_notes.h).
std::string QueueListText(absl::Span<const api::volcano::Queue> queues, absl::Span<const api::volcano::PodGroup> groups,
                          bool wide = false);

}  // namespace gangway::cmd
