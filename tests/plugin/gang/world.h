// A cluster with the queue `default`, and what one call of Schedule decides for it.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "plugin/gang/schedule.h"
#include "tests/plugin/model/cluster_builder.h"

namespace gangway::testutil {

struct World {
  World() { cluster.SetQueue(Queue("default")); }
  model::Decisions Run() {
    gang::Scratch scratch;
    return gang::Schedule(cluster, policy, At(10), scratch);
  }
  std::map<std::string, std::string> Placed() {
    std::map<std::string, std::string> placed;
    for (const model::Decision& decision : Run()) {
      for (const model::Placement& p : decision.placements) {
        placed[cluster.task(p.task).name] = std::string(cluster.node_name(p.row));
      }
    }
    return placed;
  }
  model::Decision Of(const std::string& gang) {
    for (const model::Decision& decision : Run()) {
      if (cluster.gang(decision.gang).name == gang) return decision;
    }
    return {};
  }
  model::Cluster cluster;
  gang::Policy policy;
};

inline model::NodeFacts NodeIn(const std::string& name, const std::string& zone) {
  model::NodeFacts node = Node(name);
  node.labels.emplace_back("zone", zone);
  return node;
}

inline model::Wants CpuOn(std::int64_t milli, std::string key, std::string value) {
  model::Wants wants = Cpu(milli);
  wants.selector = {{std::move(key), std::move(value)}};
  return wants;
}

}  // namespace gangway::testutil
