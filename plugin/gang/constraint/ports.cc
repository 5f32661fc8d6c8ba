#include "plugin/gang/constraint/ports.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/check.h"
#include "plugin/gang/constraint/placed.h"
#include "plugin/phrases/phrases.h"

namespace gangway::constraint {
namespace {

using model::Clash;
using model::HostPort;
using model::Row;

// The newest of each.
void Erase(const std::vector<HostPort>& ports, std::vector<HostPort>& from) {
  for (const HostPort& port : ports) {
    const auto at = std::find(from.rbegin(), from.rend(), port);
    GW_CHECK(at != from.rend());
    from.erase(std::next(at).base());
  }
}

class TakenPorts final : public State {
 public:
  void Add(Row row, const model::Shape& shape, int pods) override {
    if (shape.ports.empty() || row == model::kNone) return;
    std::vector<HostPort>& taken = by_row_[row];
    for (int i = 0; i < pods; ++i) taken.insert(taken.end(), shape.ports.begin(), shape.ports.end());
  }
  void Remove(Row row, const model::Shape& shape, int pods) override {
    if (shape.ports.empty() || row == model::kNone) return;
    std::vector<HostPort>& taken = by_row_[row];
    for (int i = 0; i < pods; ++i) Erase(shape.ports, taken);
  }
  void Release(const Released& pod, int times) override {
    if (pod.shape->ports.empty()) return;
    std::vector<HostPort>& released = released_[pod.row];
    if (times > 0) {
      released.insert(released.end(), pod.shape->ports.begin(), pod.shape->ports.end());
    } else {
      Erase(pod.shape->ports, released);
    }
    if (released.empty()) released_.erase(pod.row);
  }
  // With what the facts have there, less what was released of it.
  bool Clashes(Row row, const std::vector<HostPort>& wanted, const std::vector<HostPort>& there) const {
    const auto it = by_row_.find(row);
    if (it != by_row_.end() && Clash(wanted, it->second)) return true;
    const auto released = released_.find(row);
    if (released == released_.end()) return Clash(wanted, there);
    std::vector<HostPort> left = there;
    for (const HostPort& port : released->second) {
      const auto at = std::find(left.begin(), left.end(), port);
      if (at != left.end()) left.erase(at);
    }
    return Clash(wanted, left);
  }

 private:
  absl::flat_hash_map<Row, std::vector<HostPort>> by_row_, released_;
};

class Ports final : public Constraint {
 public:
  Ports(const model::Cluster& cluster, const TakenPorts& taken, const model::Shape& shape)
      : cluster_(cluster), taken_(taken), shape_(shape) {}

  int Copies(Row row) const override { return taken_.Clashes(row, shape_.ports, cluster_.ports(row)) ? 0 : 1; }
  Changes changes() const override { return Changes::kRow; }
  void Explain(absl::Span<const Refusal> refused, model::RoleReason& reason) const override {
    const int nodes = static_cast<int>(refused.size());
    reason.AddHindrance(kPorts, nodes, phrases::kPortTaken(nodes));
  }

 private:
  const model::Cluster& cluster_;
  const TakenPorts& taken_;
  const model::Shape& shape_;
};

}  // namespace

std::unique_ptr<State> BeginPorts(const model::Cluster&) { return std::make_unique<TakenPorts>(); }

std::unique_ptr<Constraint> AskPorts(const Placed& placed, const State* state, const model::Shape& shape) {
  if (shape.ports.empty()) return nullptr;
  return std::make_unique<Ports>(placed.cluster(), static_cast<const TakenPorts&>(*state), shape);
}

}  // namespace gangway::constraint
