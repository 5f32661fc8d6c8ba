#include "plugin/gang/needs.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "plugin/gang/admit.h"
#include "plugin/gang/minimum.h"

namespace gangway::gang {

using model::Cluster;
using model::Gang;
using model::Reason;
using model::Task;

namespace {

// As many of each task as its minimum, the first ones.
void TakeRoles(const Cluster& cluster, const Gang& gang, const Usable& usable, std::vector<char>& taken,
               std::optional<Reason>& reason) {
  if (gang.min_task_member.empty() || !RolesCount(gang)) return;
  std::map<int, int> ready = CountByRole(cluster, gang);
  for (const auto& [role, minimum] : gang.min_task_member) {
    int wanted = minimum - ready[role];
    const auto of_role = [&, wanted_role = role](const Unit& unit) {
      return static_cast<int>(std::count_if(unit.tasks.begin(), unit.tasks.end(), [&](std::size_t i) {
        return cluster.task(usable.tasks[i]).role == wanted_role;
      }));
    };
    for (const bool free : {false, true}) {  // what other roles took, where a sub-group is of several
      for (const Unit& unit : usable.units) {
        if (wanted <= 0) break;
        if ((taken[unit.tasks.front()] == 0) != free || of_role(unit) == 0) continue;
        for (const std::size_t i : unit.tasks) taken[i] = 1;
        wanted -= of_role(unit);
      }
    }
    if (wanted > 0 && !reason.has_value()) {
      reason = ReasonOf(Reason::Kind::kTooFewOfRole, gang);
      reason->subject = Words::Name(cluster.names().Text(role));
      reason->min_member = minimum;
      reason->missing = wanted;
      reason->existing = minimum - wanted;
    }
  }
}

// As many whole sub-groups as each policy needs, the first ones.
void TakeSubGroups(const Cluster& cluster, const Gang& gang, const Usable& usable, std::vector<char>& taken,
                   std::optional<Reason>& reason) {
  for (int number = 0; number < static_cast<int>(gang.sub_groups.size()); ++number) {
    const model::SubGroupFacts& policy = gang.sub_groups[static_cast<std::size_t>(number)];
    if (policy.min_groups <= 0) continue;
    int whole = WholeSubGroups(cluster, gang, number);
    if (whole >= policy.min_groups) continue;
    std::set<int> counted;  // partitions that are whole with what is taken
    const auto ready = CountByPartition(cluster, gang);
    const auto completes = [&](const Unit& unit) {
      const Task& task = cluster.task(usable.tasks[unit.tasks.front()]);
      if (task.sub_groups != number || counted.contains(task.partition)) return false;
      const auto it = ready.find({number, task.partition});
      if (it != ready.end() && it->second >= policy.size) return false;  // it was whole before
      counted.insert(task.partition);
      return true;
    };
    for (const bool free : {false, true}) {
      for (const Unit& unit : usable.units) {
        if (whole >= policy.min_groups) break;
        if ((taken[unit.tasks.front()] == 0) != free || !completes(unit)) continue;
        for (const std::size_t i : unit.tasks) taken[i] = 1;
        ++whole;
      }
    }
    if (whole < policy.min_groups && !reason.has_value()) {
      reason = TooFewSubGroups(cluster, gang, number, policy.min_groups);
      reason->missing = policy.min_groups - whole;
      reason->existing = whole;
    }
  }
}

}  // namespace

Needs FindNeeds(const Cluster& cluster, const Gang& gang, const Usable& usable) {
  Needs needs;
  std::vector<char> taken(usable.tasks.size(), 0);
  TakeRoles(cluster, gang, usable, taken, needs.reason);
  TakeSubGroups(cluster, gang, usable, taken, needs.reason);
  for (std::size_t i = 0; i < usable.tasks.size(); ++i) {
    if (taken[i] != 0) needs.of_roles.push_back(i);
  }
  int wanted = gang.min_member - gang.ready() - static_cast<int>(needs.of_roles.size());
  for (const Unit& unit : usable.units) {
    if (taken[unit.tasks.front()] != 0) continue;
    if (wanted <= 0) {
      needs.rest.push_back(unit);
      continue;
    }
    for (const std::size_t i : unit.tasks) taken[i] = 1;
    wanted -= static_cast<int>(unit.tasks.size());
  }
  needs.all.reserve(usable.tasks.size());
  for (std::size_t i = 0; i < usable.tasks.size(); ++i) {
    if (taken[i] != 0) needs.all.push_back(i);
  }
  return needs;
}

}  // namespace gangway::gang
