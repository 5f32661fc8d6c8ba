// What `vcctl queue list` and `vcctl queue get` print, and what a program reads. Pure.
#pragma once

#include <map>
#include <string>

#include "absl/types/span.h"
#include "api/volcano/scheduling.h"

namespace gangway::cmd {

// What of a queue shows only when the whole cluster is looked at.
struct QueueNow {
  int share_permille = 0;  // of the weights of the queues beside it
  int waiting = 0;         // gangs of its own
};

// In the order given; the counts are those of `groups`, since a queue's status need not have any. "No resources found"
// without a queue. `wide`: with what pods hold, what the queue deserves of what it wants more of, and what it held of
// late, as far as the scheduler wrote it (api/volcano/queue_notes.h), its share and how many gangs wait.
std::string QueueListText(absl::Span<const api::volcano::Queue> queues, absl::Span<const api::volcano::PodGroup> groups,
                          const std::map<std::string, QueueNow>* wide = nullptr);

// The same, with all that `wide` says, as one JSON object with a list `queues`: amounts by resource, without what is
// not there; `share` in percent, and `waiting`, where the cluster was seen.
std::string QueueListJson(absl::Span<const api::volcano::Queue> queues, absl::Span<const api::volcano::PodGroup> groups,
                          const std::map<std::string, QueueNow>& now);

}  // namespace gangway::cmd
