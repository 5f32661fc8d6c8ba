#include "plugin/gang/constraint/taints.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "plugin/gang/constraint/most_often.h"
#include "plugin/gang/constraint/placed.h"
#include "plugin/gang/constraint/tolerates.h"
#include "plugin/phrases/phrases.h"

namespace gangway::constraint {

using model::Taint;
using model::TaintEffect;

bool Tolerates(const model::Shape& shape, const Taint& taint) {
  return std::any_of(shape.tolerations.begin(), shape.tolerations.end(), [&](const model::Toleration& toleration) {
    if (!toleration.known_effect) return false;
    if (!toleration.every_effect && toleration.effect != taint.effect) return false;
    if (toleration.key == -1) return toleration.exists;
    return toleration.key == taint.key && (toleration.exists || toleration.value == taint.value);
  });
}

namespace {

class Taints final : public Constraint {
 public:
  Taints(const model::Cluster& cluster, const model::Shape& shape) : cluster_(cluster), shape_(shape) {}

  int Copies(model::Row row) const override { return FirstOn(row) == nullptr ? kAnyNumber : 0; }

  std::optional<Level> level() const override { return Level::kAvoid; }
  std::int64_t Score(model::Row row) const override {
    const std::vector<Taint>& taints = cluster_.taints(row);
    return -std::count_if(taints.begin(), taints.end(), [&](const Taint& taint) {
      return taint.effect == TaintEffect::kPreferNoSchedule && !Tolerates(shape_, taint);
    });
  }

  void Explain(absl::Span<const Refusal> refused, model::RoleReason& reason) const override {
    const std::string taint =
        MostOften(refused, [&](model::Row row) { return std::string(cluster_.names().Text(FirstOn(row)->key)); });
    const int nodes = static_cast<int>(refused.size());
    reason.AddHindrance(kTaints, nodes, phrases::kTainted(nodes),
                        taint.empty() ? Words() : Words(phrases::kWith, taint));
  }

 private:
  const Taint* FirstOn(model::Row row) const {
    for (const Taint& taint : cluster_.taints(row)) {
      if (taint.effect != TaintEffect::kPreferNoSchedule && !Tolerates(shape_, taint)) return &taint;
    }
    return nullptr;
  }

  const model::Cluster& cluster_;
  const model::Shape& shape_;
};

}  // namespace

std::unique_ptr<Constraint> AskTaints(const Placed& placed, const State*, const model::Shape& shape) {
  return std::make_unique<Taints>(placed.cluster(), shape);
}

}  // namespace gangway::constraint
