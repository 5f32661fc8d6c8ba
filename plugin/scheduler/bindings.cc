#include "plugin/scheduler/bindings.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/cluster_resources.h"
#include "base/log.h"
#include "kube/client/status.h"
#include "plugin/gang/minimum.h"
#include "plugin/scheduler/gang_keys.h"

namespace gangway::scheduler {

using api::NamespacedName;
using model::Gang;
using model::GangId;
using model::Task;
using model::TaskId;
using model::TaskStatus;

void Bindings::CountIn(Metrics& metrics) {
  bound_ = metrics.AddCounter("gangway_bindings_total", "Bindings, by what became of them", {{"result", "bound"}});
  refused_ = metrics.AddCounter("gangway_bindings_total", "Bindings, by what became of them", {{"result", "refused"}});
  gang_latency_ = metrics.AddHistogram("volcano_e2e_job_scheduling_latency_milliseconds",
                                       "From a PodGroup's creation to when its minimum is bound", LatencyBounds());
  // volcano: pkg/scheduler/metrics, TaskStageAssumed and TaskStageBound
  constexpr char kPods[] = "volcano_task_scheduling_latency_milliseconds";
  constexpr char kOfPods[] = "From a pod's creation to when it was given a node, and to when it was bound";
  given_latency_ = metrics.AddHistogram(kPods, kOfPods, LatencyBounds(), {{"stage", "Assumed"}});
  bound_latency_ = metrics.AddHistogram(kPods, kOfPods, LatencyBounds(), {{"stage", "Bound"}});
}

void Bindings::Given(const Task& task) {
  ForgetPod(task.uid);
  given_latency_.Observe(absl::ToDoubleMilliseconds(edges_.loop.Now() - absl::Time(task.created)));
}

// ---- replies

// The task the write was about, if it is still there and still assumed.
TaskId Bindings::AssumedTask(const NamespacedName& key, const std::string& uid) const {
  const TaskId id = cluster_.FindTask(key.ns, key.name);
  if (id == model::kNone) return id;
  const Task& task = cluster_.task(id);
  return task.uid == uid && task.status == TaskStatus::kBinding ? id : model::kNone;
}

// A reply is about the pod of that UID; one that was made anew under its name has nothing to do with it.
void Bindings::OnReply(const kube::Write& write, const kube::Response& reply) {
  const bool again = reply.code == 429 || reply.code == 408 || reply.code >= 500;  // the driver tries again
  if (again) {
    put_off_.insert(write.uid);
    return;
  }
  put_off_.erase(write.uid);
  if (reply.ok()) bound_.Add();
  const NamespacedName key{write.ns, write.name};
  const TaskId id = cluster_.FindTask(key.ns, key.name);
  if (id == model::kNone || cluster_.task(id).uid != write.uid) return;
  const Task& task = cluster_.task(id);
  if (task.row == model::kNone) return;  // given up meanwhile
  if (reply.ok()) {
    // The watch may have told first.
    if (task.status == TaskStatus::kBinding) accepted_[task.uid.text()] = edges_.loop.Now();
    bound_latency_.Observe(absl::ToDoubleMilliseconds(edges_.loop.Now() - absl::Time(task.created)));
    return TellScheduled(task);
  }
  refused_.Add();
  LookAtPod(key, task.uid,
            absl::StrCat("binding ", task.name.view(), " to ", cluster_.node_name(task.row),
                         " was refused: ", kube::StatusFromResponse(reply).message()));
}

bool Bindings::put_off(const model::Gang& gang) const {
  if (put_off_.empty()) return false;
  return std::any_of(gang.tasks.begin(), gang.tasks.end(),
                     [&](TaskId id) { return put_off_.contains(cluster_.task(id).uid.text()); });
}

void Bindings::TellScheduled(const Task& task) {
  const std::string pod = model::KeyOf(task.ns, task.name);
  edges_.recorder.Record({kube::EventNote::Type::kNormal,
                          "Scheduled",
                          absl::StrCat("Successfully assigned ", pod, " to ", cluster_.node_name(task.row)),
                          {.api_version = "v1",
                           .kind = "Pod",
                           .ns = std::string(task.ns),
                           .name = task.name,
                           .uid = task.uid,
                           .resource_version = "",
                           .field_path = ""}});
}

// A binding was refused: the pod itself says whether it is bound (the reply to an earlier try was lost), gone, or free.
void Bindings::LookAtPod(const NamespacedName& key, const std::string& uid, std::string why) {
  kube::Request request;
  request.method = "GET";
  request.path = api::PathOf(api::kPods, key.ns, key.name);
  edges_.client.Send(std::move(request), edges_.token,
                     [this, key, uid, why = std::move(why)](const absl::StatusOr<kube::Response>& reply) {
                       if (!reply.ok()) return;  // the driver tries the binding again, which leads back here
                       if (reply->code == 404) return edges_.pods.ObserveDeleted(key, uid);
                       if (!reply->ok()) return;
                       edges_.pods.Observe(reply->body);
                       const TaskId task = AssumedTask(key, uid);
                       if (task == model::kNone) return;
                       const GangId gang = cluster_.task(task).gang;
                       GiveNodeBack(task);
                       Rest(gang, why);
                     });
}

absl::Time Bindings::LookAtAccepted(GangId id, absl::Time now) {
  absl::Time look_again = absl::InfiniteFuture();
  if (accepted_.empty()) return look_again;
  for (const TaskId each : cluster_.gang(id).tasks) {
    const Task& task = cluster_.task(each);
    const auto it = task.status == TaskStatus::kBinding ? accepted_.find(task.uid.text()) : accepted_.end();
    if (it == accepted_.end()) continue;
    if (now >= it->second + times_.shown_after) {
      it->second = now;
      LookAtPod({std::string(task.ns), task.name}, task.uid,
                absl::StrCat("the binding of ", task.name.view(), " to ", cluster_.node_name(task.row),
                             " was taken, and it has no node"));
    }
    look_again = std::min(look_again, it->second + times_.shown_after);
  }
  return look_again;
}

// ---- volumes

Bindings::Awaited Bindings::LookAtVolumes(const NamespacedName& key, GangId id, absl::Duration volumes_take,
                                          absl::Time now) {
  State& state = states_[key];
  Awaited volumes{scheduler::LookAtVolumes(
      cluster_, cluster_.gang(id), [this](const Task& task) { return accepted(task); }, state.selected)};
  if (volumes.of_gang.ready || !volumes.of_gang.failed.empty()) {
    state.volumes_since = absl::InfinitePast();
    state.selected.clear();
    awaiting_volumes_.erase(key);
    return volumes;
  }
  awaiting_volumes_.insert(key);
  if (state.volumes_since == absl::InfinitePast()) state.volumes_since = now;
  volumes.since = state.volumes_since;
  volumes.due = state.volumes_since + volumes_take;
  if (now >= volumes.due) {
    volumes.of_gang.failed =
        absl::StrCat("no volume came within ", absl::FormatDuration(volumes_take), " for ", volumes.of_gang.waits_for);
    state.volumes_since = absl::InfinitePast();
  }
  return volumes;
}

// A volume of the gang's pods, or a claim, is what the write was about.
bool Bindings::NeedsWritten(const Gang& gang, const kube::Write& write) const {
  return std::any_of(gang.tasks.begin(), gang.tasks.end(), [&](TaskId task) {
    const std::vector<model::ClaimId>& claims = cluster_.shape(cluster_.task(task).shape).claims;
    return std::any_of(claims.begin(), claims.end(), [&](model::ClaimId claim) {
      const auto promised = cluster_.volumes().PromisedTo(claim);
      return promised.has_value() && (write.ns.empty() ? promised->volume == write.name
                                                       : promised->ns == write.ns && promised->name == write.name);
    });
  });
}

void Bindings::OnVolumesForbidden(const kube::Write& write, absl::string_view why) {
  const absl::btree_set<NamespacedName> awaiting = awaiting_volumes_;
  for (const NamespacedName& key : awaiting) {
    const GangId id = FindGang(cluster_, key);
    if (id != model::kNone && NeedsWritten(cluster_.gang(id), write))
      GiveUp(id, absl::StrCat("the scheduler may not patch ", std::string(write.resource->plural), ": ", why));
  }
}

// ---- gangs that are bound by half

Bindings::Half Bindings::LookAtHalf(const NamespacedName& key, GangId id, absl::Time now) {
  State& state = states_[key];
  const Gang& gang = cluster_.gang(id);
  const bool settled = gang.Count(TaskStatus::kBinding) == 0 && gang.ready() > 0;
  if (!state.was_whole && settled && gang::HasMinimum(cluster_, gang)) {
    state.was_whole = true;
    if (!gang.was_whole) gang_latency_.Observe(absl::ToDoubleMilliseconds(now - gang.created));  // before our time
  }
  if (state.was_whole || !IsHalfBound(cluster_, gang)) {
    state.half_bound_since = absl::InfinitePast();
  } else if (state.half_bound_since == absl::InfinitePast()) {
    state.half_bound_since = now;
  }
  return {state.was_whole ? std::nullopt : FindLeftovers(cluster_, id), state.half_bound_since};
}

// ---- giving up

// What was its room stays so while the gang rests, unless the node is gone or none of its pods has any.
void Bindings::GiveNodeBack(TaskId task) {
  const model::Row row = cluster_.task(task).row;
  const bool present = cluster_.present(row);  // else the row ends with its last pod
  cluster_.Forget(task);
  cluster_.Nominate(task, present ? row : model::kNone);
  const GangId gang = cluster_.task(task).gang;
  if (gang == model::kNone || cluster_.gang(gang).ready() > 0) return;
  for (const TaskId other : cluster_.gang(gang).tasks) cluster_.Nominate(other, model::kNone);
}

// Where no volume came none is awaited again: the nodes are chosen anew.
void Bindings::GiveNodesBack(GangId id) {
  const std::vector<TaskId> tasks = cluster_.gang(id).tasks;
  for (const TaskId task : tasks) {
    if (accepted(cluster_.task(task))) continue;
    cluster_.Forget(task);
    cluster_.Nominate(task, model::kNone);
  }
}

void Bindings::GiveUp(GangId id, const std::string& why) {
  GiveNodesBack(id);
  const NamespacedName key = KeyOfGang(cluster_, id);
  awaiting_volumes_.erase(key);
  if (const auto it = states_.find(key); it != states_.end()) it->second.selected.clear();
  Rest(id, why);
}

// The gang rests a while, then is decided anew.
void Bindings::Rest(GangId id, const std::string& why) {
  if (id == model::kNone || !cluster_.gang(id).known) return calls_.want_round();
  const NamespacedName key = KeyOfGang(cluster_, id);
  log::Warning("binding given up", {{"gang", key.ToString()}, {"error", why}});
  cluster_.SetHeldBack(id, why);
  State& state = states_[key];
  edges_.loop.Cancel(state.rest);
  state.rest = edges_.loop.PostAt(edges_.loop.Now() + times_.retry, edges_.token, [this, key] {
    if (const auto it = states_.find(key); it != states_.end()) it->second.rest = 0;
    const GangId gang = FindGang(cluster_, key);
    if (gang != model::kNone) feed_.Apply([&] { cluster_.SetHeldBack(gang, ""); });
  });
  calls_.want_round();
  calls_.look(key);
}

void Bindings::Forget(const NamespacedName& key) {
  const auto it = states_.find(key);
  if (it == states_.end()) return;
  edges_.loop.Cancel(it->second.rest);
  awaiting_volumes_.erase(key);
  states_.erase(it);
}

}  // namespace gangway::scheduler
