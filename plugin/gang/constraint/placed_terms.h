// What terms about pods count of pods that are placed beside the facts: the State of every constraint that asks where
// other pods are.
#pragma once

#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "plugin/gang/constraint/constraint.h"
#include "plugin/phrases/words.h"

namespace gangway::constraint {

class PlacedTerms final : public State {
 public:
  explicit PlacedTerms(const model::PodTerms& terms)
      : terms_(terms), by_term_(static_cast<std::size_t>(terms.term_slots())) {}
  void Add(model::Row row, const model::Shape& shape, int pods) override;
  void Remove(model::Row row, const model::Shape& shape, int pods) override { Add(row, shape, -pods); }
  // Near it nobody is yet, and no spread counts it; whom it keeps off, and who keeps it off, are apart already.
  void Nominate(model::Row row, const model::Shape& shape, int times) override;
  void Release(const Released& pod, int times) override;

  // With the facts: on nodes of this value, and on all that have the label.
  int PodsIn(model::TermId term, int value) const;
  int KeepersIn(model::TermId term, int value) const;
  model::Wishes WishesIn(model::TermId term, int value) const;
  // Whether one of the term's pods is on a node of this value, or to be.
  bool AnyIn(model::TermId term, int value) const;
  int Pods(model::TermId term) const { return terms_.pods(term) + Of(term).pods; }

  // Pods that a term holds for, one after the other; a negative number takes back. None of those that are terminating.
  struct Step {
    model::Row row = model::kNone;
    int pods = 0;
  };
  const std::vector<Step>& steps(model::TermId term) const { return Of(term).steps; }
  const model::PodTerms& terms() const { return terms_; }

 private:
  void AddTo(model::TermId id, model::Row row, int pods, int keepers, int live);
  void AddWishes(model::Row row, const model::Shape& shape, int times);

  struct Counts {
    int pods = 0, keepers = 0, nominated = 0;
    model::Wishes wishes;
  };
  struct PerTerm {
    absl::flat_hash_map<int, Counts> values;
    int pods = 0;
    std::vector<Step> steps;
  };
  const PerTerm& Of(model::TermId term) const { return by_term_[static_cast<std::size_t>(term)]; }

  const model::PodTerms& terms_;
  std::vector<PerTerm> by_term_;
};

std::unique_ptr<State> BeginPlacedTerms(const model::Cluster& cluster);

// What the phrase says of pods and a topology: those of the term.
Words TermIn(const Phrase& phrase, const model::PodTerms& terms, model::TermId term);

}  // namespace gangway::constraint
