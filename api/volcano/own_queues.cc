#include "api/volcano/own_queues.h"

#include "api/resource.h"

namespace gangway::api::volcano {

Queue OwnQueue(std::string_view name) {
  const bool root = name == kRootQueue;
  Queue queue;
  queue.api_version = api::kQueues.ApiVersion();
  queue.kind = std::string(api::kQueues.kind);
  queue.metadata.name = std::string(name);
  queue.spec.weight = 1;
  queue.spec.reclaimable = !root;
  if (!root) queue.spec.parent = std::string(kRootQueue);
  return queue;
}

}  // namespace gangway::api::volcano
