#include "plugin/model/nodes.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace gangway::model {
namespace {

bool Holds(const Requirement& requirement, int value, const Names& names) {
  const bool listed = std::binary_search(requirement.values.begin(), requirement.values.end(), value);
  switch (requirement.op) {
    case Op::kIn:
      return listed;
    case Op::kNotIn:
      return !listed;
    case Op::kExists:
      return true;
    case Op::kDoesNotExist:
      return false;
    case Op::kGt:
    case Op::kLt: {
      std::int64_t number = 0;
      if (!requirement.bound_is_number || !absl::SimpleAtoi(names.Text(value), &number)) return false;
      return requirement.op == Op::kGt ? number > requirement.bound : number < requirement.bound;
    }
  }
  return false;
}

bool HoldsWithoutValue(Op op) { return op == Op::kNotIn || op == Op::kDoesNotExist; }

}  // namespace

Row Nodes::Intern(absl::string_view name) {
  const int id = names_.Intern(name);
  if (auto it = row_by_name_.find(id); it != row_by_name_.end()) return it->second;
  Row row = kNone;
  if (!free_rows_.empty()) {
    row = free_rows_.back();
    free_rows_.pop_back();
    name_[Index(row)] = id;
  } else {
    row = rows();
    present_.push_back(0);
    name_.push_back(id);
    free_.resize(free_.size() + Index(stride_), 0);
    allocatable_.resize(allocatable_.size() + Index(stride_), 0);
    labels_.emplace_back();
    taints_.emplace_back();
    unschedulable_.push_back(0);
    ports_.emplace_back();
    pods_.push_back(0);
    order_.push_back(0);
  }
  row_by_name_.emplace(id, row);
  PutInOrder(row);
  return row;
}

// Between its neighbours; where there is nothing between them, all get new places.
void Nodes::PutInOrder(Row row) {
  constexpr std::uint64_t kGap = std::uint64_t{1} << 32;
  const auto it = by_order_.emplace(name(row), row).first;
  const std::uint64_t before = it == by_order_.begin() ? 0 : order(std::prev(it)->second);
  const std::uint64_t after = std::next(it) == by_order_.end() ? before + 2 * kGap : order(std::next(it)->second);
  order_[Index(row)] = before + (after - before) / 2;
  if (order(row) != before && after > before) return;
  ++order_version_;
  std::uint64_t place = 0;
  for (const auto& [text, each] : by_order_) order_[Index(each)] = place += kGap;
}

void Nodes::FreeIfUnused(Row row) {
  if (present(row) || pods_[Index(row)] != 0) return;
  by_order_.erase(name(row));
  row_by_name_.erase(name_[Index(row)]);
  free_rows_.push_back(row);
}

Row Nodes::Find(absl::string_view name) const {
  const int id = names_.Find(name);
  if (id == -1) return kNone;
  auto it = row_by_name_.find(id);
  return it == row_by_name_.end() ? kNone : it->second;
}

void Nodes::GrowTo(int dims) {
  if (dims <= stride_) return;
  const int wider = std::max(dims, stride_ * 2);
  for (std::vector<std::int64_t>* table : {&free_, &allocatable_}) {
    std::vector<std::int64_t> grown(present_.size() * Index(wider), 0);
    for (Row row = 0; row < rows(); ++row) {
      std::copy_n(table->data() + Index(row) * Index(stride_), stride_, grown.data() + Index(row) * Index(wider));
    }
    table->swap(grown);
  }
  stride_ = wider;
}

void Nodes::Add(std::vector<std::int64_t>& table, Row row, const Resources& amounts, std::int64_t times) {
  GrowTo(amounts.size());
  for (Dim dim = 0; dim < amounts.size(); ++dim) {
    if (amounts[dim] == 0) continue;
    std::int64_t& cell = table[Index(row) * Index(stride_) + Index(dim)];
    cell =
        static_cast<std::int64_t>(static_cast<std::uint64_t>(cell) + static_cast<std::uint64_t>(amounts[dim] * times));
  }
}

Resources Nodes::Amounts(const std::vector<std::int64_t>& table, Row row) const {
  Resources amounts;
  for (Dim dim = 0; dim < dims_.count(); ++dim) amounts.Set(dim, At(table, row, dim));
  return amounts;
}

void Nodes::Changed(Row row) {
  // A reader that lags by more than a few times the table reads the whole table instead.
  if (changes_.size() > 4 * present_.size() + 4096) {
    const std::size_t forgotten = changes_.size() / 2;
    changes_.erase(changes_.begin(), changes_.begin() + static_cast<std::ptrdiff_t>(forgotten));
    changes_begin_ += forgotten;
  }
  changes_.push_back(row);
}

bool Nodes::Same(Row row, const NodeFacts& facts) const {
  if (row == kNone || !present(row) || unschedulable(row) != facts.unschedulable) return false;
  Resources there;
  for (const auto& [name, amount] : facts.allocatable) {
    const Dim dim = dims_.Find(name);
    if (dim == -1) return false;
    there.Set(dim, std::clamp<std::int64_t>(amount, 0, kMaxAmount));
  }
  if (!(there == Amounts(allocatable_, row))) return false;
  if (facts.labels.size() != labels_[Index(row)].size() || facts.taints.size() != taints(row).size()) return false;
  for (const auto& [key, value] : facts.labels) {
    const auto label = std::pair(names_.Find(key), names_.Find(value));
    if (!std::binary_search(labels_[Index(row)].begin(), labels_[Index(row)].end(), label)) return false;
  }
  for (std::size_t i = 0; i < facts.taints.size(); ++i) {
    const Taint& taint = taints(row)[i];
    if (names_.Find(facts.taints[i].key) != taint.key || names_.Find(facts.taints[i].value) != taint.value ||
        facts.taints[i].effect != taint.effect) {
      return false;
    }
  }
  return true;
}

Row Nodes::Set(const NodeFacts& facts) {
  if (Same(Find(facts.name), facts)) return kNone;
  const Row row = Intern(facts.name);
  const Resources allocatable_now = dims_.Intern(facts.allocatable);
  const Resources before = Amounts(allocatable_, row);
  if (!present(row)) {
    Resources held;  // an absent row has nothing allocatable: what pods hold there is its negative free
    held.Subtract(Amounts(free_, row));
    held_on_present_.Add(held);
    present_[Index(row)] = 1;
    ++present_nodes_;
  }
  total_.Subtract(before);
  total_.Add(allocatable_now);
  Add(free_, row, before, -1);
  Add(free_, row, allocatable_now, 1);
  Add(allocatable_, row, before, -1);
  Add(allocatable_, row, allocatable_now, 1);
  auto& labels = labels_[Index(row)];
  labels.clear();
  for (const auto& [key, value] : facts.labels) labels.emplace_back(names_.Intern(key), names_.Intern(value));
  std::sort(labels.begin(), labels.end());
  auto& taints = taints_[Index(row)];
  taints.clear();
  for (const TaintFacts& taint : facts.taints) {
    taints.push_back({names_.Intern(taint.key), names_.Intern(taint.value), taint.effect});
  }
  unschedulable_[Index(row)] = facts.unschedulable ? 1 : 0;
  Changed(row);
  return row;
}

void Nodes::Remove(Row row) {
  const Resources allocatable_before = Amounts(allocatable_, row);
  Resources held = allocatable_before;
  held.Subtract(Amounts(free_, row));
  held_on_present_.Subtract(held);
  total_.Subtract(allocatable_before);
  Add(free_, row, allocatable_before, -1);
  Add(allocatable_, row, allocatable_before, -1);
  present_[Index(row)] = 0;
  --present_nodes_;
  labels_[Index(row)].clear();
  taints_[Index(row)].clear();
  unschedulable_[Index(row)] = 0;
  Changed(row);
}

bool Nodes::Matches(Row row, const Term& term) const {
  if (term.empty()) return false;
  const auto& labels = labels_[Index(row)];
  return std::all_of(term.begin(), term.end(), [&](const Requirement& requirement) {
    if (requirement.key == kNodeNameKey) return Holds(requirement, name_[Index(row)], names_);
    auto it = std::lower_bound(labels.begin(), labels.end(), std::pair<int, int>(requirement.key, -1));
    if (it == labels.end() || it->first != requirement.key) return HoldsWithoutValue(requirement.op);
    return Holds(requirement, it->second, names_);
  });
}

int Nodes::LabelOf(Row row, int key) const {
  const auto& labels = labels_[Index(row)];
  const auto it = std::lower_bound(labels.begin(), labels.end(), std::pair<int, int>(key, -1));
  return it == labels.end() || it->first != key ? -1 : it->second;
}

void Nodes::Take(Row row, const Shape& shape) {
  Add(free_, row, shape.request, -1);
  if (present(row)) held_on_present_.Add(shape.request);
  auto& ports = ports_[Index(row)];
  ports.insert(ports.end(), shape.ports.begin(), shape.ports.end());
  Changed(row);
}

void Nodes::Give(Row row, const Shape& shape) {
  Add(free_, row, shape.request, 1);
  if (present(row)) held_on_present_.Subtract(shape.request);
  auto& ports = ports_[Index(row)];
  for (const HostPort& port : shape.ports) {
    const auto it = std::find(ports.begin(), ports.end(), port);
    GW_CHECK(it != ports.end());
    ports.erase(it);
  }
  Changed(row);
}

void Nodes::Audit(const SlotTable<Task>& tasks, const Shapes& shapes, std::vector<std::string>& wrong) const {
  struct Sums {
    int pods = 0;
    Resources held;
    std::vector<HostPort> ports;
  };
  std::vector<Sums> sums(present_.size());
  tasks.ForEach([&](TaskId, const Task& task) {
    if (task.row == kNone) return;
    Sums& sum = sums[Index(task.row)];
    ++sum.pods;
    if (!task.holds_room()) return;
    const Shape& shape = shapes[task.shape];
    sum.held.Add(shape.request);
    sum.ports.insert(sum.ports.end(), shape.ports.begin(), shape.ports.end());
  });
  Resources total, held;
  int there = 0;
  for (Row row = 0; row < rows(); ++row) {
    const Sums& sum = sums[Index(row)];
    const std::string node = absl::StrCat("node ", name(row), ": ");
    if (const auto it = by_order_.find(name(row)); it != by_order_.end() && it->second == row &&
                                                   it != by_order_.begin() &&
                                                   order(std::prev(it)->second) >= order(row)) {
      wrong.push_back(absl::StrCat(node, "its place is not after that of the name before"));
    }
    const bool unused = std::find(free_rows_.begin(), free_rows_.end(), row) != free_rows_.end();
    if (unused != (!present(row) && sum.pods == 0))
      wrong.push_back(absl::StrCat(node, "is kept for nobody, or its row is given away"));
    if (pods_[Index(row)] != sum.pods)
      wrong.push_back(absl::StrCat(node, "pods are ", pods_[Index(row)], ", of those that name it ", sum.pods));
    Resources free = Amounts(allocatable_, row);
    free.Subtract(sum.held);
    AuditAmounts(absl::StrCat(node, "free"), Amounts(free_, row), free, dims_, wrong);
    const std::vector<HostPort>& ports = ports_[Index(row)];
    if (!std::is_permutation(ports.begin(), ports.end(), sum.ports.begin(), sum.ports.end())) {
      wrong.push_back(absl::StrCat(node, "ports taken are ", ports.size(), ", of its pods ", sum.ports.size()));
    }
    if (!present(row)) continue;
    ++there;
    total.Add(Amounts(allocatable_, row));
    held.Add(sum.held);
  }
  if (there != present_nodes_)
    wrong.push_back(absl::StrCat("nodes: ", present_nodes_, " are there, one by one ", there));
  AuditAmounts("nodes: total", total_, total, dims_, wrong);
  AuditAmounts("nodes: held", held_on_present_, held, dims_, wrong);
}

}  // namespace gangway::model
