#include "plugin/gang/no_room.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/gang/admit.h"
#include "plugin/gang/constraint/asks.h"
#include "plugin/gang/fill.h"
#include "plugin/gang/narrowing.h"
#include "plugin/gang/order.h"
#include "plugin/phrases/phrases.h"

namespace gangway::gang {

using model::Cluster;
using model::Reason;
using model::RoleReason;
using model::Row;

namespace {

// What stands against the group's tasks, of which so many fit. `alone`: whatever becomes of the others.
RoleReason WhyNoMore(const Assignment& tasks, const Area& area, const TaskGroup& group, std::size_t fitting,
                     bool alone) {
  RoleReason role = alone && area.rows() == nullptr ? tasks.FullReason(group.shape)
                                                    : tasks.AsksOf(group.shape).Explain(alone, area.rows());
  role.role = std::string(tasks.cluster().names().Text(tasks[group.tasks[fitting]].role));
  role.missing = static_cast<int>(group.tasks.size() - fitting);
  return role;
}

}  // namespace

NoRoom WhyNoRoom(Assignment& tasks, const Area& area, const std::vector<TaskGroup>& groups) {
  NoRoom told{ReasonOf(Reason::Kind::kNoRoom, tasks.gang()), {}};
  Reason& reason = told.reason;
  reason.within = area.Text();
  for (std::size_t task = 0; task < tasks.size(); ++task) {
    if (tasks.placed(task)) told.would_fit.push_back(tasks.id(task));  // other parts, in this trial
  }
  // A shape does not fit even alone: no trial is needed to say so.
  const bool alone =
      std::any_of(groups.begin(), groups.end(), [&](const TaskGroup& group) { return TooMany(tasks, area, group); });
  if (!alone) FillGreedily(tasks, area, groups);
  reason.missing = 0;
  for (const TaskGroup& group : groups) {
    const std::size_t all = group.tasks.size();
    const std::size_t fitting =
        alone ? static_cast<std::size_t>(std::min(area.Copies(tasks.Fit(group.shape)), static_cast<std::int64_t>(all)))
              : static_cast<std::size_t>(std::count_if(group.tasks.begin(), group.tasks.end(),
                                                       [&](std::size_t task) { return tasks.placed(task); }));
    for (std::size_t i = 0; i < fitting; ++i) told.would_fit.push_back(tasks.id(group.tasks[i]));
    if (fitting == all) continue;
    reason.roles.push_back(WhyNoMore(tasks, area, group, fitting, alone));
    reason.missing += reason.roles.back().missing;
  }
  tasks.DropAll();
  reason.existing = tasks.gang().ready() + static_cast<int>(told.would_fit.size());
  // Whole sub-groups may be more pods than the minimum.
  reason.min_member = std::max(reason.min_member, reason.existing + reason.missing);
  std::sort(reason.roles.begin(), reason.roles.end(), [](const RoleReason& a, const RoleReason& b) {
    if (a.role != b.role || a.request_text != b.request_text)
      return std::tie(a.role, a.request_text) < std::tie(b.role, b.request_text);
    return a.asks.English() < b.asks.English();
  });
  SortTasks(tasks.cluster(), told.would_fit);
  return told;
}

NoRoom WhyNoRoomForPart(Assignment& tasks, const Area& area, const std::vector<std::size_t>& part,
                        const model::TopologyFacts& topology) {
  const std::vector<TaskGroup> groups = tasks.GroupByShape(part);
  if (!topology.required) return WhyNoRoom(tasks, area, groups);
  const std::vector<Row> there = RowsOfPart(tasks, part.front());
  const std::vector<Area> hyper_nodes = HyperNodesToTry(tasks, topology, there, part, area);
  if (hyper_nodes.empty()) return {NoHyperNode(tasks.cluster(), tasks.gang(), topology, there), {}};
  return WhyNoRoom(tasks, Closest(tasks, hyper_nodes, groups), groups);
}

// The first of those that the gang might use; empty: there is none.
Words BrokenHyperNode(const Cluster& cluster, const model::TopologyFacts& topology) {
  const std::int64_t widest =
      topology.tier.has_value() ? *topology.tier : cluster.hyper_nodes().TierOf(topology.tier_name);
  for (const model::HyperNodes::Broken& broken : cluster.hyper_nodes().broken()) {
    if (broken.tier > widest) continue;
    return broken.pattern.empty() ? Words(phrases::kLabelMatchDoesNotRead, broken.name)
                                  : Words(phrases::kPatternDoesNotCompile, broken.name, broken.pattern, broken.why);
  }
  return {};
}

Reason NoHyperNode(const Cluster& cluster, const model::Gang& gang, const model::TopologyFacts& topology,
                   const std::vector<Row>& there) {
  Reason reason = ReasonOf(Reason::Kind::kNoHyperNode, gang);
  reason.subject =
      topology.tier.has_value() ? Words(phrases::kOrLess, *topology.tier) : Words::Name(topology.tier_name);
  reason.existing = static_cast<int>(there.size());
  reason.broken = BrokenHyperNode(cluster, topology);
  reason.missing = std::max(gang.min_member - gang.ready(), 0);
  return reason;
}

}  // namespace gangway::gang
