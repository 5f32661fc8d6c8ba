#include "plugin/gang/overlay.h"

#include "base/check.h"

namespace gangway::gang {

using model::Resources;
using model::Row;

const Overlay::Taken& Overlay::TakenOf(model::QueueId queue) const {
  static const Taken& none = *new Taken();
  const auto at = static_cast<std::size_t>(queue);
  return at < queues_.size() ? queues_[at] : none;
}

const Resources& Overlay::claimed(model::QueueId queue) const {
  static const Resources& none = *new Resources();
  for (const auto& [level, amounts] : claimed_) {
    if (level == queue) return amounts;
  }
  return none;
}

void Overlay::Claim(model::QueueId queue, const Resources& amounts) {
  for (auto& [level, sum] : claimed_) {
    if (level == queue) return sum.Add(amounts);
  }
  claimed_.emplace_back(queue, amounts);
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
  queues_.resize(static_cast<std::size_t>(cluster().queue_slots()));
  queues_[static_cast<std::size_t>(queue)].own.Add(amounts, times);
  for (const model::QueueId above : tree_.path(queue))
    queues_[static_cast<std::size_t>(above)].below.Add(amounts, times);
}

void Overlay::Begin() { GW_CHECK(trial_.empty() && queue_trial_.empty()); }

void Overlay::Keep() {
  if (marked_) {
    kept_.insert(kept_.end(), trial_.begin(), trial_.end());
    queue_kept_.insert(queue_kept_.end(), queue_trial_.begin(), queue_trial_.end());
  }
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

void Overlay::Mark() {
  GW_CHECK(!marked_);
  marked_ = true;
}

std::vector<Row> Overlay::Rewind() {
  GW_CHECK(marked_ && trial_.empty() && queue_trial_.empty());
  trial_.swap(kept_);
  queue_trial_.swap(queue_kept_);
  return Drop();
}

void Overlay::Unmark() {
  marked_ = false;
  kept_.clear();
  queue_kept_.clear();
}

void Overlay::Hold(Row row, model::ShapeId id, model::QueueId queue, int times) {
  const model::Shape& shape = cluster().shape(id);
  if (times > 0) {
    Add(row, shape, times);
  } else {
    Remove(row, shape, -times);
  }
  if (queue != model::kNone) AddToQueue(queue, shape.request, times);
}

void Overlay::Release(model::TaskId id, int times) {
  const model::Task& task = cluster().task(id);
  const model::Shape& shape = cluster().shape(task.shape);
  Placed::Release({task.row, &shape, cluster().pod_terms().Matched(id), task.status != model::TaskStatus::kReleasing},
                  times);
  if (task.gang == model::kNone) return;
  const model::QueueId queue = cluster().gang(task.gang).queue;
  if (queue != model::kNone) AddToQueue(queue, shape.request, -times);
}

void Overlay::TakeBack() {
  GW_CHECK(!trial_.empty());
  const Step step = trial_.back();
  trial_.pop_back();
  Remove(step.row, cluster().shape(step.shape), step.count);
}

}  // namespace gangway::gang
