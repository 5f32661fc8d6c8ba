#include "plugin/lifecycle/job/reconcile_job.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "api/json.h"
#include "api/volcano/defaults.h"
#include "api/volcano/release.h"
#include "kube/plan/writes.h"
#include "plugin/lifecycle/job/depends_on.h"
#include "plugin/lifecycle/job/job_outcome.h"
#include "plugin/lifecycle/job/pod.h"
#include "plugin/lifecycle/job/pod_group.h"
#include "plugin/lifecycle/job/status.h"
#include "plugin/lifecycle/job/ttl.h"
#include "plugin/lifecycle/job_plugins/job_plugin.h"

namespace gangway::lifecycle {
namespace {

using api::volcano::Job;
using kube::EventNote;
using kube::Plan;
using kube::Verb;
using kube::Write;

// A generated claim's name belongs into the spec, as Volcano writes it, so that either finds the claim again. It is a
// plan of its own: spec and status are one object.
std::optional<Plan> NameGeneratedClaims(const Job& job) {
  if (!KeepsPods(ParsePhase(job.status.state.phase))) return std::nullopt;
  bool any = false;
  api::volcano::JobSpec spec = job.spec;
  for (std::size_t i = 0; i < spec.volumes.size(); ++i) {
    if (!spec.volumes[i].volume_claim_name.empty() || spec.volumes[i].volume_claim.empty()) continue;
    spec.volumes[i].volume_claim_name = ClaimName(job, i);
    any = true;
  }
  if (!any) return std::nullopt;
  std::string body;
  api::JsonWriter json(body);
  json.BeginObject().Key("spec").BeginObject().Key("volumes").BeginArray();
  for (const api::volcano::VolumeSpec& volume : spec.volumes) json.Raw(api::Encode(volume));
  json.EndArray().EndObject().EndObject();
  Plan plan;
  plan.stages.push_back({kube::ChangeOf(api::kJobs, job.metadata, std::move(body))});
  return plan;
}

// The queue extends to other clusters.
bool Forwards(const JobView& seen) {
  return seen.queue != nullptr && !seen.queue->spec.extend_clusters.empty() &&
         seen.queue->spec.extend_clusters.json != "[]" && seen.queue->spec.extend_clusters.json != "null";
}

// Such a queue marks its Jobs, as it marks their pods. A plan of its own, like the names of claims.
std::optional<Plan> MarkForwarding(const JobView& seen) {
  const Job& job = *seen.job;
  const std::string key(kJobForwardingKey);
  const auto it = job.metadata.annotations.find(key);
  const bool marked = it != job.metadata.annotations.end() && it->second == "true";
  if (marked || !Forwards(seen) || !KeepsPods(ParsePhase(job.status.state.phase))) return std::nullopt;
  std::string body;
  api::JsonWriter(body)
      .BeginObject()
      .Key("metadata")
      .BeginObject()
      .Key("annotations")
      .BeginObject()
      .Field(key, "true")
      .EndObject()
      .EndObject()
      .EndObject();
  Plan plan;
  plan.stages.push_back({kube::ChangeOf(api::kJobs, job.metadata, std::move(body))});
  return plan;
}

// What is to be written for an outcome: first the status, then what it explains, then what is missing.
class OutcomeWriter {
 public:
  OutcomeWriter(const JobView& seen, JobOutcome outcome, absl::Time now)
      : seen_(seen), job_(*seen.job), now_(now), outcome_(std::move(outcome)) {}

  Plan Run() && {
    plan_.look_again = outcome_.verdict.look_again;
    WriteStatus();
    RemoveWhatMustGo();
    if (KeepsPods(outcome_.phase) && !outcome_.killing) MakeWhatIsMissing();
    FinishPlan();
    return std::move(plan_);
  }

 private:
  void WriteStatus() {
    absl::Time due = FirstStatusDue();
    if (OnlyCountsDiffer(job_.status, outcome_.status))
      due = seen_.status_written + PatienceWithCounts(job_.status, now_);
    if (now_ < due) {
      plan_.look_again = std::min(plan_.look_again, due);
      return;
    }
    absl::StatusOr<std::string> patch = StatusPatch(job_.status, outcome_.status);
    if (!patch.ok())
      return Warn("JobStatusError", absl::StrCat("the status cannot be written: ", patch.status().message()));
    if (patch->empty()) return;
    Write write = kube::ChangeOf(api::kJobs, job_.metadata, *std::move(patch), "status");
    // A kill stands before its deletions; its end is waited for, and so is the record of its first pods. The first one
    // of a Job that only waits can wait, too: what is made for others goes first, and this Job may be let in meanwhile.
    const bool ends = Finished(outcome_.phase) || outcome_.phase == JobPhase::kAborted;
    const bool first_pods = job_.status.state.phase.empty() && !outcome_.record.created.empty();
    write.yields = !outcome_.killing && !ends && !first_pods;
    plan_.stages.push_back({std::move(write)});
  }

  // A Job that goes on says Pending together with its first pods, which is one write for two; one that waits to be let
  // in, or whose pods are refused, says so a little later. Times of creation are whole seconds.
  absl::Time FirstStatusDue() const {
    if (seen_.first_status_patience == absl::ZeroDuration() || !job_.status.state.phase.empty() || outcome_.killing ||
        outcome_.phase != JobPhase::kPending || !outcome_.record.created.empty() || WantsSsh(job_))
      return absl::InfinitePast();  // of a Secret nobody knows but by the status
    if (seen_.pod_group == nullptr) return job_.metadata.creation_timestamp.at + seen_.first_status_patience;
    return seen_.pod_group->metadata.creation_timestamp.at +
           (outcome_.MayHavePods(seen_.pod_group) ? 3 : 1) * seen_.first_status_patience;
  }

  // --- Removing.

  void RemoveWhatMustGo() {
    for (const TaskPods& task : outcome_.roster.tasks) {
      for (std::size_t i = 0; i < task.slots.size(); ++i) {
        const Slot& slot = task.slots[i];
        const auto index = static_cast<std::int32_t>(i);
        if (slot.pod == nullptr || slot.foreign ||
            !outcome_.MustGo(*slot.pod, true, outcome_.IsRestarting(task, index)))
          continue;
        Remove(api::kPods, task.PodName(index), slot.pod->uid);
      }
    }
    for (const UnwantedPod& extra : outcome_.roster.unwanted) {
      if (outcome_.MustGo(*extra.pod, false, false)) Remove(api::kPods, *extra.name, extra.pod->uid);
    }
    if (seen_.pod_group != nullptr && !seen_.pod_group->metadata.deleting() &&
        outcome_.PodGroupMustGo(*seen_.pod_group)) {
      Remove(api::kPodGroups, seen_.pod_group->metadata.name, seen_.pod_group->metadata.uid);
    }
    for (const OwnedObject& object : seen_.objects) {
      if (!KeepsPods(outcome_.phase) && !object.deleting) Remove(*object.resource, object.name, object.uid);
    }
    for (const api::volcano::Command* command : outcome_.verdict.spent) {
      Remove(api::kCommands, command->metadata.name, command->metadata.uid);
    }
  }

  // --- Making.

  void MakeWhatIsMissing() {
    const absl::StatusOr<PluginEffects> plugins = EffectsOfPlugins(job_, seen_.ssh_key);
    if (!plugins.ok()) {
      return Warn("PluginError", absl::StrCat("the job waits: ", plugins.status().message()));
    }
    if (!ClaimsAreThere() || !MakeObjects(*plugins)) return;
    MakePodGroup();
    if (outcome_.MayHavePods(seen_.pod_group)) MakePods(*plugins);
    NotePodGroupWaits();
  }

  // False while one is missing that the pods cannot start without.
  bool MakeObjects(const PluginEffects& plugins) {
    bool all = true;
    for (const WantedObject& wanted : plugins.objects) {
      auto is = std::find_if(seen_.objects.begin(), seen_.objects.end(), [&](const OwnedObject& object) {
        return object.resource == wanted.resource && object.name == wanted.name;
      });
      if (is == seen_.objects.end()) {
        if (wanted.resource == &api::kSecrets) all = false;
        if (!wanted.body.empty()) Create(*wanted.resource, wanted.name, wanted.body);
      } else if (is->deleting) {
        continue;
      } else if (is->data != wanted.data) {
        UpdateData(*is, wanted);
      } else if (is->revision != wanted.revision) {
        Do(ChangeOf(*is, wanted.update));
      }
    }
    return all;
  }

  Write ChangeOf(const OwnedObject& is, std::string body) const {
    api::ObjectMeta metadata;
    metadata.ns = job_.metadata.ns;
    metadata.name = is.name;
    metadata.uid = is.uid;
    metadata.resource_version = is.resource_version;
    return kube::ChangeOf(*is.resource, metadata, std::move(body));
  }

  void UpdateData(const OwnedObject& is, const WantedObject& wanted) {
    std::string body;
    api::JsonWriter json(body);
    json.BeginObject().Key("data").BeginObject();
    for (const auto& [key, value] : wanted.data) json.Field(key, value);
    for (const auto& [key, value] : is.data) {
      if (!wanted.data.contains(key)) json.Key(key).Null();
    }
    json.EndObject().EndObject();
    Do(ChangeOf(is, std::move(body)));
  }

  void MakePodGroup() {
    static const PriorityClasses kNoClasses;
    const PriorityClasses& classes = seen_.priority_classes != nullptr ? *seen_.priority_classes : kNoClasses;
    absl::StatusOr<api::volcano::PodGroupSpec> wanted =
        WantedPodGroupSpec(job_.spec, classes, ClosedTasks(outcome_.roster));
    if (!wanted.ok())
      return Warn("PodGroupError", absl::StrCat("the job has no PodGroup: ", wanted.status().message()));
    if (seen_.pod_group == nullptr) {
      wanted->queue = api::volcano::QueueOfPodGroup(wanted->queue, seen_.namespace_queue);
      return Create(api::kPodGroups, PodGroupName(job_),
                    api::Encode(NewPodGroup(job_, *std::move(wanted), seen_.past_runs)));
    }
    if (seen_.pod_group->metadata.deleting() || outcome_.PodGroupMustGo(*seen_.pod_group)) return;
    absl::StatusOr<std::string> patch = PodGroupPatch(seen_.pod_group->spec, *wanted);
    if (patch.ok() && !patch->empty())
      Do(kube::ChangeOf(api::kPodGroups, seen_.pod_group->metadata, *std::move(patch)));
  }

  void MakePods(const PluginEffects& plugins) {
    bool said = false;
    for (const TaskPods& task : outcome_.roster.tasks) {
      std::optional<PodDocument> document;
      for (std::size_t i = 0; i < task.slots.size(); ++i) {
        const auto index = static_cast<std::int32_t>(i);
        if (task.slots[i].pod != nullptr || !MayMake(task, index)) continue;
        if (!document) {
          if (!GateOpen(outcome_.roster, task)) break;
          absl::StatusOr<PodDocument> made = PodDocument::Make(job_, *task.spec, plugins, Context());
          if (!made.ok()) return Warn("FailedCreate", absl::StrCat("no pods can be made: ", made.status().message()));
          document = *std::move(made);
          if (!std::exchange(said, true)) {
            for (const std::string& complaint : plugins.complaints) Warn("PluginError", complaint);
          }
        }
        Create(api::kPods, task.PodName(index), document->ForIndex(index));
      }
    }
  }

  // Not the one whose loss awaits an answer, and not one that may be there and only not have reached us.
  bool MayMake(const TaskPods& task, std::int32_t index) {
    if (outcome_.verdict.held.empty() && seen_.pods_current) return true;
    const std::string name = task.PodName(index);
    if (outcome_.verdict.held.contains(name)) return false;
    auto recorded = outcome_.record.created.find(task.spec->name);
    const bool known = outcome_.IsRestarting(task, index) ||
                       (recorded != outcome_.record.created.end() && recorded->second.Contains(index));
    if (!known || seen_.CertainlyGone(name)) return true;
    plan_.look_again = std::min(plan_.look_again, now_ + absl::Seconds(1));
    return false;
  }

  PodContext Context() const { return {outcome_.status.version, outcome_.status.retry_count, Forwards(seen_)}; }

  // --- Volumes.

  bool ClaimsAreThere() {
    bool all = true;
    for (std::size_t i = 0; i < job_.spec.volumes.size(); ++i) {
      const api::volcano::VolumeSpec& volume = job_.spec.volumes[i];
      const std::string claim = ClaimName(job_, i);
      if (seen_.claims != nullptr && seen_.claims->contains(claim)) continue;
      if (!volume.volume_claim.empty()) {
        std::string body;
        api::JsonWriter(body)
            .BeginObject()
            .Field("apiVersion", "v1")
            .Field("kind", "PersistentVolumeClaim")
            .RawField("metadata", OwnedMetadata(job_, claim))
            .RawField("spec", volume.volume_claim.json)
            .EndObject();
        Create(api::kPersistentVolumeClaims, claim, std::move(body));
        continue;
      }
      Warn("PVCError",
           absl::StrCat("pvc ", claim, " is not found, the job will be in the Pending state until the PVC is created"));
      all = false;
    }
    return all;
  }

  // --- The plan.

  // The gang waits: its latest condition that holds is not that it was placed.
  void NotePodGroupWaits() {
    if (seen_.pod_group == nullptr || outcome_.PodGroupMustGo(*seen_.pod_group)) return;
    const api::volcano::PodGroupCondition* latest = nullptr;
    for (const api::volcano::PodGroupCondition& condition : seen_.pod_group->status.conditions) {
      if (condition.status != "True") continue;
      if (latest == nullptr || condition.last_transition_time.at >= latest->last_transition_time.at)
        latest = &condition;
    }
    if (latest == nullptr || latest->type == "Scheduled") return;
    Warn("PodGroupPending",
         absl::StrCat("PodGroup ", job_.metadata.ns, ":", job_.metadata.name, " ", absl::AsciiStrToLower(latest->type),
                      ", reason: ", api::volcano::SentenceOf(*latest)));
  }

  void FinishPlan() {
    if (!writes_.empty()) plan_.stages.push_back(std::move(writes_));
    for (EventNote& note : outcome_.verdict.notes) {
      note.regarding = Regarding();
      plan_.events.push_back(std::move(note));
    }
  }

  void Warn(std::string reason, std::string message) {
    plan_.events.push_back({EventNote::Type::kWarning, std::move(reason), std::move(message), Regarding()});
  }
  api::ObjectReference Regarding() const { return kube::ReferenceTo(api::kJobs, job_.metadata); }

  void Create(const api::Resource& resource, std::string name, std::string body) {
    Write write;
    write.resource = &resource;
    write.ns = job_.metadata.ns;
    write.name = std::move(name);
    write.body = std::move(body);
    Do(std::move(write));
  }
  void Remove(const api::Resource& resource, std::string name, std::string uid) {
    Write write;
    write.verb = Verb::kDelete;
    write.resource = &resource;
    write.ns = job_.metadata.ns;
    write.name = std::move(name);
    write.uid = std::move(uid);
    Do(std::move(write));
  }
  void Do(Write write) { writes_.push_back(std::move(write)); }

  const JobView& seen_;
  const Job& job_;
  const absl::Time now_;
  JobOutcome outcome_;
  std::vector<Write> writes_;
  Plan plan_;
};

Plan Refuse(const Job& job, std::int64_t pods) {
  Plan plan;
  plan.events.push_back({EventNote::Type::kWarning, "FailedCreate",
                         absl::StrCat("the job asks for ", pods, " pods; the most for one job is ", kMaxPodsPerJob),
                         kube::ReferenceTo(api::kJobs, job.metadata)});
  return plan;
}

}  // namespace

Plan ReconcileJob(const JobView& seen, absl::Time now) {
  if (seen.job->metadata.deleting()) return {};  // its objects follow it by their owner references
  if (const std::int64_t pods = TotalReplicas(seen.job->spec); pods > kMaxPodsPerJob) return Refuse(*seen.job, pods);
  if (std::optional<Plan> naming = NameGeneratedClaims(*seen.job)) return *std::move(naming);
  if (std::optional<Plan> marking = MarkForwarding(seen)) return *std::move(marking);
  Plan plan = OutcomeWriter(seen, FindOutcome(seen, now), now).Run();
  AddCleanUp(*seen.job, now, plan);
  return plan;
}

}  // namespace gangway::lifecycle
