#include "plugin/gang/constraint/placed_terms.h"

#include "absl/strings/str_cat.h"

namespace gangway::constraint {

using model::Row;
using model::TermId;

void PlacedTerms::Add(Row row, const model::Shape& shape, int pods) {
  if (row == model::kNone) return;
  const auto add = [&](TermId id, int holds, int keeps) {
    PerTerm& term = by_term_[static_cast<std::size_t>(id)];
    if (holds != 0) term.steps.push_back({row, holds});
    const int value = terms_.ValueOn(id, row);
    if (value == -1) return;
    term.pods += holds;
    Counts& counts = term.values[value];
    counts.pods += holds;
    counts.keepers += keeps;
  };
  for (const TermId term : shape.matched) add(term, pods, 0);
  for (const TermId term : shape.away) add(term, 0, pods);
}

int PlacedTerms::PodsIn(TermId term, int value) const {
  const auto it = Of(term).values.find(value);
  return terms_.In(term, value).pods + (it == Of(term).values.end() ? 0 : it->second.pods);
}

int PlacedTerms::KeepersIn(TermId term, int value) const {
  const auto it = Of(term).values.find(value);
  return terms_.In(term, value).keepers + (it == Of(term).values.end() ? 0 : it->second.keepers);
}

std::unique_ptr<State> BeginPlacedTerms(const model::Cluster& cluster) {
  return std::make_unique<PlacedTerms>(cluster.pod_terms());
}

std::string TermIn(const model::PodTerms& terms, TermId term, bool several) {
  return absl::StrCat(terms.TextOf(term), several ? " in their " : " in its ",
                      terms.domains().KeyOf(terms.topology(term)));
}

}  // namespace gangway::constraint
