#include "plugin/gang/constraint/placed.h"

#include <algorithm>
#include <cstddef>

#include "base/check.h"
#include "plugin/gang/constraint/asks.h"

namespace gangway::constraint {

using model::Row;
using model::Shape;

Placed::Placed(const model::Cluster& cluster, absl::Span<const Kind> kinds, const Packing& packing)
    : cluster_(cluster), kinds_(kinds), packing_(packing), asks_(static_cast<std::size_t>(cluster.shape_slots())) {
  state_of_.reserve(kinds.size());
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const auto shared = std::find_if(kinds.begin(), kinds.begin() + static_cast<std::ptrdiff_t>(i),
                                     [&](const Kind& kind) { return kind.begin == kinds[i].begin; });
    const auto at = static_cast<std::size_t>(shared - kinds.begin());
    if (at == i && kinds[i].begin != nullptr) states_.push_back(kinds[i].begin(cluster));
    state_of_.push_back(kinds[i].begin == nullptr ? nullptr : at == i ? states_.back().get() : state_of_[at]);
    if (kinds[i].keeping == nullptr) continue;
    GW_CHECK(at == i && kinds[i].begin != nullptr);  // else what is kept would be held in nobody's state, or twice
    keepings_.emplace_back(&kinds[i].keeping(), states_.back().get());
  }
}

Placed::~Placed() = default;

const Asks& Placed::AsksOf(model::ShapeId shape) const {
  std::unique_ptr<Asks>& slot = asks_[static_cast<std::size_t>(shape)];
  if (slot == nullptr) slot = std::make_unique<Asks>(*this, cluster_.shape(shape));
  return *slot;
}

model::Resources& Placed::Taken(Row row) {
  if (slot_of_.empty()) slot_of_.assign(static_cast<std::size_t>(cluster_.rows()), -1);
  int& slot = slot_of_[static_cast<std::size_t>(row)];
  if (slot < 0) {
    slot = static_cast<int>(taken_.size());
    taken_.emplace_back();
  }
  return taken_[static_cast<std::size_t>(slot)];
}

void Placed::Add(Row row, const Shape& shape, int pods) {
  if (row != model::kNone) Taken(row).Add(shape.request, pods);
  for (const std::unique_ptr<State>& state : states_) state->Add(row, shape, pods);
}

void Placed::Remove(Row row, const Shape& shape, int pods) {
  if (row != model::kNone) Taken(row).Subtract(shape.request, pods);
  for (const std::unique_ptr<State>& state : states_) state->Remove(row, shape, pods);
}

void Placed::KeepBesideRoom(const Keeping::Spot& spot, int times) {
  for (const auto& [keeping, state] : keepings_) keeping->Hold(spot, times, *state);
}

void Placed::AddBesideRoom(const Shape& shape, int pods, Keeping::Spot& spot) const {
  for (const auto& [keeping, state] : keepings_) keeping->Add(shape, pods, spot);
}

bool Placed::TakesBesideRoom(const Shape& shape, const Keeping::Spot& spot) const {
  return std::any_of(keepings_.begin(), keepings_.end(),
                     [&](const auto& each) { return each.first->TakenBy(shape, spot); });
}

bool Placed::FreeBesideRoom(const Keeping::Spot& spot, absl::Span<const Shape* const> gone) const {
  return std::all_of(keepings_.begin(), keepings_.end(),
                     [&](const auto& each) { return each.first->IsFree(cluster_, spot, gone); });
}

void Placed::Nominate(Row row, const Shape& shape, int times) {
  Taken(row).Add(shape.request, times);
  for (const std::unique_ptr<State>& state : states_) state->Nominate(row, shape, times);
}

void Placed::Release(const Released& pod, int times) {
  Taken(pod.row).Subtract(pod.shape->request, times);
  for (const std::unique_ptr<State>& state : states_) state->Release(pod, times);
}

}  // namespace gangway::constraint
