#include "plugin/gang/fill.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "absl/types/span.h"
#include "plugin/gang/choice.h"
#include "plugin/gang/constraint/asks.h"
#include "plugin/gang/search.h"

namespace gangway::gang {

using model::Row;

namespace {

// As many of the group on each row as it says.
void PutAll(Assignment& tasks, const TaskGroup& group, const std::vector<std::pair<Row, int>>& chosen) {
  std::size_t next = 0;
  for (const auto& [row, count] : chosen) {
    tasks.Put({&group.tasks[next], static_cast<std::size_t>(count)}, row);
    next += static_cast<std::size_t>(count);
  }
}

// Each task changes where the next may go.
bool FillOneByOne(Assignment& tasks, const Area& area, const TaskGroup& group) {
  Choice choice = area.ChoiceOf(tasks.AsksOf(group.shape), tasks.Fit(group.shape));
  for (const std::size_t task : group.tasks) {
    if (tasks.placed(task)) continue;
    const Row row = choice.Next();
    if (row == model::kNone) return false;
    tasks.Put({&task, 1}, row);
  }
  return true;
}

bool FillAtOnce(Assignment& tasks, const Area& area, const TaskGroup& group) {
  std::vector<std::pair<Row, int>> chosen;
  auto left = static_cast<int>(group.tasks.size());
  const ShapeFit& fit = tasks.Fit(group.shape);
  area.ForEachRank(fit, [&](const Rank& rank) {
    chosen.emplace_back(rank.row, std::min(left, fit.copies(rank.row)));
    left -= chosen.back().second;
    return left > 0;
  });
  PutAll(tasks, group, chosen);
  return left == 0;
}

// Its first pod decides where all others go.
bool Decides(const Assignment& tasks, const Area& area, const TaskGroup& group) {
  const constraint::Asks& asks = tasks.AsksOf(group.shape);
  if (!asks.changes_beyond()) return false;
  const Rank* const first = area.First(tasks.Fit(group.shape));
  return first != nullptr && !asks.Decides(first->row).empty();
}

// Hardest first: the fewest ways per task. Ties by what is asked, which does not depend on the order of events. A group
// whose first pod decides for others goes before all that do not. Empty when one has too many tasks.
std::vector<TaskGroup> InOrder(const Assignment& tasks, const Area& area, const std::vector<TaskGroup>& groups) {
  struct Entry {
    const TaskGroup* group;
    std::int64_t ways;
  };
  std::vector<Entry> entries;
  for (const TaskGroup& group : groups) {
    const std::int64_t copies = area.Copies(tasks.Fit(group.shape));
    const auto wanted = static_cast<std::int64_t>(group.tasks.size());
    if (copies < wanted) return {};
    entries.push_back({&group, copies / wanted});
  }
  std::sort(entries.begin(), entries.end(), [&](const Entry& a, const Entry& b) {
    return a.ways != b.ways ? a.ways < b.ways
                            : tasks.cluster().shape(a.group->shape).key < tasks.cluster().shape(b.group->shape).key;
  });
  std::vector<TaskGroup> ordered;
  for (const Entry& entry : entries) ordered.push_back(*entry.group);
  std::stable_partition(ordered.begin(), ordered.end(),
                        [&](const TaskGroup& group) { return Decides(tasks, area, group); });
  return ordered;
}

// Where the first pod of the first group decides for all others: the narrowest domains that have room for them are
// tried first.
bool FillByDomains(Assignment& tasks, const Area& area, const std::vector<TaskGroup>& groups, int search_budget) {
  struct Domain {
    Row row = model::kNone;  // the best
    std::int64_t copies = 0;
  };
  const TaskGroup& decider = groups.front();
  const constraint::Asks& asks = tasks.AsksOf(decider.shape);
  const ShapeFit& fit = tasks.Fit(decider.shape);
  std::map<std::vector<int>, std::size_t> index;
  std::vector<Domain> domains;
  const std::vector<Rank> ranks = area.Ranks(fit);
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
  for (int budget = std::max(search_budget, 8 * looks); const Domain& domain : domains) {
    if ((budget -= looks) < 0) break;
    tasks.DropAll();
    tasks.Put({decider.tasks.data(), 1}, domain.row);
    if (FillGreedily(tasks, area, groups)) return true;
  }
  return false;
}

// Where pods let others onto nodes, it matters which of them are placed first: each group is given the lead.
bool FillBySearch(Assignment& tasks, const Area& area, std::vector<TaskGroup> groups, int search_budget) {
  const bool reopen = std::any_of(groups.begin(), groups.end(),
                                  [&](const TaskGroup& group) { return tasks.AsksOf(group.shape).reopens(); });
  const std::size_t tries = reopen ? groups.size() : 1;
  for (std::size_t tried = 0; tried < tries; ++tried) {
    if (tried > 0) std::rotate(groups.begin(), groups.end() - 1, groups.end());
    std::vector<SearchGroup> search;
    for (const TaskGroup& group : groups) {
      SearchGroup wanted{group.shape, static_cast<int>(group.tasks.size()), {}};
      for (const Rank& rank : area.Ranks(tasks.Fit(group.shape))) wanted.rows.push_back(rank.row);
      search.push_back(std::move(wanted));
    }
    const auto found = SearchPlacement(tasks.overlay(), search, search_budget);
    if (found.empty()) continue;
    for (std::size_t g = 0; g < groups.size(); ++g) PutAll(tasks, groups[g], found[g]);
    return true;
  }
  return false;
}

}  // namespace

bool FillGreedily(Assignment& tasks, const Area& area, const std::vector<TaskGroup>& groups) {
  bool all = true;
  for (const TaskGroup& group : groups) {
    const bool one_by_one = tasks.AsksOf(group.shape).changes_beyond();
    all = (one_by_one ? FillOneByOne(tasks, area, group) : FillAtOnce(tasks, area, group)) && all;
  }
  return all;
}

bool Fill(Assignment& tasks, const Area& area, const std::vector<TaskGroup>& groups, int search_budget) {
  if (groups.empty()) return true;
  std::vector<TaskGroup> ordered = InOrder(tasks, area, groups);
  if (ordered.empty()) return false;
  if (Decides(tasks, area, ordered.front()) ? FillByDomains(tasks, area, ordered, search_budget)
                                            : FillGreedily(tasks, area, ordered))
    return true;
  tasks.DropAll();
  return FillBySearch(tasks, area, std::move(ordered), search_budget);
}

bool TooMany(const Assignment& tasks, const Area& area, const TaskGroup& group) {
  return area.Copies(tasks.Fit(group.shape)) < static_cast<std::int64_t>(group.tasks.size());
}

}  // namespace gangway::gang
