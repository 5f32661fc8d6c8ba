// Which rows the usable tasks of one gang have: in step with the overlay, with what the gang takes of its queue, and
// with the fits.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "plugin/gang/constraint/asks.h"
#include "plugin/gang/fit.h"
#include "plugin/gang/overlay.h"
#include "plugin/gang/usable.h"
#include "plugin/model/cluster.h"
#include "plugin/model/reason.h"

namespace gangway::gang {

// Tasks of one shape.
struct TaskGroup {
  model::ShapeId shape = model::kNone;
  std::vector<std::size_t> tasks;
};

// A task is told by its index into Usable::tasks. What it is made of must outlive it.
class Assignment {
 public:
  Assignment(Overlay& overlay, Scratch& scratch, const model::Gang& gang)
      : overlay_(overlay), scratch_(scratch), gang_(gang) {}

  // From now on it is about these; none of them has a row.
  void Use(Usable usable);

  Overlay& overlay() const { return overlay_; }
  const model::Cluster& cluster() const { return overlay_.cluster(); }
  const model::Gang& gang() const { return gang_; }
  const Usable& usable() const { return usable_; }
  std::size_t size() const { return rows_.size(); }
  model::TaskId id(std::size_t task) const { return usable_.tasks[task]; }
  const model::Task& operator[](std::size_t task) const { return cluster().task(id(task)); }
  model::Row row(std::size_t task) const { return rows_[task]; }  // kNone: it is not placed
  bool placed(std::size_t task) const { return rows_[task] != model::kNone; }
  // Units are placed whole.
  bool placed(const Unit& unit) const { return placed(unit.tasks.front()); }

  // Up to date; the reference is good until the next call.
  const ShapeFit& Fit(model::ShapeId shape) const { return scratch_.Fit(overlay_, shape); }
  const constraint::Asks& AsksOf(model::ShapeId shape) const { return overlay_.AsksOf(shape); }
  const model::RoleReason& FullReason(model::ShapeId shape) const { return scratch_.FullReason(overlay_, shape); }
  // The cluster's, good for the whole call of Schedule.
  const std::vector<model::HyperDomain>& HyperDomains() const { return scratch_.HyperDomains(cluster()); }

  // In the order of their first tasks.
  std::vector<TaskGroup> GroupByShape(absl::Span<const std::size_t> tasks) const;
  // Why the queue has no room for all of these; absent: it has.
  std::optional<model::Reason> WhyQueueFull(absl::Span<const std::size_t> tasks) const;

  // In a trial of the overlay. The tasks are of one shape.
  void Put(absl::Span<const std::size_t> tasks, model::Row row);
  // One whose row is kept, beyond the trial: it lies there instead.
  void Move(std::size_t task, model::Row row);
  // The one that was Put last, alone.
  void TakeBack(std::size_t task);
  // Ends the trial: none has a row.
  void DropAll();

 private:
  Overlay& overlay_;
  Scratch& scratch_;
  const model::Gang& gang_;
  Usable usable_;
  std::vector<model::Row> rows_;  // parallel to usable_.tasks
};

}  // namespace gangway::gang
