#include "plugin/gang/assignment.h"

#include <algorithm>
#include <utility>

#include "plugin/gang/admit.h"

namespace gangway::gang {

using model::Row;
using model::ShapeId;

void Assignment::Use(Usable usable) {
  usable_ = std::move(usable);
  rows_.assign(usable_.tasks.size(), model::kNone);
}

std::vector<TaskGroup> Assignment::GroupByShape(absl::Span<const std::size_t> tasks) const {
  std::vector<TaskGroup> groups;
  for (const std::size_t task : tasks) {
    const ShapeId shape = (*this)[task].shape;
    auto it = std::find_if(groups.begin(), groups.end(), [&](const TaskGroup& group) { return group.shape == shape; });
    if (it == groups.end()) {
      groups.push_back({shape, {}});
      it = groups.end() - 1;
      if (groups.size() == 1) it->tasks.reserve(tasks.size());  // mostly all are of it
    }
    it->tasks.push_back(task);
  }
  return groups;
}

std::optional<model::Reason> Assignment::WhyQueueFull(absl::Span<const std::size_t> tasks) const {
  if (!overlay_.tree().limits()) return std::nullopt;
  model::Resources sum;
  for (const std::size_t task : tasks) sum.Add(cluster().shape((*this)[task].shape).request);
  return QueueFull(overlay_, gang_, sum);
}

void Assignment::Put(absl::Span<const std::size_t> tasks, Row row) {
  const ShapeId shape = (*this)[tasks.front()].shape;
  for (const std::size_t task : tasks) rows_[task] = row;
  overlay_.Take(row, shape, static_cast<int>(tasks.size()));
  overlay_.TakeFromQueue(gang_.queue, cluster().shape(shape).request, static_cast<std::int64_t>(tasks.size()));
  scratch_.RowTouched(row);
}

void Assignment::Move(std::size_t task, Row row) {
  const ShapeId shape = (*this)[task].shape;
  overlay_.Hold(rows_[task], shape, model::kNone, -1);
  overlay_.Hold(row, shape, model::kNone, 1);
  scratch_.RowTouched(rows_[task]);
  scratch_.RowTouched(row);
  rows_[task] = row;
}

void Assignment::TakeBack(std::size_t task) {
  overlay_.TakeBack();
  overlay_.TakeFromQueue(gang_.queue, cluster().shape((*this)[task].shape).request, -1);
  scratch_.RowTouched(rows_[task]);
  rows_[task] = model::kNone;
}

void Assignment::DropAll() {
  for (const Row row : overlay_.Drop()) scratch_.RowTouched(row);
  std::fill(rows_.begin(), rows_.end(), model::kNone);
}

}  // namespace gangway::gang
