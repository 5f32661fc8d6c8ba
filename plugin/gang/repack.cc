#include "plugin/gang/repack.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "plugin/gang/constraint/asks.h"

namespace gangway::gang {

using model::Cluster;
using model::Dim;
using model::Resources;
using model::Row;
using model::ShapeId;

// As much of each shape as was tried, or more.
bool Repacking::IsInVain(const ByShape& wanted) const {
  const auto less = [](const auto& a, const auto& b) { return a.first == b.first && a.second <= b.second; };
  return std::any_of(in_vain_.begin(), in_vain_.end(), [&](const ByShape& tried) {
    return tried.size() == wanted.size() && std::equal(tried.begin(), tried.end(), wanted.begin(), less);
  });
}

void Repacking::Placed(GangPlacement& placement) {
  if (!placement.Packs()) {
    one_shape_.reset();
    return gangs_.clear();
  }
  const std::vector<TaskGroup> by_shape = placement.MinimumByShape();
  const bool alike = by_shape.size() == 1 && (gangs_.empty() || one_shape_ == by_shape.front().shape);
  one_shape_ = alike ? std::optional(by_shape.front().shape) : std::nullopt;
  gangs_.push_back(&placement);
}

Repacking::Problem Repacking::ProblemOf(const std::vector<GangPlacement*>& gangs) {
  const Cluster& cluster = overlay_.cluster();
  std::map<ShapeId, int> counts;
  absl::flat_hash_map<Row, Resources> placed;
  for (const GangPlacement* const gang : gangs) {
    for (const TaskGroup& group : gang->MinimumByShape()) {
      counts[group.shape] += static_cast<int>(group.tasks.size());
      for (const std::size_t task : group.tasks) {
        if (gang->row(task) != model::kNone) placed[gang->row(task)].Add(cluster.shape(group.shape).request);
      }
    }
  }
  Problem problem;
  const std::int64_t looks = static_cast<std::int64_t>(counts.size()) * cluster.rows();
  if (looks > budget_) return problem;
  budget_ -= static_cast<int>(looks);
  for (const auto& [shape, count] : counts) problem.shapes.push_back(shape);
  std::sort(problem.shapes.begin(), problem.shapes.end(),
            [&](ShapeId a, ShapeId b) { return cluster.shape(a).key < cluster.shape(b).key; });
  for (const ShapeId shape : problem.shapes)
    problem.loads.push_back({cluster.shape(shape).request, counts.at(shape), {}});
  for (Row row = 0; row < cluster.rows(); ++row) {
    if (cluster.present(row)) problem.rows.push_back(row);
  }
  std::sort(problem.rows.begin(), problem.rows.end(),
            [&](Row a, Row b) { return cluster.node_order(a) < cluster.node_order(b); });
  std::vector<Row> rows;
  for (const Row row : problem.rows) {
    Resources free;
    for (Dim dim = 0; dim < cluster.dims().count(); ++dim) free.Set(dim, overlay_.free(row, dim));
    if (const auto there = placed.find(row); there != placed.end()) free.Add(there->second);
    std::vector<bool> takes;
    for (std::size_t load = 0; load < problem.loads.size(); ++load) {
      const Resources& request = problem.loads[load].request;
      bool room = true;
      for (Dim dim = 0; dim < request.size() && room; ++dim) room = request[dim] <= 0 || request[dim] <= free[dim];
      takes.push_back(room && overlay_.AsksOf(problem.shapes[load]).BesideRoom(row).copies > 0);
    }
    if (std::find(takes.begin(), takes.end(), true) == takes.end()) continue;
    for (std::size_t load = 0; load < problem.loads.size(); ++load) problem.loads[load].allowed.push_back(takes[load]);
    rows.push_back(row);
    problem.bins.push_back(std::move(free));
  }
  problem.rows = std::move(rows);
  return problem;
}

bool Repacking::Place(GangPlacement& placement) {
  if (gangs_.empty() || !placement.Packs()) return false;
  ByShape wanted;
  for (const TaskGroup& group : placement.MinimumByShape())
    wanted.emplace_back(group.shape, static_cast<int>(group.tasks.size()));
  std::sort(wanted.begin(), wanted.end());
  if (IsInVain(wanted)) return false;
  std::vector<GangPlacement*> gangs = gangs_;
  gangs.push_back(&placement);
  const Problem problem = ProblemOf(gangs);
  if (problem.rows.empty()) {  // also where each of them could lie
    if (!problem.loads.empty()) in_vain_.push_back(std::move(wanted));
    return false;
  }
  int budget = std::min(budget_, try_budget_);
  budget_ -= budget;
  std::optional<std::vector<std::vector<int>>> left = Pack(problem.loads, problem.bins, budget);
  budget_ += budget;
  if (!left.has_value()) {
    in_vain_.push_back(std::move(wanted));
    return false;
  }
  // Gang by gang, so that pods of one lie close.
  for (GangPlacement* const gang : gangs) {
    std::vector<std::pair<std::size_t, Row>> rows;
    for (const TaskGroup& group : gang->MinimumByShape()) {
      const auto shape = std::find(problem.shapes.begin(), problem.shapes.end(), group.shape);
      std::vector<int>& counts = (*left)[static_cast<std::size_t>(shape - problem.shapes.begin())];
      std::size_t bin = 0;
      for (const std::size_t task : group.tasks) {
        while (counts[bin] == 0) ++bin;
        --counts[bin];
        rows.emplace_back(task, problem.rows[bin]);
      }
    }
    gang->PlaceMinimumAt(rows);
  }
  return true;
}

}  // namespace gangway::gang
