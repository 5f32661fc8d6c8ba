#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "absl/strings/string_view.h"
#include "cmd/dashboard/view/rows.h"

namespace gangway::dashboard {
namespace {

using api::volcano::PodGroup;
using api::volcano::PodGroupCondition;

struct GangPods {
  int pods = 0, placed = 0;
};

GangState StateOf(const PodGroup& group, const PodGroupCondition* condition) {
  if (group.status.phase == "Completed") return GangState::kEnded;
  if (group.status.phase != "Running") return GangState::kWaiting;
  return condition != nullptr && condition->type == "Unschedulable" ? GangState::kWaiting : GangState::kPlaced;
}

}  // namespace

const PodGroupCondition* CurrentCondition(const api::volcano::PodGroupStatus& status) {
  const PodGroupCondition* latest = nullptr;
  for (const PodGroupCondition& condition : status.conditions) {
    if (condition.status != "True") continue;
    if (latest == nullptr || condition.last_transition_time.at >= latest->last_transition_time.at) latest = &condition;
  }
  return latest;
}

std::string QueueOf(const PodGroup& group) { return group.spec.queue.empty() ? "default" : group.spec.queue; }

std::vector<GangRow> GangRows(const Seen& seen) {
  std::map<std::pair<absl::string_view, absl::string_view>, GangPods> pods;
  for (const PodSeen* pod : seen.pods) {
    if (pod->group.empty()) continue;
    GangPods& of = pods[{pod->ns, pod->group}];
    ++of.pods;
    if (!pod->node.empty()) ++of.placed;
  }
  std::vector<GangRow> rows;
  for (const auto& group : seen.groups) {
    const PodGroupCondition* const condition = CurrentCondition(group->status);
    GangRow row;
    row.ns = group->metadata.ns;
    row.name = group->metadata.name;
    if (const api::OwnerReference* const owner = group->metadata.Controller(); owner != nullptr) {
      row.owner_kind = owner->kind;
      row.owner = owner->name;
    }
    row.queue = QueueOf(*group);
    row.phase = group->status.phase;
    row.state = StateOf(*group, condition);
    row.min_member = group->spec.min_member;
    if (const auto of = pods.find({row.ns, row.name}); of != pods.end()) {
      row.pods = of->second.pods;
      row.placed = of->second.placed;
    }
    // GangReleased and the like say what was done, and are no less a reason while it waits.
    if (row.state == GangState::kWaiting && condition != nullptr && condition->type != "Scheduled")
      row.reason = condition->message;
    row.since = condition != nullptr && condition->last_transition_time.set() ? condition->last_transition_time.at
                                                                              : group->metadata.creation_timestamp.at;
    rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const GangRow& a, const GangRow& b) {
    if (a.state != b.state) return a.state < b.state;
    if (a.state == GangState::kWaiting && a.since != b.since) return a.since < b.since;
    return std::tie(a.ns, a.name) < std::tie(b.ns, b.name);
  });
  return rows;
}

}  // namespace gangway::dashboard
