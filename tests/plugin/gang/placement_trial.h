// One gang's usable tasks in a trial of an overlay: what the parts of placement work on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "plugin/gang/assignment.h"
#include "plugin/gang/usable.h"
#include "plugin/model/cluster.h"

namespace gangway::testutil {

// The cluster stays as it is while this lives.
struct PlacementTrial {
  explicit PlacementTrial(const model::Cluster& cluster, const std::string& name = "g")
      : gang(cluster.gang(cluster.FindGang("default", name))), overlay(cluster), tasks(overlay, scratch, gang) {
    scratch.Begin(cluster);
    tasks.Use(gang::FindUsable(overlay, gang));
    overlay.Begin();
  }
  std::vector<std::size_t> All() const {
    std::vector<std::size_t> all(tasks.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return all;
  }
  std::vector<gang::TaskGroup> Groups() const { return tasks.GroupByShape(All()); }
  // Of each task the node; "": none.
  std::vector<std::string> Nodes() const {
    std::vector<std::string> nodes;
    for (const std::size_t task : All())
      nodes.emplace_back(tasks.placed(task) ? tasks.cluster().node_name(tasks.row(task)) : "");
    return nodes;
  }
  std::vector<std::string> Names(const std::vector<model::TaskId>& of) const {
    std::vector<std::string> names;
    for (const model::TaskId id : of) names.push_back(tasks.cluster().task(id).name);
    return names;
  }

  const model::Gang& gang;
  gang::Overlay overlay;
  gang::Scratch scratch;
  gang::Assignment tasks;
};

// A HyperNode of these nodes.
inline model::HyperDomain Domain(const model::Cluster& cluster, const std::string& name, std::int64_t tier,
                                 const std::vector<std::string>& nodes) {
  model::HyperDomain domain{name, tier, {}};
  for (const std::string& node : nodes) domain.rows.push_back(cluster.FindNode(node));
  std::sort(domain.rows.begin(), domain.rows.end());
  return domain;
}

}  // namespace gangway::testutil
