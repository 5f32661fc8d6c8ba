#include "plugin/scheduler/gang_plan.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/json.h"
#include "api/volcano/controlling_job.h"
#include "api/volcano/release.h"
#include "base/check.h"
#include "plugin/gang/minimum.h"
#include "plugin/gang/order.h"
#include "plugin/gang/reclaim.h"
#include "plugin/ingest/ingest.h"
#include "plugin/scheduler/group_status.h"

namespace gangway::scheduler {

using kube::EventNote;
using kube::Plan;
using kube::Verb;
using kube::Write;
using model::Cluster;
using model::Gang;
using model::Reason;
using model::Task;
using model::TaskId;
using model::TaskStatus;

namespace {

api::ObjectReference ReferenceTo(const Task& task) {
  api::ObjectReference reference;
  reference.api_version = "v1";
  reference.kind = "Pod";
  reference.ns = std::string(task.ns);
  reference.name = task.name;
  reference.uid = task.uid;
  return reference;
}

api::ObjectReference ReferenceTo(const Gang& gang) {
  api::ObjectReference reference;
  reference.api_version = ingest::ResourceOf(gang.kind).ApiVersion();
  reference.kind = "PodGroup";
  reference.ns = gang.ns;
  reference.name = gang.name;
  reference.uid = gang.uid;
  return reference;
}

Write BindingOf(const Task& task, absl::string_view node) {
  Write write;
  write.verb = Verb::kCreate;
  write.urgent = true;
  write.resource = &api::kPods;
  write.subresource = "binding";
  write.ns = std::string(task.ns);
  write.name = task.name;
  write.uid = task.uid;
  api::JsonWriter json(write.body);
  json.BeginObject().Field("apiVersion", "v1").Field("kind", "Binding");
  json.Key("metadata")
      .BeginObject()
      .Field("name", task.name.view())
      .Field("namespace", task.ns.view())
      .Field("uid", task.uid.text())
      .EndObject();
  json.Key("target").BeginObject().Field("apiVersion", "v1").Field("kind", "Node").Field("name", node).EndObject();
  json.EndObject();
  return write;
}

constexpr char kEvict[] = "Evict";

struct ConditionWords {
  absl::string_view type, status, reason;
  std::string message;
};

// Conditions of a pod merge by their type, so the others stay as they are. Without one only the node for which it is
// nominated is written; "" = none.
Write StatusOf(const Task& task, const std::optional<ConditionWords>& condition, const std::string* nominated,
               absl::Time now) {
  Write write;
  write.verb = Verb::kStrategicMergePatch;
  write.resource = &api::kPods;
  write.subresource = "status";
  write.ns = std::string(task.ns);
  write.name = task.name;
  write.uid = task.uid;
  api::JsonWriter json(write.body);
  json.BeginObject().Key("status").BeginObject();
  if (condition.has_value()) {
    json.Key("conditions").BeginArray().BeginObject();
    json.Field("type", condition->type).Field("status", condition->status);
    json.Field("reason", condition->reason).Field("message", condition->message);
    json.Field("lastTransitionTime", api::FormatTime(now)).EndObject().EndArray();
  }
  if (nominated != nullptr) {
    json.Key("nominatedNodeName");
    nominated->empty() ? json.Null() : json.String(*nominated);
  }
  json.EndObject().EndObject();
  return write;
}

Write ConditionOf(const Task& task, const ConditionWords& condition, absl::Time now) {
  return StatusOf(task, condition, nullptr, now);
}

Write DeletionOf(const Task& task) {
  Write write;
  write.verb = Verb::kDelete;
  write.resource = &api::kPods;
  write.ns = std::string(task.ns);
  write.name = task.name;
  write.uid = task.uid;
  return write;
}

// "node-000 (4)", "node-000 (2), node-001 (2) and 3 more nodes"
std::string NodesText(const Cluster& cluster, const Gang& gang) {
  constexpr std::size_t kNamed = 4;
  std::map<std::string, int> nodes;
  for (const TaskId id : gang.tasks) {
    const Task& task = cluster.task(id);
    if (task.holds_room()) ++nodes[std::string(cluster.node_name(task.row))];
  }
  std::string text;
  std::size_t named = 0;
  for (const auto& [name, count] : nodes) {
    if (named == kNamed) break;
    absl::StrAppend(&text, named++ == 0 ? "" : ", ", name, " (", count, ")");
  }
  if (nodes.size() > named) absl::StrAppend(&text, " and ", nodes.size() - named, " more");
  return text;
}

class Planner {
 public:
  Planner(const GangView& view, absl::Time now)
      : view_(view), cluster_(view.cluster), gang_(cluster_.gang(view.id)), now_(now) {
    tasks_ = gang_.tasks;
    gang::SortTasks(cluster_, tasks_);
  }

  Plan Run() {
    if (view_.removal.has_value()) {
      WantEviction(*view_.removal);
      return std::move(plan_);
    }
    bool overdue = false;
    if (view_.leftovers.has_value()) {
      const absl::Time deadline = view_.half_bound_since + view_.release_after;
      overdue = now_ >= deadline;
      if (!overdue) plan_.look_again = deadline;
    }
    if (overdue && !view_.leftovers->released.empty()) {
      WantRelease();
      return std::move(plan_);
    }
    std::vector<Write> writes;
    if (!BindsMinimum()) WantStatus({"", "", overdue ? LeftoversText() : ""}, writes);
    WantBindings(writes);
    WantVolumeConditions(writes);
    WantPodConditions(writes);
    WantLateMarks(writes);
    if (!writes.empty()) plan_.stages.push_back(std::move(writes));
    return std::move(plan_);
  }

 private:
  // Its bindings go alone: when they have arrived one write says that it was let in and runs. Who makes pods of what is
  // Inqueue has made them.
  bool BindsMinimum() const {
    return gang_.kind == model::GangKind::kVolcano && view_.volumes.ready && !view_.bindings_put_off &&
           gang::HasMinimum(cluster_, gang_) && !gang::HasMinimum(cluster_, gang_, gang::IsBoundOrDone);
  }

  void WantBindings(std::vector<Write>& writes) {
    if (!view_.volumes.ready) {
      writes.insert(writes.end(), view_.volumes.writes.begin(), view_.volumes.writes.end());
      return;
    }
    for (const TaskId id : tasks_) {
      const Task& task = cluster_.task(id);
      if (task.status != TaskStatus::kBinding || view_.accepted(task)) continue;
      GW_CHECK(task.row != model::kNone);  // else it would be bound to whatever node is first
      writes.push_back(BindingOf(task, cluster_.node_name(task.row)));
    }
  }

  std::string LeftoversText() const {
    return ReleaseSentence(gang_, *view_.leftovers, view_.release_after,
                           view_.telling.told() ? view_.telling.text() : "");
  }

  // `texts`: but for the reason.
  void WantStatus(GroupTexts texts, std::vector<Write>& writes) {
    const Telling& telling = view_.telling;
    const std::string part_bound_message = texts.part_bound;
    const bool told = telling.short_of_minimum() && !OnlyEnding() && !(gang_.tasks.empty() && gang_.admitted);
    if (told) texts.reason = telling.text();
    StatusChange change = ChangeOf(view_.group, cluster_, gang_, texts, view_.transition_id, now_);
    if (told) WantUnschedulableEvent();
    if (!part_bound_message.empty() && !SaysPartBound(view_.group)) {
      plan_.events.push_back(
          {EventNote::Type::kWarning, std::string(kGangPartBound), part_bound_message, ReferenceTo(gang_)});
    }
    if (change.starts) {
      plan_.events.push_back({EventNote::Type::kNormal, "Scheduled",
                              absl::StrCat(gang_.scheduled(), " of ", gang_.tasks.size(),
                                           " tasks are placed: ", NodesText(cluster_, gang_)),
                              ReferenceTo(gang_)});
    }
    if (change.patch.empty()) return;
    if (change.only_counts && now_ < view_.counts_from) {
      plan_.look_again = std::min(plan_.look_again, view_.counts_from);
      return;
    }
    Write write;
    write.verb = Verb::kMergePatch;
    write.resource = &ingest::ResourceOf(gang_.kind);
    if (gang_.kind != model::GangKind::kVolcano) write.subresource = "status";
    write.ns = gang_.ns;
    write.name = gang_.name;
    write.uid = MetadataOf(view_.group).uid;
    write.resource_version = MetadataOf(view_.group).resource_version;
    write.body = std::move(change.patch);
    write.yields = !change.lets_in;
    writes.push_back(std::move(write));
  }

  // Nothing can be done but wait until pods are gone.
  bool OnlyEnding() const {
    return gang_.scheduled() >= gang_.min_member && gang_.binding_releasing > 0 &&
           gang_.Count(TaskStatus::kPending) == 0;
  }

  // Once for each kind of reason: together with the conditions that say so. A plan may be taken back, so what it wants
  // is not written yet.
  void WantUnschedulableEvent() {
    const bool in_group = HasPlaceForReason(view_.group);
    int untold = 0, told = 0;
    for (const TaskId id : tasks_) {
      if (!in_group && IsToldWhy(cluster_.task(id))) ++(SaysWhy(cluster_.task(id)) ? told : untold);
    }
    if (in_group ? SaysReason(view_.group, view_.telling.text()) : told > 0 && untold == 0) view_.telling.NewsWritten();
    if (!view_.telling.news()) return;
    // volcano: refusing to let a gang in is Normal, finding no room for it a Warning.
    const bool refused = !gang_.admitted;
    plan_.events.push_back({refused ? EventNote::Type::kNormal : EventNote::Type::kWarning, "Unschedulable",
                            view_.telling.text(), ReferenceTo(gang_)});
    if (!in_group && untold == 0) view_.telling.NewsWritten();
  }

  bool IsToldWhy(const Task& task) const {
    return view_.telling.told() && task.status == TaskStatus::kPending && task.ours && !task.gated;
  }
  ConditionWords WhyOf(const Task& task) const {
    const Telling& telling = view_.telling;
    if (!telling.WouldFit(task.uid)) return {"PodScheduled", "False", "Unschedulable", telling.text()};
    return {"PodScheduled", "False", "Schedulable", absl::StrCat("fits a node; its gang ", telling.text())};
  }
  bool SaysWhy(const Task& task) const {
    const ConditionWords why = WhyOf(task);
    return view_.written(task) == ConditionText(why.reason, why.message);
  }

  // It has its node. Not as one that is Unschedulable: no further node would help it.
  ConditionWords AwaitsVolume(const Task& task) const {
    const std::vector<model::ClaimId>& claims = cluster_.shape(task.shape).claims;
    const auto awaited = std::find_if(claims.begin(), claims.end(),
                                      [&](model::ClaimId claim) { return !cluster_.volumes().ready(claim); });
    return {"PodScheduled", "False", "Schedulable",
            absl::StrCat("has room on node ", cluster_.node_name(task.row), "; is bound when ",
                         awaited == claims.end()
                             ? "the volumes of its gang are there"
                             : absl::StrCat("claim ", cluster_.volumes().NameOf(*awaited), " has its volume"))};
  }

  void WantVolumeConditions(std::vector<Write>& writes) {
    if (view_.volumes.ready) return;
    if (now_ < view_.volumes_told_from) {
      plan_.look_again = std::min(plan_.look_again, view_.volumes_told_from);
      return;
    }
    for (const TaskId id : tasks_) {
      const Task& task = cluster_.task(id);
      if (task.status != TaskStatus::kBinding || view_.accepted(task)) continue;
      const ConditionWords condition = AwaitsVolume(task);
      if (view_.written(task) == ConditionText(condition.reason, condition.message)) continue;
      writes.push_back(ConditionOf(task, condition, now_));
      writes.back().yields = true;
    }
  }

  // An object is written once a plan: what is kept for a pod with what it is told.
  void WantPodConditions(std::vector<Write>& writes) {
    for (const TaskId id : tasks_) {
      const Task& task = cluster_.task(id);
      if (task.status != TaskStatus::kPending || !task.ours || task.gated) continue;
      const auto nomination = std::find_if(view_.nominations.begin(), view_.nominations.end(),
                                           [id](const Evictions::Nomination& each) { return each.task == id; });
      const std::string* const nominated = nomination == view_.nominations.end() ? nullptr : &nomination->node;
      std::optional<ConditionWords> condition;
      if (IsToldWhy(task) && !SaysWhy(task)) {
        condition = WhyOf(task);
        plan_.events.push_back({EventNote::Type::kWarning, "FailedScheduling", condition->message, ReferenceTo(task)});
      }
      if (!condition.has_value() && nominated == nullptr) continue;
      writes.push_back(StatusOf(task, condition, nominated, now_));
      writes.back().yields = nominated == nullptr;
    }
  }

  Write MarkOf(const Task& task, absl::string_view reason, absl::string_view sentence) const {
    return ConditionOf(task, {"DisruptionTarget", "True", reason, std::string(sentence)}, now_);
  }

  bool IsOfJob() const {
    return gang_.kind == model::GangKind::kVolcano && api::volcano::ControllingJob(MetadataOf(view_.group)) != nullptr;
  }

  // Those that were told to go before they were marked, where they take their time.
  void WantLateMarks(std::vector<Write>& writes) {
    if (gang_.leaving == 0 || !IsOfJob()) return;
    const auto* const release =
        api::volcano::LatestRelease(std::get<const api::volcano::PodGroup*>(view_.group)->status);
    for (const TaskId id : tasks_) {
      const Task& task = cluster_.task(id);
      if (release == nullptr || !task.leaving || task.marked || task.status != TaskStatus::kReleasing) continue;
      writes.push_back(MarkOf(task, api::volcano::kPreemptionByScheduler, api::volcano::SentenceOf(*release)));
      writes.back().yields = true;
    }
  }

  // What goes, as the PodGroup and the pods tell it.
  struct Words {
    std::string sentence, group_reason;
    absl::string_view pod_reason;
    bool marks_later = false;  // of a Job's pods: its controller reads what the PodGroup tells
  };
  // False: the PodGroup says so already.
  bool WantRemoval(const std::vector<TaskId>& tasks, const std::vector<api::volcano::ReleasedPod>& told,
                   const Words& words) {
    std::vector<Write> record, marks, deletions;
    // Volcano's controllers read of it whose end is no failure; for others it is a sentence.
    WantStatus(
        {"",
         gang_.kind == model::GangKind::kVolcano ? api::volcano::ReleaseMessage(words.sentence, told) : words.sentence,
         "", words.group_reason},
        record);
    const bool fresh = !record.empty() || gang_.kind == model::GangKind::kCoscheduling;
    for (const TaskId id : tasks) {
      const Task& task = cluster_.task(id);
      // No deletion can be taken back: it is for members of this gang that are on a node.
      GW_CHECK(task.gang == view_.id && (task.status == TaskStatus::kBound || task.status == TaskStatus::kRunning));
      if (!task.marked && !(words.marks_later && task.of_job))
        marks.push_back(MarkOf(task, words.pod_reason, words.sentence));
      deletions.push_back(DeletionOf(task));
    }
    WantPodConditions(record);
    for (std::vector<Write>* stage : {&record, &marks, &deletions}) {
      if (!stage->empty()) plan_.stages.push_back(std::move(*stage));
    }
    return fresh;
  }

  void WantRelease() {
    std::string sentence = LeftoversText();
    if (const int times = gang::EvictionsOfLate(gang_, now_); times > 0)
      absl::StrAppend(&sentence, api::volcano::EvictedTimes(times));
    std::vector<api::volcano::ReleasedPod> pods;
    for (const TaskId id : view_.leftovers->released)
      pods.push_back({cluster_.task(id).name, cluster_.task(id).uid, ""});
    if (!WantRemoval(view_.leftovers->released, pods, {sentence, "NotWhole", "GangReleased"})) return;
    plan_.events.push_back(
        {EventNote::Type::kWarning, std::string(api::volcano::kGangReleased), sentence, ReferenceTo(gang_)});
  }

  // volcano: cache/cache.go, Evict
  void WantEviction(const Removal& removal) {
    if (!WantRemoval(removal.tasks, removal.told,
                     {removal.sentence, removal.reason, api::volcano::kPreemptionByScheduler,
                      IsOfJob() && api::volcano::IsForOthers(removal.reason)}))
      return;
    plan_.events.push_back({EventNote::Type::kNormal, kEvict, removal.sentence, ReferenceTo(gang_)});
    if (const api::OwnerReference* const owner = MetadataOf(view_.group).Controller(); owner != nullptr) {
      api::ObjectReference job;
      job.api_version = owner->api_version;
      job.kind = owner->kind;
      job.ns = gang_.ns;
      job.name = owner->name;
      job.uid = owner->uid;
      plan_.events.push_back({EventNote::Type::kWarning, kEvict, removal.sentence, job});
    }
    for (const TaskId id : removal.tasks) {
      plan_.events.push_back({EventNote::Type::kWarning, kEvict,
                              absl::StrCat("Pod is evicted; its gang: ", removal.sentence),
                              ReferenceTo(cluster_.task(id))});
    }
  }

  const GangView& view_;
  const Cluster& cluster_;
  const Gang& gang_;
  const absl::Time now_;
  std::vector<TaskId> tasks_;
  Plan plan_;
};

}  // namespace

std::string ConditionText(absl::string_view reason, absl::string_view message) {
  return absl::StrCat(reason, "\n", message);
}

Plan PlanWithoutGroup(const Cluster& cluster, const Gang& gang, const std::string& text,
                      absl::FunctionRef<std::string(const Task&)> written, absl::Time due, absl::Time now) {
  Plan plan;
  if (now < due) {
    plan.look_again = due;
    return plan;
  }
  std::vector<Write> writes;
  for (const TaskId id : gang.tasks) {
    const Task& task = cluster.task(id);
    if (task.status != TaskStatus::kPending || !task.ours || task.gated) continue;
    if (written(task) == ConditionText("Unschedulable", text)) continue;
    writes.push_back(ConditionOf(task, {"PodScheduled", "False", "Unschedulable", text}, now));
    writes.back().yields = true;
    plan.events.push_back({EventNote::Type::kWarning, "FailedScheduling", text, ReferenceTo(task)});
  }
  if (!writes.empty()) plan.stages.push_back(std::move(writes));
  return plan;
}

Plan PlanGang(const GangView& view, absl::Time now) { return Planner(view, now).Run(); }

}  // namespace gangway::scheduler
