#include "plugin/scheduler/evictions.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/counted.h"
#include "base/log.h"
#include "plugin/gang/minimum.h"
#include "plugin/gang/reclaim.h"
#include "plugin/scheduler/gang_keys.h"

namespace gangway::scheduler {

using api::NamespacedName;
using model::EvictFor;
using model::Gang;
using model::GangId;
using model::Task;
using model::TaskId;
using model::TaskStatus;

namespace {

constexpr absl::Duration kRemembered = absl::Minutes(1);  // who is gone

}  // namespace

void Evictions::CountIn(Metrics& metrics) {
  // volcano: metrics/metrics.go
  victims_ = metrics.AddGauge("volcano_pod_preemption_victims", "Pods that the last gang that evicted others evicted");
  attempts_ = metrics.AddCounter("volcano_total_preemption_attempts", "Gangs for which pods were evicted");
  constexpr char kEvictions[] = "volcano_eviction_transactions_total",
                 kHelp[] = "Gangs for which pods were evicted, by why";
  preempted_ = metrics.AddCounter(kEvictions, kHelp, {{"action", "preempt"}});
  reclaimed_ = metrics.AddCounter(kEvictions, kHelp, {{"action", "reclaim"}});
  consolidated_ = metrics.AddCounter(kEvictions, kHelp, {{"action", "consolidation"}});
  lost_ = metrics.AddCounter(kEvictions, kHelp, {{"action", "lost-member"}});
}

namespace {

absl::string_view ReasonOf(EvictFor what_for) {
  switch (what_for) {
    case EvictFor::kRoom:
      return api::volcano::kMoved;
    case EvictFor::kShare:
      return api::volcano::kReclaimed;
    case EvictFor::kLost:
      return api::volcano::kLostMember;
    case EvictFor::kPriority:
    case EvictFor::kNobody:
      break;
  }
  return api::volcano::kPreempted;
}

// On which room is kept for the pod that is made for it; "": none is.
std::string NodeKeptFor(const model::Cluster& cluster, const Task& task) {
  for (const model::MovedGang& moved : cluster.moved()) {
    if (moved.gang != task.gang) continue;
    for (const model::MovedGang::Pod& pod : moved.pods) {
      if (task.uid == pod.uid) return pod.node;
    }
  }
  return "";
}

api::volcano::ReleasedPod Named(const model::Cluster& cluster, TaskId id) {
  const Task& task = cluster.task(id);
  return {task.name, task.uid, NodeKeptFor(cluster, task)};
}

// Its pods that are marked and ending: the Job is to know of them as of those that are still to go, also where an
// earlier process began, and died before it had told or ended all.
std::vector<api::volcano::ReleasedPod> EndingOf(const model::Cluster& cluster, const Gang& gang) {
  std::vector<api::volcano::ReleasedPod> pods;
  for (const TaskId id : gang.tasks) {
    const Task& task = cluster.task(id);
    if (task.leaving && task.status == TaskStatus::kReleasing) pods.push_back(Named(cluster, id));
  }
  return pods;
}

bool AddIfNew(api::volcano::ReleasedPod pod, std::vector<api::volcano::ReleasedPod>& pods) {
  const auto is = [&](const api::volcano::ReleasedPod& known) { return known.uid == pod.uid; };
  if (std::any_of(pods.begin(), pods.end(), is)) return false;
  pods.push_back(std::move(pod));
  return true;
}

}  // namespace

// "evicted 4 of 4 tasks for default/high: its priority is 100, that of this gang 10"
std::string Evictions::SentenceOf(const model::Decision& decision, GangId victim_id, std::size_t pods) const {
  const Gang& gang = cluster_.gang(decision.gang);
  const Gang& victim = cluster_.gang(victim_id);
  const std::string for_gang = api::volcano::ForGang(model::KeyOf(gang.ns, gang.name));
  std::string text = absl::StrCat("evicted ", pods, " of ", Counted(victim.tasks.size(), "task"));
  if (decision.evict_for == EvictFor::kLost) {
    if (victim_id != decision.gang) absl::StrAppend(&text, for_gang);
    absl::StrAppend(&text, ": it was whole, and has lacked members since ",
                    absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", victim.short_since, absl::UTCTimeZone()));
    if (victim_id == decision.gang && decision.reason.has_value())
      absl::StrAppend(&text, "; it ", model::Render(*decision.reason));
    return text;
  }
  absl::StrAppend(&text, for_gang, ": ");
  if (decision.evict_for == EvictFor::kRoom) {
    absl::StrAppend(&text, "moved so that it finds room, and placed again at once");
  } else if (decision.evict_for == EvictFor::kPriority) {
    absl::StrAppend(&text, "its priority is ", cluster_.PriorityOf(gang), ", that of this gang ",
                    cluster_.PriorityOf(victim));
  } else {
    absl::StrAppend(&text, "queue ", cluster_.queue(gang.queue).name, " holds less than it deserves, queue ",
                    cluster_.queue(victim.queue).name, " more");
  }
  return text;
}

std::vector<NamespacedName> Evictions::CarryOut(const model::Decision& decision, const NamespacedName& key,
                                                absl::Time now) {
  std::vector<NamespacedName> gangs;
  if (decision.evicted.empty()) return gangs;
  std::map<GangId, std::vector<TaskId>> by_gang;
  for (const TaskId task : decision.evicted) by_gang[cluster_.task(task).gang].push_back(task);
  for (const auto& [id, tasks] : by_gang) {
    GW_CHECK(id != model::kNone);  // only a PodGroup tells a pod's owner that its end is no failure
    const NamespacedName victim = KeyOfGang(cluster_, id);
    Leaving& leaving = leaving_[victim];
    const auto is_gone = [&](const api::volcano::ReleasedPod& pod) {
      const TaskId task = cluster_.FindTask(victim.ns, pod.name);
      return task == model::kNone || cluster_.task(task).uid != pod.uid;
    };
    const bool anew = std::all_of(leaving.pods.begin(), leaving.pods.end(), is_gone);
    // The next record takes the place of the one before: who has no successor yet is told of again, since whoever makes
    // it may not have read that.
    const bool long_ago = now >= leaving.decided + kRemembered;
    std::erase_if(leaving.pods, [&](const api::volcano::ReleasedPod& pod) {
      return is_gone(pod) && (long_ago || cluster_.FindTask(victim.ns, pod.name) != model::kNone);
    });
    leaving.decided = now;
    const bool for_others = decision.evict_for == EvictFor::kPriority || decision.evict_for == EvictFor::kShare;
    const int before = gang::EvictionsOfLate(cluster_.gang(id), now);
    if (anew) leaving.times = before + (for_others && !leaving.refused ? 1 : 0);
    leaving.refused = false;
    std::size_t begun = 0;
    for (api::volcano::ReleasedPod& pod : EndingOf(cluster_, cluster_.gang(id))) {
      if (AddIfNew(std::move(pod), leaving.pods)) ++begun;
    }
    for (const TaskId task : tasks) {
      leaving.pods.push_back(Named(cluster_, task));
      untold_.insert(leaving.pods.back().uid);
    }
    leaving.sentence = SentenceOf(decision, id, begun + tasks.size());
    if (leaving.times > (for_others ? 1 : 0))
      absl::StrAppend(&leaving.sentence, api::volcano::EvictedTimes(leaving.times));
    leaving.reason = std::string(ReasonOf(decision.evict_for));
    leaving.on_behalf = key;
    evicted_for_.insert(key);
    log::Info("gang evicted", {{"gang", victim.ToString()}, {"why", leaving.sentence}});
    gangs.push_back(victim);
  }
  if (decision.evict_for == EvictFor::kLost) {  // nobody preempts
    lost_.Add();
    return gangs;
  }
  attempts_.Add();
  victims_.Set(static_cast<double>(decision.evicted.size()));
  Counter& counter = decision.evict_for == EvictFor::kRoom       ? consolidated_
                     : decision.evict_for == EvictFor::kPriority ? preempted_
                                                                 : reclaimed_;
  counter.Add();
  return gangs;
}

std::optional<Removal> Evictions::RemovalOf(const NamespacedName& key, GangId id) const {
  const Gang& gang = cluster_.gang(id);
  if (gang.evicted == 0 && gang.leaving == 0) return std::nullopt;
  // What was begun before this process is ended: the rest of a gang that is not whole any more.
  const auto stays = [](const Task& task) { return gang::IsReady(task) && !task.evicted; };
  const bool broken = gang.binding_releasing > 0 && !gang::HasMinimum(cluster_, gang, stays);
  Removal removal;
  for (const TaskId task_id : gang.tasks) {
    const Task& task = cluster_.task(task_id);
    const bool there = task.status == TaskStatus::kBound || task.status == TaskStatus::kRunning;
    if (there && (task.evicted || (task.leaving && broken))) removal.tasks.push_back(task_id);
  }
  if (removal.tasks.empty()) return std::nullopt;
  std::sort(removal.tasks.begin(), removal.tasks.end(),
            [&](TaskId a, TaskId b) { return cluster_.task(a).name < cluster_.task(b).name; });
  if (const auto known = leaving_.find(key); known != leaving_.end() && !known->second.refused) {
    removal.told = known->second.pods;
    removal.sentence = known->second.sentence;
    removal.reason = known->second.reason;
  } else {
    removal.told = EndingOf(cluster_, gang);
    removal.sentence = absl::StrCat("evicted ", removal.tasks.size(), " of ", gang.tasks.size(),
                                    " tasks: others of the gang were evicted before");
    if (!gang.evicted_for.empty()) absl::StrAppend(&removal.sentence, ",", api::volcano::ForGang(gang.evicted_for));
    if (gang.evictions > 1) absl::StrAppend(&removal.sentence, api::volcano::EvictedTimes(gang.evictions));
  }
  // Whoever goes is told of, also who was marked before this process began, or its Job takes it for a failure.
  for (const TaskId task : removal.tasks) AddIfNew(Named(cluster_, task), removal.told);
  if (removal.reason.empty()) {
    const bool moved = std::any_of(removal.told.begin(), removal.told.end(),
                                   [](const api::volcano::ReleasedPod& pod) { return !pod.node.empty(); });
    removal.reason = moved ? std::string(api::volcano::kMoved) : std::string(api::volcano::kPreempted);
  }
  return removal;
}

std::vector<Evictions::Nomination> Evictions::NominationsOf(GangId id) const {
  std::vector<Nomination> nominations;
  const Gang& gang = cluster_.gang(id);
  if (!gang.held_back.empty() || (shown_.empty() && gang.nominated == 0)) return nominations;
  for (const TaskId task_id : gang.tasks) {
    const Task& task = cluster_.task(task_id);
    if (task.status != TaskStatus::kPending || !task.ours) continue;
    const std::string node(task.nominated == model::kNone ? "" : cluster_.names().Text(task.nominated));
    const auto shown = shown_.find(task.uid.text());
    if (node != (shown == shown_.end() ? "" : shown->second)) nominations.push_back({task_id, node});
  }
  return nominations;
}

void Evictions::Seen(const api::core::Pod& pod) {
  if (pod.metadata.deleting() || pod.ended()) untold_.erase(pod.metadata.uid);
  const std::string& node = pod.status.nominated_node_name;
  if (node.empty() || pod.bound() || pod.ended()) {
    shown_.erase(pod.metadata.uid);
  } else {
    shown_[pod.metadata.uid] = node;
  }
}

// Those that are not terminating yet.
void Evictions::Stay(const NamespacedName& gang, const Leaving& leaving) {
  for (const api::volcano::ReleasedPod& pod : leaving.pods) {
    untold_.erase(pod.uid);
    const TaskId task = cluster_.FindTask(gang.ns, pod.name);
    if (task == model::kNone || cluster_.task(task).uid != pod.uid) continue;
    if (cluster_.task(task).status != TaskStatus::kReleasing) cluster_.SetEvicted(task, false);
  }
}

void Evictions::Forget(const NamespacedName& key) {
  if (const auto it = leaving_.find(key); it != leaving_.end()) {
    for (const api::volcano::ReleasedPod& pod : it->second.pods) untold_.erase(pod.uid);
    leaving_.erase(it);
  }
  if (evicted_for_.erase(key) == 0) return;
  for (auto it = leaving_.begin(); it != leaving_.end();) {
    if (it->second.on_behalf == key) Stay(it->first, it->second);
    it = it->second.on_behalf == key ? leaving_.erase(it) : std::next(it);
  }
}

void Evictions::OnForbidden(const NamespacedName& key) {
  const auto it = leaving_.find(key);
  if (it == leaving_.end()) return;
  Stay(key, it->second);
  it->second.pods.clear();
  it->second.refused = true;
}

}  // namespace gangway::scheduler
