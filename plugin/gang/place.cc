#include "plugin/gang/place.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/gang/admit.h"
#include "plugin/gang/choice.h"
#include "plugin/gang/constraint/asks.h"
#include "plugin/gang/minimum.h"
#include "plugin/gang/order.h"
#include "plugin/gang/search.h"

namespace gangway::gang {

using model::Cluster;
using model::Reason;
using model::Row;
using model::ShapeId;
using model::Task;
using model::TaskId;
using model::TaskStatus;

GangPlacement::GangPlacement(Overlay& overlay, Scratch& scratch, const Policy& policy, model::GangId gang)
    : overlay_(overlay), scratch_(scratch), policy_(policy), id_(gang), gang_(overlay.cluster().gang(gang)) {}

std::vector<GangPlacement::Group> GangPlacement::GroupByShape(const std::vector<std::size_t>& tasks) const {
  std::vector<Group> groups;
  for (const std::size_t i : tasks) {
    const ShapeId shape = overlay_.cluster().task(usable_.tasks[i]).shape;
    auto it = std::find_if(groups.begin(), groups.end(), [&](const Group& group) { return group.shape == shape; });
    if (it == groups.end()) {
      groups.push_back({shape, {}});
      it = groups.end() - 1;
    }
    it->tasks.push_back(i);
  }
  return groups;
}

void GangPlacement::Put(std::size_t task, Row row) {
  const ShapeId shape = overlay_.cluster().task(usable_.tasks[task]).shape;
  rows_[task] = row;
  overlay_.Take(row, shape, 1);
  overlay_.TakeFromQueue(gang_.queue, overlay_.cluster().shape(shape).request);
  scratch_.RowTouched(row);
}

void GangPlacement::DropAll() {
  for (const Row row : overlay_.Drop()) scratch_.RowTouched(row);
  std::fill(rows_.begin(), rows_.end(), model::kNone);
}

// Each group on the best rows that are left; goes on after a group that does not fit, to count what is missing.
bool GangPlacement::FillGreedily(const std::vector<Group>& groups) {
  bool all = true;
  for (const Group& group : groups) {
    if (overlay_.AsksOf(group.shape).changes_beyond()) {
      all = FillOneByOne(group) && all;
      continue;
    }
    std::vector<std::pair<Row, int>> chosen;
    auto left = static_cast<int>(group.tasks.size());
    const ShapeFit& fit = scratch_.Fit(overlay_, group.shape);
    for (const Rank& rank : fit.order()) {
      if (left == 0) break;
      chosen.emplace_back(rank.row, std::min(left, fit.copies(rank.row)));
      left -= chosen.back().second;
    }
    std::size_t next = 0;
    for (const auto& [row, count] : chosen) {
      for (int i = 0; i < count; ++i) Put(group.tasks[next++], row);
    }
    all = all && left == 0;
  }
  return all;
}

// Each task changes where the next may go.
bool GangPlacement::FillOneByOne(const Group& group) {
  Choice choice(overlay_.AsksOf(group.shape), scratch_.Fit(overlay_, group.shape));
  for (const std::size_t task : group.tasks) {
    if (rows_[task] != model::kNone) continue;
    const Row row = choice.Next();
    if (row == model::kNone) return false;
    Put(task, row);
  }
  return true;
}

// Where the first pod decides for all others: the narrowest domains that have room for them are tried first.
bool GangPlacement::FillByDomains(const std::vector<Group>& groups) {
  struct Domain {
    Row row = model::kNone;  // the best
    std::int64_t copies = 0;
  };
  const Group& decider = groups.front();
  const constraint::Asks& asks = overlay_.AsksOf(decider.shape);
  const ShapeFit& fit = scratch_.Fit(overlay_, decider.shape);
  std::map<std::vector<int>, std::size_t> index;
  std::vector<Domain> domains;
  for (const Rank& rank : fit.order()) {
    if (!asks.AllowedBeyond(rank.row)) continue;
    const auto [it, fresh] = index.emplace(asks.Decides(rank.row), domains.size());
    if (fresh) domains.push_back({rank.row, 0});
    domains[it->second].copies += fit.copies(rank.row);
  }
  std::erase_if(domains, [&](const Domain& domain) { return domain.copies < static_cast<std::int64_t>(decider.tasks.size()); });
  std::stable_sort(domains.begin(), domains.end(), [](const Domain& a, const Domain& b) { return a.copies < b.copies; });
  const int looks = static_cast<int>(fit.order().size()) + 1;
  for (int budget = std::max(policy_.search_budget, 8 * looks); const Domain& domain : domains) {
    if ((budget -= looks) < 0) break;
    DropAll();
    Put(decider.tasks.front(), domain.row);
    if (FillGreedily(groups)) return true;
  }
  return false;
}

// Its first pod decides where all others go.
bool GangPlacement::Decides(const Group& group) {
  const constraint::Asks& asks = overlay_.AsksOf(group.shape);
  if (!asks.changes_beyond()) return false;
  const ShapeFit& fit = scratch_.Fit(overlay_, group.shape);
  return !fit.order().empty() && !asks.Decides(fit.order().begin()->row).empty();
}

// More than there are copies of.
bool GangPlacement::TooMany(const Group& group) {
  return scratch_.Fit(overlay_, group.shape).copies() < static_cast<std::int64_t>(group.tasks.size());
}

bool GangPlacement::Fill(const std::vector<Group>& unordered) {
  struct Entry {
    const Group* group;
    std::int64_t copies;
  };
  std::vector<Entry> entries;
  bool possible = true;
  for (const Group& group : unordered) {
    possible = possible && !TooMany(group);
    entries.push_back({&group, scratch_.Fit(overlay_, group.shape).copies()});
  }
  if (!possible) return false;
  // Hardest first: the fewest ways per task. Ties by what is asked, which does not depend on the order of events.
  const Cluster& cluster = overlay_.cluster();
  std::sort(entries.begin(), entries.end(), [&](const Entry& a, const Entry& b) {
    const std::int64_t x = a.copies / static_cast<std::int64_t>(a.group->tasks.size());
    const std::int64_t y = b.copies / static_cast<std::int64_t>(b.group->tasks.size());
    return x != y ? x < y : cluster.shape(a.group->shape).key < cluster.shape(b.group->shape).key;
  });
  std::vector<Group> groups;
  for (const Entry& entry : entries) groups.push_back(*entry.group);
  // A group whose first pod decides for others goes first.
  std::stable_partition(groups.begin(), groups.end(), [&](const Group& group) { return Decides(group); });
  if (!groups.empty() && Decides(groups.front()) ? FillByDomains(groups) : FillGreedily(groups)) return true;
  DropAll();
  std::vector<SearchGroup> search;
  for (const Group& group : groups) {
    SearchGroup wanted{group.shape, static_cast<int>(group.tasks.size()), {}};
    for (const Rank& rank : scratch_.Fit(overlay_, group.shape).order()) wanted.rows.push_back(rank.row);
    search.push_back(std::move(wanted));
  }
  const auto found = SearchPlacement(overlay_, search, policy_.search_budget);
  if (found.empty()) return false;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    std::size_t next = 0;
    for (const auto& [row, count] : found[g]) {
      for (int i = 0; i < count; ++i) Put(groups[g].tasks[next++], row);
    }
  }
  return true;
}

bool GangPlacement::AllowedByQueue(const std::vector<std::size_t>& tasks, bool complain) {
  model::Resources sum;
  for (const std::size_t i : tasks) sum.Add(overlay_.cluster().shape(overlay_.cluster().task(usable_.tasks[i]).shape).request);
  std::optional<Reason> full = QueueFull(overlay_, gang_, sum);
  if (!full.has_value()) return true;
  if (complain) reason_ = std::move(full);
  return false;
}

// Says what stands against the shapes that did not fit, and which tasks would have found a node.
void GangPlacement::Complain(const std::vector<Group>& groups) {
  const Cluster& cluster = overlay_.cluster();
  Reason reason = ReasonOf(Reason::Kind::kNoRoom, gang_);
  bool alone = false;  // a shape does not fit even alone: no trial is needed to say so
  for (const Group& group : groups) alone = alone || TooMany(group);
  if (!alone) FillGreedily(groups);
  reason.missing = 0;
  for (const Group& group : groups) {
    std::size_t fitting = group.tasks.size();
    if (alone) {
      fitting = static_cast<std::size_t>(std::min<std::int64_t>(scratch_.Fit(overlay_, group.shape).copies(),
                                                                static_cast<std::int64_t>(fitting)));
    } else {
      fitting = static_cast<std::size_t>(
          std::count_if(group.tasks.begin(), group.tasks.end(), [&](std::size_t i) { return rows_[i] != model::kNone; }));
    }
    for (std::size_t i = 0; i < fitting; ++i) would_fit_.push_back(usable_.tasks[group.tasks[i]]);
    if (fitting == group.tasks.size()) continue;
    model::RoleReason role = alone ? scratch_.FullReason(overlay_, group.shape) : overlay_.AsksOf(group.shape).Explain(false);
    role.role = std::string(cluster.names().Text(cluster.task(usable_.tasks[group.tasks[fitting]]).role));
    role.missing = static_cast<int>(group.tasks.size() - fitting);
    reason.missing += role.missing;
    reason.roles.push_back(std::move(role));
  }
  DropAll();
  reason.existing = gang_.ready() + static_cast<int>(would_fit_.size());
  std::sort(reason.roles.begin(), reason.roles.end(), [](const model::RoleReason& a, const model::RoleReason& b) {
    return std::tie(a.role, a.request_text, a.asks_text) < std::tie(b.role, b.request_text, b.asks_text);
  });
  SortTasks(cluster, would_fit_);
  reason_ = std::move(reason);
}

// kNone: no row takes the task, or none may.
Row GangPlacement::BestRow(std::size_t task) {
  const ShapeId id = overlay_.cluster().task(usable_.tasks[task]).shape;
  const ShapeFit& fit = scratch_.Fit(overlay_, id);
  if (fit.order().empty() || !AllowedByQueue({task}, false)) return model::kNone;
  const constraint::Asks& asks = overlay_.AsksOf(id);
  const bool keeps = kept_ != nullptr && !kept_->empty();
  const model::Shape& shape = overlay_.cluster().shape(id);
  const auto leaves = [&](Row row) { return !keeps || kept_->Leaves(row, shape); };
  if (!asks.changes_beyond()) {
    if (!keeps) return fit.order().begin()->row;
    if (kept_->LeavesInQueue(gang_.queue, shape.request)) {
      for (const Rank& rank : fit.order()) {
        if (leaves(rank.row)) return rank.row;
      }
    }
  } else {
    Choice choice(asks, fit);
    const Row row = !keeps || kept_->LeavesInQueue(gang_.queue, shape.request) ? choice.Next(leaves) : model::kNone;
    if (row != model::kNone || !keeps || choice.Next() == model::kNone) return row;
  }
  kept_for_ = kept_->first();
  return model::kNone;
}

bool GangPlacement::PlaceOne(std::size_t task) {
  const ShapeId shape = overlay_.cluster().task(usable_.tasks[task]).shape;
  if (std::find(full_shapes_.begin(), full_shapes_.end(), shape) != full_shapes_.end()) return false;
  const Row row = overlay_.AsksOf(shape).BlockedByPlaced().has_value() ? model::kNone : BestRow(task);
  if (row == model::kNone) {
    if (!overlay_.AsksOf(shape).reopens()) full_shapes_.push_back(shape);
    return false;
  }
  Put(task, row);
  return true;
}

void GangPlacement::TakeBack(std::size_t task) {
  model::Resources less;
  less.Subtract(overlay_.cluster().shape(overlay_.cluster().task(usable_.tasks[task]).shape).request);
  overlay_.TakeBack();
  overlay_.TakeFromQueue(gang_.queue, less);
  scratch_.RowTouched(rows_[task]);
  rows_[task] = model::kNone;
}

// All of its tasks, or none.
bool GangPlacement::PlaceUnit(const Unit& unit) {
  if (unit.after != model::kNone && rows_[usable_.units[static_cast<std::size_t>(unit.after)].tasks.front()] == model::kNone) return false;
  if (unit.tasks.size() > 1 && !AllowedByQueue(unit.tasks, false)) return false;
  for (std::size_t n = 0; n < unit.tasks.size(); ++n) {
    if (PlaceOne(unit.tasks[n])) continue;
    if (n > 0) full_shapes_.clear();  // what is taken back may fit something smaller
    while (n > 0) TakeBack(unit.tasks[--n]);
    return false;
  }
  return true;
}

// The first tasks in order did not fit together: what no role needs may be any of them.
bool GangPlacement::TryOthers() {
  if (needs_.rest.empty() || !AllowedByQueue(needs_.of_roles, false) || !Fill(GroupByShape(needs_.of_roles))) return false;
  int wanted = gang_.min_member - gang_.ready() - static_cast<int>(needs_.of_roles.size());
  for (const Unit& unit : usable_.units) {
    if (wanted <= 0) break;
    if (rows_[unit.tasks.front()] == model::kNone && PlaceUnit(unit)) wanted -= static_cast<int>(unit.tasks.size());
  }
  if (wanted <= 0) return true;
  DropAll();
  return false;
}

bool GangPlacement::PlaceMinimum() {
  const Cluster& cluster = overlay_.cluster();
  if ((reason_ = WhyNotTried(cluster, gang_)).has_value()) return false;
  usable_ = FindUsable(overlay_, gang_);
  rows_.assign(usable_.tasks.size(), model::kNone);
  if ((reason_ = WhyTooFew(cluster, gang_, usable_)).has_value()) return false;
  needs_ = FindNeeds(cluster, gang_, usable_);
  if ((reason_ = needs_.reason).has_value()) return false;
  overlay_.Begin();
  const std::vector<Group> groups = GroupByShape(needs_.all);
  const bool allowed = AllowedByQueue(needs_.all, true);
  placed_minimum_ = (allowed && Fill(groups)) || TryOthers();
  if (!placed_minimum_) {
    if (!reason_.has_value()) Complain(groups);
    return false;
  }
  overlay_.Keep();
  full_shapes_.clear();
  needs_.rest.clear();
  if (rests()) return true;
  for (const Unit& unit : usable_.units) {
    if (rows_[unit.tasks.front()] == model::kNone) needs_.rest.push_back(unit);
  }
  return true;
}

bool GangPlacement::PlaceOneMore(const KeptRoom& kept) {
  kept_ = &kept;
  overlay_.Begin();
  while (next_rest_ < needs_.rest.size()) {
    if (PlaceUnit(needs_.rest[next_rest_++])) {
      overlay_.Keep();
      return true;
    }
  }
  overlay_.Drop();  // no row: parts of units were taken back already
  return false;
}

std::optional<Lacking> GangPlacement::lacking() const {
  if (!reason_.has_value()) return std::nullopt;
  switch (reason_->kind) {
    case Reason::Kind::kNoRoom:
    case Reason::Kind::kQueueFull:
      return Lacking::kRoom;
    case Reason::Kind::kBindFailed:
      return Lacking::kTime;
    case Reason::Kind::kTooFewTasks:
    case Reason::Kind::kTooFewOfRole:
    case Reason::Kind::kTooFewSubGroups:
      return Lacking::kPods;
    case Reason::Kind::kKeptForMinimum:
    case Reason::Kind::kGated:
    case Reason::Kind::kNotModelled:
    case Reason::Kind::kClaim:
    case Reason::Kind::kQueueMissing:
    case Reason::Kind::kQueueClosed:
    case Reason::Kind::kClusterFull:
      break;
  }
  return std::nullopt;
}

void GangPlacement::Finish(model::Decision& decision) {
  const bool kept_only = placed_minimum_ && rests();
  if (kept_only) reason_ = BindingRefused(gang_);
  for (std::size_t i = 0; i < usable_.tasks.size() && !kept_only; ++i) {
    if (rows_[i] != model::kNone) decision.placements.push_back({usable_.tasks[i], rows_[i]});
  }
  if (!placed_minimum_ || kept_only) {
    decision.reason = std::move(reason_);
    // A reason that stands before any look at nodes may concern a gang that has all it needs.
    decision.short_of_minimum = !HasMinimum(overlay_.cluster(), gang_);
    if (!decision.short_of_minimum && decision.reason.has_value()) {
      decision.reason->missing = gang_.Count(TaskStatus::kPending);
      decision.reason->min_member = gang_.ready() + gang_.Count(TaskStatus::kPending);
    }
    decision.would_fit = std::move(would_fit_);
    return;
  }
  std::vector<std::size_t> left;
  bool allowed = true;
  for (const Unit& unit : needs_.rest) {
    if (rows_[unit.tasks.front()] != model::kNone) continue;
    allowed = allowed && AllowedByQueue(unit.tasks, true);
    left.insert(left.end(), unit.tasks.begin(), unit.tasks.end());
  }
  const auto pending = static_cast<std::size_t>(gang_.Count(TaskStatus::kPending));
  if (left.empty()) {
    if ((reason_ = WhyBlocked(overlay_.cluster(), gang_, usable_, gang_.min_member)).has_value()) {
      if (reason_->kind != Reason::Kind::kTooFewSubGroups) {
        reason_->missing = static_cast<int>(pending - usable_.tasks.size());
        reason_->min_member = gang_.ready() + static_cast<int>(pending);
      }
      decision.reason = std::move(reason_);
    }
    return;
  }
  if (!policy_.place_surplus) {
    decision.rest_undecided = true;
    return;
  }
  if (kept_for_ != model::kNone) {
    const model::Gang& first = overlay_.cluster().gang(kept_for_);
    reason_ = ReasonOf(Reason::Kind::kKeptForMinimum, gang_);
    reason_->subject = absl::StrCat(first.ns, "/", first.name);
  } else if (allowed) {
    Complain(GroupByShape(left));
  }
  reason_->missing = static_cast<int>(left.size());
  reason_->min_member = gang_.ready() + static_cast<int>(pending);
  reason_->existing = reason_->min_member - reason_->missing;
  decision.reason = std::move(reason_);
}

}  // namespace gangway::gang
