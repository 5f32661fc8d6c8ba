#include "plugin/gang/constraint/node.h"

#include <algorithm>
#include <vector>

#include "plugin/gang/constraint/placed.h"
#include "plugin/phrases/phrases.h"

namespace gangway::constraint {
namespace {

class Node final : public Constraint {
 public:
  Node(const model::Cluster& cluster, const model::Shape& shape) : cluster_(cluster), shape_(shape) {}

  int Copies(model::Row row) const override {
    if (!shape_.selector.empty() && !cluster_.Matches(row, shape_.selector)) return 0;
    return !shape_.has_affinity || cluster_.MatchesAny(row, shape_.affinity) ? kAnyNumber : 0;
  }

  // Those of the selector's rarest label.
  const std::vector<model::Row>* Among() const override {
    const std::vector<model::Row>* rarest = nullptr;
    for (std::size_t i = 0; i < shape_.selector.size(); ++i) {
      const std::vector<model::Row>& alike =
          cluster_.pod_terms().domains().RowsOf(shape_.selector_topologies[i], shape_.selector[i].values.front());
      if (rarest == nullptr || alike.size() < rarest->size()) rarest = &alike;
    }
    return rarest;
  }

  std::optional<Level> level() const override {
    return shape_.preferences.empty() ? std::nullopt : std::optional<Level>(Level::kPrefer);
  }
  std::int64_t Score(model::Row row) const override {
    std::int64_t sum = 0;
    for (const model::Preference& preference : shape_.preferences) {
      if (cluster_.Matches(row, preference.term)) sum += preference.weight;
    }
    return sum;
  }

  void Explain(absl::Span<const Refusal> refused, model::RoleReason& reason) const override {
    const int nodes = static_cast<int>(refused.size());
    const Words text = Text();
    reason.AddHindrance(kNode, nodes, phrases::kDoesNotMatch(nodes), text,
                        text.empty() ? Words() : Words(phrases::kNodesWith, text));
  }

  // "zone=none", "disk in (ssd,nvme)"
  Words Text() const override {
    const model::Names& names = cluster_.names();
    Words selector = model::TermText(shape_.selector, names);
    if (!shape_.has_affinity) return selector;
    std::vector<Words> terms;
    for (const model::Term& term : shape_.affinity) terms.push_back(model::TermText(term, names));
    Words affinity = terms.empty() ? Words(phrases::kEmptyAffinity) : Words::Joined(std::move(terms), phrases::kOr);
    return Words::Joined({std::move(selector), std::move(affinity)}, phrases::kAnd);
  }

 private:
  const model::Cluster& cluster_;
  const model::Shape& shape_;
};

}  // namespace

std::unique_ptr<Constraint> AskNode(const Placed& placed, const State*, const model::Shape& shape) {
  if (shape.selector.empty() && !shape.has_affinity && shape.preferences.empty()) return nullptr;
  return std::make_unique<Node>(placed.cluster(), shape);
}

}  // namespace gangway::constraint
