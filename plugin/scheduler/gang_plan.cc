#include "plugin/scheduler/gang_plan.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/json.h"
#include "api/volcano/release.h"
#include "plugin/gang/order.h"
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
  reference.ns = task.ns;
  reference.name = task.name;
  reference.uid = task.uid;
  return reference;
}

api::ObjectReference ReferenceTo(const Gang& gang) {
  api::ObjectReference reference;
  reference.api_version = ResourceOf(gang.kind).ApiVersion();
  reference.kind = "PodGroup";
  reference.ns = gang.ns;
  reference.name = gang.name;
  reference.uid = gang.uid;
  return reference;
}

Write BindingOf(const Task& task, absl::string_view node) {
  Write write;
  write.verb = Verb::kCreate;
  write.resource = &api::kPods;
  write.subresource = "binding";
  write.ns = task.ns;
  write.name = task.name;
  write.uid = task.uid;
  api::JsonWriter json(write.body);
  json.BeginObject().Field("apiVersion", "v1").Field("kind", "Binding");
  json.Key("metadata")
      .BeginObject()
      .Field("name", task.name)
      .Field("namespace", task.ns)
      .Field("uid", task.uid)
      .EndObject();
  json.Key("target").BeginObject().Field("apiVersion", "v1").Field("kind", "Node").Field("name", node).EndObject();
  json.EndObject();
  return write;
}

// Conditions of a pod merge by their type, so the others stay as they are.
Write ConditionOf(const Task& task, absl::string_view type, absl::string_view status, absl::string_view reason,
                  absl::string_view message, absl::Time now) {
  Write write;
  write.verb = Verb::kStrategicMergePatch;
  write.resource = &api::kPods;
  write.subresource = "status";
  write.ns = task.ns;
  write.name = task.name;
  write.uid = task.uid;
  api::JsonWriter json(write.body);
  json.BeginObject().Key("status").BeginObject().Key("conditions").BeginArray().BeginObject();
  json.Field("type", type).Field("status", status).Field("reason", reason).Field("message", message);
  json.Field("lastTransitionTime", api::FormatTime(now));
  json.EndObject().EndArray().EndObject().EndObject();
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
    WantStatus("", overdue ? LeftoversText() : "", writes);
    WantBindings(writes);
    WantPodConditions(writes);
    if (!writes.empty()) plan_.stages.push_back(std::move(writes));
    return std::move(plan_);
  }

 private:
  void WantBindings(std::vector<Write>& writes) {
    if (!view_.volumes.ready) {
      writes.insert(writes.end(), view_.volumes.writes.begin(), view_.volumes.writes.end());
      return;
    }
    for (const TaskId id : tasks_) {
      const Task& task = cluster_.task(id);
      if (task.status != TaskStatus::kBinding || view_.accepted(task)) continue;
      writes.push_back(BindingOf(task, cluster_.node_name(task.row)));
    }
  }

  std::string LeftoversText() const {
    return ReleaseSentence(gang_, *view_.leftovers, view_.release_after,
                           view_.telling.told() ? view_.telling.text() : "");
  }

  void WantStatus(const std::string& release_message, const std::string& part_bound_message,
                  std::vector<Write>& writes) {
    const Telling& telling = view_.telling;
    const bool told = telling.short_of_minimum() && !OnlyEnding() && !(gang_.tasks.empty() && gang_.admitted);
    StatusChange change =
        ChangeOf(view_.group, cluster_, gang_, {told ? telling.text() : "", release_message, part_bound_message},
                 view_.transition_id, now_);
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
    Write write;
    write.verb = Verb::kMergePatch;
    write.resource = &ResourceOf(gang_.kind);
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

  // Once for each kind of reason: together with the condition that says so.
  void WantUnschedulableEvent() {
    if (SaysReason(view_.group, view_.telling.text())) view_.telling.NewsWritten();
    if (!view_.telling.news()) return;
    // volcano: refusing to let a gang in is Normal, finding no room for it a Warning.
    const bool refused = !gang_.admitted;
    plan_.events.push_back({refused ? EventNote::Type::kNormal : EventNote::Type::kWarning, "Unschedulable",
                            view_.telling.text(), ReferenceTo(gang_)});
    if (!HasPlaceForReason(view_.group)) view_.telling.NewsWritten();
  }

  void WantPodConditions(std::vector<Write>& writes) {
    const Telling& telling = view_.telling;
    if (!telling.told()) return;
    for (const TaskId id : tasks_) {
      const Task& task = cluster_.task(id);
      if (task.status != TaskStatus::kPending || !task.ours || task.gated) continue;
      const bool fits = telling.WouldFit(task.uid);
      const std::string reason = fits ? "Schedulable" : "Unschedulable";
      const std::string message = fits ? absl::StrCat("fits a node; its gang ", telling.text()) : telling.text();
      if (view_.written(task) == ConditionText(reason, message)) continue;
      writes.push_back(ConditionOf(task, "PodScheduled", "False", reason, message, now_));
      plan_.events.push_back({EventNote::Type::kWarning, "FailedScheduling", message, ReferenceTo(task)});
    }
  }

  void WantRelease() {
    const std::string sentence = LeftoversText();
    std::vector<api::volcano::ReleasedPod> pods;
    for (const TaskId id : view_.leftovers->released) pods.push_back({cluster_.task(id).name, cluster_.task(id).uid});
    std::vector<Write> record, marks, deletions;
    // Volcano's controllers read of it whose end is no failure; for others it is a sentence.
    WantStatus(gang_.kind == model::GangKind::kVolcano ? api::volcano::ReleaseMessage(sentence, pods) : sentence, "",
               record);
    for (const TaskId id : view_.leftovers->released) {
      const Task& task = cluster_.task(id);
      marks.push_back(ConditionOf(task, "DisruptionTarget", "True", "GangReleased", sentence, now_));
      Write write;
      write.verb = Verb::kDelete;
      write.resource = &api::kPods;
      write.ns = task.ns;
      write.name = task.name;
      write.uid = task.uid;
      deletions.push_back(std::move(write));
    }
    if (!record.empty() || gang_.kind == model::GangKind::kCoscheduling) {
      plan_.events.push_back(
          {EventNote::Type::kWarning, std::string(api::volcano::kGangReleased), sentence, ReferenceTo(gang_)});
    }
    WantPodConditions(record);
    for (std::vector<Write>* stage : {&record, &marks, &deletions}) {
      if (!stage->empty()) plan_.stages.push_back(std::move(*stage));
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
                      absl::FunctionRef<std::string(const Task&)> written, absl::Duration patience, absl::Time now) {
  Plan plan;
  std::vector<Write> writes;
  for (const TaskId id : gang.tasks) {
    const Task& task = cluster.task(id);
    if (task.status != TaskStatus::kPending || !task.ours || task.gated) continue;
    if (now < task.created + patience) {
      plan.look_again = std::min(plan.look_again, task.created + patience);
    } else if (written(task) != ConditionText("Unschedulable", text)) {
      writes.push_back(ConditionOf(task, "PodScheduled", "False", "Unschedulable", text, now));
      plan.events.push_back({EventNote::Type::kWarning, "FailedScheduling", text, ReferenceTo(task)});
    }
  }
  if (!writes.empty()) plan.stages.push_back(std::move(writes));
  return plan;
}

Plan PlanGang(const GangView& view, absl::Time now) { return Planner(view, now).Run(); }

}  // namespace gangway::scheduler
