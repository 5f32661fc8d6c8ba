#include "plugin/gang/constraint/anti_affinity.h"

#include <algorithm>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "plugin/gang/constraint/placed.h"

namespace gangway::constraint {
namespace {

// What is placed in the overlay keeps nobody away yet: a pod with a podAntiAffinity of its own is not modelled.
class AntiAffinity final : public Constraint {
 public:
  AntiAffinity(const model::Cluster& cluster, const model::Shape& shape) : cluster_(cluster), shape_(shape) {}

  int Copies(model::Row row) const override {
    return std::any_of(shape_.kept_off.begin(), shape_.kept_off.end(), [&](model::TermId term) { return cluster_.KeptOff(row, term); }) ? 0 : kAnyNumber;
  }

  void Explain(absl::Span<const Refusal> refused, model::RoleReason& reason) const override {
    const std::string keeper = KeeperText();
    reason.AddHindrance(kAntiAffinity, static_cast<int>(refused.size()), "is kept free by the podAntiAffinity", "are kept free by the podAntiAffinity",
                        keeper.empty() ? "" : absl::StrCat("of pod ", keeper));
  }

 private:
  // "namespace/name" of the first pod that keeps the shape off nodes.
  std::string KeeperText() const {
    const int pod = cluster_.anti_affinities().FirstPod(shape_.kept_off, [&](int a, int b) {
      return std::tie(cluster_.task(a).ns, cluster_.task(a).name) < std::tie(cluster_.task(b).ns, cluster_.task(b).name);
    });
    return pod == model::kNone ? std::string() : absl::StrCat(cluster_.task(pod).ns, "/", cluster_.task(pod).name);
  }

  const model::Cluster& cluster_;
  const model::Shape& shape_;
};

}  // namespace

std::unique_ptr<Constraint> AskAntiAffinity(const Placed& placed, const State*, const model::Shape& shape) {
  return shape.kept_off.empty() ? nullptr : std::make_unique<AntiAffinity>(placed.cluster(), shape);
}

}  // namespace gangway::constraint
