#include "plugin/model/anti_affinity.h"

#include <algorithm>
#include <map>
#include <optional>

#include "absl/strings/str_cat.h"
#include "plugin/model/shapes.h"

namespace gangway::model {
namespace {

std::string KeyOf(const AntiAffinityFacts& facts) {
  std::string key;
  AddText(key, facts.topology_key);
  std::vector<std::string> namespaces = facts.namespaces;
  std::sort(namespaces.begin(), namespaces.end());
  absl::StrAppend(&key, "n", namespaces.size());
  for (const std::string& ns : namespaces) AddText(key, ns);
  if (facts.namespace_selector.has_value()) AddTerm(key, *facts.namespace_selector);
  key += 'p';
  AddTerm(key, facts.pods);
  return key;
}

std::optional<absl::string_view> FindLabel(absl::string_view packed, absl::string_view key) {
  const auto next = [&packed] {
    const std::size_t end = packed.find('\0');
    const absl::string_view text = packed.substr(0, end);
    packed.remove_prefix(end + 1);
    return text;
  };
  while (!packed.empty()) {
    const bool found = next() == key;
    const absl::string_view value = next();
    if (found) return value;
  }
  return std::nullopt;
}

// What a label selector cannot ask is taken to hold.
bool Holds(const RequirementFacts& requirement, absl::string_view packed) {
  const std::optional<absl::string_view> value = FindLabel(packed, requirement.key);
  const bool there = value.has_value();
  const bool listed = there && std::find(requirement.values.begin(), requirement.values.end(), *value) != requirement.values.end();
  switch (requirement.op) {
    case Op::kIn:
      return listed;
    case Op::kNotIn:
      return !listed;
    case Op::kExists:
      return there;
    case Op::kDoesNotExist:
      return !there;
    case Op::kGt:
    case Op::kLt:
      return true;
  }
  return true;
}

bool AllHold(const std::vector<RequirementFacts>& requirements, absl::string_view packed) {
  return std::all_of(requirements.begin(), requirements.end(), [&](const RequirementFacts& r) { return Holds(r, packed); });
}

}  // namespace

std::string PackLabels(const std::vector<std::pair<std::string, std::string>>& labels) {
  std::string packed;
  for (const auto& [key, value] : labels) {
    packed.append(key).push_back('\0');
    packed.append(value).push_back('\0');
  }
  return packed;
}

TermId AntiAffinities::Intern(const AntiAffinityFacts& facts, std::vector<TermId>& fresh) {
  std::string key = KeyOf(facts);
  if (auto it = term_by_key_.find(key); it != term_by_key_.end()) return it->second;
  const TermId id = terms_.Add();
  Term& term = terms_[id];
  term.facts = facts;
  term.topology_key = names_.Intern(facts.topology_key);
  term.key = key;
  term_by_key_.emplace(std::move(key), id);
  fresh.push_back(id);
  return id;
}

void AntiAffinities::FreeIfUnused(TermId id) {
  Term& term = terms_[id];
  if (!term.rows.empty() || term.shapes > 0) return;
  term_by_key_.erase(term.key);
  terms_.Remove(id);
}

bool AntiAffinities::CountValues(Term& term, LabelOf label_of) {
  std::map<int, int> values;
  for (const auto& [row, pods] : term.rows) {
    if (const int value = label_of(row, term.topology_key); value != -1) ++values[value];
  }
  const auto same_value = [](const auto& a, const auto& b) { return a.first == b.first; };
  const bool same = std::equal(values.begin(), values.end(), term.values.begin(), term.values.end(), same_value);
  term.values = std::move(values);
  return !same;
}

std::vector<TermId> AntiAffinities::Add(int pod, int row, const std::vector<AntiAffinityFacts>& terms, LabelOf label_of,
                                        std::vector<TermId>& fresh) {
  std::vector<TermId> changed;
  OnNode on_node{row, {}};
  for (const AntiAffinityFacts& facts : terms) {
    const TermId id = Intern(facts, fresh);
    if (std::find(on_node.terms.begin(), on_node.terms.end(), id) != on_node.terms.end()) continue;
    on_node.terms.push_back(id);
    Term& term = terms_[id];
    if (++term.rows[row] > 1) continue;
    const int value = label_of(row, term.topology_key);
    if (value != -1 && ++term.values[value] == 1) changed.push_back(id);
  }
  by_pod_[pod] = std::move(on_node);
  return changed;
}

std::vector<TermId> AntiAffinities::Remove(int pod, LabelOf label_of) {
  const auto it = by_pod_.find(pod);
  if (it == by_pod_.end()) return {};
  const OnNode on_node = std::move(it->second);
  by_pod_.erase(it);
  std::vector<TermId> changed;
  for (const TermId id : on_node.terms) {
    Term& term = terms_[id];
    if (--term.rows[on_node.row] > 0) continue;
    term.rows.erase(on_node.row);
    const auto value = term.values.find(label_of(on_node.row, term.topology_key));
    if (value != term.values.end() && --value->second == 0) {
      term.values.erase(value);
      changed.push_back(id);
    }
    FreeIfUnused(id);
  }
  return changed;
}

std::vector<TermId> AntiAffinities::RowChanged(int row, LabelOf label_of) {
  std::vector<TermId> changed;
  for (TermId id = 0; id < terms_.slots(); ++id) {
    if (terms_[id].rows.contains(row) && CountValues(terms_[id], label_of)) changed.push_back(id);
  }
  return changed;
}

bool AntiAffinities::Has(int pod, int row) const {
  const auto it = by_pod_.find(pod);
  return it != by_pod_.end() && it->second.row == row;
}

bool AntiAffinities::SetNamespace(absl::string_view name, std::string packed_labels) {
  const auto [it, added] = namespaces_.try_emplace(std::string(name));
  if (!added && it->second == packed_labels) return false;
  it->second = std::move(packed_labels);
  bool asked = false;
  terms_.ForEach([&](TermId, const Term& term) { asked = asked || term.facts.namespace_selector.has_value(); });
  return asked;
}

bool AntiAffinities::RemoveNamespace(absl::string_view name) { return namespaces_.erase(std::string(name)) > 0; }

// A namespace that nobody told of is taken to match.
bool AntiAffinities::MatchesNamespace(const AntiAffinityFacts& facts, absl::string_view ns) const {
  if (std::find(facts.namespaces.begin(), facts.namespaces.end(), ns) != facts.namespaces.end()) return true;
  if (!facts.namespace_selector.has_value()) return false;
  const auto labels = namespaces_.find(std::string(ns));
  return labels == namespaces_.end() || AllHold(*facts.namespace_selector, labels->second);
}

bool AntiAffinities::Matches(TermId id, absl::string_view ns, absl::string_view packed_labels) const {
  const Term& term = terms_[id];
  return terms_.Has(id) && MatchesNamespace(term.facts, ns) && AllHold(term.facts.pods, packed_labels);
}

std::vector<TermId> AntiAffinities::Matching(absl::string_view ns, absl::string_view packed_labels) const {
  std::vector<TermId> matching;
  for (TermId id = 0; id < terms_.slots(); ++id) {
    if (Matches(id, ns, packed_labels)) matching.push_back(id);
  }
  SortByKey(matching);
  return matching;
}

void AntiAffinities::SortByKey(std::vector<TermId>& terms) const {
  std::sort(terms.begin(), terms.end(), [this](TermId a, TermId b) { return key(a) < key(b); });
}

void AntiAffinities::Unuse(TermId term) {
  --terms_[term].shapes;
  FreeIfUnused(term);
}

bool AntiAffinities::Keeps(TermId id, int row, LabelOf label_of) const {
  const Term& term = terms_[id];
  return !term.values.empty() && term.values.contains(label_of(row, term.topology_key));
}

int AntiAffinities::FirstPod(const std::vector<TermId>& terms, absl::FunctionRef<bool(int, int)> before) const {
  int first = -1;
  for (const auto& [pod, on_node] : by_pod_) {
    const bool has = std::any_of(on_node.terms.begin(), on_node.terms.end(),
                                 [&](TermId id) { return std::find(terms.begin(), terms.end(), id) != terms.end(); });
    if (has && (first == -1 || before(pod, first))) first = pod;
  }
  return first;
}

void AntiAffinities::Audit(const Shapes& shapes, LabelOf label_of, std::vector<std::string>& wrong) const {
  std::map<TermId, Term> sums;
  for (const auto& [pod, on_node] : by_pod_) {
    for (const TermId id : on_node.terms) ++sums[id].rows[on_node.row];
  }
  shapes.ForEach([&](ShapeId, const Shape& shape) {
    for (const TermId id : shape.kept_off) ++sums[id].shapes;
  });
  terms_.ForEach([&](TermId id, const Term& term) {
    Term& sum = sums[id];
    const std::string name = absl::StrCat("anti-affinity ", term.key, ": ");
    for (const auto& [row, pods] : sum.rows) {
      if (const int value = label_of(row, term.topology_key); value != -1) ++sum.values[value];
    }
    if (term.rows != sum.rows) wrong.push_back(absl::StrCat(name, "nodes with such pods are ", term.rows.size(), ", one by one ", sum.rows.size()));
    if (term.values != sum.values) wrong.push_back(absl::StrCat(name, "domains with such pods are ", term.values.size(), ", or their counts differ: ", sum.values.size()));
    if (term.shapes != sum.shapes) wrong.push_back(absl::StrCat(name, "shapes it keeps off are ", term.shapes, ", one by one ", sum.shapes));
  });
}

}  // namespace gangway::model
