#include "plugin/gang/constraint/spread.h"

#include <algorithm>
#include <limits>
#include <map>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "plugin/gang/constraint/placed.h"
#include "plugin/gang/constraint/placed_terms.h"
#include "plugin/gang/constraint/tolerates.h"
#include "plugin/phrases/phrases.h"

namespace gangway::constraint {
namespace {

using model::Row;
using model::Spread;
using model::TermId;

// A wish of one pod less weighs as much as the strongest that a pod may have of a node.
constexpr std::int64_t kWish = 100;

// One constraint: the pods of its term by domain, over the nodes that count for the shape.
class Domains {
 public:
  Domains(const Placed& placed, const PlacedTerms& placed_terms, const model::Shape& shape, const Spread& spread)
      : placed_(placed_terms), spread_(spread), itself_(shape.Matches(spread.term) ? 1 : 0) {
    const model::Cluster& cluster = placed.cluster();
    counts_for_.resize(static_cast<std::size_t>(cluster.rows()));
    for (Row row = 0; row < cluster.rows(); ++row) {
      if (!Counts(cluster, shape, row)) continue;
      counts_for_[static_cast<std::size_t>(row)] = 1;
      pods_.try_emplace(ValueOn(row), 0);
    }
    for (const auto& [row, counts] : terms().rows(spread.term)) {
      if (counts_for_[static_cast<std::size_t>(row)] != 0) pods_[ValueOn(row)] += counts.live;
    }
    for (const auto& [value, pods] : pods_) ++domains_with_[pods];
  }

  int ValueOn(Row row) const { return terms().ValueOn(spread_.term, row); }
  // How many more pods of the shape the row takes.
  int Copies(Row row) const {
    const int value = ValueOn(row);
    if (value == -1) return 0;
    CatchUp();
    const int there = PodsIn(value);
    if (itself_ == 0) return there - Fewest() <= spread_.max_skew ? kAnyNumber : 0;
    const int others = FewestOfOthers(value, there);
    return others == std::numeric_limits<int>::max() ? kAnyNumber : std::max(0, spread_.max_skew + others - there);
  }
  std::int64_t Score(Row row) const {
    const int value = ValueOn(row);
    CatchUp();
    return -kWish * (value == -1
                         ? static_cast<std::int64_t>(domains_with_.empty() ? 0 : domains_with_.rbegin()->first) + 1
                         : PodsIn(value));
  }
  const Spread& spread() const { return spread_; }
  // Of so many nodes: "are in a zone that has maxSkew 1 more pods than another".
  Words TextOf(int nodes) const {
    if (!too_few_domains()) return {phrases::kTooSkewed(nodes), key(), spread_.max_skew};
    return {phrases::kTooFewDomains(nodes), key(), spread_.max_skew, pods_.size(), spread_.min_domains};
  }
  absl::string_view key() const { return terms().domains().KeyOf(terms().topology(spread_.term)); }

 private:
  const model::PodTerms& terms() const { return placed_.terms(); }

  // Of the shape's constraints of the same force each must have its label there.
  bool Counts(const model::Cluster& cluster, const model::Shape& shape, Row row) const {
    if (!cluster.present(row)) return false;
    for (const Spread& each : shape.spreads) {
      if (each.required == spread_.required && terms().ValueOn(each.term, row) == -1) return false;
    }
    if (spread_.honors_affinity) {
      if (!shape.selector.empty() && !cluster.Matches(row, shape.selector)) return false;
      if (shape.has_affinity && !cluster.MatchesAny(row, shape.affinity)) return false;
    }
    const std::vector<model::Taint>& taints = cluster.taints(row);
    return !spread_.honors_taints || std::all_of(taints.begin(), taints.end(), [&](const model::Taint& taint) {
      return taint.effect == model::TaintEffect::kPreferNoSchedule || Tolerates(shape, taint);
    });
  }

  // What was placed since the last look.
  void CatchUp() const {
    const std::vector<PlacedTerms::Step>& steps = placed_.steps(spread_.term);
    for (; seen_ < steps.size(); ++seen_) {
      const PlacedTerms::Step& step = steps[seen_];
      if (counts_for_[static_cast<std::size_t>(step.row)] == 0) continue;
      int& pods = pods_[ValueOn(step.row)];
      const auto before = domains_with_.find(pods);
      if (--before->second == 0) domains_with_.erase(before);
      pods += step.pods;
      ++domains_with_[pods];
    }
  }

  int PodsIn(int value) const {
    const auto it = pods_.find(value);
    return it == pods_.end() ? 0 : it->second;
  }
  bool too_few_domains() const { return static_cast<int>(pods_.size()) < spread_.min_domains; }
  int Fewest() const { return too_few_domains() || domains_with_.empty() ? 0 : domains_with_.begin()->first; }
  // Of the domains but this; the greatest number when there is no other.
  int FewestOfOthers(int value, int there) const {
    if (too_few_domains()) return 0;
    if (!pods_.contains(value)) return Fewest();
    auto first = domains_with_.begin();
    if (first->first == there && first->second == 1) ++first;
    return first == domains_with_.end() ? std::numeric_limits<int>::max() : first->first;
  }

  const PlacedTerms& placed_;
  const Spread& spread_;
  const int itself_;
  std::vector<char> counts_for_;                // by row
  mutable absl::flat_hash_map<int, int> pods_;  // by value, of nodes that count
  mutable std::map<int, int> domains_with_;     // how many have so many pods
  mutable std::size_t seen_ = 0;
};

class SpreadConstraint final : public Constraint {
 public:
  SpreadConstraint(const Placed& placed, const PlacedTerms& placed_terms, const model::Shape& shape) {
    for (const Spread& spread : shape.spreads)
      (spread.required ? required_ : wished_).emplace_back(placed, placed_terms, shape, spread);
  }

  int Copies(Row row) const override {
    int copies = kAnyNumber;
    for (const Domains& domains : required_) copies = std::min(copies, domains.Copies(row));
    return copies;
  }
  Changes changes() const override { return Changes::kBeyond; }
  // Where the fewest are more, more may go elsewhere.
  bool reopens() const override { return true; }
  // Each that counts makes its domain fuller, whatever it asks for itself.
  bool KeptOffBy(const model::Shape& other) const override {
    return std::any_of(required_.begin(), required_.end(),
                       [&](const Domains& domains) { return other.Matches(domains.spread().term); });
  }
  std::optional<Level> level() const override {
    return wished_.empty() ? std::nullopt : std::optional<Level>(Level::kPrefer);
  }
  std::int64_t Score(Row row) const override {
    std::int64_t sum = 0;
    for (const Domains& domains : wished_) sum += domains.Score(row);
    return sum;
  }

  void Explain(absl::Span<const Refusal> refused, model::RoleReason& reason) const override {
    for (const Domains& domains : required_) {
      const auto without =
          static_cast<std::size_t>(std::count_if(refused.begin(), refused.end(), [&](const Refusal& refusal) {
            return domains.ValueOn(refusal.row) == -1 && &FirstAgainst(refusal.row) == &domains;
          }));
      const auto against =
          static_cast<std::size_t>(std::count_if(refused.begin(), refused.end(), [&](const Refusal& refusal) {
            return domains.ValueOn(refusal.row) != -1 && &FirstAgainst(refusal.row) == &domains;
          }));
      if (without > 0)
        reason.AddHindrance(kSpread, static_cast<int>(without),
                            {phrases::kNoLabel(static_cast<int>(without)), domains.key()});
      if (against > 0)
        reason.AddHindrance(kSpread, static_cast<int>(against), domains.TextOf(static_cast<int>(against)));
    }
  }

 private:
  const Domains& FirstAgainst(Row row) const {
    const auto fewest = std::min_element(required_.begin(), required_.end(), [row](const Domains& a, const Domains& b) {
      return a.Copies(row) < b.Copies(row);
    });
    return *fewest;
  }

  std::vector<Domains> required_, wished_;
};

}  // namespace

std::unique_ptr<Constraint> AskSpread(const Placed& placed, const State* state, const model::Shape& shape) {
  if (shape.spreads.empty()) return nullptr;
  return std::make_unique<SpreadConstraint>(placed, static_cast<const PlacedTerms&>(*state), shape);
}

}  // namespace gangway::constraint
