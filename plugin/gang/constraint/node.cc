#include "plugin/gang/constraint/node.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/gang/constraint/placed.h"

namespace gangway::constraint {
namespace {

class Node final : public Constraint {
 public:
  Node(const model::Cluster& cluster, const model::Shape& shape) : cluster_(cluster), shape_(shape) {}

  int Copies(model::Row row) const override {
    if (!shape_.selector.empty() && !cluster_.Matches(row, shape_.selector)) return 0;
    return !shape_.has_affinity || cluster_.MatchesAny(row, shape_.affinity) ? kAnyNumber : 0;
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
    const std::string text = Text();
    reason.AddHindrance(kNode, static_cast<int>(refused.size()), "does not match", "do not match", text,
                        text.empty() ? "" : absl::StrCat("nodes with ", text));
  }

  // "zone=none", "disk in (ssd,nvme)"
  std::string Text() const override {
    const model::Names& names = cluster_.names();
    std::string text = model::TermText(shape_.selector, names);
    if (!shape_.has_affinity) return text;
    if (!text.empty()) text += " and ";
    if (shape_.affinity.empty()) return text + "an empty node affinity";
    absl::StrAppend(&text, absl::StrJoin(shape_.affinity, " or ", [&](std::string* out, const model::Term& term) {
      absl::StrAppend(out, model::TermText(term, names));
    }));
    return text;
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
