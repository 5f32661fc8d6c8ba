#include "plugin/gang/constraint/pod_anti_affinity.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/gang/constraint/placed_terms.h"
#include "plugin/phrases/phrases.h"

namespace gangway::constraint {
namespace {

using model::Row;
using model::TermId;

class PodAntiAffinity final : public Constraint {
 public:
  PodAntiAffinity(const PlacedTerms& placed, const model::Shape& shape) : placed_(placed), shape_(shape) {}

  int Copies(Row row) const override {
    int copies = kAnyNumber;
    for (const TermId term : shape_.away) {
      const int value = placed_.terms().ValueOn(term, row);
      if (value == -1) continue;
      if (placed_.AnyIn(term, value)) return 0;
      if (shape_.Matches(term)) copies = 1;
    }
    return copies;
  }
  Changes changes() const override { return Changes::kBeyond; }
  bool KeptOffBy(const model::Shape& other) const override {
    return std::any_of(shape_.away.begin(), shape_.away.end(), [&](TermId term) { return other.Matches(term); });
  }
  // They keep the other off.
  bool UnsettledBy(const model::Shape&) const override { return false; }

  void Explain(absl::Span<const Refusal> refused, model::RoleReason& reason) const override {
    // A refused row may take some and no more: it has one after that.
    for (const TermId term : shape_.away) {
      const auto there = std::count_if(refused.begin(), refused.end(),
                                       [&](const Refusal& refusal) { return FirstOn(refusal.row) == term; });
      if (there == 0) continue;
      const int nodes = static_cast<int>(there);
      reason.AddHindrance(kPodAntiAffinity, nodes, TermIn(phrases::kPodNear(nodes), placed_.terms(), term));
    }
  }

 private:
  TermId FirstOn(Row row) const {
    for (const TermId term : shape_.away) {
      const int value = placed_.terms().ValueOn(term, row);
      if (value != -1 && placed_.AnyIn(term, value)) return term;
    }
    return shape_.away.front();
  }

  const PlacedTerms& placed_;
  const model::Shape& shape_;
};

}  // namespace

std::unique_ptr<Constraint> AskPodAntiAffinity(const Placed&, const State* state, const model::Shape& shape) {
  if (shape.away.empty()) return nullptr;
  return std::make_unique<PodAntiAffinity>(static_cast<const PlacedTerms&>(*state), shape);
}

}  // namespace gangway::constraint
