#include "plugin/gang/place.h"

#include <algorithm>
#include <map>
#include <numeric>
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
    : overlay_(overlay),
      scratch_(scratch),
      policy_(policy),
      id_(gang),
      gang_(overlay.cluster().gang(gang)),
      search_budget_(policy.search_budget) {}

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

// Tasks of one shape.
void GangPlacement::Put(absl::Span<const std::size_t> tasks, Row row) {
  const ShapeId shape = overlay_.cluster().task(usable_.tasks[tasks.front()]).shape;
  for (const std::size_t task : tasks) rows_[task] = row;
  overlay_.Take(row, shape, static_cast<int>(tasks.size()));
  overlay_.TakeFromQueue(gang_.queue, overlay_.cluster().shape(shape).request, static_cast<std::int64_t>(tasks.size()));
  scratch_.RowTouched(row);
}

void GangPlacement::DropAll() {
  for (const Row row : overlay_.Drop()) scratch_.RowTouched(row);
  std::fill(rows_.begin(), rows_.end(), model::kNone);
}

std::vector<Rank> GangPlacement::RanksOf(ShapeId shape) {
  const ShapeFit& fit = scratch_.Fit(overlay_, shape);
  std::vector<Rank> ranks;
  if (within_ == nullptr) {
    ShapeFit::Cursor all = fit.ranks();
    while (const Rank* const rank = all.Next()) ranks.push_back(*rank);
    return ranks;
  }
  for (const Row row : within_->rows) {
    if (fit.copies(row) > 0) ranks.push_back(fit.rank(row));
  }
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

Choice GangPlacement::ChoiceOf(ShapeId shape) {
  const constraint::Asks& asks = overlay_.AsksOf(shape);
  return within_ == nullptr ? Choice(asks, scratch_.Fit(overlay_, shape)) : Choice(asks, RanksOf(shape));
}

// The best row now; kNone: there is none.
const Rank* GangPlacement::FirstOf(const ShapeFit& fit) const {
  if (within_ == nullptr) return fit.first();
  const Rank* first = nullptr;
  for (const Row row : within_->rows) {
    if (fit.copies(row) > 0 && (first == nullptr || fit.rank(row) < *first)) first = &fit.rank(row);
  }
  return first;
}

std::int64_t GangPlacement::CopiesOf(ShapeId shape, const model::HyperDomain* within) {
  const ShapeFit& fit = scratch_.Fit(overlay_, shape);
  if (within == nullptr) return fit.copies();
  std::int64_t copies = 0;
  for (const Row row : within->rows) copies += fit.copies(row);
  return copies;
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
    const auto choose = [&](const Rank& rank) {
      if (left == 0) return;
      chosen.emplace_back(rank.row, std::min(left, fit.copies(rank.row)));
      left -= chosen.back().second;
    };
    if (within_ != nullptr) {
      for (const Rank& rank : RanksOf(group.shape)) choose(rank);
    } else {
      ShapeFit::Cursor ranks = fit.ranks();
      for (const Rank* rank = ranks.Next(); rank != nullptr && left > 0; rank = ranks.Next()) choose(*rank);
    }
    std::size_t next = 0;
    for (const auto& [row, count] : chosen) {
      Put({&group.tasks[next], static_cast<std::size_t>(count)}, row);
      next += static_cast<std::size_t>(count);
    }
    all = all && left == 0;
  }
  return all;
}

// Each task changes where the next may go.
bool GangPlacement::FillOneByOne(const Group& group) {
  Choice choice = ChoiceOf(group.shape);
  for (const std::size_t task : group.tasks) {
    if (rows_[task] != model::kNone) continue;
    const Row row = choice.Next();
    if (row == model::kNone) return false;
    Put({&task, 1}, row);
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
  const std::vector<Rank> ranks = RanksOf(decider.shape);
  for (const Rank& rank : ranks) {
    if (!asks.AllowedBeyond(rank.row)) continue;
    const auto [it, fresh] = index.emplace(asks.Decides(rank.row), domains.size());
    if (fresh) domains.push_back({rank.row, 0});
    domains[it->second].copies += fit.copies(rank.row);
  }
  std::erase_if(domains,
                [&](const Domain& domain) { return domain.copies < static_cast<std::int64_t>(decider.tasks.size()); });
  std::stable_sort(domains.begin(), domains.end(),
                   [](const Domain& a, const Domain& b) { return a.copies < b.copies; });
  const int looks = static_cast<int>(ranks.size()) + 1;
  for (int budget = std::max(search_budget_, 8 * looks); const Domain& domain : domains) {
    if ((budget -= looks) < 0) break;
    DropAll();
    Put({decider.tasks.data(), 1}, domain.row);
    if (FillGreedily(groups)) return true;
  }
  return false;
}

// Its first pod decides where all others go.
bool GangPlacement::Decides(const Group& group) {
  const constraint::Asks& asks = overlay_.AsksOf(group.shape);
  if (!asks.changes_beyond()) return false;
  const Rank* const first = FirstOf(scratch_.Fit(overlay_, group.shape));
  return first != nullptr && !asks.Decides(first->row).empty();
}

// More than there are copies of.
bool GangPlacement::TooMany(const Group& group) {
  return CopiesOf(group.shape, within_) < static_cast<std::int64_t>(group.tasks.size());
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
    entries.push_back({&group, CopiesOf(group.shape, within_)});
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
  return FillBySearch(groups);
}

// Where pods let others onto nodes, it matters which of them are placed first: each group is given the lead.
bool GangPlacement::FillBySearch(std::vector<Group>& groups) {
  const bool reopen = std::any_of(groups.begin(), groups.end(),
                                  [&](const Group& group) { return overlay_.AsksOf(group.shape).reopens(); });
  const std::size_t tries = reopen ? groups.size() : 1;
  for (std::size_t tried = 0; tried < tries; ++tried) {
    if (tried > 0) std::rotate(groups.begin(), groups.end() - 1, groups.end());
    std::vector<SearchGroup> search;
    for (const Group& group : groups) {
      SearchGroup wanted{group.shape, static_cast<int>(group.tasks.size()), {}};
      for (const Rank& rank : RanksOf(group.shape)) wanted.rows.push_back(rank.row);
      search.push_back(std::move(wanted));
    }
    const auto found = SearchPlacement(overlay_, search, search_budget_);
    if (found.empty()) continue;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      std::size_t next = 0;
      for (const auto& [row, count] : found[g]) {
        Put({&groups[g].tasks[next], static_cast<std::size_t>(count)}, row);
        next += static_cast<std::size_t>(count);
      }
    }
    return true;
  }
  return false;
}

bool GangPlacement::AllowedByQueue(const std::vector<std::size_t>& tasks, bool complain) {
  model::Resources sum;
  for (const std::size_t i : tasks)
    sum.Add(overlay_.cluster().shape(overlay_.cluster().task(usable_.tasks[i]).shape).request);
  std::optional<Reason> full = QueueFull(overlay_, gang_, sum);
  if (!full.has_value()) return true;
  if (complain) reason_ = std::move(full);
  return false;
}

// Says what stands against the shapes that did not fit, and which tasks would have found a node.
void GangPlacement::Complain(const std::vector<Group>& groups) {
  const Cluster& cluster = overlay_.cluster();
  Reason reason = ReasonOf(Reason::Kind::kNoRoom, gang_);
  if (within_ != nullptr) reason.within = absl::StrCat(within_->name, ", tier ", within_->tier);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (rows_[i] != model::kNone) would_fit_.push_back(usable_.tasks[i]);  // other parts, in this trial
  }
  bool alone = false;  // a shape does not fit even alone: no trial is needed to say so
  for (const Group& group : groups) alone = alone || TooMany(group);
  if (!alone) FillGreedily(groups);
  reason.missing = 0;
  for (const Group& group : groups) {
    std::size_t fitting = group.tasks.size();
    if (alone) {
      fitting = static_cast<std::size_t>(
          std::min<std::int64_t>(CopiesOf(group.shape, within_), static_cast<std::int64_t>(fitting)));
    } else {
      fitting = static_cast<std::size_t>(std::count_if(group.tasks.begin(), group.tasks.end(),
                                                       [&](std::size_t i) { return rows_[i] != model::kNone; }));
    }
    for (std::size_t i = 0; i < fitting; ++i) would_fit_.push_back(usable_.tasks[group.tasks[i]]);
    if (fitting == group.tasks.size()) continue;
    const std::vector<Row>* const rows = within_ == nullptr ? nullptr : &within_->rows;
    model::RoleReason role = alone && rows == nullptr ? scratch_.FullReason(overlay_, group.shape)
                                                      : overlay_.AsksOf(group.shape).Explain(alone, rows);
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
  if (FirstOf(fit) == nullptr || !AllowedByQueue({task}, false)) return model::kNone;
  const constraint::Asks& asks = overlay_.AsksOf(id);
  const bool keeps = kept_ != nullptr && !kept_->empty();
  if (!asks.changes_beyond() && !keeps) return FirstOf(fit)->row;
  const model::Shape& shape = overlay_.cluster().shape(id);
  Choice choice = ChoiceOf(id);
  if (!keeps) return choice.Next();
  if (kept_->LeavesInQueue(gang_.queue, shape.request)) {
    const Row row = choice.Next([&](Row each) { return kept_->Leaves(each, shape); });
    if (row != model::kNone) return row;
  }
  if (choice.Next() != model::kNone) kept_for_ = kept_->first();
  return model::kNone;
}

bool GangPlacement::PlaceOne(std::size_t task) {
  const ShapeId shape = overlay_.cluster().task(usable_.tasks[task]).shape;
  if (std::find(full_shapes_.begin(), full_shapes_.end(), shape) != full_shapes_.end()) return false;
  const bool blocked = overlay_.AsksOf(shape).BlockedByPlaced().has_value();
  Row row = blocked ? model::kNone : BestRow(task);
  if (row == model::kNone && !blocked && placed_minimum_ && narrow_ != nullptr && !in_part_) {
    within_ = wide_;  // beyond the narrowest
    row = BestRow(task);
    within_ = narrow_;
  }
  if (row == model::kNone) {
    if (!overlay_.AsksOf(shape).reopens()) full_shapes_.push_back(shape);
    return false;
  }
  Put({&task, 1}, row);
  return true;
}

void GangPlacement::TakeBack(std::size_t task) {
  overlay_.TakeBack();
  overlay_.TakeFromQueue(gang_.queue,
                         overlay_.cluster().shape(overlay_.cluster().task(usable_.tasks[task]).shape).request, -1);
  scratch_.RowTouched(rows_[task]);
  rows_[task] = model::kNone;
}

// All of them, or none.
bool GangPlacement::PlaceTogether(const std::vector<std::size_t>& tasks) {
  for (std::size_t n = 0; n < tasks.size(); ++n) {
    if (PlaceOne(tasks[n])) continue;
    if (n > 0) full_shapes_.clear();  // what is taken back may fit something smaller
    while (n > 0) TakeBack(tasks[--n]);
    return false;
  }
  return true;
}

bool GangPlacement::PlaceUnit(const Unit& unit) {
  if (unit.after != model::kNone &&
      rows_[usable_.units[static_cast<std::size_t>(unit.after)].tasks.front()] == model::kNone)
    return false;
  if (unit.tasks.size() > 1 && !AllowedByQueue(unit.tasks, false)) return false;
  const model::SubGroups* const policy = PolicyWithTopology(unit.tasks.front());
  return policy == nullptr ? PlaceTogether(unit.tasks) : PlacePart(unit.tasks, *policy);
}

// nullptr: the task's sub-group may lie anywhere, or it has none.
const model::SubGroups* GangPlacement::PolicyWithTopology(std::size_t task) const {
  const model::SubGroups* const policy = SubGroupsOf(gang_, overlay_.cluster().task(usable_.tasks[task]));
  return policy != nullptr && policy->topology.has_value() ? policy : nullptr;
}

// Tasks of one sub-group that lies in one HyperNode, with those of it that are somewhere.
bool GangPlacement::PlacePart(const std::vector<std::size_t>& tasks, const model::SubGroups& policy) {
  const model::HyperDomain* const outside = within_;
  bool placed = false;
  for (const model::HyperDomain* const domain : HyperDomainsToTry(*policy.topology, RowsOfPart(tasks.front()), tasks)) {
    within_ = domain;
    in_part_ = true;
    full_shapes_.clear();
    if ((placed = PlaceTogether(tasks))) break;
  }
  within_ = outside;
  in_part_ = false;
  full_shapes_.clear();
  return placed || (!policy.topology->required && PlaceTogether(tasks));
}

// What must lie in one HyperNode sub-group by sub-group, the largest first.
bool GangPlacement::PlaceNeedsByParts() {
  if (!AllowedByQueue(needs_.all, true)) return false;
  std::map<std::pair<int, int>, std::size_t> index;
  std::vector<std::vector<std::size_t>> parts;
  std::vector<std::size_t> others;
  for (const std::size_t i : needs_.all) {
    if (PolicyWithTopology(i) == nullptr) {
      others.push_back(i);
      continue;
    }
    const Task& task = overlay_.cluster().task(usable_.tasks[i]);
    const auto [it, fresh] = index.emplace(std::pair(task.role, task.partition), parts.size());
    if (fresh) parts.emplace_back();
    parts[it->second].push_back(i);
  }
  std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
  for (const std::vector<std::size_t>& part : parts) {
    if (PlacePart(part, *PolicyWithTopology(part.front()))) continue;
    if (complains_) ComplainOfPart(part, *PolicyWithTopology(part.front())->topology);
    DropAll();
    return false;
  }
  if (others.empty() || FillGreedily(GroupByShape(others))) return true;
  DropAll();
  if (complains_) Complain(GroupByShape(others));
  return false;
}

void GangPlacement::ComplainOfPart(const std::vector<std::size_t>& part, const model::TopologyFacts& topology) {
  const std::vector<Row> there = RowsOfPart(part.front());
  const std::vector<const model::HyperDomain*> domains = HyperDomainsToTry(topology, there, part);
  const std::vector<Group> groups = GroupByShape(part);
  if (topology.required && domains.empty()) {
    reason_ = NoHyperNode(topology, there);
    return;
  }
  const model::HyperDomain* const outside =
      std::exchange(within_, topology.required ? Closest(domains, groups) : within_);
  Complain(groups);
  within_ = outside;
}

// The first tasks in order did not fit together: what no role needs may be any of them.
bool GangPlacement::TryOthers() {
  if (needs_.rest.empty() || !AllowedByQueue(needs_.of_roles, false) || !Fill(GroupByShape(needs_.of_roles)))
    return false;
  int wanted = gang_.min_member - gang_.ready() - static_cast<int>(needs_.of_roles.size());
  for (const Unit& unit : usable_.units) {
    if (wanted <= 0) break;
    if (rows_[unit.tasks.front()] == model::kNone && PlaceUnit(unit)) wanted -= static_cast<int>(unit.tasks.size());
  }
  if (wanted <= 0) return true;
  DropAll();
  return false;
}

bool GangPlacement::PlaceNeeds() {
  const auto has_topology = [](const model::SubGroups& policy) { return policy.topology.has_value(); };
  if (std::any_of(gang_.sub_groups.begin(), gang_.sub_groups.end(), has_topology)) return PlaceNeedsByParts();
  return (AllowedByQueue(needs_.all, true) && Fill(GroupByShape(needs_.all))) || TryOthers();
}

// The nodes where pods of the gang are, but for those that end.
std::vector<Row> GangPlacement::RowsOfGang() const {
  std::vector<Row> rows;
  for (const TaskId id : gang_.tasks) {
    const Task& task = overlay_.cluster().task(id);
    if (task.holds_room() && task.status != TaskStatus::kReleasing && overlay_.cluster().present(task.row))
      rows.push_back(task.row);
  }
  return rows;
}

bool GangPlacement::SamePart(std::size_t a, std::size_t b) const {
  const Task& x = overlay_.cluster().task(usable_.tasks[a]);
  const Task& y = overlay_.cluster().task(usable_.tasks[b]);
  return x.role == y.role && x.partition == y.partition;
}

// The same of the task's sub-group, with those that are placed now.
std::vector<Row> GangPlacement::RowsOfPart(std::size_t of) const {
  const Cluster& cluster = overlay_.cluster();
  const Task& member = cluster.task(usable_.tasks[of]);
  std::vector<Row> rows;
  for (const TaskId id : gang_.tasks) {
    const Task& task = cluster.task(id);
    const bool same = task.role == member.role && task.partition == member.partition;
    if (same && task.holds_room() && task.status != TaskStatus::kReleasing && cluster.present(task.row))
      rows.push_back(task.row);
  }
  for (std::size_t i = 0; i < usable_.tasks.size(); ++i) {
    if (rows_[i] != model::kNone && SamePart(of, i)) rows.push_back(rows_[i]);
  }
  return rows;
}

// Those that tasks may lie in with what is there, the narrowest tier first; of one tier those that have room for all of
// them, the least of it first, then the others, the most of it first. All are within what placement is held to.
std::vector<const model::HyperDomain*> GangPlacement::HyperDomainsToTry(const model::TopologyFacts& topology,
                                                                        const std::vector<Row>& there,
                                                                        const std::vector<std::size_t>& tasks) {
  struct Candidate {
    const model::HyperDomain* domain = nullptr;
    bool holds_all = true;
    std::int64_t copies = 0;
  };
  const std::vector<Group> groups = GroupByShape(tasks);
  std::vector<Candidate> candidates;
  for (const model::HyperDomain& domain : scratch_.HyperDomains(overlay_.cluster())) {
    if (topology.required && domain.tier > WidestTier(topology)) break;
    if (!std::all_of(there.begin(), there.end(), [&](Row row) { return domain.Has(row); })) continue;
    if (within_ != nullptr &&
        !std::includes(within_->rows.begin(), within_->rows.end(), domain.rows.begin(), domain.rows.end()))
      continue;
    Candidate candidate{&domain};
    for (const Group& group : groups) {
      const std::int64_t copies = CopiesOf(group.shape, &domain);
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
  std::vector<const model::HyperDomain*> domains;
  for (const Candidate& candidate : candidates) domains.push_back(candidate.domain);
  return domains;
}

std::int64_t GangPlacement::WidestTier(const model::TopologyFacts& topology) const {
  return topology.tier.has_value() ? *topology.tier : overlay_.cluster().hyper_nodes().TierOf(topology.tier_name);
}

// The one that has room for most of the tasks.
const model::HyperDomain* GangPlacement::Closest(const std::vector<const model::HyperDomain*>& domains,
                                                 const std::vector<Group>& groups) {
  const model::HyperDomain* closest = nullptr;
  std::int64_t most = -1;
  for (const model::HyperDomain* const domain : domains) {
    std::int64_t copies = 0;
    for (const Group& group : groups)
      copies += std::min<std::int64_t>(CopiesOf(group.shape, domain), static_cast<std::int64_t>(group.tasks.size()));
    if (copies <= most) continue;
    most = copies;
    closest = domain;
  }
  return closest;
}

Reason GangPlacement::NoHyperNode(const model::TopologyFacts& topology, const std::vector<Row>& there) const {
  Reason reason = ReasonOf(Reason::Kind::kNoHyperNode, gang_);
  reason.subject = topology.tier.has_value() ? absl::StrCat(*topology.tier, " or less") : topology.tier_name;
  reason.existing = static_cast<int>(there.size());
  reason.missing = std::max(gang_.min_member - gang_.ready(), 0);
  return reason;
}

// In one HyperNode; or, where that is only preferred, anywhere.
bool GangPlacement::PlaceWithinHyperNode() {
  std::vector<std::size_t> usable(usable_.tasks.size());
  std::iota(usable.begin(), usable.end(), std::size_t{0});
  const model::TopologyFacts& topology = *gang_.topology;
  const std::vector<const model::HyperDomain*> domains = HyperDomainsToTry(topology, RowsOfGang(), usable);
  if (!domains.empty()) search_budget_ = std::max(200, policy_.search_budget / static_cast<int>(domains.size()));
  const auto place_in = [&](const model::HyperDomain* domain) {
    within_ = domain;
    if (!PlaceNeeds()) return false;
    narrow_ = domain;
    for (const model::HyperDomain* const wider : domains) {
      const bool all = std::includes(wider->rows.begin(), wider->rows.end(), domain->rows.begin(), domain->rows.end());
      if (topology.required && all) wide_ = wider;
    }
    return true;
  };
  const std::vector<Group> groups = GroupByShape(usable);
  for (const model::HyperDomain* const domain : domains) {
    std::int64_t copies = 0;
    for (const Group& group : groups) copies += CopiesOf(group.shape, domain);
    if (copies < static_cast<std::int64_t>(needs_.all.size())) continue;
    if (place_in(domain)) return true;
    if (reason_.has_value()) return false;  // the queue's, wherever the gang goes
  }
  search_budget_ = policy_.search_budget;
  within_ = nullptr;
  complains_ = true;
  if (!topology.required) return PlaceNeeds();
  if (domains.empty()) {
    reason_ = NoHyperNode(topology, RowsOfGang());
    return false;
  }
  return place_in(Closest(domains, GroupByShape(needs_.all)));
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
  complains_ = !gang_.topology.has_value();
  placed_minimum_ = gang_.topology.has_value() ? PlaceWithinHyperNode() : PlaceNeeds();
  if (!placed_minimum_) {
    if (!reason_.has_value()) Complain(GroupByShape(needs_.all));
    return false;
  }
  overlay_.Keep();
  within_ = narrow_;
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
    case Reason::Kind::kRoomAwaited:
    case Reason::Kind::kKeptForMinimum:
    case Reason::Kind::kGated:
    case Reason::Kind::kNotModelled:
    case Reason::Kind::kClaim:
    case Reason::Kind::kNoHyperNode:
    case Reason::Kind::kQueueMissing:
    case Reason::Kind::kQueueClosed:
    case Reason::Kind::kClusterFull:
      break;
  }
  return std::nullopt;
}

void GangPlacement::Finish(model::Decision& decision) {
  within_ = wide_;
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
  } else if (const model::SubGroups* const policy = PolicyWithTopology(left.front()); allowed && policy != nullptr) {
    std::vector<std::size_t> part = left;  // the first that is left
    std::erase_if(part, [&](std::size_t i) { return !SamePart(left.front(), i); });
    ComplainOfPart(part, *policy->topology);
  } else if (allowed) {
    Complain(GroupByShape(left));
  }
  reason_->missing = static_cast<int>(left.size());
  reason_->min_member = gang_.ready() + static_cast<int>(pending);
  reason_->existing = reason_->min_member - reason_->missing;
  decision.reason = std::move(reason_);
}

}  // namespace gangway::gang
