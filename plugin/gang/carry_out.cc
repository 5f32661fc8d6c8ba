#include "plugin/gang/carry_out.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "plugin/gang/lost_member.h"

namespace gangway::gang {
namespace {

using model::Cluster;
using model::Decision;
using model::GangId;
using model::MovedGang;
using model::Task;
using model::TaskId;

void KeepMovedRoom(const Decision& decision, Cluster& cluster) {
  if (decision.moves.empty()) return;
  std::map<GangId, MovedGang> by_gang;
  for (const model::Placement& placement : decision.moves) {
    const Task& task = cluster.task(placement.task);
    by_gang[task.gang].pods.push_back(
        {task.name, task.uid, std::string(cluster.node_name(placement.row)), task.shape, ""});
  }
  std::vector<MovedGang> all = cluster.moved();
  std::erase_if(all, [&](const MovedGang& each) { return by_gang.contains(each.gang); });
  for (auto& [id, moved] : by_gang) {
    moved.gang = id;
    moved.uid = cluster.gang(id).uid;
    moved.until = absl::InfiniteFuture();  // while its pods are there
    all.push_back(std::move(moved));
  }
  cluster.SetMoved(std::move(all));
}

void GiveUpMovedRoom(absl::Duration patience, absl::Time now, Cluster& cluster) {
  if (cluster.moved().empty()) return;
  std::vector<MovedGang> moved = cluster.moved();
  std::erase_if(moved, [&](MovedGang& each) {
    if (cluster.gang(each.gang).uid != each.uid || each.until <= now) return true;
    const auto holds_room = [&](const MovedGang::Pod& pod) {
      const std::vector<TaskId>& tasks = cluster.gang(each.gang).tasks;
      return !pod.made.empty() && std::any_of(tasks.begin(), tasks.end(), [&](TaskId task) {
        return cluster.task(task).uid == pod.made && cluster.task(task).holds_room();
      });
    };
    if (std::all_of(each.pods.begin(), each.pods.end(), holds_room)) return true;
    const bool there = std::any_of(each.pods.begin(), each.pods.end(), [&](const MovedGang::Pod& pod) {
      const TaskId task = cluster.FindTask(cluster.gang(each.gang).ns, pod.name);
      return task != model::kNone && cluster.task(task).uid == pod.uid;
    });
    each.until = there ? absl::InfiniteFuture() : std::min(each.until, now + patience);
    return false;
  });
  cluster.SetMoved(std::move(moved));
}

}  // namespace

void CarryOut(const Decision& decision, Cluster& cluster) {
  const model::Gang& gang = cluster.gang(decision.gang);
  const int placed = static_cast<int>(decision.placements.size());
  // A part of a gang would hold nodes, and its pods start, to wait for the rest for ever.
  GW_CHECK(placed == 0 || gang.ready() + placed >= gang.min_member);
  if (decision.admit) cluster.SetAdmitted(decision.gang, true);
  for (const model::Placement& placement : decision.placements) cluster.Assume(placement.task, placement.row);
  if (decision.nominations.has_value()) {
    for (const TaskId task : cluster.gang(decision.gang).tasks) cluster.Nominate(task, model::kNone);
    for (const model::Placement& placement : *decision.nominations) cluster.Nominate(placement.task, placement.row);
  }
  for (const TaskId task : decision.evicted) cluster.SetEvicted(task, true);
  KeepMovedRoom(decision, cluster);
}

namespace {

void End(const model::Decisions& decisions, std::optional<model::Reservation> kept, absl::Duration patience,
         absl::Time now, Cluster& cluster) {
  for (const Decision& decision : decisions) {
    if (decision.passed_over_until != absl::InfinitePast()) cluster.PassOver(decision.gang, decision.passed_over_until);
    cluster.Claim(decision.gang, decision.claim);
    cluster.SetEntitled(decision.gang, decision.entitled_since);
    if (decision.kept.has_value()) kept = {decision.gang, cluster.gang(decision.gang).uid, *decision.kept};
  }
  cluster.SetReservation(std::move(kept));
  cluster.ForgetLostRoom([&](const model::LostRoom& room) {
    const model::Gang& gang = cluster.gang(room.gang);
    return gang.uid != room.uid || !HasLostMember(cluster, gang);
  });
  GiveUpMovedRoom(patience, now, cluster);
}

}  // namespace

void EndRound(const model::Decisions& decisions, absl::Duration patience, absl::Time now, Cluster& cluster) {
  End(decisions, std::nullopt, patience, now, cluster);
}

void EndRoundOfFew(const model::Decisions& decisions, absl::Duration patience, absl::Time now, Cluster& cluster) {
  std::optional<model::Reservation> kept = cluster.reservation();
  const auto has_it = [&](const Decision& decision) { return kept.has_value() && decision.gang == kept->gang; };
  if (std::any_of(decisions.begin(), decisions.end(), has_it)) kept.reset();
  End(decisions, std::move(kept), patience, now, cluster);
}

}  // namespace gangway::gang
