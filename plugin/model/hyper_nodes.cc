#include "plugin/model/hyper_nodes.h"

#include <algorithm>

namespace gangway::model {

bool HyperDomain::Has(Row row) const { return std::binary_search(rows.begin(), rows.end(), row); }

bool HyperNodes::Selects(const Member& member, absl::string_view name, absl::string_view labels) {
  switch (member.facts.by) {
    case HyperNodeFacts::By::kName:
      return member.facts.text == name;
    case HyperNodeFacts::By::kPattern:
      return member.pattern.has_value() && member.pattern->FoundIn(name);
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
    there.members.push_back({member, std::nullopt});
    if (member.by != HyperNodeFacts::By::kPattern) continue;
    if (absl::StatusOr<Pattern> pattern = Pattern::Compile(member.text); pattern.ok())
      there.members.back().pattern = *std::move(pattern);
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

// The HyperNodes that are its members.
template <class F>
void HyperNodes::ForEachInside(const HyperNode& hyper_node, F visit) const {
  for (const Member& member : hyper_node.members) {
    if (member.facts.node) continue;
    if (member.facts.by == HyperNodeFacts::By::kName) {
      if (const auto it = by_name_.find(member.facts.text); it != by_name_.end()) visit(it->second);
      continue;
    }
    for (const auto& [name, other] : by_name_) {
      if (Selects(member, name, PackLabels(other.facts.labels))) visit(other);
    }
  }
}

void HyperNodes::AddRows(const HyperNode& hyper_node, absl::btree_set<std::string>& seen,
                         absl::btree_set<Row>& rows) const {
  if (!seen.insert(hyper_node.facts.name).second) return;
  rows.insert(hyper_node.rows.begin(), hyper_node.rows.end());
  ForEachInside(hyper_node, [&](const HyperNode& inside) { AddRows(inside, seen, rows); });
}

std::vector<HyperNodes::Broken> HyperNodes::broken() const {
  std::vector<Broken> broken;
  for (const auto& [name, hyper_node] : by_name_) {
    const HyperNodeFacts& facts = hyper_node.facts;
    for (const Member& member : hyper_node.members) {
      if (member.facts.by == HyperNodeFacts::By::kPattern && !member.pattern.has_value()) {
        broken.push_back({name, facts.tier_name, facts.tier, member.facts.text,
                          std::string(Pattern::Compile(member.facts.text).status().message())});
      }
      if (member.facts.by == HyperNodeFacts::By::kLabels &&
          member.facts.labels == std::vector<RequirementFacts>{kNoPod})
        broken.push_back({name, facts.tier_name, facts.tier, "", ""});
    }
  }
  return broken;
}

std::vector<std::vector<std::string>> HyperNodes::Cycles() const {
  std::vector<std::vector<std::string>> cycles;
  absl::btree_set<std::string> done, told;
  std::vector<std::string> way;
  const auto follow = [&](const HyperNode& from, const auto& again) -> void {
    const auto at = std::find(way.begin(), way.end(), from.facts.name);
    if (at != way.end()) {
      if (std::any_of(at, way.end(), [&](const std::string& name) { return told.contains(name); })) return;
      told.insert(at, way.end());
      cycles.emplace_back(at, way.end()).push_back(from.facts.name);
    }
    if (!done.insert(from.facts.name).second) return;
    way.push_back(from.facts.name);
    ForEachInside(from, [&](const HyperNode& inside) { again(inside, again); });
    way.pop_back();
  };
  for (const auto& [name, hyper_node] : by_name_) follow(hyper_node, follow);
  return cycles;
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
