#include "plugin/gang/overlay.h"

#include <algorithm>

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

bool Overlay::ClaimTaken(const Shape& shape) const {
  return std::any_of(shape.claims.begin(), shape.claims.end(), [this](model::ClaimId claim) {
    const auto it = claims_.find(claim);
    return it != claims_.end() && it->second > 0;
  });
}

void Overlay::AddToClaims(const Shape& shape, int pods) {
  for (const model::ClaimId claim : shape.claims) {
    if (cluster_.volumes().one_pod(claim)) claims_[claim] += pods;
  }
}

const Overlay::Taken& Overlay::TakenOf(model::QueueId queue) const {
  static const Taken& none = *new Taken();
  auto it = queues_.find(queue);
  return it == queues_.end() ? none : it->second;
}

void Overlay::Take(Row row, model::ShapeId shape, int count) {
  const Shape& wanted = cluster_.shape(shape);
  RowState& state = rows_[row];
  state.taken.Add(wanted.request, count);
  for (int i = 0; i < count; ++i) state.ports.insert(state.ports.end(), wanted.ports.begin(), wanted.ports.end());
  AddToClaims(wanted, count);
  trial_.push_back({row, shape, count});
}

void Overlay::TakeFromQueue(model::QueueId queue, const Resources& amounts) {
  AddToQueue(queue, amounts, 1);
  queue_trial_.push_back({queue, amounts});
}

void Overlay::AddToQueue(model::QueueId queue, const Resources& amounts, std::int64_t times) {
  queues_[queue].own.Add(amounts, times);
  for (const model::QueueId above : tree_.path(queue)) queues_[above].below.Add(amounts, times);
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
  for (const QueueStep& step : queue_trial_) AddToQueue(step.queue, step.amounts, -1);
  queue_trial_.clear();
  return touched;
}

void Overlay::TakeBack() {
  const Step step = trial_.back();
  trial_.pop_back();
  const Shape& wanted = cluster_.shape(step.shape);
  RowState& state = rows_[step.row];
  state.taken.Subtract(wanted.request, step.count);
  AddToClaims(wanted, -step.count);
  // Ports are appended and taken back in order, so the newest ones stand at the end.
  state.ports.resize(state.ports.size() - wanted.ports.size() * static_cast<std::size_t>(step.count));
}

}  // namespace gangway::gang
