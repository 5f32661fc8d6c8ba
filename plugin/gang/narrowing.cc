#include "plugin/gang/narrowing.h"

#include <algorithm>
#include <cstdint>

#include "plugin/gang/minimum.h"

namespace gangway::gang {

using model::Row;
using model::Task;
using model::TopologyFacts;

namespace {

bool AlikeInPart(const Task& a, const Task& b) { return a.sub_groups == b.sub_groups && a.partition == b.partition; }

// It is on a node and stays there: it is not to be placed again.
bool StaysOnNode(const Assignment& tasks, model::TaskId id) {
  const Task& task = tasks.cluster().task(id);
  const std::vector<model::TaskId>& again = tasks.usable().tasks;
  return task.holds_room() && task.status != model::TaskStatus::kReleasing && tasks.cluster().present(task.row) &&
         std::find(again.begin(), again.end(), id) == again.end();
}

std::int64_t WidestTier(const model::Cluster& cluster, const TopologyFacts& topology) {
  return topology.tier.has_value() ? *topology.tier : cluster.hyper_nodes().TierOf(topology.tier_name);
}

}  // namespace

const TopologyFacts* TopologyOf(const Assignment& tasks, std::size_t task) {
  const model::SubGroupFacts* const policy = SubGroupsOf(tasks.gang(), tasks[task]);
  return policy != nullptr && policy->topology.has_value() ? &*policy->topology : nullptr;
}

bool SamePart(const Assignment& tasks, std::size_t a, std::size_t b) { return AlikeInPart(tasks[a], tasks[b]); }

std::vector<Row> RowsOfGang(const Assignment& tasks) {
  std::vector<Row> rows;
  for (const model::TaskId id : tasks.gang().tasks) {
    const Task& task = tasks.cluster().task(id);
    if (StaysOnNode(tasks, id)) rows.push_back(task.row);
  }
  return rows;
}

std::vector<Row> RowsOfPart(const Assignment& tasks, std::size_t of) {
  std::vector<Row> rows;
  for (const model::TaskId id : tasks.gang().tasks) {
    const Task& task = tasks.cluster().task(id);
    if (AlikeInPart(task, tasks[of]) && StaysOnNode(tasks, id)) rows.push_back(task.row);
  }
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (tasks.placed(i) && SamePart(tasks, of, i)) rows.push_back(tasks.row(i));
  }
  return rows;
}

std::vector<Area> HyperNodesToTry(const Assignment& tasks, const TopologyFacts& topology, const std::vector<Row>& there,
                                  absl::Span<const std::size_t> wanted, const Area& area) {
  struct Candidate {
    const model::HyperDomain* domain = nullptr;
    bool holds_all = true;
    std::int64_t copies = 0;
  };
  const std::vector<TaskGroup> groups = tasks.GroupByShape(wanted);
  const std::int64_t widest = WidestTier(tasks.cluster(), topology);
  std::vector<Candidate> candidates;
  for (const model::HyperDomain& domain : tasks.HyperDomains()) {
    if (topology.required && domain.tier > widest) break;  // they are sorted by tier
    if (!std::all_of(there.begin(), there.end(), [&](Row row) { return domain.Has(row); })) continue;
    if (!area.Contains(Area(domain))) continue;
    Candidate candidate{&domain};
    for (const TaskGroup& group : groups) {
      const std::int64_t copies = Area(domain).Copies(tasks.Fit(group.shape));
      candidate.copies += copies;
      candidate.holds_all = candidate.holds_all && copies >= static_cast<std::int64_t>(group.tasks.size());
    }
    candidates.push_back(candidate);
  }
  std::stable_sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    if (a.domain->tier != b.domain->tier) return a.domain->tier < b.domain->tier;
    if (a.holds_all != b.holds_all) return a.holds_all;
    return a.holds_all ? a.copies < b.copies : a.copies > b.copies;
  });
  std::vector<Area> hyper_nodes;
  for (const Candidate& candidate : candidates) hyper_nodes.emplace_back(*candidate.domain);
  return hyper_nodes;
}

Area Closest(const Assignment& tasks, const std::vector<Area>& hyper_nodes, const std::vector<TaskGroup>& groups) {
  Area closest;
  std::int64_t most = -1, wanted = 0;
  for (const TaskGroup& group : groups) wanted += static_cast<std::int64_t>(group.tasks.size());
  for (const Area& area : hyper_nodes) {
    std::int64_t copies = 0;
    for (const TaskGroup& group : groups)
      copies += std::min(area.Copies(tasks.Fit(group.shape)), static_cast<std::int64_t>(group.tasks.size()));
    if (copies < most || (copies == most && (copies == wanted || !area.Contains(closest)))) continue;
    most = copies;
    closest = area;
  }
  return closest;
}

Area WidestAround(const std::vector<Area>& hyper_nodes, const Area& area) {
  Area widest = area;
  for (const Area& wider : hyper_nodes) {
    if (wider.Contains(area)) widest = wider;
  }
  return widest;
}

}  // namespace gangway::gang
