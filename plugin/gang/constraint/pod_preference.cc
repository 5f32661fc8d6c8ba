#include "plugin/gang/constraint/pod_preference.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "plugin/gang/constraint/placed_terms.h"

namespace gangway::constraint {
namespace {

class PodPreference final : public Constraint {
 public:
  // `wished`: terms that hold for the shape's pods, and that others may wish for.
  PodPreference(const PlacedTerms& placed, const model::Shape& shape, std::vector<model::TermId> wished)
      : placed_(placed), shape_(shape), wished_(std::move(wished)) {}

  int Copies(model::Row) const override { return kAnyNumber; }
  Changes changes() const override { return Changes::kBeyond; }
  bool KeptOffBy(const model::Shape&) const override { return false; }  // it keeps nobody off
  bool more_fit_less() const override { return true; }
  std::optional<Level> level() const override { return Level::kPrefer; }
  // A pod near that is wanted counts as one of the node's own preferences does, each that is not wanted anew: so they
  // part evenly. What the pods there wish of it counts alike.
  std::int64_t Score(model::Row row) const override {
    std::int64_t sum = 0;
    for (const model::PodPreference& preference : shape_.pod_preferences) {
      const int value = placed_.terms().ValueOn(preference.term, row);
      if (value == -1) continue;
      const int pods = placed_.PodsIn(preference.term, value);
      sum += static_cast<std::int64_t>(preference.weight) * (preference.weight > 0 ? std::min(pods, 1) : pods);
    }
    for (const model::TermId term : wished_) {
      const int value = placed_.terms().ValueOn(term, row);
      if (value != -1) sum += placed_.WishesIn(term, value).Score();
    }
    return sum;
  }
  void Explain(absl::Span<const Refusal>, model::RoleReason&) const override {}

 private:
  const PlacedTerms& placed_;
  const model::Shape& shape_;
  const std::vector<model::TermId> wished_;
};

}  // namespace

std::unique_ptr<Constraint> AskPodPreference(const Placed&, const State* state, const model::Shape& shape) {
  const auto& placed_terms = static_cast<const PlacedTerms&>(*state);
  std::vector<model::TermId> wished;
  for (const model::TermId term : shape.matched) {
    if (placed_terms.terms().wished(term)) wished.push_back(term);
  }
  if (shape.pod_preferences.empty() && wished.empty()) return nullptr;
  return std::make_unique<PodPreference>(placed_terms, shape, std::move(wished));
}

}  // namespace gangway::constraint
