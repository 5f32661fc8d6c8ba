#include "plugin/gang/eviction_trial.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "plugin/gang/place.h"

namespace gangway::gang {

using model::Row;
using model::TaskId;

namespace {

Policy WithoutSurplus(Policy policy) {
  policy.place_surplus = false;
  return policy;
}

}  // namespace

EvictionTrial::EvictionTrial(Overlay& overlay, Scratch& scratch, const Policy& policy)
    : overlay_(overlay), scratch_(scratch), policy_(WithoutSurplus(policy)), budget_(policy.evict_budget) {}

void EvictionTrial::TakeAway(const std::vector<TaskId>& tasks) {
  for (const TaskId task : tasks) {
    overlay_.Release(task);
    scratch_.RowTouched(overlay_.cluster().task(task).row);
  }
}

void EvictionTrial::GiveBack(const std::vector<TaskId>& tasks) {
  for (const TaskId task : tasks) {
    overlay_.Restore(task);
    scratch_.RowTouched(overlay_.cluster().task(task).row);
  }
}

void EvictionTrial::TakeAway(const Bundle& bundle, Victims& victims) {
  budget_ -= static_cast<int>(bundle.tasks.size());
  TakeAway(bundle.tasks);
  victims.Count(bundle.tasks, 1);
}

void EvictionTrial::GiveBack(const Bundle& bundle, Victims& victims) {
  GiveBack(bundle.tasks);
  victims.Count(bundle.tasks, -1);
}

void EvictionTrial::Rewind() {
  for (const Row row : overlay_.Rewind()) scratch_.RowTouched(row);
}

std::int64_t EvictionTrial::Places(const Preemptor& preemptor) {
  std::int64_t places = 0;
  for (const auto& [shape, count] : preemptor.by_shape)
    places += std::min<std::int64_t>(scratch_.Fit(overlay_, shape).copies(), count);
  return places;
}

bool EvictionTrial::Place(const Preemptor& preemptor) {
  GangPlacement placement(overlay_, scratch_, policy_, preemptor.gang, /*tells=*/false);
  if (!placement.PlaceMinimum()) return false;
  model::Decision decision;
  placement.Finish(decision);
  placements_ = std::move(decision.placements);
  return true;
}

std::optional<std::vector<model::Placement>> EvictionTrial::PlaceAgain(const Bundle& bundle) {
  GangPlacement placement(overlay_, scratch_, policy_, bundle.gang, /*tells=*/false);
  if (!placement.PlaceAgain(bundle.tasks)) return std::nullopt;
  model::Decision decision;
  placement.Finish(decision);
  return std::move(decision.placements);
}

}  // namespace gangway::gang
