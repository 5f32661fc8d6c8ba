// What each queue deserves of the cluster: the part that it may fill while others ask for theirs, and below which
// nothing is taken from it.
//
// Where it counts what queues held of late (Queue::used), a weight is halved for each time that the queue's part of
// that use among those beside it is as large as its part of their weights (slurm: priority/multifactor,
// 2^(-use/share)); each resource for itself, those that ask for none of it aside. Who used just its part keeps pace
// with all who did.
//
// By weights (volcano: plugins/proportion): what gangs can have of the cluster is poured into the queues by weight,
// each resource for itself, until a queue has what it asks for or may have (its capability); none gets less than its
// guarantee. As it is written (volcano: plugins/capacity): `spec.deserved`, within the capability, never below the
// guarantee; a queue that has queues below it deserves of what it does not write what those do together. What queues
// held of late then lowers nothing that is written; but of those that are beyond it the one goes first that holds least
// of what it deserves, lowered by its use in the same way: of the sum that those beside it deserve, or, where they
// deserve nothing, of their weights.
//
// Queues share within the one above: what a queue deserves bounds those below it together, and what those promise
// beyond it is cut in proportion. Gangs in a queue that has queues below it share as one more queue there, of weight 1.
// What pods outside of any queue hold is nobody's to share. Nothing is nothing: a queue that asks for none of a
// resource, or writes 0, deserves none of it beyond its guarantee.
//
// Everything is with the queues below unless it says otherwise, and rounded down to whole units of model/resources.h.
// A value; const calls may run together.
#pragma once

#include <cstdint>
#include <vector>

#include "plugin/gang/policy.h"
#include "plugin/gang/queue_tree.h"
#include "plugin/model/cluster.h"

namespace gangway::gang {

// A part of something, that compares exactly.
struct Part {
  __extension__ using Wide = __int128;
  Wide held = 0, of = 1;
  friend bool operator<(const Part& a, const Part& b) { return a.held * b.of < b.held * a.of; }
};

class Shares {
 public:
  // As the cluster is now; both must outlive it.
  Shares(const model::Cluster& cluster, const QueueTree& tree, Sharing sharing);

  std::int64_t Deserved(model::QueueId queue, model::Dim dim) const { return deserved_[At(queue, dim)]; }
  // Of the queue's own gangs; of a queue with none below it the same.
  std::int64_t OwnDeserved(model::QueueId queue, model::Dim dim) const { return own_deserved_[At(queue, dim)]; }
  // By how much of these they go in turn: what they deserve, lowered by use where that is as it is written; and their
  // weights, in 1/kOne, where they deserve nothing.
  std::int64_t Due(model::QueueId queue, model::Dim dim) const {
    return due_.empty() ? Deserved(queue, dim) : due_[At(queue, dim)];
  }
  static constexpr std::int64_t kOne = 1 << 20;
  std::int64_t TurnWeight(model::QueueId queue, model::Dim dim) const {
    return turn_weights_.empty() ? kOne * cluster_.queue(queue).weight : turn_weights_[At(queue, dim)];
  }
  std::int64_t Held(model::QueueId queue, model::Dim dim) const { return tree_.held(queue)[dim]; }
  // What it holds, and what gangs wait for in it: pods without a node, and minResources beyond the pods
  // that are there; within its capability and those below it. Without pods that are being deleted for good
  // (volcano: plugins/proportion, request): who was evicted is made again.
  std::int64_t Asked(model::QueueId queue, model::Dim dim) const { return asked_[At(queue, dim)]; }
  // What is kept for it: its guarantee, or those of the queues below it together.
  std::int64_t Kept(model::QueueId queue, model::Dim dim) const { return tree_.kept(queue)[dim]; }

  const model::Cluster& cluster() const { return cluster_; }
  const QueueTree& tree() const { return tree_; }

 private:
  struct Child;
  void SumWhatIsAsked();
  std::vector<std::int64_t> Written() const;
  double UsedByOwn(model::QueueId queue, model::Dim dim) const;
  std::vector<double> UsedWithThoseBelow() const;
  void Divide(Sharing sharing);
  void LowerTurnsByUse();

  std::size_t At(model::QueueId queue, model::Dim dim) const {
    return static_cast<std::size_t>(queue) * static_cast<std::size_t>(dims_) + static_cast<std::size_t>(dim);
  }
  const model::Cluster& cluster_;
  const QueueTree& tree_;
  const int dims_;
  std::vector<std::int64_t> deserved_, own_deserved_, asked_, own_asked_;
  std::vector<std::int64_t> due_, turn_weights_;  // empty: no use counts, or it counts in what they deserve
};

}  // namespace gangway::gang
