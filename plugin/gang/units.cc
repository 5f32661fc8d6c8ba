#include "plugin/gang/units.h"

#include <algorithm>

#include "plugin/gang/choice.h"
#include "plugin/gang/constraint/asks.h"
#include "plugin/gang/narrowing.h"

namespace gangway::gang {

using model::Row;
using model::ShapeId;

bool UnitPlacement::Place(const Unit& unit, const Bounds& bounds) {
  if (unit.after != model::kNone && !tasks_.placed(tasks_.usable().units[static_cast<std::size_t>(unit.after)]))
    return false;
  if (unit.tasks.size() > 1 && tasks_.WhyQueueFull(unit.tasks).has_value()) return false;
  const model::TopologyFacts* const topology = TopologyOf(tasks_, unit.tasks.front());
  return topology == nullptr ? PlaceTogether(unit.tasks, bounds) : PlacePart(unit.tasks, *topology, bounds);
}

bool UnitPlacement::PlacePart(absl::Span<const std::size_t> part, const model::TopologyFacts& topology,
                              const Bounds& bounds) {
  bool placed = false;
  for (const Area& area : HyperNodesToTry(tasks_, topology, RowsOfPart(tasks_, part.front()), part, bounds.area)) {
    full_shapes_.clear();
    if ((placed = PlaceTogether(part, {area, std::nullopt}))) break;
  }
  full_shapes_.clear();
  return placed || (!topology.required && PlaceTogether(part, bounds));
}

// All of them, or none.
bool UnitPlacement::PlaceTogether(absl::Span<const std::size_t> tasks, const Bounds& bounds) {
  for (std::size_t n = 0; n < tasks.size(); ++n) {
    if (PlaceOne(tasks[n], bounds)) continue;
    if (n > 0) full_shapes_.clear();  // what is taken back may fit something smaller
    while (n > 0) tasks_.TakeBack(tasks[--n]);
    return false;
  }
  return true;
}

bool UnitPlacement::PlaceOne(std::size_t task, const Bounds& bounds) {
  const ShapeId shape = tasks_[task].shape;
  if (std::find(full_shapes_.begin(), full_shapes_.end(), shape) != full_shapes_.end()) return false;
  Row row = model::kNone;
  if (!tasks_.AsksOf(shape).BlockedByPlaced().has_value()) {
    row = BestRow(task, bounds.area);
    if (row == model::kNone && bounds.beyond.has_value()) row = BestRow(task, *bounds.beyond);
  }
  if (row == model::kNone) {
    if (!tasks_.AsksOf(shape).reopens()) full_shapes_.push_back(shape);
    return false;
  }
  tasks_.Put({&task, 1}, row);
  return true;
}

// kNone: no row takes the task, or none may.
Row UnitPlacement::BestRow(std::size_t task, const Area& area) {
  const ShapeId id = tasks_[task].shape;
  const ShapeFit& fit = tasks_.Fit(id);
  const Rank* const first = area.First(fit);
  if (first == nullptr || tasks_.WhyQueueFull({&task, 1}).has_value()) return model::kNone;
  const constraint::Asks& asks = tasks_.AsksOf(id);
  const bool keeps = kept_ != nullptr && !kept_->empty();
  if (!asks.changes_beyond() && !keeps) return first->row;
  const model::Shape& shape = tasks_.cluster().shape(id);
  Choice choice = area.ChoiceOf(asks, fit);
  if (!keeps) return choice.Next();
  if (kept_->LeavesInQueue(tasks_.gang().queue, shape.request)) {
    const Row row = choice.Next([&](Row each) { return kept_->Leaves(each, shape); });
    if (row != model::kNone) return row;
  }
  if (choice.Next() != model::kNone) kept_for_ = kept_->first();
  return model::kNone;
}

}  // namespace gangway::gang
