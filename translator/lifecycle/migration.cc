#include "translator/lifecycle/migration.h"

#include <algorithm>
#include <utility>

#include <boost/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/json_value.h"
#include "api/volcano/defaults.h"
#include "base/strings.h"
#include "kube/plan/writes.h"
#include "translator/convert/annotations.h"
#include "translator/convert/gang.h"
#include "translator/convert/translate.h"
#include "translator/lifecycle/progress.h"
#include "translator/lifecycle/record.h"

namespace gangway::paddle_lifecycle {
namespace {

namespace json = boost::json;
using api::paddle::kPaddleJobs;
using kube::Write;

constexpr char kOperatorFinalizer[] =
    "finalizers.paddlepaddle.org";  // it would keep the job for ever once its controller is gone
constexpr char kRecordedJob[] = "paddlejob.json", kRecordedGroup[] = "podgroup.json";

bool IsHandMade(const api::volcano::PodGroup* group) {
  return group != nullptr && group->metadata.Controller() == nullptr;
}

bool ControlledBy(const api::ObjectMeta& object, const api::ObjectMeta& owner) {
  const api::OwnerReference* const controller = object.Controller();
  return controller != nullptr && controller->uid == owner.uid;
}

bool OwnedBy(const api::ObjectMeta& object, const api::ObjectMeta& owner) {
  return std::any_of(object.owner_references.begin(), object.owner_references.end(),
                     [&](const api::OwnerReference& one) { return one.uid == owner.uid; });
}

bool IsMarkedOurs(const OperatorObject& object) { return !ReadRecord(object.metadata).translation.empty(); }

std::string ManagerOf(const api::paddle::PaddleJob& job) {
  const auto found = job.metadata.annotations.find(std::string(convert::kManagedBy));
  return found == job.metadata.annotations.end() ? std::string() : found->second;
}

// As somebody would have written it: without what the server keeps.
std::string Written(const std::string& object_json) {
  absl::StatusOr<json::value> object = api::ParseJson(object_json);
  if (!object.ok() || !object->is_object()) return "{}";
  json::object& fields = object->get_object();
  fields.erase("status");
  if (json::value* const metadata = fields.if_contains("metadata"); metadata != nullptr && metadata->is_object()) {
    for (const char* const key : {"uid", "resourceVersion", "creationTimestamp", "generation", "managedFields",
                                  "selfLink", "deletionTimestamp", "deletionGracePeriodSeconds"}) {
      metadata->get_object().erase(key);
    }
  }
  return api::ToJson(*object);
}

json::object ObjectOf(const std::string& text) {
  absl::StatusOr<json::value> value = api::ParseJson(text);
  return value.ok() && value->is_object() ? value->get_object() : json::object();
}

// spec.schedulingPolicy of a PaddleJob; {} without one.
json::object PolicyOf(const std::string& job_json) {
  const json::object job = ObjectOf(job_json);
  const json::value* const spec = job.if_contains("spec");
  const json::value* const policy =
      spec != nullptr && spec->is_object() ? spec->get_object().if_contains("schedulingPolicy") : nullptr;
  return policy != nullptr && policy->is_object() ? policy->get_object() : json::object();
}

Write RecordOf(const MigrationView& seen) {
  const api::ObjectMeta& job = seen.job->metadata;
  json::object data{{kRecordedJob, Written(seen.job_json)}};
  if (IsHandMade(seen.group)) data[kRecordedGroup] = Written(seen.group_json);
  const json::object owner{{"apiVersion", kPaddleJobs.ApiVersion()},
                           {"kind", std::string(kPaddleJobs.kind)},
                           {"name", job.name},
                           {"uid", job.uid}};
  Write write;
  write.verb = kube::Verb::kCreate;
  write.resource = &api::kConfigMaps;
  write.ns = job.ns;
  write.name = ImportRecordName(job.name);
  write.body = api::ToJson(json::object{
      {"apiVersion", "v1"},
      {"kind", "ConfigMap"},
      {"metadata", json::object{{"name", write.name}, {"namespace", job.ns}, {"ownerReferences", json::array{owner}}}},
      {"data", std::move(data)}});
  return write;
}

class ImportPlanner {
 public:
  ImportPlanner(const MigrationView& seen, const convert::TranslateOptions& options)
      : seen_(seen), job_(*seen.job), options_(options) {}

  Migration Take() && {
    Look();
    Translate();
    if (out_.state == MigrationState::kPending || out_.state == MigrationState::kRunning || half_moved_) Plan();
    return std::move(out_);
  }

 private:
  void Look() {
    bool operator_pods = false;
    for (const OperatorObject& object : seen_.objects) {
      if (IsMarkedOurs(object)) continue;
      operator_pods = operator_pods || object.resource == &api::kPods;
      out_.goes.push_back(absl::StrCat(View(object.resource->singular), " ", object.metadata.name));
      if (object.resource == &api::kPods && object.phase == "Running") ++out_.running_pods;
    }
    if (GroupGoes()) out_.goes.push_back(absl::StrCat("podgroup ", job_.metadata.name));
    std::sort(out_.goes.begin(), out_.goes.end());
    out_.has_job = seen_.volcano_job != nullptr && ControlledBy(seen_.volcano_job->metadata, job_.metadata);
    out_.state = Judge(operator_pods);
  }

  MigrationState Judge(bool operator_pods) {
    const std::string manager = ManagerOf(job_);
    const bool named = manager == View(convert::kManagedByUs), left_alone = !named && !manager.empty();
    const Progress progress = ReadPaddleStatus(job_.status);
    const bool waits = progress.translated.reason == kWaiting;  // for somebody to make room, which an import may do
    // Without a Job a status of ours says something only as long as nobody else has had the job since.
    const bool in_hand =
        out_.has_job ? out_.running_pods == 0 : !operator_pods && !left_alone && progress.translated.set() && !waits;
    if (out_.has_job && left_alone && out_.running_pods == 0) return MigrationState::kReturning;
    if (Ended(progress.phase) && progress.translated.status == "False" && !out_.has_job && !operator_pods) {
      out_.refusal = job_.status.message;
      return MigrationState::kUntranslated;
    }
    // Our controller takes a job that nobody claims as soon as the operator's pods are gone; the mark, our last write,
    // is then still missing.
    half_moved_ = in_hand && !named && seen_.record != nullptr && OwnedBy(*seen_.record, job_.metadata);
    if (Ended(progress.phase) && !half_moved_) {
      out_.done = named;
      return MigrationState::kFinished;
    }
    if (in_hand || (named && out_.goes.empty())) {
      out_.done = !half_moved_;
      return MigrationState::kOurs;
    }
    return out_.running_pods > 0 ? MigrationState::kRunning : MigrationState::kPending;
  }

  // By hand, or the operator's own.
  bool GroupGoes() const {
    return seen_.group != nullptr && (IsHandMade(seen_.group) || ControlledBy(seen_.group->metadata, job_.metadata));
  }

  void Translate() {
    if (out_.state != MigrationState::kPending && out_.state != MigrationState::kRunning) return;
    convert::TranslateOptions options = options_;
    if (!seen_.namespace_queue.empty()) options.namespace_queue = seen_.namespace_queue;
    options.sidecars = seen_.sidecars;
    if (IsHandMade(seen_.group)) options.group = GroupWish();
    out_.findings = convert::Translate(job_, options).findings;
    if (convert::HasErrors(out_.findings)) out_.state = MigrationState::kRefused;
  }

  convert::HandMadeGroup GroupWish() const {
    const api::volcano::PodGroupSpec& spec = seen_.group->spec;
    return {seen_.group->metadata.name, spec.min_member > 0 ? std::optional(spec.min_member) : std::nullopt,
            spec.queue == View(api::volcano::kDefaultQueue) ? "" : spec.queue, spec.priority_class_name,
            !spec.min_resources.empty()};
  }

  // What the hand-made group asks for and the job does not say, as a part of spec.schedulingPolicy.
  json::object TakenOver() {
    json::object policy;
    if (!IsHandMade(seen_.group)) return policy;
    convert::GangWish before;
    if (job_.spec.scheduling_policy.has_value()) {
      before = {job_.spec.scheduling_policy->min_available, job_.spec.scheduling_policy->queue,
                job_.spec.scheduling_policy->priority_class, false};
    }
    convert::GangWish after = before;
    convert::TakeOver(GroupWish(), after);
    std::vector<std::string> told;
    if (after.queue != before.queue) {
      policy["queue"] = after.queue;
      told.push_back(absl::StrCat("queue ", after.queue));
    }
    if (after.min_available != before.min_available && after.min_available.has_value()) {
      policy["minAvailable"] = *after.min_available;
      told.push_back(absl::StrCat("minMember ", *after.min_available));
    }
    if (after.priority_class != before.priority_class) {
      policy["priorityClass"] = after.priority_class;
      told.push_back(absl::StrCat("priorityClassName ", after.priority_class));
    }
    out_.taken_over = absl::StrJoin(told, ", ");
    return policy;
  }

  void Plan() {
    json::object policy = half_moved_ ? json::object() : TakenOver();  // which would make another Job of it
    const bool finalizer =
        std::count(job_.metadata.finalizers.begin(), job_.metadata.finalizers.end(), kOperatorFinalizer) > 0;
    auto& stages = out_.next.stages;
    if (seen_.record == nullptr) stages.push_back({RecordOf(seen_)});
    // Once what goes is gone: until then a controller of ours leaves the job alone.
    const bool last = out_.goes.empty();
    json::object patch;
    if (!policy.empty()) patch["spec"] = json::object{{"schedulingPolicy", std::move(policy)}};
    json::object metadata;
    if (finalizer) {
      json::array others;
      for (const std::string& one : job_.metadata.finalizers) {
        if (one != kOperatorFinalizer) others.push_back(json::value(one));
      }
      metadata["finalizers"] = std::move(others);
    }
    if (last)
      metadata["annotations"] = json::object{{std::string(convert::kManagedBy), std::string(convert::kManagedByUs)}};
    if (!metadata.empty()) patch["metadata"] = std::move(metadata);
    if (!patch.empty()) stages.push_back({kube::ChangeOf(kPaddleJobs, job_.metadata, api::ToJson(patch))});
    std::vector<Write> deletions;
    if (GroupGoes() && !seen_.group->metadata.deleting())
      deletions.push_back(kube::DeletionOf(api::kPodGroups, seen_.group->metadata));
    for (const OperatorObject& object : seen_.objects) {
      if (!object.metadata.deleting() && !IsMarkedOurs(object))
        deletions.push_back(kube::DeletionOf(*object.resource, object.metadata));
    }
    if (!deletions.empty()) stages.push_back(std::move(deletions));
  }

  const MigrationView& seen_;
  const api::paddle::PaddleJob& job_;
  const convert::TranslateOptions& options_;
  bool half_moved_ = false;  // an import broke off, and our controller has the job already
  Migration out_;
};

// The patch of spec.schedulingPolicy back to what the record has; {} when it is so.
json::object PolicyBack(const MigrationView& seen, const std::string& recorded) {
  const json::object before = PolicyOf(recorded), now = PolicyOf(seen.job_json);
  if (before == now) return {};
  if (before.empty()) return {{"schedulingPolicy", nullptr}};
  return {{"schedulingPolicy", api::MergePatchBetween(now, before)}};
}

Write GroupAgain(const MigrationView& seen, const std::string& group_json) {
  Write write;
  write.verb = kube::Verb::kCreate;
  write.resource = &api::kPodGroups;
  write.ns = seen.job->metadata.ns;
  write.name = seen.job->metadata.name;
  write.body = group_json;
  return write;
}

}  // namespace

std::string ImportRecordName(absl::string_view job) { return absl::StrCat("gangway-import-", job); }

Migration PlanImport(const MigrationView& seen, const convert::TranslateOptions& options) {
  return ImportPlanner(seen, options).Take();
}

Return PlanReturn(const MigrationView& seen) {
  Return out;
  const api::ObjectMeta& job = seen.job->metadata;
  const bool back = ManagerOf(*seen.job) == kOperatorName;
  if (seen.record == nullptr) {
    out.done = back;
    if (!back)
      out.problem = absl::StrCat("there is no config map ", ImportRecordName(job.name),
                                 ": it was not imported, or is back already");
    return out;
  }
  const auto recorded = seen.record_data.find(kRecordedJob);
  if (recorded == seen.record_data.end() || !OwnedBy(*seen.record, job)) {
    out.problem = absl::StrCat("config map ", seen.record->name, " is not the record of this job's import");
    return out;
  }
  json::object spec = PolicyBack(seen, recorded->second), patch;
  if (!spec.empty()) patch["spec"] = std::move(spec);
  if (!back)
    patch["metadata"] = json::object{{"annotations", json::object{{std::string(convert::kManagedBy), kOperatorName}}}};
  if (!patch.empty()) out.next.stages.push_back({kube::ChangeOf(kPaddleJobs, job, api::ToJson(patch))});
  const bool ours = seen.volcano_job != nullptr && ControlledBy(seen.volcano_job->metadata, job);
  out.stops_job = ours;
  if (ours) {
    // The operator's pods will have the same names.
    if (!seen.volcano_job->metadata.deleting()) {
      Write gone = kube::DeletionOf(api::kJobs, seen.volcano_job->metadata);
      gone.propagation = kube::Propagation::kForeground;
      out.next.stages.push_back({std::move(gone)});
    }
    return out;
  }
  std::vector<Write> rest;
  for (const OperatorObject& object : seen.objects) {
    if (object.resource != &api::kPods && !object.metadata.deleting())
      rest.push_back(kube::DeletionOf(*object.resource, object.metadata));
  }
  const auto group = seen.record_data.find(kRecordedGroup);
  if (group != seen.record_data.end() && seen.group == nullptr) rest.push_back(GroupAgain(seen, group->second));
  if (!rest.empty()) out.next.stages.push_back(std::move(rest));
  out.next.stages.push_back({kube::DeletionOf(api::kConfigMaps, *seen.record)});
  return out;
}

}  // namespace gangway::paddle_lifecycle
