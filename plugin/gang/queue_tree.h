// The queues as a tree: who counts towards whom, and the most that each may hold with those below it.
//
// A guarantee lies within that of the queue above: what is kept for a queue is the larger of its own guarantee and the
// sum of its children's. Where that is more than there is, each is left its part of what there is. Queues whose parents
// make a circle count as having none.
#pragma once

#include <cstdint>
#include <vector>

#include "plugin/model/cluster.h"

namespace gangway::gang {

class QueueTree {
 public:
  // As the cluster is now; it must outlive the tree.
  explicit QueueTree(const model::Cluster& cluster);

  // All queues, each after those below it.
  const std::vector<model::QueueId>& deepest_first() const { return deepest_first_; }
  // The queue and those above it, nearest first.
  const std::vector<model::QueueId>& path(model::QueueId queue) const { return At(queue).path; }
  // All queues are below this one, as below Volcano's root: it shares with nobody.
  bool IsAboveAll(model::QueueId queue) const { return queue == above_all_; }
  // What the pods of the queue and of those below it hold.
  const model::Resources& held(model::QueueId queue) const { return At(queue).held; }
  // What is kept for it: the larger of its guarantee and those of the queues below it together.
  const model::Resources& kept(model::QueueId queue) const { return At(queue).kept; }
  model::QueueId parent(model::QueueId queue) const { return At(queue).parent; }
  // Of the cluster's total what is not kept for others, within its own capability and those of the queues above.
  std::int64_t Limit(model::QueueId queue, model::Dim dim) const;
  // What pods may be placed up to: its own capability, and what gangs can have of the cluster less what is kept for
  // queues beside it and beside those above; model::kUnlimited: neither says anything.
  std::int64_t PlaceLimit(model::QueueId queue, model::Dim dim) const;
  // Whether any queue limits what may be placed.
  bool limits() const { return limits_; }
  // Of the cluster's total what pods of no queue leave; those that are being deleted leave what they hold, too.
  std::int64_t ToShare(model::Dim dim) const;

 private:
  struct Node {
    model::QueueId parent = model::kNone;
    std::vector<model::QueueId> path;
    model::Resources held;
    model::Resources kept;        // for it and those below
    model::Resources kept_below;  // for its children together
  };
  const Node& At(model::QueueId queue) const { return nodes_[static_cast<std::size_t>(queue)]; }
  bool InCircle(model::QueueId queue) const;
  // What is left of the cluster's total where so much is held.
  std::int64_t Beside(std::int64_t held, model::Dim dim) const;

  const model::Cluster& cluster_;
  std::vector<Node> nodes_;
  std::vector<model::QueueId> deepest_first_;
  model::Resources kept_at_top_;
  model::QueueId above_all_ = model::kNone;
  model::Resources outside_, outside_going_;  // held by pods of no queue, and by those of them that are being deleted
  bool limits_ = false;
};

}  // namespace gangway::gang
