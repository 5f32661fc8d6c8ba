#include "plugin/gang/constraint/placed.h"

#include "plugin/gang/constraint/asks.h"

namespace gangway::constraint {

using model::Row;
using model::Shape;

Placed::Placed(const model::Cluster& cluster, absl::Span<const Kind> kinds)
    : cluster_(cluster), kinds_(kinds), asks_(static_cast<std::size_t>(cluster.shape_slots())) {
  states_.reserve(kinds.size());
  told_.reserve(kinds.size());
  for (const Kind& kind : kinds) {
    states_.push_back(kind.begin == nullptr ? nullptr : kind.begin(cluster));
    if (states_.back() != nullptr) told_.push_back(states_.back().get());
  }
}

Placed::~Placed() = default;

const Asks& Placed::AsksOf(model::ShapeId shape) const {
  std::unique_ptr<Asks>& slot = asks_[static_cast<std::size_t>(shape)];
  if (slot == nullptr) slot = std::make_unique<Asks>(*this, cluster_.shape(shape));
  return *slot;
}

void Placed::Add(Row row, const Shape& shape, int pods) {
  if (row != model::kNone) taken_[row].Add(shape.request, pods);
  for (State* const state : told_) state->Add(row, shape, pods);
}

void Placed::Remove(Row row, const Shape& shape, int pods) {
  if (row != model::kNone) taken_[row].Subtract(shape.request, pods);
  for (State* const state : told_) state->Remove(row, shape, pods);
}

}  // namespace gangway::constraint
