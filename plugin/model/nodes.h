// The nodes: rows in parallel arrays, what is free on each, and the log of rows that changed. A part of the Cluster.
//
// A row is there while its node is, or a pod names it; rows are given again. Used on one loop; const calls may run
// together.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "plugin/model/facts.h"
#include "plugin/model/names.h"
#include "plugin/model/resources.h"
#include "plugin/model/shapes.h"
#include "plugin/model/slot_table.h"
#include "plugin/model/task.h"

namespace gangway::model {

class Nodes {
 public:
  Nodes(Dims& dims, Names& names) : dims_(dims), names_(names) {}

  // The row of a node that is there; kNone: it is so already.
  Row Set(const NodeFacts& facts);
  // It is there no more. Its row is FreeIfUnused's.
  void Remove(Row row);
  // The row of a node that may be unknown.
  Row Intern(absl::string_view name);
  Row Find(absl::string_view name) const;
  // Less for the name that comes first. Orders of rows may become others, in the same order, when order_version does.
  std::uint64_t order(Row row) const { return order_[Index(row)]; }
  std::uint64_t order_version() const { return order_version_; }
  void FreeIfUnused(Row row);

  // A pod names the node, or does no more.
  void Enter(Row row) { ++pods_[Index(row)]; }
  void Leave(Row row) { --pods_[Index(row)]; }
  // Room and ports of a pod.
  void Take(Row row, const Shape& shape);
  void Give(Row row, const Shape& shape);
  // What other parts keep of it is another.
  void Touch(Row row) { Changed(row); }

  int rows() const { return static_cast<int>(present_.size()); }
  bool present(Row row) const { return present_[Index(row)] != 0; }
  int present_nodes() const { return present_nodes_; }
  absl::string_view name(Row row) const { return names_.Text(name_[Index(row)]); }
  int name_id(Row row) const { return name_[Index(row)]; }  // interned
  std::int64_t free(Row row, Dim dim) const { return At(free_, row, dim); }
  std::int64_t allocatable(Row row, Dim dim) const { return At(allocatable_, row, dim); }
  const std::vector<HostPort>& ports(Row row) const { return ports_[Index(row)]; }
  bool unschedulable(Row row) const { return unschedulable_[Index(row)] != 0; }
  const std::vector<Taint>& taints(Row row) const { return taints_[Index(row)]; }
  // The value of a label, both interned; -1: it has none, or is not there.
  int LabelOf(Row row, int key) const;
  bool Matches(Row row, const Term& term) const;
  // Of all present nodes.
  const Resources& total() const { return total_; }
  const Resources& held() const { return held_on_present_; }

  std::uint64_t changes_begin() const { return changes_begin_; }
  std::uint64_t changes_end() const { return changes_begin_ + changes_.size(); }
  Row change(std::uint64_t position) const { return changes_[static_cast<std::size_t>(position - changes_begin_)]; }

  // Says what is not as these tasks have it.
  void Audit(const SlotTable<Task>& tasks, const Shapes& shapes, std::vector<std::string>& wrong) const;

 private:
  static std::size_t Index(int id) { return static_cast<std::size_t>(id); }
  std::int64_t At(const std::vector<std::int64_t>& table, Row row, Dim dim) const {
    return dim < stride_ ? table[Index(row) * Index(stride_) + Index(dim)] : 0;
  }
  bool Same(Row row, const NodeFacts& facts) const;
  void Changed(Row row);
  void PutInOrder(Row row);
  void GrowTo(int dims);
  void Add(std::vector<std::int64_t>& table, Row row, const Resources& amounts, std::int64_t times);
  Resources Amounts(const std::vector<std::int64_t>& table, Row row) const;

  Dims& dims_;
  Names& names_;

  // One entry a row; free_ and allocatable_ have stride_ entries a row.
  int stride_ = kKnownDims;
  int present_nodes_ = 0;
  std::vector<char> present_;
  std::vector<int> name_;
  std::vector<std::int64_t> free_, allocatable_;
  std::vector<std::vector<std::pair<int, int>>> labels_;  // key, value; sorted
  std::vector<std::vector<Taint>> taints_;
  std::vector<char> unschedulable_;
  std::vector<std::vector<HostPort>> ports_;
  std::vector<int> pods_;
  std::vector<std::uint64_t> order_;
  absl::btree_map<absl::string_view, Row> by_order_;
  std::uint64_t order_version_ = 0;
  std::vector<Row> free_rows_;
  absl::flat_hash_map<int, Row> row_by_name_;
  Resources total_, held_on_present_;

  std::vector<Row> changes_;
  std::uint64_t changes_begin_ = 0;
};

}  // namespace gangway::model
