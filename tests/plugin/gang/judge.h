// What is wrong with a placement, judged from facts alone and in Kubernetes' and Volcano's own words: nothing here asks
// the table, its shapes or what the scheduler calls an obstacle.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "plugin/model/facts.h"

namespace gangway::testutil {

// Everything that is known.
struct Events {
  std::vector<model::NodeFacts> nodes;
  std::vector<model::GangFacts> gangs;
  std::vector<model::PodFacts> pods;
  std::vector<model::QueueFacts> queues;
  std::vector<model::ClaimFacts> claims;
  std::vector<model::VolumeFacts> volumes;
  std::vector<model::NamespaceFacts> namespaces;
  std::vector<model::StorageClassFacts> classes;
  std::vector<model::HyperNodeFacts> hyper_nodes;
};

// A pod's name and its node's.
using Placed = std::vector<std::pair<std::string, std::string>>;

// Of all that one decision placed; `let_in`: gangs that it let in. Each begins with its rule: "selector: g0-r1-2 on
// n3". One namespace.
std::vector<std::string> Judge(const Events& events, const Placed& placed, const std::vector<std::string>& let_in);

}  // namespace gangway::testutil
