#include "plugin/gang/constraint/placed_terms.h"

#include "absl/strings/str_cat.h"

namespace gangway::constraint {

using model::Row;
using model::TermId;

void PlacedTerms::AddTo(TermId id, Row row, int pods, int keepers, int live) {
  PerTerm& term = by_term_[static_cast<std::size_t>(id)];
  if (live != 0) term.steps.push_back({row, live});
  const int value = terms_.ValueOn(id, row);
  if (value == -1) return;
  term.pods += pods;
  Counts& counts = term.values[value];
  counts.pods += pods;
  counts.keepers += keepers;
}

void PlacedTerms::AddWishes(Row row, const model::Shape& shape, int times) {
  model::ForEachWish(shape, [&](TermId term, int weight) {
    const int value = terms_.ValueOn(term, row);
    if (value != -1) by_term_[static_cast<std::size_t>(term)].values[value].wishes.Add(weight, times);
  });
}

void PlacedTerms::Add(Row row, const model::Shape& shape, int pods) {
  if (row == model::kNone) return;
  for (const TermId term : shape.matched) AddTo(term, row, pods, 0, pods);
  for (const TermId term : shape.away) AddTo(term, row, 0, pods, 0);
  AddWishes(row, shape, pods);
}

void PlacedTerms::Nominate(Row row, const model::Shape& shape, int times) {
  for (const TermId term : shape.matched) {
    const int value = terms_.ValueOn(term, row);
    if (value != -1) by_term_[static_cast<std::size_t>(term)].values[value].nominated += times;
  }
  for (const TermId term : shape.away) AddTo(term, row, 0, times, 0);
}

void PlacedTerms::Release(const Released& pod, int times) {
  for (const TermId term : pod.matched) AddTo(term, pod.row, -times, 0, pod.live ? -times : 0);
  for (const TermId term : pod.shape->away) AddTo(term, pod.row, 0, -times, 0);
  AddWishes(pod.row, *pod.shape, -times);
}

int PlacedTerms::PodsIn(TermId term, int value) const {
  const auto it = Of(term).values.find(value);
  return terms_.In(term, value).pods + (it == Of(term).values.end() ? 0 : it->second.pods);
}

bool PlacedTerms::AnyIn(TermId term, int value) const {
  const auto it = Of(term).values.find(value);
  const Counts beside = it == Of(term).values.end() ? Counts() : it->second;
  return terms_.In(term, value).pods + beside.pods + beside.nominated > 0;
}

int PlacedTerms::KeepersIn(TermId term, int value) const {
  const auto it = Of(term).values.find(value);
  return terms_.In(term, value).keepers + (it == Of(term).values.end() ? 0 : it->second.keepers);
}

model::Wishes PlacedTerms::WishesIn(TermId term, int value) const {
  model::Wishes wishes = terms_.In(term, value).wishes;
  if (const auto it = Of(term).values.find(value); it != Of(term).values.end()) wishes.Add(it->second.wishes, 1);
  return wishes;
}

std::unique_ptr<State> BeginPlacedTerms(const model::Cluster& cluster) {
  return std::make_unique<PlacedTerms>(cluster.pod_terms());
}

Words TermIn(const Phrase& phrase, const model::PodTerms& terms, TermId term) {
  return {phrase, terms.TextOf(term), terms.domains().KeyOf(terms.topology(term))};
}

}  // namespace gangway::constraint
