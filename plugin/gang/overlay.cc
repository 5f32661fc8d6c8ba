#include "plugin/gang/overlay.h"

#include "base/check.h"

namespace gangway::gang {

using model::Resources;
using model::Row;
using model::Shape;

std::int64_t Overlay::free(Row row, model::Dim dim) const {
  const std::int64_t there = cluster_.free(row, dim);
  if (rows_.empty()) return there;
  auto it = rows_.find(row);
  return it == rows_.end() ? there : there - it->second.taken[dim];
}

bool Overlay::PortsTaken(Row row, const Shape& shape) const {
  if (shape.ports.empty()) return false;
  if (model::PortsClash(shape.ports, cluster_.ports(row))) return true;
  auto it = rows_.find(row);
  return it != rows_.end() && model::PortsClash(shape.ports, it->second.ports);
}

const Resources& Overlay::taken_from(model::QueueId queue) const {
  static const Resources& none = *new Resources();
  auto it = queues_.find(queue);
  return it == queues_.end() ? none : it->second;
}

void Overlay::Take(Row row, model::ShapeId shape, int count) {
  const Shape& wanted = cluster_.shape(shape);
  RowState& state = rows_[row];
  state.taken.Add(wanted.request, count);
  for (int i = 0; i < count; ++i) state.ports.insert(state.ports.end(), wanted.ports.begin(), wanted.ports.end());
  trial_.push_back({row, shape, count});
}

void Overlay::TakeFromQueue(model::QueueId queue, const Resources& amounts) {
  queues_[queue].Add(amounts);
  queue_trial_.push_back({queue, amounts});
}

void Overlay::Begin() { GW_CHECK(trial_.empty() && queue_trial_.empty()); }

void Overlay::Keep() {
  trial_.clear();
  queue_trial_.clear();
}

std::vector<Row> Overlay::Drop() {
  std::vector<Row> touched;
  while (!trial_.empty()) {
    touched.push_back(trial_.back().row);
    TakeBack();
  }
  for (const QueueStep& step : queue_trial_) queues_[step.queue].Subtract(step.amounts);
  queue_trial_.clear();
  return touched;
}

void Overlay::TakeBack() {
  const Step step = trial_.back();
  trial_.pop_back();
  const Shape& wanted = cluster_.shape(step.shape);
  RowState& state = rows_[step.row];
  state.taken.Subtract(wanted.request, step.count);
  // Ports are appended and taken back in order, so the newest ones stand at the end.
  state.ports.resize(state.ports.size() - wanted.ports.size() * static_cast<std::size_t>(step.count));
}

}  // namespace gangway::gang
