#include "plugin/model/pod_terms.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/check.h"
#include "plugin/model/labels.h"
#include "plugin/model/shapes.h"
#include "plugin/phrases/phrases.h"

namespace gangway::model {
namespace {

// Of the namespace, NUL, and labels, packed.
absl::string_view NamespaceIn(absl::string_view pod) { return pod.substr(0, pod.find('\0')); }
absl::string_view LabelsIn(absl::string_view pod) { return pod.substr(pod.find('\0') + 1); }

template <class F>  // void(TermId)
void ForEachWanted(const Shape& shape, F visit) {
  for (const TermId term : shape.near) visit(term);
  for (const TermId term : shape.away) visit(term);
  for (const PodPreference& preference : shape.pod_preferences) visit(preference.term);
  for (const Spread& spread : shape.spreads) visit(spread.term);
}

}  // namespace

// ---- terms

void PodTerms::AddTo(TermId id, Row row, const Counts& counts, int times) {
  Term& term = terms_[id];
  const int value = domains_.ValueOf(term.topology, row);
  const auto add = [&](auto& map, int key) {
    Counts& sum = map[key];
    sum.Add(counts, times);
    if (sum == Counts()) map.erase(key);
  };
  add(term.rows, row);
  if (value == -1) return;
  add(term.values, value);
  term.pods += times * counts.pods;
}

bool PodTerms::Mention(const std::vector<RequirementFacts>& requirements) {
  bool fresh = false;
  for (const RequirementFacts& requirement : requirements) {
    if (requirement.key.empty()) continue;
    const auto it = std::lower_bound(mentioned_.begin(), mentioned_.end(), requirement.key);
    if (it != mentioned_.end() && *it == requirement.key) continue;
    mentioned_.insert(it, requirement.key);
    fresh = true;
  }
  return fresh;
}

TermId PodTerms::InternTerm(absl::string_view topology_key, std::vector<PodSelectorFacts> selectors,
                            bool unknown_matches, std::vector<TaskId>& rematched) {
  std::sort(selectors.begin(), selectors.end());
  selectors.erase(std::unique(selectors.begin(), selectors.end()), selectors.end());
  std::string key = unknown_matches ? "u" : "";
  for (const PodSelectorFacts& selector : selectors) AddPodTerm(key, {std::string(topology_key), selector});
  if (const auto it = term_by_key_.find(key); it != term_by_key_.end()) {
    ++terms_[it->second].users;
    return it->second;
  }
  bool anew = !classed_;
  classed_ = true;
  for (const PodSelectorFacts& selector : selectors) anew = Mention(selector.pods) || anew;
  if (anew) MakeClassesAnew();
  const TermId id = terms_.Add();
  Term& term = terms_[id];
  term.key = key;
  term.selectors = std::move(selectors);
  term.unknown_matches = unknown_matches;
  term.topology = domains_.Use(topology_key);
  term.users = 1;
  term_by_key_.emplace(std::move(key), id);
  for (int c = 0; c < classes_.slots(); ++c) {
    if (!classes_.Has(c) || !Holds(term, classes_[c])) continue;
    Class& each = classes_[c];
    each.matched.push_back(id);
    SortByKey(each.matched);
    for (const auto& [row, counts] : each.rows) AddTo(id, row, counts, 1);
    rematched.insert(rematched.end(), each.waiting.begin(), each.waiting.end());
  }
  return id;
}

void PodTerms::Release(TermId id) {
  Term& term = terms_[id];
  if (--term.users > 0) return;
  for (int c = 0; c < classes_.slots(); ++c) {
    if (classes_.Has(c)) std::erase(classes_[c].matched, id);
  }
  domains_.Unuse(term.topology);
  term_by_key_.erase(term.key);
  terms_.Remove(id);
}

void PodTerms::Intern(const Wants& wants, Shape& shape, std::vector<TaskId>& rematched) {
  // A pod is near only when it is so by all terms at once.
  std::vector<PodSelectorFacts> all;
  for (const PodTermFacts& term : wants.pod_affinity) all.push_back(term.selector);
  const auto intern_once = [&](std::vector<TermId>& terms, TermId id) {
    if (std::find(terms.begin(), terms.end(), id) == terms.end()) return terms.push_back(id);
    Release(id);
  };
  for (const PodTermFacts& term : wants.pod_affinity)
    intern_once(shape.near, InternTerm(term.topology_key, all, false, rematched));
  for (const PodTermFacts& term : wants.pod_anti_affinity)
    intern_once(shape.away, InternTerm(term.topology_key, {term.selector}, true, rematched));
  for (const PodPreferenceFacts& preference : wants.pod_preferences) {
    shape.pod_preferences.push_back(
        {preference.weight, InternTerm(preference.term.topology_key, {preference.term.selector}, false, rematched)});
  }
  for (const SpreadFacts& spread : wants.spreads) {
    const TermId id = InternTerm(spread.term.topology_key, {spread.term.selector}, false, rematched);
    shape.spreads.push_back(
        {id, spread.max_skew, spread.min_domains, spread.required, spread.honors_affinity, spread.honors_taints});
  }
  CountUses(shape, 1);
}

void PodTerms::CountUses(const Shape& shape, int times) {
  for (const TermId id : shape.away) terms_[id].away_users += times;
  ForEachWish(shape, [&](TermId id, int) { terms_[id].wish_users += times; });
}

void PodTerms::Use(const Shape& shape) {
  ForEachWanted(shape, [this](TermId id) { ++terms_[id].users; });
  for (const TermId id : shape.matched) ++terms_[id].users;
  CountUses(shape, 1);
}

void PodTerms::Unuse(const Shape& shape) {
  CountUses(shape, -1);
  for (const TermId id : shape.matched) Release(id);
  ForEachWanted(shape, [this](TermId id) { Release(id); });
}

Words PodTerms::TextOf(TermId id) const {
  std::vector<Words> parts;
  for (const PodSelectorFacts& selector : terms_[id].selectors) {
    for (const RequirementFacts& requirement : selector.pods) {
      if (requirement.key.empty()) return phrases::kNoLabelsAtAll;
      parts.push_back(RequirementText(requirement));
    }
  }
  return parts.empty() ? Words(phrases::kAnyLabels) : Words::Joined(std::move(parts), phrases::kAnd);
}

// ---- classes

bool PodTerms::MatchesNamespace(const PodSelectorFacts& selector, absl::string_view ns, bool unknown_matches) const {
  if (std::find(selector.namespaces.begin(), selector.namespaces.end(), ns) != selector.namespaces.end()) return true;
  if (!selector.namespace_selector.has_value()) return false;
  const auto labels = namespaces_.find(ns);
  return labels == namespaces_.end() ? unknown_matches || selector.namespace_selector->empty()
                                     : AllHold(*selector.namespace_selector, labels->second);
}

bool PodTerms::Holds(const Term& term, const Class& of) const {
  return std::all_of(term.selectors.begin(), term.selectors.end(), [&](const PodSelectorFacts& selector) {
    return MatchesNamespace(selector, NamespaceIn(of.key), term.unknown_matches) &&
           AllHold(selector.pods, LabelsIn(of.key));
  });
}

void PodTerms::SortByKey(std::vector<TermId>& terms) const {
  std::sort(terms.begin(), terms.end(), [this](TermId a, TermId b) { return key(a) < key(b); });
}

std::vector<TermId> PodTerms::Matching(const Class& of) const {
  std::vector<TermId> matching;
  terms_.ForEach([&](TermId id, const Term& term) {
    if (Holds(term, of)) matching.push_back(id);
  });
  SortByKey(matching);
  return matching;
}

std::string PodTerms::ClassKeyOf(absl::string_view pod) const {
  std::string key(NamespaceIn(pod));
  key.push_back('\0');
  for (const std::string& name : mentioned_) {
    if (const auto value = FindLabel(LabelsIn(pod), name); value.has_value()) PackLabel(name, *value, key);
  }
  return key;
}

void PodTerms::JoinClass(TaskId id) {
  Pod& pod = pods_[static_cast<std::size_t>(id)];
  std::string key = ClassKeyOf(Packed(pod));
  const auto it = class_by_key_.find(key);
  int number = -1;
  if (it != class_by_key_.end()) {
    number = it->second;
  } else {
    number = classes_.Add();
    Class& fresh = classes_[number];
    fresh.key = key;
    fresh.matched = Matching(fresh);
    class_by_key_.emplace(std::move(key), number);
  }
  pod.class_and_waits = {number, pod.waits()};
  Class& its_class = classes_[number];
  ++its_class.pods;
  if (pod.waits()) its_class.waiting.insert(id);
}

void PodTerms::LeaveClass(TaskId id) {
  Pod& pod = pods_[static_cast<std::size_t>(id)];
  if (pod.its_class() < 0) return;
  Class& its_class = classes_[pod.its_class()];
  its_class.waiting.erase(id);
  if (--its_class.pods == 0) {
    class_by_key_.erase(its_class.key);
    classes_.Remove(pod.its_class());
  }
  pod.class_and_waits = {-1, pod.waits()};
}

// What terms counted stays: no term asks for what is new.
void PodTerms::MakeClassesAnew() {
  classes_ = {};
  class_by_key_.clear();
  for (std::size_t id = 0; id < pods_.size(); ++id) {
    Pod& pod = pods_[id];
    if (!pod.labels.there() || pod.ended()) continue;
    JoinClass(static_cast<TaskId>(id));
    if (pod.row() == kNone) continue;
    Counts& counts = classes_[pod.its_class()].rows[pod.row()];
    ++counts.pods;
    counts.live += pod.live() ? 1 : 0;
  }
}

// ---- pods

void PodTerms::Set(TaskId id, absl::string_view ns, const LabelList& labels, bool waits) {
  Remove(id);
  while (static_cast<std::size_t>(id) >= pods_.size()) {
    GrowByQuarters(pods_);
    pods_.emplace_back();
  }
  Pod& pod = pods_[static_cast<std::size_t>(id)];
  pod.labels = labels_.Keep(ns, labels);
  pod.class_and_waits = {-1, waits};
  if (classed_) JoinClass(id);
}

void PodTerms::End(TaskId id, bool keeps_labels) {
  if (!keeps_labels) return Remove(id);
  Pod& pod = pods_[static_cast<std::size_t>(id)];
  GW_CHECK(pod.row() == kNone);
  LeaveClass(id);
  pod.class_and_waits = {kEnded, false};
}

void PodTerms::Remove(TaskId id) {
  if (static_cast<std::size_t>(id) >= pods_.size()) return;
  GW_CHECK(pods_[static_cast<std::size_t>(id)].row() == kNone);
  LeaveClass(id);
  labels_.Drop(pods_[static_cast<std::size_t>(id)].labels);
  pods_[static_cast<std::size_t>(id)] = {};
}

bool PodTerms::SetWaits(TaskId id, bool waits) {
  Pod& pod = pods_[static_cast<std::size_t>(id)];
  if (pod.waits() != waits && pod.its_class() >= 0) return false;
  pod.class_and_waits = {pod.its_class(), waits};
  return true;
}

std::string PodTerms::LabelsOf(TaskId id) const {
  return std::string(LabelsIn(Packed(pods_[static_cast<std::size_t>(id)])));
}

bool PodTerms::HasLabels(TaskId id, const std::vector<RequirementFacts>& requirements) const {
  return static_cast<std::size_t>(id) < pods_.size() && pods_[static_cast<std::size_t>(id)].labels.there() &&
         !pods_[static_cast<std::size_t>(id)].ended() && AllHold(requirements, LabelsOf(id));
}

std::vector<TermId> PodTerms::Matched(TaskId id) const {
  const int its_class = pods_[static_cast<std::size_t>(id)].its_class();
  return its_class < 0 ? std::vector<TermId>() : classes_[its_class].matched;
}

// Whom a pod there keeps away, or would rather have near it.
void PodTerms::AddWanted(Row row, const Shape& shape, int times) {
  for (const TermId term : shape.away) AddTo(term, row, {.keepers = 1}, times);
  ForEachWish(shape, [&](TermId term, int weight) {
    Counts counts;
    counts.wishes.Add(weight, 1);
    AddTo(term, row, counts, times);
  });
}

void PodTerms::Enter(TaskId id, Row row, bool live, const Shape& shape) {
  Pod& pod = pods_[static_cast<std::size_t>(id)];
  pod.row_and_live = {row, live};
  AddWanted(row, shape, 1);
  for (const TermId term : shape.away) terms_[term].keepers.insert(id);
  if (pod.its_class() < 0) return;
  Class& its_class = classes_[pod.its_class()];
  const Counts counts{.pods = 1, .live = live ? 1 : 0};
  ++its_class.rows[row].pods;
  its_class.rows[row].live += counts.live;
  for (const TermId term : its_class.matched) AddTo(term, row, counts, 1);
}

void PodTerms::Leave(TaskId id, Row row, bool live, const Shape& shape) {
  Pod& pod = pods_[static_cast<std::size_t>(id)];
  GW_CHECK(pod.row() == row && pod.live() == live);
  pod.row_and_live = {kNone, false};
  AddWanted(row, shape, -1);
  for (const TermId term : shape.away) terms_[term].keepers.erase(id);
  if (pod.its_class() < 0) return;
  Class& its_class = classes_[pod.its_class()];
  const auto it = its_class.rows.find(row);
  it->second.live -= live ? 1 : 0;
  if (--it->second.pods == 0) its_class.rows.erase(it);
  for (const TermId term : its_class.matched) AddTo(term, row, {.pods = 1, .live = live ? 1 : 0}, -1);
}

// ---- what is around

void PodTerms::RowChanged(Row row) {
  domains_.RowChanged(row, [&](TopologyId topology, int before, int now) {
    for (TermId id = 0; id < terms_.slots(); ++id) {
      if (!terms_.Has(id) || terms_[id].topology != topology) continue;
      Term& term = terms_[id];
      const auto there = term.rows.find(row);
      if (there == term.rows.end()) continue;
      const Counts& counts = there->second;
      if (before != -1) {
        Counts& sum = term.values[before];
        sum.Add(counts, -1);
        if (sum == Counts()) term.values.erase(before);
        term.pods -= counts.pods;
      }
      if (now == -1) continue;
      term.values[now].Add(counts, 1);
      term.pods += counts.pods;
    }
  });
}

std::vector<TaskId> PodTerms::SetNamespace(absl::string_view name, const LabelList& labels) {
  std::string packed = PackLabels(labels);
  const auto [it, added] = namespaces_.try_emplace(std::string(name));
  if (!added && it->second == packed) return {};
  it->second = std::move(packed);
  return RematchNamespace(name);
}

std::vector<TaskId> PodTerms::RemoveNamespace(absl::string_view name) {
  return namespaces_.erase(name) == 0 ? std::vector<TaskId>() : RematchNamespace(name);
}

std::vector<TaskId> PodTerms::RematchNamespace(absl::string_view name) {
  std::vector<TaskId> rematched;
  for (int c = 0; c < classes_.slots(); ++c) {
    if (!classes_.Has(c) || NamespaceIn(classes_[c].key) != name) continue;
    Class& each = classes_[c];
    std::vector<TermId> matching = Matching(each);
    if (matching == each.matched) continue;
    for (const auto& [row, counts] : each.rows) {
      for (const TermId term : each.matched) AddTo(term, row, counts, -1);
      for (const TermId term : matching) AddTo(term, row, counts, 1);
    }
    each.matched = std::move(matching);
    rematched.insert(rematched.end(), each.waiting.begin(), each.waiting.end());
  }
  return rematched;
}

// ---- audit

void PodTerms::Audit(const SlotTable<Task>& tasks, const Shapes& shapes, std::vector<std::string>& wrong) const {
  struct Sums {
    std::map<Row, Counts> rows;
    std::map<int, Counts> values;
    int pods = 0, users = 0, away_users = 0, wish_users = 0;
  };
  std::map<TermId, Sums> sums;
  const auto add = [&](TermId id, const Task& task, const Counts& counts) {
    for (Counts* const sum :
         {&sums[id].rows[task.row], ValueOn(id, task.row) == -1 ? nullptr : &sums[id].values[ValueOn(id, task.row)]}) {
      if (sum != nullptr) sum->Add(counts, 1);
    }
    if (ValueOn(id, task.row) != -1) sums[id].pods += counts.pods;
  };
  tasks.ForEach([&](TaskId id, const Task& task) {
    const std::string name = absl::StrCat("pod ", task.ns.view(), "/", task.name.view());
    const Pod none, &pod = static_cast<std::size_t>(id) < pods_.size() ? pods_[static_cast<std::size_t>(id)] : none;
    if (task.holds_room() != (pod.row() != kNone))
      wrong.push_back(absl::StrCat(name, ": holds room, and terms do not count it, or the other way round"));
    if (!pod.labels.there() || pod.ended()) return;
    Class its_class;
    its_class.key = ClassKeyOf(Packed(pod));
    const std::vector<TermId> matching = Matching(its_class);
    if (matching != Matched(id))
      wrong.push_back(absl::StrCat(name, ": terms that hold for its class are ", Matched(id).size(), ", one by one ",
                                   matching.size()));
    if (pod.waits() && matching != shapes[task.shape].matched)
      wrong.push_back(absl::StrCat(name, ": other terms hold for it than its shape has"));
    if (!task.holds_room()) return;
    for (const TermId term : matching)
      add(term, task, {.pods = 1, .live = task.status != TaskStatus::kReleasing ? 1 : 0});
    for (const TermId term : shapes[task.shape].away) add(term, task, {.keepers = 1});
    ForEachWish(shapes[task.shape], [&](TermId term, int weight) {
      Counts counts;
      counts.wishes.Add(weight, 1);
      add(term, task, counts);
    });
  });
  shapes.ForEach([&](ShapeId, const Shape& shape) {
    ForEachWanted(shape, [&](TermId id) { ++sums[id].users; });
    for (const TermId id : shape.matched) ++sums[id].users;
    for (const TermId id : shape.away) ++sums[id].away_users;
    ForEachWish(shape, [&](TermId id, int) { ++sums[id].wish_users; });
  });
  terms_.ForEach([&](TermId id, const Term& term) {
    const Sums& sum = sums[id];
    const std::string name = absl::StrCat("term about pods ", term.key, ": ");
    std::erase_if(sums[id].rows, [](const auto& each) { return each.second == Counts(); });
    std::erase_if(sums[id].values, [](const auto& each) { return each.second == Counts(); });
    if (std::map<Row, Counts>(term.rows.begin(), term.rows.end()) != sum.rows)
      wrong.push_back(absl::StrCat(name, "counts by node are other ones than one by one"));
    if (std::map<int, Counts>(term.values.begin(), term.values.end()) != sum.values)
      wrong.push_back(absl::StrCat(name, "counts by domain are other ones than one by one"));
    if (term.pods != sum.pods) wrong.push_back(absl::StrCat(name, "pods are ", term.pods, ", one by one ", sum.pods));
    if (term.users != sum.users || term.away_users != sum.away_users || term.wish_users != sum.wish_users)
      wrong.push_back(absl::StrCat(name, "users are ", term.users, ", one by one ", sum.users));
  });
  std::vector<const PodLabels::Kept*> labels;
  std::map<int, std::pair<int, int>> of_classes;  // pods, and those that wait
  for (std::size_t id = 0; id < pods_.size(); ++id) {
    const Pod& pod = pods_[id];
    if (pod.labels.there() && !tasks.Has(static_cast<TaskId>(id)))
      wrong.push_back(absl::StrCat("pod number ", id, " is gone, and its labels are kept"));
    labels.push_back(&pod.labels);
    if (pod.its_class() < 0) continue;
    auto& [pods, waiting] = of_classes[pod.its_class()];
    ++pods;
    waiting += pod.waits() ? 1 : 0;
  }
  labels_.Audit(labels, wrong);
  classes_.ForEach([&](int id, const Class& each) {
    const auto [pods, waiting] = of_classes[id];
    if (each.pods != pods || pods == 0 || static_cast<int>(each.waiting.size()) != waiting)
      wrong.push_back(absl::StrCat("pods of a class are ", each.pods, " of which ", each.waiting.size(),
                                   " wait, one by one ", pods, " and ", waiting));
  });
}

}  // namespace gangway::model
