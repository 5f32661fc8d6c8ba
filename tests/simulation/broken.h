// Components that are wrong on purpose, each in one promise, and the rules that must name them. Most are the real ones
// behind a client that lies to them.
#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "base/loop.h"
#include "sandbox/cluster/cluster.h"
#include "tests/simulation/checkers.h"
#include "tests/simulation/history.h"

namespace gangway::testutil {

using MakeComponent = std::function<std::shared_ptr<void>(Loop&, sandbox::Cluster&, sandbox::Faults)>;

struct WrongComponent {
  std::string name;
  std::set<Rule> named_by;                         // any of these
  std::function<void(HistoryOptions&)> take_part;  // in a history; whatever else there is, is as it should be
};

inline void PrintTo(const WrongComponent& component, std::ostream* out) { *out << component.name; }

std::vector<WrongComponent> WrongComponents();
// Those that are named also while everything goes wrong, and pods and nodes go.
std::vector<WrongComponent> WrongComponentsWithFaults();
WrongComponent WrongComponentCalled(const std::string& name);

// The real scheduler, some of whose bindings are refused and do not happen: nothing is wrong with it.
std::shared_ptr<void> MakeSchedulerThatIsRefused(Loop& loop, sandbox::Cluster& cluster, sandbox::Faults faults);

}  // namespace gangway::testutil
