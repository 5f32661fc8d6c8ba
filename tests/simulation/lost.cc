#include "tests/simulation/lost.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/cluster_resources.h"
#include "api/duration.h"
#include "api/field_table.h"
#include "api/volcano/controlling_job.h"
#include "api/volcano/release.h"
#include "base/check.h"
#include "tests/simulation/checkers.h"
#include "tests/simulation/gang_name.h"

namespace gangway::testutil {
namespace {

using api::NamespacedName;
using api::ResourceList;
using api::core::Pod;
using api::volcano::PodGroup;

constexpr char kGrace[] = "gangway.io/lost-member-grace";

bool WasTold(const Pod& pod, const PodGroup& group) {
  if (std::any_of(pod.status.conditions.begin(), pod.status.conditions.end(),
                  [](const auto& condition) { return condition.type == "DisruptionTarget"; }))
    return true;
  const auto* const release = api::volcano::LatestRelease(group.status);
  return release != nullptr && api::volcano::ControllingJob(pod.metadata) != nullptr &&
         api::volcano::NamesPod(*release, pod.metadata.uid);
}
std::optional<absl::Time> ShortSince(const PodGroup& group) {
  if (group.status.phase != "Unknown") return std::nullopt;
  absl::Time scheduled = absl::InfinitePast();
  std::optional<absl::Time> since;
  for (const auto& condition : group.status.conditions) {
    if (condition.type == "Scheduled") scheduled = condition.last_transition_time.at;
    if (condition.type == "Unschedulable") since = condition.last_transition_time.at;
  }
  return since.has_value() && *since >= scheduled ? since : std::nullopt;
}

}  // namespace

std::optional<absl::Duration> Lost::GraceIn(const std::string& queue) const {
  for (const std::string& level : PathOf(queues_, queue)) {
    const auto it = queues_.find(level);
    if (it == queues_.end()) continue;
    const auto said = it->second.metadata.annotations.find(kGrace);
    if (said != it->second.metadata.annotations.end())
      return api::ParseGoDuration(said->second).value_or(absl::ZeroDuration());
  }
  return std::nullopt;
}

// It ran as a whole; some of its members are gone, or have no node, and others run.
bool Lost::RunsInPart(const NamespacedName& key, const Gang& gang) const {
  int running = 0, there = 0;
  for (auto it = pods_.lower_bound({key.ns, ""}); it != pods_.end() && it->first.ns == key.ns; ++it) {
    const Pod& pod = it->second;
    if (!pod.bound() || !IsOfGang(pod, key)) continue;
    if (WasTold(pod, gang.group)) return false;
    if (pod.ended() || !pod.metadata.deleting()) ++there;
    if (pod.status.phase == "Running" && !pod.metadata.deleting()) ++running;
  }
  return gang.ran && running > 0 && there < gang.group.spec.min_member;
}

void Lost::OnRecord(const sandbox::JournalRecord& record, const std::string& where) {
  if (record.resource == &api::kNodes) {
    if (record.after == nullptr) {
      nodes_.erase(record.key.name);
      return;
    }
    const auto node = api::Decode<api::core::Node>(*record.after);
    GW_CHECK(node.ok());
    nodes_[record.key.name] = *node;
  }
  if (record.resource != &api::kPodGroups) return;
  if (record.after == nullptr) {
    gangs_.erase(record.key);
    return;
  }
  const auto group = api::Decode<PodGroup>(*record.after);
  GW_CHECK(group.ok());
  Gang& gang = gangs_[record.key];
  if (gang.group.metadata.uid != group->metadata.uid) gang = {};
  const auto* const release = api::volcano::LatestRelease(group->status);
  const std::string released = release == nullptr ? "" : absl::StrCat(release->reason, release->message);
  const bool news = released != gang.released && !released.empty();
  gang.group = *group;
  if (news) OnReleased(record.key, gang, *release, record.time, where);
  gang.released = released;
  gang.short_since = ShortSince(*group);
  gang.ran = gang.ran || group->status.phase == "Running" || group->status.phase == "Unknown";
}

void Lost::OnReleased(const NamespacedName& key, const Gang& gang, const api::volcano::PodGroupCondition& release,
                      absl::Time now, const std::string& where) {
  if (!gang.short_since.has_value() || *gang.short_since <= disturbed_ || !clocks_are_right_) return;
  const absl::Duration ran = now - *gang.short_since;
  const bool known = release.reason == api::volcano::kLostMember || ran >= rules_.known;
  if (!known || ran >= GraceIn(gang.group.spec.queue).value_or(rules_.grace) - absl::Seconds(1)) return;
  tell_(Rule::kLostEarly, absl::StrCat("gang ", key.ToString(), " had to go (", release.reason, ") ",
                                       absl::FormatDuration(ran), " after it lost a member, at ", where));
}

void Lost::OnGone(const Pod& pod, absl::Time now) {
  const auto it = gangs_.find(GangNameOf(pod));
  if (it == gangs_.end() || !pod.bound() || pod.ended() || WasTold(pod, it->second.group) ||
      !RunsInPart(it->first, it->second))
    return;
  it->second.rooms[pod.metadata.name] = {pod.spec.node_name, {}, now, std::nullopt, ""};
  AddRequests(pod, it->second.rooms[pod.metadata.name].requests);
}

void Lost::OnBinding(const Pod& pod, absl::Time now, const std::string& where) {
  const NamespacedName own = GangNameOf(pod);
  if (const auto it = gangs_.find(own); it != gangs_.end()) it->second.rooms.erase(pod.metadata.name);
  const auto node = nodes_.find(pod.spec.node_name);
  if (node == nodes_.end() || node->second.spec.unschedulable) return;
  for (auto& [key, gang] : gangs_) {
    if (key == own) continue;
    for (auto& [name, room] : gang.rooms) {
      if (room.node != pod.spec.node_name || room.taken.has_value() || now < disturbed_) continue;
      ResourceList needs = room.requests;
      for (const auto& [other, each] : pods_) {
        if (each.spec.node_name == room.node && !each.ended()) AddRequests(each, needs);
      }
      const ResourceList& has = node->second.status.allocatable;
      const bool fits = std::all_of(needs.begin(), needs.end(), [&](const auto& each) {
        const auto amount = has.find(each.first);
        return amount != has.end() && each.second <= amount->second;
      });
      if (fits) continue;
      room.taken = now;
      room.text = absl::StrCat("the room that ", name, " of gang ", key.ToString(), " left on ", room.node,
                               " was given to ", pod.metadata.name, ", at ", where);
    }
  }
}

void Lost::Settle(absl::Time now) {
  for (auto& [key, gang] : gangs_) {
    if (!gang.ran) continue;
    const bool in_part = RunsInPart(key, gang);
    const std::optional<absl::Duration> said = GraceIn(gang.group.spec.queue);
    for (auto it = gang.rooms.begin(); it != gang.rooms.end();) {
      Room& room = it->second;
      // What is not taken by then was kept.
      const bool over = gang.short_since.has_value() && now >= *gang.short_since + said.value_or(rules_.grace);
      if (!in_part || (over && !room.taken.has_value()) || room.since < disturbed_) {
        it = gang.rooms.erase(it);
        continue;
      }
      // Its pod's binding may be on its way, to another node.
      if (room.taken.has_value() && now - *room.taken > rules_.settles) {
        tell_(Rule::kLostRoom, room.text);
        it = gang.rooms.erase(it);
        continue;
      }
      ++it;
    }
    if (!in_part || !gang.short_since.has_value() || !said.has_value()) continue;
    if (now - std::max(*gang.short_since + *said, disturbed_) <= rules_.takes) continue;
    tell_(Rule::kLostHeld, absl::StrCat("gang ", key.ToString(), " has lacked members for ",
                                        absl::FormatDuration(now - *gang.short_since),
                                        " and holds its nodes; its grace is ", absl::FormatDuration(*said)));
    gang.short_since.reset();  // said once
  }
}

}  // namespace gangway::testutil
