#include "plugin/gang/fit.h"

#include <algorithm>
#include <utility>

namespace gangway::gang {

using constraint::Asks;
using model::Cluster;
using model::Row;
using model::ShapeId;

const Rank* ShapeFit::Cursor::Next() {
  const Entry* next = nullptr;
  for (; sorted_ < fit_->sorted_.size(); ++sorted_) {
    fit_->SortTo(sorted_ + 1);
    next = &fit_->entries_[static_cast<std::size_t>(fit_->sorted_[sorted_])];
    if (!next->moved) break;
  }
  const bool has_sorted = sorted_ < fit_->sorted_.size();
  if (moved_ != fit_->moved_.end() && (!has_sorted || *moved_ < next->rank)) return &*moved_++;
  if (!has_sorted) return nullptr;
  ++sorted_;
  return &next->rank;
}

void ShapeFit::SortTo(std::size_t count) const {
  if (count <= sorted_to_) return;
  const auto before = [this](int a, int b) {
    return entries_[static_cast<std::size_t>(a)].rank < entries_[static_cast<std::size_t>(b)].rank;
  };
  const auto at = [this](std::size_t n) { return sorted_.begin() + static_cast<std::ptrdiff_t>(n); };
  const std::size_t to = std::min(sorted_.size(), std::max<std::size_t>(count + 31, 2 * count));
  if (to < sorted_.size()) std::nth_element(at(sorted_to_), at(to), sorted_.end(), before);
  std::sort(at(sorted_to_), at(to), before);
  sorted_to_ = to;
}

void ShapeFit::Build(const Asks& asks, const Cluster& cluster) {
  slots_.assign(static_cast<std::size_t>(cluster.rows()), -1);
  const auto look_at = [&](Row row) {
    const int copies = asks.CopiesOnRow(row);
    if (copies == 0) return;
    slots_[static_cast<std::size_t>(row)] = static_cast<int>(entries_.size());
    entries_.push_back({{asks.ScoresOnRow(row), cluster.node_order(row), row}, copies, false});
    copies_ += copies;
  };
  if (asks.among() != nullptr) {
    for (const Row row : *asks.among()) look_at(row);
  } else {
    for (Row row = 0; row < cluster.rows(); ++row) look_at(row);
  }
  Gather();
}

void ShapeFit::Gather() {
  moved_.clear();
  sorted_.clear();
  sorted_to_ = 0;
  for (std::size_t slot = 0; slot < entries_.size(); ++slot) {
    entries_[slot].moved = entries_[slot].copies == 0;
    if (!entries_[slot].moved) sorted_.push_back(static_cast<int>(slot));
  }
}

void ShapeFit::Refresh(const Asks& asks, const Cluster& cluster, Row row) {
  if (static_cast<std::size_t>(row) >= slots_.size()) slots_.resize(static_cast<std::size_t>(cluster.rows()), -1);
  const int copies = asks.CopiesOnRow(row);
  int& slot = slots_[static_cast<std::size_t>(row)];
  if (slot == -1) {
    if (copies == 0) return;
    slot = static_cast<int>(entries_.size());
    entries_.push_back({{}, 0, true});
  }
  Entry& entry = entries_[static_cast<std::size_t>(slot)];
  const Rank rank{copies == 0 ? entry.rank.scores : asks.ScoresOnRow(row), cluster.node_order(row), row};
  const bool same_rank = rank.scores == entry.rank.scores && rank.order == entry.rank.order;
  if (copies == entry.copies && (same_rank || copies == 0)) return;
  copies_ += copies - entry.copies;
  if (same_rank && copies > 0 && entry.copies > 0) {
    entry.copies = copies;
    return;
  }
  if (entry.moved && entry.copies > 0) moved_.erase(entry.rank);
  entry = {rank, copies, true};
  if (copies > 0) moved_.insert(rank);
  if (moved_.size() > 64 + entries_.size() / 8) Gather();
}

// The last call's overlay is gone, and rows are as before it. Fits that have not seen them with it need not look.
void Scratch::UndoTouched() {
  const std::uint64_t end = log_begin_ + log_.size();
  std::uint64_t seen = touched_from_;
  for (const auto& [shape, fit] : fits_) seen = std::max(seen, fit->position_);
  log_.resize(static_cast<std::size_t>(std::min(seen, end) - log_begin_));
  const std::size_t first = static_cast<std::size_t>(touched_from_ - log_begin_), last = log_.size();
  for (std::size_t at = first; at < last; ++at) log_.push_back(log_[at]);
}

void Scratch::Begin(const Cluster& cluster) {
  ++call_;
  UndoTouched();
  if (cluster_id_ != cluster.id() || cluster_position_ < cluster.changes_begin() ||
      node_order_ != cluster.node_order_version()) {
    fits_.clear();
    cluster_id_ = cluster.id();
    node_order_ = cluster.node_order_version();
    cluster_position_ = cluster.changes_end();
  }
  if (log_.size() > 4096 + 4 * static_cast<std::size_t>(cluster.rows())) {
    log_begin_ += log_.size();
    log_.clear();  // fits that lag behind are computed anew
  }
  for (; cluster_position_ < cluster.changes_end(); ++cluster_position_) {
    log_.push_back(cluster.change(cluster_position_));
  }
  touched_from_ = log_begin_ + log_.size();
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
  const bool whole =
      slot == nullptr || slot->shape_version_ != cluster.shape_version(id) || slot->position_ < log_begin_;
  if (whole) {
    slot = std::make_unique<ShapeFit>();
    slot->shape_version_ = cluster.shape_version(id);
    slot->Build(asks, cluster);
  } else {
    seen_.resize(static_cast<std::size_t>(cluster.rows()), 0);
    ++look_;
    for (std::uint64_t at = slot->position_; at < end; ++at) {
      const Row row = log_[static_cast<std::size_t>(at - log_begin_)];
      if (std::exchange(seen_[static_cast<std::size_t>(row)], look_) != look_) slot->Refresh(asks, cluster, row);
    }
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
