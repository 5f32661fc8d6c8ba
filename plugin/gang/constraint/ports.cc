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

void Append(const std::vector<HostPort>& ports, int times, std::vector<HostPort>& to) {
  for (int i = 0; i < times; ++i) to.insert(to.end(), ports.begin(), ports.end());
}

// The newest of each.
void Erase(const std::vector<HostPort>& ports, std::vector<HostPort>& from) {
  for (const HostPort& port : ports) {
    const auto at = std::find(from.rbegin(), from.rend(), port);
    GW_CHECK(at != from.rend());
    from.erase(std::next(at).base());
  }
}

// As far as they are there: pods that clash may have one both.
void EraseWhereThere(const std::vector<HostPort>& ports, std::vector<HostPort>& from) {
  for (const HostPort& port : ports) {
    const auto at = std::find(from.begin(), from.end(), port);
    if (at != from.end()) from.erase(at);
  }
}

class TakenPorts final : public State {
 public:
  void Take(Row row, const std::vector<HostPort>& ports, int times) {
    if (ports.empty() || row == model::kNone) return;
    std::vector<HostPort>& taken = by_row_[row];
    if (times > 0) Append(ports, times, taken);
    for (int i = times; i < 0; ++i) Erase(ports, taken);
  }
  void Add(Row row, const model::Shape& shape, int pods) override { Take(row, shape.ports, pods); }
  void Remove(Row row, const model::Shape& shape, int pods) override { Take(row, shape.ports, -pods); }
  void Release(const Released& pod, int times) override {
    if (pod.shape->ports.empty()) return;
    std::vector<HostPort>& released = released_[pod.row];
    if (times > 0) {
      Append(pod.shape->ports, 1, released);
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
    EraseWhereThere(released->second, left);
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

class KeptPorts final : public Keeping {
 public:
  void Add(const model::Shape& shape, int pods, Spot& spot) const override { Append(shape.ports, pods, spot.ports); }
  bool TakenBy(const model::Shape& shape, const Spot& spot) const override { return Clash(shape.ports, spot.ports); }
  bool IsFree(const model::Cluster& cluster, const Spot& spot,
              absl::Span<const model::Shape* const> gone) const override {
    if (spot.ports.empty()) return true;
    std::vector<HostPort> left = cluster.ports(spot.row);
    for (const model::Shape* const shape : gone) EraseWhereThere(shape->ports, left);
    return !Clash(spot.ports, left);
  }
  void Hold(const Spot& spot, int times, State& state) const override {
    static_cast<TakenPorts&>(state).Take(spot.row, spot.ports, times);
  }
};

}  // namespace

const Keeping& KeepPorts() {
  static const KeptPorts keeping;
  return keeping;
}

std::unique_ptr<State> BeginPorts(const model::Cluster&) { return std::make_unique<TakenPorts>(); }

std::unique_ptr<Constraint> AskPorts(const Placed& placed, const State* state, const model::Shape& shape) {
  if (shape.ports.empty()) return nullptr;
  return std::make_unique<Ports>(placed.cluster(), static_cast<const TakenPorts&>(*state), shape);
}

}  // namespace gangway::constraint
