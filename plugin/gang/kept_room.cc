#include "plugin/gang/kept_room.h"

#include <algorithm>
#include <cstdint>

#include "plugin/gang/admit.h"
#include "plugin/gang/order.h"

namespace gangway::gang {

using model::Cluster;
using model::Dim;
using model::Gang;
using model::GangId;
using model::QueueId;
using model::Resources;
using model::Row;
using model::Shape;
using model::Task;
using model::TaskId;
using model::TaskStatus;

namespace {

const Resources& At(const absl::flat_hash_map<int, Resources>& map, int key) {
  static const Resources& none = *new Resources();
  const auto it = map.find(key);
  return it == map.end() ? none : it->second;
}

bool HoldsNode(const Task& task) {
  return task.status == TaskStatus::kBinding || task.status == TaskStatus::kBound ||
         task.status == TaskStatus::kRunning;
}

}  // namespace

KeptRoom::KeptRoom(const Overlay& overlay, const std::vector<std::pair<GangId, Lacking>>& gangs, int budget)
    : overlay_(overlay), any_asks_(overlay, any_), budget_(budget) {
  if (gangs.empty()) return;
  FindEnding();
  SumRoom();
  std::vector<std::pair<GangId, Lacking>> left;
  for (const auto& [id, lacking] : gangs) {
    if (lacking == Lacking::kRoom || !KeepFor(id, lacking, false)) left.emplace_back(id, lacking);
  }
  for (const auto& [id, lacking] : left) KeepFor(id, lacking, true);
}

void KeptRoom::SumRoom() {
  const Cluster& cluster = overlay_.cluster();
  for (Row row = 0; row < cluster.rows(); ++row) {
    if (!cluster.present(row)) continue;
    rows_.push_back(row);
    const Resources& ending = At(ending_, row);
    for (Dim dim = 0; dim < cluster.dims().count(); ++dim) {
      room_.Set(dim, room_[dim] + std::max<std::int64_t>(overlay_.free(row, dim) + ending[dim], 0));
    }
  }
  std::sort(rows_.begin(), rows_.end(), [&](Row a, Row b) { return cluster.node_name(a) < cluster.node_name(b); });
}

// Of each gang that has more than its minimum the last ones in order, and all that are ending.
void KeptRoom::FindEnding() {
  const Cluster& cluster = overlay_.cluster();
  for (GangId id = 0; id < cluster.gang_slots(); ++id) {
    const Gang& gang = cluster.gang(id);
    int beyond = gang.known ? gang.ready() - gang.min_member : 0;
    if (beyond <= 0 && gang.binding_releasing == 0) continue;
    std::vector<TaskId> tasks = gang.tasks;
    SortTasks(cluster, tasks);
    for (auto it = tasks.rbegin(); it != tasks.rend(); ++it) {
      const Task& task = cluster.task(*it);
      const bool ending = task.status == TaskStatus::kReleasing && task.holds_room();
      if (!ending && !(beyond > 0 && task.ours && HoldsNode(task))) continue;
      if (!ending) --beyond;
      const Resources& request = cluster.shape(task.shape).request;
      ending_[task.row].Add(request);
      if (gang.queue == model::kNone) continue;
      for (const QueueId level : overlay_.tree().path(gang.queue)) ending_in_queue_[level].Add(request);
    }
  }
}

// What the gang lacks of its minimum; empty when it lacks nothing that room could give.
std::vector<KeptRoom::Need> KeptRoom::NeedsOf(const Gang& gang, Lacking lacking) const {
  const Cluster& cluster = overlay_.cluster();
  if (gang.phase == model::GangPhase::kCompleted || !gang.not_modelled.empty() ||
      QueueReason(cluster, gang).has_value())
    return {};
  const int wanted =
      gang.min_member - gang.ready() - gang.Count(TaskStatus::kFailed);  // what failed is for its policy to replace
  const int pending = gang.Count(TaskStatus::kPending);
  // Where the pods there are do not make a minimum though they are many enough, one cannot say which of them will.
  const int exist = lacking != Lacking::kPods ? wanted : pending < wanted ? pending : 0;
  std::vector<TaskId> usable;
  for (const TaskId id : gang.tasks) {
    const Task& task = cluster.task(id);
    if (task.status != TaskStatus::kPending || !task.ours || task.gated ||
        !cluster.shape(task.shape).not_modelled.empty())
      continue;
    if (!overlay_.AsksOf(task.shape).BlockedByFacts().has_value()) usable.push_back(id);
  }
  if (static_cast<int>(usable.size()) < exist) return {};
  SortTasks(cluster, usable);
  std::vector<Need> needs;
  for (int i = 0; i < exist; ++i) {
    const constraint::Asks& asks = overlay_.AsksOf(cluster.task(usable[static_cast<std::size_t>(i)]).shape);
    const Shape* const shape = &asks.shape();
    auto it = std::find_if(needs.begin(), needs.end(), [&](const Need& need) { return need.shape == shape; });
    if (it == needs.end()) it = needs.insert(it, Need{shape, &asks, shape->request, 0, 0});
    ++it->count;
  }
  if (exist < wanted && gang.has_min_resources) {
    Need part;
    part.asks = &any_asks_;
    part.count = wanted - exist;
    for (Dim dim = 0; dim < gang.min_resources.size(); ++dim) {
      const std::int64_t sum = gang.min_resources[dim];
      part.request.Set(dim, sum / gang.min_member + (sum % gang.min_member > 0 ? 1 : 0));
    }
    if (part.request[model::kPods] == 0) part.request.Set(model::kPods, 1);
    needs.push_back(std::move(part));
  }
  return needs;
}

// Those with the fewest places for each of their pods.
void KeptRoom::HardestFirst(std::vector<Need>& needs) {
  if (needs.size() < 2) return;
  for (Need& need : needs) {
    budget_ -= static_cast<int>(rows_.size());
    for (const Row row : rows_) need.places += Copies(row, need, true);
    need.places /= need.count;
  }
  const auto key = [](const Need& need) {
    return need.shape == nullptr ? absl::string_view() : absl::string_view(need.shape->key);
  };
  std::sort(needs.begin(), needs.end(),
            [&](const Need& a, const Need& b) { return a.places != b.places ? a.places < b.places : key(a) < key(b); });
}

int KeptRoom::Copies(Row row, const Need& need, bool without_surplus) const {
  const Resources& kept = At(kept_, row);
  const Resources& ending = At(ending_, row);
  std::int64_t copies = need.count;
  for (Dim dim = 0; dim < need.request.size(); ++dim) {
    if (need.request[dim] == 0) continue;
    const std::int64_t room = overlay_.free(row, dim) - kept[dim] + (without_surplus ? ending[dim] : 0);
    copies = std::min(copies, room / need.request[dim]);
  }
  return copies <= 0 ? 0 : std::min(static_cast<int>(copies), need.asks->BesideRoom(row).copies);
}

bool KeptRoom::QueueHasRoom(const Gang& gang, const Resources& sum, bool without_surplus) const {
  for (const QueueId level : overlay_.tree().path(gang.queue)) {
    for (Dim dim = 0; dim < sum.size() && overlay_.tree().limits(); ++dim) {
      if (sum[dim] == 0 || dim == model::kPods) continue;
      const std::int64_t limit = overlay_.tree().PlaceLimit(level, dim);
      if (limit == model::kUnlimited) continue;
      const std::int64_t ending = without_surplus ? At(ending_in_queue_, level)[dim] : 0;
      const std::int64_t in_use = overlay_.tree().held(level)[dim] + overlay_.taken_below(level)[dim] - ending;
      if (in_use + At(kept_in_queue_, level)[dim] + sum[dim] > limit) return false;
    }
  }
  return true;
}

// How many of the `wanted` pods found room on these rows.
int KeptRoom::Keep(const Need& need, const std::vector<Row>& rows, int wanted, bool without_surplus,
                   std::vector<std::pair<Row, Resources>>& kept) {
  int found = 0;
  for (const Row row : rows) {
    if (found == wanted || --budget_ < 0) break;
    const int copies = std::min(Copies(row, need, without_surplus), wanted - found);
    if (copies == 0) continue;
    Resources amounts;
    amounts.Add(need.request, copies);
    kept_[row].Add(amounts);
    kept.emplace_back(row, std::move(amounts));
    found += copies;
  }
  return found;
}

// Rows on which something ends, those first where the largest part of a pod has room already.
std::vector<Row> KeptRoom::FreestFirst(const Need& need) {
  budget_ -= static_cast<int>(rows_.size());
  std::vector<std::pair<double, Row>> parts;
  for (const Row row : rows_) {
    if (At(ending_, row).zero()) continue;
    const Resources& kept = At(kept_, row);
    double part = 1;
    for (Dim dim = 0; dim < need.request.size(); ++dim) {
      if (need.request[dim] == 0) continue;
      const std::int64_t room = std::max<std::int64_t>(overlay_.free(row, dim) - kept[dim], 0);
      part = std::min(part, static_cast<double>(room) / static_cast<double>(need.request[dim]));
    }
    parts.emplace_back(part, row);
  }
  std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<Row> rows;
  for (const auto& [part, row] : parts) rows.push_back(row);
  return rows;
}

bool KeptRoom::KeepFor(GangId id, Lacking lacking, bool without_surplus) {
  if (budget_ <= 0) return false;
  const Gang& gang = overlay_.cluster().gang(id);
  std::vector<Need> needs = NeedsOf(gang, lacking);
  Resources sum;
  for (const Need& need : needs) sum.Add(need.request, need.count);
  for (Dim dim = 0; dim < sum.size(); ++dim) {
    if (sum[dim] > room_[dim]) return false;  // most that do not fit
  }
  if (needs.empty() || !QueueHasRoom(gang, sum, without_surplus)) return false;
  HardestFirst(needs);
  std::vector<std::pair<Row, Resources>> kept;
  for (const Need& need : needs) {
    int left = need.count - Keep(need, rows_, need.count, false, kept);
    if (left > 0 && without_surplus) left -= Keep(need, FreestFirst(need), left, true, kept);
    if (left == 0) continue;
    for (const auto& [row, amounts] : kept) kept_[row].Subtract(amounts);
    return false;
  }
  room_.Subtract(sum);
  for (const QueueId level : overlay_.tree().path(gang.queue)) kept_in_queue_[level].Add(sum);
  for (const Need& need : needs) {
    if (need.shape != nullptr && need.asks->changes_beyond()) kept_for_.insert(need.asks);
  }
  if (first_ == model::kNone) first_ = id;
  return true;
}

void KeptRoom::AlsoKeep(GangId gang, const model::KeptNodes::Spot& spot) {
  Resources& kept = kept_[spot.row];
  spots_[spot.row] = spot;
  for (Dim dim = 0; dim < spot.amounts.size(); ++dim) {
    const std::int64_t amount = std::min(spot.amounts[dim], std::max<std::int64_t>(overlay_.free(spot.row, dim), 0));
    if (kept[dim] < amount) kept.Set(dim, amount);
  }
  if (first_ == model::kNone) first_ = gang;
}

bool KeptRoom::MayKeepOff(const Shape& shape) const {
  if (kept_for_.empty()) return false;
  const auto [it, fresh] = may_keep_off_.try_emplace(&shape, false);
  if (fresh) {
    it->second = std::any_of(kept_for_.begin(), kept_for_.end(),
                             [&](const constraint::Asks* asks) { return asks->KeptOffBy(shape); });
  }
  return it->second;
}

bool KeptRoom::Leaves(Row row, const Shape& shape) const {
  if (MayKeepOff(shape)) return false;
  const auto spot = spots_.find(row);
  if (spot != spots_.end() && overlay_.TakesBesideRoom(shape, spot->second)) return false;
  const Resources& kept = At(kept_, row);
  for (Dim dim = 0; dim < shape.request.size(); ++dim) {
    if (shape.request[dim] > 0 && kept[dim] > 0 && overlay_.free(row, dim) - shape.request[dim] < kept[dim])
      return false;
  }
  return true;
}

bool KeptRoom::LeavesInQueue(QueueId queue, const Resources& request) const {
  for (const QueueId level : overlay_.tree().path(queue)) {
    const Resources& kept = At(kept_in_queue_, level);
    for (Dim dim = 0; dim < request.size() && overlay_.tree().limits(); ++dim) {
      if (request[dim] == 0 || kept[dim] == 0 || dim == model::kPods) continue;
      const std::int64_t limit = overlay_.tree().PlaceLimit(level, dim);
      if (limit == model::kUnlimited) continue;
      if (overlay_.tree().held(level)[dim] + overlay_.taken_below(level)[dim] + kept[dim] + request[dim] > limit)
        return false;
    }
  }
  return true;
}

}  // namespace gangway::gang
