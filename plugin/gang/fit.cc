#include "plugin/gang/fit.h"

#include <algorithm>

namespace gangway::gang {

using constraint::Asks;
using model::Cluster;
using model::Row;
using model::ShapeId;

void ShapeFit::Refresh(const Asks& asks, const Cluster& cluster, Row row) {
  if (static_cast<std::size_t>(row) >= rows_.size()) rows_.resize(static_cast<std::size_t>(cluster.rows()));
  Entry& entry = rows_[static_cast<std::size_t>(row)];
  if (entry.copies > 0) order_.erase(entry.rank);
  copies_ -= entry.copies;
  entry.copies = asks.CopiesOnRow(row);
  copies_ += entry.copies;
  if (entry.copies == 0) return;
  entry.rank = {asks.ScoresOnRow(row), cluster.node_name(row), row};
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
  const Asks& asks = overlay.AsksOf(id);
  std::unique_ptr<ShapeFit>& slot = fits_[id];
  const std::uint64_t end = log_begin_ + log_.size();
  const bool whole = slot == nullptr || slot->shape_version_ != cluster.shape_version(id) || slot->position_ < log_begin_;
  if (whole) {
    slot = std::make_unique<ShapeFit>();
    slot->shape_version_ = cluster.shape_version(id);
    slot->rows_.resize(static_cast<std::size_t>(cluster.rows()));
    for (Row row = 0; row < cluster.rows(); ++row) slot->Refresh(asks, cluster, row);
  } else {
    for (std::uint64_t at = slot->position_; at < end; ++at) slot->Refresh(asks, cluster, log_[static_cast<std::size_t>(at - log_begin_)]);
  }
  slot->position_ = end;
  slot->last_used_ = call_;
  return *slot;
}

const model::RoleReason& Scratch::FullReason(const Overlay& overlay, ShapeId id) {
  ShapeFit& fit = Fit(overlay, id);
  const Asks& asks = overlay.AsksOf(id);
  if (!fit.full_reason_.has_value() || fit.full_reason_position_ != fit.position_ || asks.changes_beyond()) {
    fit.full_reason_ = asks.Explain(true);
    fit.full_reason_position_ = fit.position_;
  }
  return *fit.full_reason_;
}

const std::vector<model::HyperDomain>& Scratch::HyperDomains(const Cluster& cluster) {
  const std::pair of(cluster.id(), cluster.hyper_nodes().version());
  if (hyper_domains_of_ != of) hyper_domains_ = cluster.hyper_nodes().Resolve();
  hyper_domains_of_ = of;
  return hyper_domains_;
}

}  // namespace gangway::gang
