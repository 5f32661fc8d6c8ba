// Pods on nodes that keep others away: their required podAntiAffinity, as far as it concerns pods that wait for a node. A part of the Cluster.
//
// Equal terms of several pods are one. A term keeps a pod that it matches from every node whose label `topology_key` has the value that
// the label has on a node with a pod of that term. Used on one loop; const calls may run together.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "plugin/model/facts.h"
#include "plugin/model/names.h"
#include "plugin/model/shape.h"
#include "plugin/model/slot_table.h"

namespace gangway::model {

class Shapes;

// Keys and values one after the other, each with a NUL at its end: many pods wait, and most have a handful of labels.
std::string PackLabels(const std::vector<std::pair<std::string, std::string>>& labels);

class AntiAffinities {
 public:
  explicit AntiAffinities(Names& names) : names_(names) {}
  // The value of a node's label, both interned; -1: it has none, or is not there.
  using LabelOf = absl::FunctionRef<int(int row, int key)>;

  // A pod, known by a number, with these terms on a node. `fresh` gets those that nobody had before: pods that wait must be matched with
  // them. Returned are the terms that now keep pods from more nodes.
  std::vector<TermId> Add(int pod, int row, const std::vector<AntiAffinityFacts>& terms, LabelOf label_of, std::vector<TermId>& fresh);
  bool Has(int pod, int row) const;
  // The pod goes. Returned are the terms that keep pods from fewer nodes.
  std::vector<TermId> Remove(int pod, LabelOf label_of);
  // The node's labels were other ones. Returned are the terms for which that counts.
  std::vector<TermId> RowChanged(int row, LabelOf label_of);
  bool empty() const { return term_by_key_.empty(); }

  // True when terms may match other pods than before.
  bool SetNamespace(absl::string_view name, std::string packed_labels);
  bool RemoveNamespace(absl::string_view name);

  // Whether a pod of this namespace with these labels matches the term, and all that it matches, by their keys.
  bool Matches(TermId term, absl::string_view ns, absl::string_view packed_labels) const;
  std::vector<TermId> Matching(absl::string_view ns, absl::string_view packed_labels) const;
  void SortByKey(std::vector<TermId>& terms) const;
  const std::string& key(TermId term) const { return terms_[term].key; }
  // A shape of pods that match it.
  void Use(TermId term) { ++terms_[term].shapes; }
  void Unuse(TermId term);

  bool Keeps(TermId term, int row, LabelOf label_of) const;
  // Of all pods with one of the terms the number for which `before` is the least.
  int FirstPod(const std::vector<TermId>& terms, absl::FunctionRef<bool(int, int)> before) const;

  void Audit(const Shapes& shapes, LabelOf label_of, std::vector<std::string>& wrong) const;

 private:
  struct Term {
    std::string key;  // the canonical text it is found by
    AntiAffinityFacts facts;
    int topology_key = 0;           // interned
    std::map<int, int> rows;        // pods by row
    std::map<int, int> values;      // rows by the value of their label
    int shapes = 0;
  };
  struct OnNode {
    int row = 0;
    std::vector<TermId> terms;
  };
  TermId Intern(const AntiAffinityFacts& facts, std::vector<TermId>& fresh);
  void FreeIfUnused(TermId id);
  // Whether the set of values changed.
  bool CountValues(Term& term, LabelOf label_of);
  bool MatchesNamespace(const AntiAffinityFacts& facts, absl::string_view ns) const;

  Names& names_;
  SlotTable<Term> terms_;
  absl::flat_hash_map<std::string, TermId> term_by_key_;
  absl::flat_hash_map<int, OnNode> by_pod_;
  absl::flat_hash_map<std::string, std::string> namespaces_;  // packed labels
};

}  // namespace gangway::model
