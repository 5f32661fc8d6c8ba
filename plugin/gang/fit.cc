#include "plugin/gang/fit.h"

#include <algorithm>
#include <limits>

#include "plugin/gang/explain.h"

namespace gangway::gang {

using model::Cluster;
using model::Dim;
using model::Obstacle;
using model::Row;
using model::Shape;
using model::ShapeId;

namespace {

__extension__ using Int128 = __int128;

constexpr std::int64_t kFullnessScale = 1'000'000;

// Only what a node is bought for: cpu, memory, and devices. Disk and pod slots would outvote them on small nodes.
bool CountsForFullness(Dim dim) { return dim != model::kPods && dim != model::kEphemeralStorage; }

// How full the row would be with one more pod of the shape, over the resources the shape asks for.
// volcano: plugins/binpack, weight 1 each
std::int64_t Fullness(const Overlay& overlay, Row row, const Shape& shape) {
  Int128 sum = 0;
  int dims = 0;
  for (Dim dim = 0; dim < shape.request.size(); ++dim) {
    if (shape.request[dim] == 0 || !CountsForFullness(dim)) continue;
    const std::int64_t allocatable = overlay.cluster().allocatable(row, dim);
    ++dims;
    if (allocatable <= 0) continue;
    const std::int64_t used = allocatable - overlay.free(row, dim) + shape.request[dim];
    sum += Int128{used} * kFullnessScale / allocatable;
  }
  return dims == 0 ? 0 : static_cast<std::int64_t>(sum / dims);
}

std::int64_t PreferenceOf(const Cluster& cluster, Row row, const Shape& shape) {
  std::int64_t sum = 0;
  for (const model::Preference& preference : shape.preferences) {
    if (cluster.Matches(row, preference.term)) sum += preference.weight;
  }
  return sum;
}

}  // namespace

RowFit FitOf(const Overlay& overlay, Row row, const Shape& shape) {
  RowFit fit;
  fit.obstacle = overlay.cluster().StaticObstacle(row, shape);
  if (fit.obstacle != Obstacle::kNothing) return fit;
  if (overlay.PortsTaken(row, shape)) {
    fit.obstacle = Obstacle::kPorts;
    return fit;
  }
  std::int64_t copies = shape.ports.empty() ? std::numeric_limits<int>::max() : 1;
  for (Dim dim = 0; dim < shape.request.size(); ++dim) {
    const std::int64_t wanted = shape.request[dim];
    if (wanted == 0) continue;
    const std::int64_t room = overlay.free(row, dim);
    if (room < wanted) {
      fit.obstacle = Obstacle::kResource;
      fit.lack = static_cast<std::int16_t>(dim);
      return fit;
    }
    copies = std::min(copies, room / wanted);
  }
  fit.copies = static_cast<int>(copies);
  return fit;
}

void ShapeFit::Refresh(const Overlay& overlay, Row row, const Shape& shape) {
  if (static_cast<std::size_t>(row) >= rows_.size()) rows_.resize(static_cast<std::size_t>(overlay.cluster().rows()));
  Entry& entry = rows_[static_cast<std::size_t>(row)];
  if (entry.ranked) order_.erase(entry.rank);
  copies_ -= entry.fit.copies;
  entry.fit = FitOf(overlay, row, shape);
  copies_ += entry.fit.copies;
  entry.ranked = entry.fit.copies > 0;
  if (!entry.ranked) return;
  const Cluster& cluster = overlay.cluster();
  entry.rank = {cluster.SoftTaints(row, shape), PreferenceOf(cluster, row, shape), Fullness(overlay, row, shape),
                cluster.node_name(row), row};
  order_.insert(entry.rank);
}

void Scratch::Begin(const Cluster& cluster) {
  ++call_;
  if (cluster_id_ != cluster.id() || cluster_position_ < cluster.changes_begin()) {
    fits_.clear();
    cluster_id_ = cluster.id();
    cluster_position_ = cluster.changes_end();
  }
  if (log_.size() > 4096 + 4 * static_cast<std::size_t>(cluster.rows())) {
    log_begin_ += log_.size();
    log_.clear();  // fits that lag behind are computed anew
  }
  log_.insert(log_.end(), touched_in_call_.begin(), touched_in_call_.end());
  touched_in_call_.clear();
  for (; cluster_position_ < cluster.changes_end(); ++cluster_position_) {
    log_.push_back(cluster.change(cluster_position_));
  }
}

void Scratch::End() {
  if (fits_.size() <= max_shapes_) return;
  absl::erase_if(fits_, [&](const auto& entry) { return entry.second->last_used_ != call_; });
  if (fits_.size() > max_shapes_) fits_.clear();
}

ShapeFit& Scratch::Fit(const Overlay& overlay, ShapeId id) {
  const Cluster& cluster = overlay.cluster();
  const Shape& shape = cluster.shape(id);
  std::unique_ptr<ShapeFit>& slot = fits_[id];
  const std::uint64_t end = log_begin_ + log_.size();
  const bool whole = slot == nullptr || slot->shape_version_ != cluster.shape_version(id) || slot->position_ < log_begin_;
  if (whole) {
    slot = std::make_unique<ShapeFit>();
    slot->shape_version_ = cluster.shape_version(id);
    slot->rows_.resize(static_cast<std::size_t>(cluster.rows()));
    for (Row row = 0; row < cluster.rows(); ++row) slot->Refresh(overlay, row, shape);
  } else {
    for (std::uint64_t at = slot->position_; at < end; ++at) {
      slot->Refresh(overlay, log_[static_cast<std::size_t>(at - log_begin_)], shape);
    }
  }
  slot->position_ = end;
  slot->last_used_ = call_;
  return *slot;
}

const model::RoleReason& Scratch::FullReason(const Overlay& overlay, ShapeId id) {
  ShapeFit& fit = Fit(overlay, id);
  if (!fit.full_reason_.has_value() || fit.full_reason_position_ != fit.position_) {
    fit.full_reason_ = ExplainFull(overlay, id);
    fit.full_reason_position_ = fit.position_;
  }
  return *fit.full_reason_;
}

}  // namespace gangway::gang
