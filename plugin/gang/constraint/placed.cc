#include "plugin/gang/constraint/placed.h"

#include <algorithm>
#include <cstddef>

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
  for (const std::unique_ptr<State>& state : states_) state->Add(row, shape, pods);
}

void Placed::Remove(Row row, const Shape& shape, int pods) {
  if (row != model::kNone) taken_[row].Subtract(shape.request, pods);
  for (const std::unique_ptr<State>& state : states_) state->Remove(row, shape, pods);
}

void Placed::KeepPorts(Row row, const std::vector<model::HostPort>& ports, int times) {
  if (ports.empty()) return;
  Shape nobody;
  nobody.ports = ports;
  for (const std::unique_ptr<State>& state : states_) {
    if (times > 0) {
      state->Add(row, nobody, times);
    } else {
      state->Remove(row, nobody, -times);
    }
  }
}

void Placed::Nominate(Row row, const Shape& shape, int times) {
  taken_[row].Add(shape.request, times);
  for (const std::unique_ptr<State>& state : states_) state->Nominate(row, shape, times);
}

void Placed::Release(const Released& pod, int times) {
  taken_[pod.row].Subtract(pod.shape->request, times);
  for (const std::unique_ptr<State>& state : states_) state->Release(pod, times);
}

}  // namespace gangway::constraint
