// What pods ask of where other pods are: affinity, anti-affinity and spread, as far as it concerns pods that are
// somewhere. A part of the Cluster.
//
// A term is a selection of pods and a label by which nodes are alike; equal ones of several pods are one. It counts the
// pods that it holds for, and those whose anti-affinity it is (its keepers), by row and by the label's value.
//
// Pods are compared by the labels that any term mentions: those that are the same there are one class, so that a label
// that differs from pod to pod and that nobody asks for costs nothing. Used on one loop; const calls may run together.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "plugin/model/domains.h"
#include "plugin/model/facts.h"
#include "plugin/model/pod_labels.h"
#include "plugin/model/shape.h"
#include "plugin/model/slot_table.h"
#include "plugin/model/task.h"
#include "plugin/phrases/words.h"

namespace gangway::model {

class Shapes;

// By what weights pods would rather have those of a term near them, or not.
struct Wishes {
  int wishers = 0, weight = 0;  // of those who would, and how much all of them
  int against = 0;              // how much those who would not, negative
  void Add(int by, int times) {
    wishers += by > 0 ? times : 0;
    (by > 0 ? weight : against) += by * times;
  }
  void Add(const Wishes& other, int times) {
    wishers += times * other.wishers;
    weight += times * other.weight;
    against += times * other.against;
  }
  // That somebody would counts once, as much as it is wished in the mean; that somebody would not, for each.
  std::int64_t Score() const { return (wishers > 0 ? weight / wishers : 0) + against; }
  friend bool operator==(const Wishes&, const Wishes&) = default;
};

// What a pod of the shape wishes of the pods that come where it is: what it prefers itself; and those that it must have
// near it, as Kubernetes weighs them (hardPodAffinityWeight).
template <class F>  // void(TermId, int weight)
void ForEachWish(const Shape& shape, F visit) {
  for (const PodPreference& preference : shape.pod_preferences) visit(preference.term, preference.weight);
  for (const TermId term : shape.near) visit(term, 1);
}

class PodTerms {
 public:
  explicit PodTerms(Domains& domains) : domains_(domains) {}

  struct Counts {
    int pods = 0;        // that the term holds for
    int live = 0;        // of them those that are not terminating
    int keepers = 0;     // pods whose anti-affinity it is
    Wishes wishes = {};  // of pods of whichever term
    void Add(const Counts& other, int times) {
      pods += times * other.pods;
      live += times * other.live;
      keepers += times * other.keepers;
      wishes.Add(other.wishes, times);
    }
    friend bool operator==(const Counts&, const Counts&) = default;
  };

  // The terms of what a pod wants, each with one user more: near, away, pod_preferences and spreads of the shape.
  // `rematched` gets tasks that wait and that other terms hold for than before.
  void Intern(const Wants& wants, Shape& shape, std::vector<TaskId>& rematched);
  void Use(const Shape& shape);
  void Unuse(const Shape& shape);

  // A pod that has not ended. It is in no row until Enter, and in none when it is Set anew. `waits`: for a node from
  // us.
  void Set(TaskId id, absl::string_view ns, const std::vector<std::pair<std::string, std::string>>& labels, bool waits);
  // It has ended: it counts nowhere, and only its labels are kept, or nothing.
  void End(TaskId id, bool keeps_labels);
  void Remove(TaskId id);
  // False: it matters, so that the pod must be Set anew.
  bool SetWaits(TaskId id, bool waits);
  // As labels.h packs them.
  std::string LabelsOf(TaskId id) const;
  // Of a pod that has not ended: all of these hold for its labels.
  bool HasLabels(TaskId id, const std::vector<RequirementFacts>& requirements) const;
  // The terms that hold for it, by their keys.
  std::vector<TermId> Matched(TaskId id) const;
  // It holds room on the row, or does no more.
  void Enter(TaskId id, Row row, bool live, const Shape& shape);
  void Leave(TaskId id, Row row, bool live, const Shape& shape);

  void RowChanged(Row row);
  // Returned are tasks that wait and that other terms hold for than before.
  std::vector<TaskId> SetNamespace(absl::string_view name,
                                   const std::vector<std::pair<std::string, std::string>>& labels);
  std::vector<TaskId> RemoveNamespace(absl::string_view name);

  const std::string& key(TermId term) const { return terms_[term].key; }
  TopologyId topology(TermId term) const { return terms_[term].topology; }
  const Domains& domains() const { return domains_; }
  int ValueOn(TermId term, Row row) const { return domains_.ValueOf(terms_[term].topology, row); }
  // On nodes with this value of the label.
  Counts In(TermId term, int value) const {
    const auto it = terms_[term].values.find(value);
    return it == terms_[term].values.end() ? Counts() : it->second;
  }
  // On nodes that have the label.
  int pods(TermId term) const { return terms_[term].pods; }
  const absl::flat_hash_map<Row, Counts>& rows(TermId term) const { return terms_[term].rows; }
  // Pods may keep off others by it.
  bool keeps(TermId term) const { return terms_[term].away_users > 0; }
  // Pods may wish for its pods, or not to have them.
  bool wished(TermId term) const { return terms_[term].wish_users > 0; }
  const absl::btree_set<TaskId>& keepers(TermId term) const { return terms_[term].keepers; }
  // "app=web": the pods it is about.
  Words TextOf(TermId term) const;
  int term_slots() const { return terms_.slots(); }

  void Audit(const SlotTable<Task>& tasks, const Shapes& shapes, std::vector<std::string>& wrong) const;

 private:
  struct Term {
    std::string key;                          // the canonical text it is found by
    std::vector<PodSelectorFacts> selectors;  // all of them hold
    bool unknown_matches = false;             // in a namespace that nobody told of
    TopologyId topology = 0;
    absl::flat_hash_map<Row, Counts> rows;
    absl::flat_hash_map<int, Counts> values;
    int pods = 0;
    absl::btree_set<TaskId> keepers;
    int users = 0;       // of shapes, as often as they have it
    int away_users = 0;  // as anti-affinity
    int wish_users = 0;  // as a wish
  };
  struct Class {
    std::string key;              // namespace, NUL, and the mentioned labels, packed
    std::vector<TermId> matched;  // by their keys
    absl::flat_hash_map<Row, Counts> rows;
    absl::btree_set<TaskId> waiting;
    int pods = 0;
  };
  static constexpr int kEnded = -2;  // instead of a class
  struct Pod {
    PodLabels::Kept labels;
    Flagged class_and_waits{-1, false}, row_and_live{kNone, false};  // together, since pods are many
    int its_class() const { return class_and_waits.number(); }
    bool ended() const { return its_class() == kEnded; }
    bool waits() const { return class_and_waits.flag(); }
    Row row() const { return row_and_live.number(); }
    bool live() const { return row_and_live.flag(); }
  };

  TermId InternTerm(absl::string_view topology_key, std::vector<PodSelectorFacts> selectors, bool unknown_matches,
                    std::vector<TaskId>& rematched);
  void Release(TermId id);
  void AddTo(TermId id, Row row, const Counts& counts, int times);
  void AddWanted(Row row, const Shape& shape, int times);
  void CountUses(const Shape& shape, int times);
  bool Mention(const std::vector<RequirementFacts>& requirements);
  std::string ClassKeyOf(absl::string_view labels) const;
  void JoinClass(TaskId id);
  void LeaveClass(TaskId id);
  void MakeClassesAnew();
  bool Holds(const Term& term, const Class& of) const;
  std::vector<TermId> Matching(const Class& of) const;
  void SortByKey(std::vector<TermId>& terms) const;
  std::vector<TaskId> RematchNamespace(absl::string_view name);
  std::string Packed(const Pod& pod) const { return labels_.Pack(pod.labels); }
  bool MatchesNamespace(const PodSelectorFacts& selector, absl::string_view ns, bool unknown_matches) const;

  Domains& domains_;
  SlotTable<Term> terms_;
  absl::flat_hash_map<std::string, TermId> term_by_key_;
  std::vector<std::string> mentioned_;  // keys of labels, sorted; none is forgotten
  bool classed_ = false;                // there was a term once
  SlotTable<Class> classes_;
  absl::flat_hash_map<std::string, int> class_by_key_;
  PodLabels labels_;
  std::vector<Pod> pods_;                                     // by task
  absl::flat_hash_map<std::string, std::string> namespaces_;  // packed labels
};

}  // namespace gangway::model
