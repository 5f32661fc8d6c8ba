// The cluster with some pods placed beside what it shows, as constraints see it: room by row, and what each constraint
// keeps of such pods.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "plugin/gang/constraint/constraint.h"
#include "plugin/gang/constraint/packing.h"
#include "plugin/gang/constraint/table.h"
#include "plugin/model/cluster.h"

namespace gangway::constraint {

class Asks;

// The cluster must outlive it, and stay as it is; so must the packing.
class Placed {
 public:
  explicit Placed(const model::Cluster& cluster, absl::Span<const Kind> kinds = AllKinds(),
                  const Packing& packing = kPackAlike);
  ~Placed();
  Placed(const Placed&) = delete;
  Placed& operator=(const Placed&) = delete;

  const model::Cluster& cluster() const { return cluster_; }
  const Packing& packing() const { return packing_; }
  std::int64_t free(model::Row row, model::Dim dim) const {
    const model::Resources* const taken = TakenOn(row);
    return cluster_.free(row, dim) - (taken == nullptr ? 0 : (*taken)[dim]);
  }
  // nullptr: nothing was placed on the row.
  const model::Resources* TakenOn(model::Row row) const {
    const auto at = static_cast<std::size_t>(row);
    return at < slot_of_.size() && slot_of_[at] >= 0 ? &taken_[static_cast<std::size_t>(slot_of_[at])] : nullptr;
  }
  // So much less is free on the row, or with -1 more, for nobody's sake.
  void KeepRoom(model::Row row, const model::Resources& amounts, int times) { Taken(row).Add(amounts, times); }
  // What the spot has beside amounts (Keeping) is taken, or with -1 not any more, for nobody's sake.
  void KeepBesideRoom(const Keeping::Spot& spot, int times);
  // So many pods of the shape are to go on the spot's row: adds what they take there beside amounts.
  void AddBesideRoom(const model::Shape& shape, int pods, Keeping::Spot& spot) const;
  // Whether a pod of the shape would take some of what the spot has beside amounts.
  bool TakesBesideRoom(const model::Shape& shape, const Keeping::Spot& spot) const;
  // Whether that is nobody's, as the facts are but for pods of these shapes that are gone from the row.
  bool FreeBesideRoom(const Keeping::Spot& spot, absl::Span<const model::Shape* const> gone) const;
  // What the shape asks, compiled when it is wanted first.
  const Asks& AsksOf(model::ShapeId shape) const;

 protected:
  // On kNone only constraints' states change.
  void Add(model::Row row, const model::Shape& shape, int pods);
  void Remove(model::Row row, const model::Shape& shape, int pods);
  // See State::Nominate.
  void Nominate(model::Row row, const model::Shape& shape, int times);
  // A pod of the cluster that holds room is taken away; with -1 it is back.
  void Release(const Released& pod, int times);

 private:
  friend class Asks;
  model::Resources& Taken(model::Row row);

  const model::Cluster& cluster_;
  const absl::Span<const Kind> kinds_;
  const Packing& packing_;
  std::vector<std::unique_ptr<State>> states_;
  std::vector<const State*> state_of_;  // parallel to kinds_; nullptr: it has none
  std::vector<std::pair<const Keeping*, State*>> keepings_;
  std::vector<int> slot_of_;  // by row: in taken_; -1: nothing was placed there. Empty before anything was anywhere
  std::vector<model::Resources> taken_;
  mutable std::vector<std::unique_ptr<Asks>> asks_;  // by shape; a cache
};

}  // namespace gangway::constraint
