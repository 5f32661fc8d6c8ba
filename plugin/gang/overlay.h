// The cluster as it would be with some placements more. The cluster itself is only read; dropping the overlay undoes
// all.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "plugin/gang/constraint/placed.h"
#include "plugin/gang/queue_tree.h"
#include "plugin/model/cluster.h"

namespace gangway::gang {

class Overlay : public constraint::Placed {
 public:
  explicit Overlay(const model::Cluster& cluster, absl::Span<const constraint::Kind> kinds = constraint::AllKinds(),
                   const constraint::Packing& packing = constraint::kPackAlike)
      : Placed(cluster, kinds, packing), tree_(cluster) {}

  const QueueTree& tree() const { return tree_; }
  // Requests taken in this overlay from a queue; and from it and those below it.
  const model::Resources& taken_from(model::QueueId queue) const { return TakenOf(queue).own; }
  const model::Resources& taken_below(model::QueueId queue) const { return TakenOf(queue).below; }
  // From all of them.
  const model::Resources& taken() const { return taken_; }
  // Differs after anything was taken from a queue, or given back.
  std::uint64_t queue_changes() const { return queue_changes_; }

  // What of the queue's room, with those below it, is kept from whoever is placed now (queue_claims.h).
  const model::Resources& claimed(model::QueueId queue) const;
  void Claim(model::QueueId queue, const model::Resources& amounts);
  void Unclaim() { claimed_.clear(); }

  // On kNone the pods will be somewhere: nothing but what only one of them can have is taken.
  void Take(model::Row row, model::ShapeId shape, int count);
  void TakeFromQueue(model::QueueId queue, const model::Resources& amounts, std::int64_t times = 1);

  // A trial: what was taken since Begin is kept by Keep or dropped by Drop, which returns the rows it touched. Trials
  // do not nest.
  void Begin();
  void Keep();
  std::vector<model::Row> Drop();
  // Takes back the newest Take of the trial.
  void TakeBack();

  // Trials that are kept after Mark can still be dropped, all at once, until Unmark.
  void Mark();
  std::vector<model::Row> Rewind();  // the rows it touched; the mark stays
  void Unmark();

  // As if pods of the shape were on the row and held room of the queue (kNone: of none), or with -1 not any more; no
  // trial drops that.
  void Hold(model::Row row, model::ShapeId shape, model::QueueId queue, int times);
  // As if a pod of another scheduler's were to be on the row, or with -1 not any more (constraint::State::Nominate); no
  // trial drops that.
  void Nominate(model::Row row, model::ShapeId shape, int times) {
    Placed::Nominate(row, cluster().shape(shape), times);
  }
  // As if a pod that holds room on a node were gone, its queue's room too; no trial drops that. Restore undoes it. What
  // its volumes are to others stays as it is. The row is touched.
  void Release(model::TaskId task) { Release(task, 1); }
  void Restore(model::TaskId task) { Release(task, -1); }

 private:
  struct Step {
    model::Row row;
    model::ShapeId shape;
    int count;
  };
  struct QueueStep {
    model::QueueId queue;
    model::Resources amounts;
    std::int64_t times;
  };

  struct Taken {
    model::Resources own, below;
  };
  const Taken& TakenOf(model::QueueId queue) const;
  void AddToQueue(model::QueueId queue, const model::Resources& amounts, std::int64_t times);
  void Release(model::TaskId task, int times);

  const QueueTree tree_;
  std::vector<Taken> queues_;  // empty before anything was taken from one
  std::vector<Step> trial_;
  std::vector<QueueStep> queue_trial_;
  std::vector<std::pair<model::QueueId, model::Resources>> claimed_;  // of few
  bool marked_ = false;
  std::vector<Step> kept_;  // since the mark
  std::vector<QueueStep> queue_kept_;
  model::Resources taken_;
  std::uint64_t queue_changes_ = 0;
};

}  // namespace gangway::gang
