#include "plugin/model/hyper_nodes.h"

#include <algorithm>

#include <re2/re2.h>

namespace gangway::model {
namespace {

// Whatever the pattern, this much memory and no more; a match takes time in proportion to the name.
constexpr std::int64_t kPatternMemory = 1 << 20;
constexpr std::size_t kMaxPattern = 4096;

std::shared_ptr<const re2::RE2> Compile(const std::string& pattern) {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kPatternMemory);
  auto compiled = std::make_shared<const re2::RE2>(pattern.size() > kMaxPattern ? std::string("[") : pattern, options);
  return compiled->ok() ? compiled : nullptr;
}

}  // namespace

bool HyperDomain::Has(Row row) const { return std::binary_search(rows.begin(), rows.end(), row); }

HyperNodes::HyperNodes() = default;
HyperNodes::~HyperNodes() = default;

bool HyperNodes::Selects(const Member& member, absl::string_view name, absl::string_view labels) {
  switch (member.facts.by) {
    case HyperNodeFacts::By::kName:
      return member.facts.text == name;
    case HyperNodeFacts::By::kPattern:
      return member.pattern != nullptr &&
             re2::RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), *member.pattern);
    case HyperNodeFacts::By::kLabels:
      return AllHold(member.facts.labels, labels);
  }
  return false;
}

bool HyperNodes::SelectsNode(const HyperNode& hyper_node, const Node& node) {
  return std::any_of(hyper_node.members.begin(), hyper_node.members.end(), [&](const Member& member) {
    return member.facts.node && Selects(member, node.name, node.labels);
  });
}

void HyperNodes::Set(const HyperNodeFacts& facts) {
  HyperNode& there = by_name_[facts.name];
  if (there.facts == facts) return;
  ++version_;
  there.facts = facts;
  there.members.clear();
  for (const HyperNodeFacts::Member& member : facts.members) {
    there.members.push_back({member, member.by == HyperNodeFacts::By::kPattern ? Compile(member.text) : nullptr});
  }
  there.rows.clear();
  for (const auto& [row, node] : nodes_) {
    if (SelectsNode(there, node)) there.rows.insert(row);
  }
}

void HyperNodes::Remove(absl::string_view name) {
  const auto it = by_name_.find(name);
  if (it == by_name_.end()) return;
  by_name_.erase(it);
  ++version_;
}

void HyperNodes::SetNode(Row row, absl::string_view name, const LabelList& labels) {
  Node& node = nodes_[row];
  node.name = std::string(name);
  node.labels = PackLabels(labels);
  for (auto& [of, hyper_node] : by_name_) {
    const bool changed =
        SelectsNode(hyper_node, node) ? hyper_node.rows.insert(row).second : hyper_node.rows.erase(row) > 0;
    version_ += changed ? 1 : 0;
  }
}

void HyperNodes::RemoveNode(Row row) {
  nodes_.erase(row);
  for (auto& [of, hyper_node] : by_name_) version_ += hyper_node.rows.erase(row);
}

void HyperNodes::AddRows(const HyperNode& hyper_node, absl::btree_set<std::string>& seen,
                         absl::btree_set<Row>& rows) const {
  if (!seen.insert(hyper_node.facts.name).second) return;
  rows.insert(hyper_node.rows.begin(), hyper_node.rows.end());
  for (const Member& member : hyper_node.members) {
    if (member.facts.node) continue;
    if (member.facts.by == HyperNodeFacts::By::kName) {
      if (const auto it = by_name_.find(member.facts.text); it != by_name_.end()) AddRows(it->second, seen, rows);
      continue;
    }
    for (const auto& [name, other] : by_name_) {
      if (Selects(member, name, PackLabels(other.facts.labels))) AddRows(other, seen, rows);
    }
  }
}

std::vector<HyperDomain> HyperNodes::Resolve() const {
  std::vector<HyperDomain> domains;
  for (const auto& [name, hyper_node] : by_name_) {
    absl::btree_set<std::string> seen;
    absl::btree_set<Row> rows;
    AddRows(hyper_node, seen, rows);
    if (!rows.empty()) domains.push_back({name, hyper_node.facts.tier, {rows.begin(), rows.end()}});
  }
  std::stable_sort(domains.begin(), domains.end(),
                   [](const HyperDomain& a, const HyperDomain& b) { return a.tier < b.tier; });
  return domains;
}

std::int64_t HyperNodes::TierOf(absl::string_view tier_name) const {
  std::int64_t tier = -1;
  for (const auto& [name, hyper_node] : by_name_) {
    if (hyper_node.facts.tier_name == tier_name) tier = std::max(tier, hyper_node.facts.tier);
  }
  return tier;
}

}  // namespace gangway::model
