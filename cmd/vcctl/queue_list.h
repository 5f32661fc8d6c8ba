// What `vcctl queue list` and `vcctl queue get` print. Pure.
#pragma once

#include <string>

#include "absl/types/span.h"
#include "api/volcano/scheduling.h"

namespace gangway::cmd {

// In the order given; the counts are those of `groups`, since a queue's status need not have any. "No resources found"
// without a queue.
std::string QueueListText(absl::Span<const api::volcano::Queue> queues,
                          absl::Span<const api::volcano::PodGroup> groups);

}  // namespace gangway::cmd
