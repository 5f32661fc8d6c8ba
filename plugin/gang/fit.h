// Which nodes a shape fits on, in the order in which they are filled: computed once per shape, then kept up to date by
// the rows that changed. What depends on other rows is left out; Choice asks for it when a pod is placed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "plugin/gang/constraint/asks.h"
#include "plugin/gang/overlay.h"
#include "plugin/gang/standstill.h"
#include "plugin/model/cluster.h"
#include "plugin/model/reason.h"

namespace gangway::gang {

// Rows that fit, best first, by what the constraints of the shape say of them; the name ends ties.
struct Rank {
  constraint::Scores scores{};  // higher first
  std::uint64_t order = 0;      // of the name
  model::Row row = model::kNone;

  friend bool operator<(const Rank& a, const Rank& b) {
    for (std::size_t level = 0; level < a.scores.size(); ++level) {
      if (a.scores[level] != b.scores[level]) return a.scores[level] > b.scores[level];
    }
    return a.order != b.order ? a.order < b.order
                              : a.row < b.row;  // two rows may have one place until both are refreshed
  }
};

// Most gangs look at the first few rows only: rows are sorted as far as somebody looks, and those that change are kept
// apart.
class ShapeFit {
 public:
  // Goes through the rows that fit, best first. Good while the fit is not refreshed.
  class Cursor {
   public:
    explicit Cursor(const ShapeFit& fit) : fit_(&fit), moved_(fit.moved_.begin()) {}
    const Rank* Next();  // nullptr: there is none left

   private:
    const ShapeFit* fit_;
    std::size_t sorted_ = 0;
    absl::btree_set<Rank>::const_iterator moved_;
  };
  Cursor ranks() const { return Cursor(*this); }
  // The best row; nullptr: there is none.
  const Rank* first() const { return ranks().Next(); }
  std::int64_t copies() const { return copies_; }  // over all rows; not more fit
  int copies(model::Row row) const {
    const Entry* const entry = Find(row);
    return entry == nullptr ? 0 : entry->copies;
  }
  // Of a row with copies.
  const Rank& rank(model::Row row) const { return Find(row)->rank; }

 private:
  friend class Scratch;
  struct Entry {
    Rank rank;
    int copies = 0;
    bool moved = false;  // stands in moved_ when it has copies, and counts no more in sorted_
  };
  const Entry* Find(model::Row row) const {
    const int slot = static_cast<std::size_t>(row) < slots_.size() ? slots_[static_cast<std::size_t>(row)] : -1;
    return slot == -1 ? nullptr : &entries_[static_cast<std::size_t>(slot)];
  }
  void Build(const constraint::Asks& asks, const model::Cluster& cluster);
  void Refresh(const constraint::Asks& asks, const model::Cluster& cluster, model::Row row);
  void Gather();
  void SortTo(std::size_t count) const;

  std::vector<int> slots_;  // by row: of its entry; -1: it never fitted
  std::vector<Entry> entries_;
  mutable std::vector<int> sorted_;  // entries; the first sorted_to_ are in order, and before all others
  mutable std::size_t sorted_to_ = 0;
  absl::btree_set<Rank> moved_;
  std::int64_t copies_ = 0;
  std::uint64_t shape_version_ = 0;
  std::uint64_t position_ = 0;   // of the scratch's log: refreshed up to here
  std::uint64_t last_used_ = 0;  // the call
  // The reason of a gang that wants more copies than there are, as of `position_`.
  std::optional<model::RoleReason> full_reason_;
  std::uint64_t full_reason_position_ = 0;
};

// What one Schedule call leaves for the next: fits by shape, and which rows changed since. Only a cache: with an empty
// one every answer is the same.
class Scratch {
 public:
  // At most this many shapes are kept between calls.
  // `searches_again`: within a call, too, what was in vain for one gang is tried again for those that are alike to it
  // (in_vain.h). For tests: it is the same, but slow.
  explicit Scratch(std::size_t max_shapes = 64, bool searches_again = false)
      : max_shapes_(max_shapes), searches_again_(searches_again) {}

  // At the start of a call: forgets what other clusters and the previous call's overlay left.
  void Begin(const model::Cluster& cluster);
  // At its end.
  void End();
  // The row differs from what fits were computed with.
  void RowTouched(model::Row row) { log_.push_back(row); }
  // Up to date with the overlay; the reference is good until the next call of Fit.
  ShapeFit& Fit(const Overlay& overlay, model::ShapeId shape);
  // What stands against more copies than there are, when all of them are taken. `missing` and `role` are left to the
  // caller.
  const model::RoleReason& FullReason(const Overlay& overlay, model::ShapeId shape);
  // The cluster's HyperNodes with all their nodes.
  const std::vector<model::HyperDomain>& HyperDomains(const model::Cluster& cluster);
  bool searches_again() const { return searches_again_; }
  // What the last call's refusals hang on.
  Standstill& standstill() { return standstill_; }

 private:
  void UndoTouched();

  std::size_t max_shapes_;
  bool searches_again_;
  std::uint64_t cluster_id_ = 0;
  std::uint64_t node_order_ = 0;        // version
  std::uint64_t cluster_position_ = 0;  // changes of the cluster that are in the log
  std::uint64_t call_ = 0;
  std::vector<model::Row> log_;
  std::uint64_t log_begin_ = 0;
  std::uint64_t touched_from_ = 0;  // of the log: what is from here on was touched in this call
  absl::flat_hash_map<model::ShapeId, std::unique_ptr<ShapeFit>> fits_;
  std::vector<std::uint64_t> seen_;  // by row: by which look through the log it was refreshed last
  std::uint64_t look_ = 0;
  std::vector<model::HyperDomain> hyper_domains_;
  std::optional<std::pair<std::uint64_t, std::uint64_t>> hyper_domains_of_;  // cluster and version
  Standstill standstill_;
};

}  // namespace gangway::gang
