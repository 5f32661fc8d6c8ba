#include "plugin/gang/constraint/pod_affinity.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/gang/constraint/placed_terms.h"
#include "plugin/phrases/phrases.h"

namespace gangway::constraint {
namespace {

using model::Row;
using model::TermId;

class PodAffinity final : public Constraint {
 public:
  PodAffinity(const PlacedTerms& placed, const model::Shape& shape)
      : placed_(placed),
        near_(shape.near),
        holds_for_itself_(std::all_of(near_.begin(), near_.end(), [&](TermId term) { return shape.Matches(term); })) {}

  int Copies(Row row) const override {
    bool near = true;
    for (const TermId term : near_) {
      if (!HasLabel(term, row)) return 0;
      near = near && placed_.PodsIn(term, placed_.terms().ValueOn(term, row)) > 0;
    }
    return near || MayBeFirst() ? kAnyNumber : 0;
  }
  Changes changes() const override { return Changes::kBeyond; }
  // A pod placed elsewhere makes its domain one to be in.
  bool reopens() const override { return true; }
  // Where there are none yet, the first decides where all others go.
  bool KeptOffBy(const model::Shape& other) const override {
    return std::any_of(near_.begin(), near_.end(), [&](TermId term) { return other.Matches(term); });
  }
  // They have one near already.
  bool UnsettledBy(const model::Shape&) const override { return false; }
  void Decides(Row row, std::vector<int>& domains) const override {
    if (!MayBeFirst()) return;
    for (const TermId term : near_) domains.push_back(placed_.terms().ValueOn(term, row));
  }

  void Explain(absl::Span<const Refusal> refused, model::RoleReason& reason) const override {
    for (const TermId term : near_) {
      int without_label = 0, alone = 0;
      for (const Refusal& refusal : refused) {
        if (FirstUnmetOn(refusal.row) == term) ++(HasLabel(term, refusal.row) ? alone : without_label);
      }
      if (without_label > 0) {
        reason.AddHindrance(
            kPodAffinity, without_label,
            {phrases::kNoLabel(without_label), placed_.terms().domains().KeyOf(placed_.terms().topology(term))});
      }
      if (alone > 0)
        reason.AddHindrance(kPodAffinity, alone, TermIn(phrases::kNoPodNear(alone), placed_.terms(), term));
    }
  }

 private:
  bool HasLabel(TermId term, Row row) const { return placed_.terms().ValueOn(term, row) != -1; }
  // A label that the node has not comes first: no pod near would help there.
  TermId FirstUnmetOn(Row row) const {
    for (const TermId term : near_) {
      if (!HasLabel(term, row)) return term;
    }
    for (const TermId term : near_) {
      if (placed_.PodsIn(term, placed_.terms().ValueOn(term, row)) == 0) return term;
    }
    return near_.front();
  }
  // The terms hold for nobody yet, and for the pod itself: others follow it.
  bool MayBeFirst() const {
    return holds_for_itself_ &&
           std::all_of(near_.begin(), near_.end(), [&](TermId term) { return placed_.Pods(term) == 0; });
  }

  const PlacedTerms& placed_;
  const std::vector<TermId>& near_;
  const bool holds_for_itself_;
};

}  // namespace

std::unique_ptr<Constraint> AskPodAffinity(const Placed&, const State* state, const model::Shape& shape) {
  if (shape.near.empty()) return nullptr;
  return std::make_unique<PodAffinity>(static_cast<const PlacedTerms&>(*state), shape);
}

}  // namespace gangway::constraint
