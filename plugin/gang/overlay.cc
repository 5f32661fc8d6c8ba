#include "plugin/gang/overlay.h"

#include "base/check.h"

namespace gangway::gang {

using model::Resources;
using model::Row;

const Overlay::Taken& Overlay::TakenOf(model::QueueId queue) const {
  static const Taken& none = *new Taken();
  auto it = queues_.find(queue);
  return it == queues_.end() ? none : it->second;
}

void Overlay::Take(Row row, model::ShapeId shape, int count) {
  Add(row, cluster().shape(shape), count);
  trial_.push_back({row, shape, count});
}

void Overlay::TakeFromQueue(model::QueueId queue, const Resources& amounts, std::int64_t times) {
  AddToQueue(queue, amounts, times);
  queue_trial_.push_back({queue, amounts, times});
}

void Overlay::AddToQueue(model::QueueId queue, const Resources& amounts, std::int64_t times) {
  ++queue_changes_;
  taken_.Add(amounts, times);
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
  for (const QueueStep& step : queue_trial_) AddToQueue(step.queue, step.amounts, -step.times);
  queue_trial_.clear();
  return touched;
}

void Overlay::TakeBack() {
  GW_CHECK(!trial_.empty());
  const Step step = trial_.back();
  trial_.pop_back();
  Remove(step.row, cluster().shape(step.shape), step.count);
}

}  // namespace gangway::gang
