#include "plugin/gang/constraint/cordon.h"

#include "plugin/gang/constraint/placed.h"
#include "plugin/gang/constraint/tolerates.h"
#include "plugin/phrases/phrases.h"

namespace gangway::constraint {
namespace {

class Cordon final : public Constraint {
 public:
  explicit Cordon(const model::Cluster& cluster) : cluster_(cluster) {}
  int Copies(model::Row row) const override { return cluster_.unschedulable(row) ? 0 : kAnyNumber; }
  void Explain(absl::Span<const Refusal> refused, model::RoleReason& reason) const override {
    const int nodes = static_cast<int>(refused.size());
    reason.AddHindrance(kCordon, nodes, phrases::kCordoned(nodes));
  }

 private:
  const model::Cluster& cluster_;
};

}  // namespace

std::unique_ptr<Constraint> AskCordon(const Placed& placed, const State*, const model::Shape& shape) {
  const model::Names& names = placed.cluster().names();
  const model::Taint cordon{names.Find("node.kubernetes.io/unschedulable"), names.Find(""),
                            model::TaintEffect::kNoSchedule};
  return Tolerates(shape, cordon) ? nullptr : std::make_unique<Cordon>(placed.cluster());
}

}  // namespace gangway::constraint
