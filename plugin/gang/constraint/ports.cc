#include "plugin/gang/constraint/ports.h"

#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "plugin/gang/constraint/placed.h"
#include "plugin/phrases/phrases.h"

namespace gangway::constraint {
namespace {

using model::HostPort;
using model::Row;

bool Clash(const std::vector<HostPort>& wanted, const std::vector<HostPort>& taken) {
  for (const HostPort& want : wanted) {
    for (const HostPort& have : taken) {
      if (want.port == have.port && want.protocol == have.protocol &&
          (want.ip == -1 || have.ip == -1 || want.ip == have.ip))
        return true;
    }
  }
  return false;
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
    taken.resize(taken.size() - shape.ports.size() * static_cast<std::size_t>(pods));  // the newest stand at the end
  }
  void Release(const Released& pod, int times) override {
    if (pod.shape->ports.empty()) return;
    std::vector<HostPort>& released = released_[pod.row];
    for (const HostPort& port : pod.shape->ports) {
      if (times > 0) {
        released.push_back(port);
      } else {
        released.erase(
            std::find_if(released.begin(), released.end(), [&](const HostPort& other) { return Same(port, other); }));
      }
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
      const auto at = std::find_if(left.begin(), left.end(), [&](const HostPort& other) { return Same(port, other); });
      if (at != left.end()) left.erase(at);
    }
    return Clash(wanted, left);
  }

 private:
  static bool Same(const HostPort& a, const HostPort& b) {
    return a.protocol == b.protocol && a.ip == b.ip && a.port == b.port;
  }

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
