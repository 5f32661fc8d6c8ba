// The cluster as it would be with some placements more. The cluster itself is only read; dropping the overlay undoes all.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "plugin/gang/queue_tree.h"
#include "plugin/model/cluster.h"

namespace gangway::gang {

class Overlay {
 public:
  explicit Overlay(const model::Cluster& cluster) : cluster_(cluster), tree_(cluster) {}

  const model::Cluster& cluster() const { return cluster_; }
  const QueueTree& tree() const { return tree_; }
  std::int64_t free(model::Row row, model::Dim dim) const;
  bool PortsTaken(model::Row row, const model::Shape& shape) const;
  // A claim that one pod at a time may use, and one placed in this overlay does.
  bool ClaimTaken(const model::Shape& shape) const;
  // Requests taken in this overlay from a queue; and from it and those below it.
  const model::Resources& taken_from(model::QueueId queue) const { return TakenOf(queue).own; }
  const model::Resources& taken_below(model::QueueId queue) const { return TakenOf(queue).below; }

  void Take(model::Row row, model::ShapeId shape, int count);
  void TakeFromQueue(model::QueueId queue, const model::Resources& amounts);

  // A trial: what was taken since Begin is kept by Keep or dropped by Drop, which returns the rows it touched. Trials do not nest.
  void Begin();
  void Keep();
  std::vector<model::Row> Drop();
  // Takes back the newest Take of the trial.
  void TakeBack();

 private:
  struct RowState {
    model::Resources taken;
    std::vector<model::HostPort> ports;
  };
  struct Step {
    model::Row row;
    model::ShapeId shape;
    int count;
  };
  struct QueueStep {
    model::QueueId queue;
    model::Resources amounts;
  };

  struct Taken {
    model::Resources own, below;
  };
  const Taken& TakenOf(model::QueueId queue) const;
  void AddToClaims(const model::Shape& shape, int pods);
  void AddToQueue(model::QueueId queue, const model::Resources& amounts, std::int64_t times);

  const model::Cluster& cluster_;
  const QueueTree tree_;
  absl::flat_hash_map<model::Row, RowState> rows_;
  absl::flat_hash_map<model::QueueId, Taken> queues_;
  absl::flat_hash_map<model::ClaimId, int> claims_;  // of those for one pod: pods that use it
  std::vector<Step> trial_;
  std::vector<QueueStep> queue_trial_;
};

}  // namespace gangway::gang
