#include "plugin/gang/constraint/anti_affinity.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/gang/constraint/placed.h"
#include "plugin/gang/constraint/placed_terms.h"
#include "plugin/phrases/phrases.h"

namespace gangway::constraint {
namespace {

using model::Row;
using model::TermId;

class AntiAffinity final : public Constraint {
 public:
  AntiAffinity(const model::Cluster& cluster, const PlacedTerms& placed, std::vector<TermId> terms)
      : cluster_(cluster), placed_(placed), terms_(std::move(terms)) {}

  int Copies(Row row) const override {
    const bool kept_off = std::any_of(terms_.begin(), terms_.end(), [&](TermId term) {
      const int value = placed_.terms().ValueOn(term, row);
      return value != -1 && placed_.KeepersIn(term, value) > 0;
    });
    return kept_off ? 0 : kAnyNumber;
  }
  Changes changes() const override { return Changes::kBeyond; }
  bool KeptOffBy(const model::Shape& other) const override {
    return std::any_of(other.away.begin(), other.away.end(),
                       [&](TermId term) { return std::find(terms_.begin(), terms_.end(), term) != terms_.end(); });
  }
  // The other stays away from them by itself.
  bool UnsettledBy(const model::Shape&) const override { return false; }
  // Who is placed only keeps more off.
  bool more_fit_less() const override { return true; }

  void Explain(absl::Span<const Refusal> refused, model::RoleReason& reason) const override {
    const std::string keeper = KeeperText();
    const int nodes = static_cast<int>(refused.size());
    reason.AddHindrance(kAntiAffinity, nodes, phrases::kKeptFree(nodes),
                        keeper.empty() ? Words(phrases::kOfPlacedPods) : Words(phrases::kOfPod, keeper));
  }

 private:
  // "namespace/name" of the first pod that keeps the shape off nodes.
  std::string KeeperText() const {
    const model::Task* first = nullptr;
    for (const TermId term : terms_) {
      for (const model::TaskId id : placed_.terms().keepers(term)) {
        const model::Task& keeper = cluster_.task(id);
        if (first == nullptr || std::tie(keeper.ns, keeper.name) < std::tie(first->ns, first->name)) first = &keeper;
      }
    }
    return first == nullptr ? std::string() : model::KeyOf(first->ns, first->name);
  }

  const model::Cluster& cluster_;
  const PlacedTerms& placed_;
  const std::vector<TermId> terms_;
};

}  // namespace

std::unique_ptr<Constraint> AskAntiAffinity(const Placed& placed, const State* state, const model::Shape& shape) {
  const auto& placed_terms = static_cast<const PlacedTerms&>(*state);
  std::vector<TermId> terms;
  for (const TermId term : shape.matched) {
    if (placed_terms.terms().keeps(term)) terms.push_back(term);
  }
  return terms.empty() ? nullptr : std::make_unique<AntiAffinity>(placed.cluster(), placed_terms, std::move(terms));
}

}  // namespace gangway::constraint
