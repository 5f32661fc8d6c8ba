#include "plugin/lifecycle/reconcile_job.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "api/duration.h"
#include "api/json.h"
#include "api/volcano/release.h"
#include "base/hash.h"
#include "plugin/lifecycle/depends_on.h"
#include "plugin/lifecycle/job_plugin.h"
#include "plugin/lifecycle/pod.h"
#include "plugin/lifecycle/pod_group.h"
#include "plugin/lifecycle/status.h"
#include "plugin/lifecycle/verdict.h"

namespace gangway::lifecycle {
namespace {

using api::volcano::Job;
using api::volcano::JobStatus;
using api::volcano::TaskSpec;
using kube::EventNote;
using kube::Plan;
using kube::Verb;
using kube::Write;

constexpr char kPluginPrefix[] = "plugin-";
constexpr char kClaimPrefix[] = "volume-pvc-";

// One decision, told in order: judge what happened, let it change the status, count the pods as they will be, see what phase that
// makes, then write: first the status, then what it explains.
class Decision {
 public:
  Decision(const JobView& seen, absl::Time now)
      : seen_(seen), job_(*seen.job), now_(now), roster_(MakeRoster(seen)), was_(ReadRecord(job_.status.controlled_resources)),
        record_(was_), status_(job_.status), old_phase_(ParsePhase(job_.status.state.phase)), phase_(old_phase_) {}

  Plan Run() && {
    if (NameGeneratedClaims()) return std::move(plan_);
    ForgetReleased();
    verdict_ = Judge(seen_, roster_, was_, old_phase_, now_);
    plan_.look_again = verdict_.look_again;
    Answer();
    FindPhase();
    Report();
    WriteStatus();
    RemoveWhatMustGo();
    if (KeepsPods(phase_) && !killing_) MakeWhatIsMissing();
    FinishPlan();
    return std::move(plan_);
  }

 private:
  // --- Pods that the scheduler released: their loss is no event, they are made anew.

  // A release speaks of pods by name; one that was answered speaks only of those that still have their UID.
  void ForgetReleased() {
    if (seen_.pod_group != nullptr) {
      if (const api::volcano::PodGroupCondition* release = api::volcano::LatestRelease(seen_.pod_group->status)) {
        const std::string hash = absl::StrCat(absl::Hex(StableHash(release->message), absl::kZeroPad16));
        const bool answered = hash == was_.release_answered;
        for (api::volcano::ReleasedPod& pod : api::volcano::ReleasedPods(*release)) {
          const PodFacts* is = FindPod(pod.name);
          if (is == nullptr ? !answered : is->uid == pod.uid) released_.insert(std::move(pod.name));
        }
        record_.release_answered = hash;
      }
    }
    if (seen_.released_leaving != nullptr) {
      for (const std::string& name : *seen_.released_leaving) {
        if (FindPod(name) == nullptr) released_.insert(name);
      }
    }
    if (released_.empty()) return;
    for (const TaskPods& task : roster_.tasks) {
      auto before = was_.created.find(task.spec->name);
      if (before == was_.created.end()) continue;
      Indices left;
      for (std::size_t i = 0; i < task.slots.size(); ++i) {
        const auto index = static_cast<std::int32_t>(i);
        if (before->second.Contains(index) && !released_.contains(task.PodName(index))) left.Append(index);
      }
      before->second = std::move(left);
    }
  }

  const PodFacts* FindPod(const std::string& name) const {
    if (seen_.pods == nullptr) return nullptr;
    auto it = seen_.pods->find(name);
    return it == seen_.pods->end() ? nullptr : &it->second;
  }

  // --- What the answer changes in the status.

  void Answer() {
    record_.delayed = verdict_.delayed;
    if (verdict_.command != nullptr) record_.last_command = verdict_.command->metadata.uid;
    ForgetOldUnknown();
    if (verdict_.cause.event == Event::kUnknown) record_.unknown_answered = seen_.pod_group->metadata.uid;
    if (verdict_.action == Action::kSyncJob) return;
    Transition& transition = verdict_.transition;
    if (transition.primitive == Primitive::kKillTarget) {
      if (!KillTarget()) transition = TransitionOf(old_phase_, Action::kSyncJob);
    } else if (transition.primitive == Primitive::kKill) {
      KillAll(transition.retain);
    }
    if (transition.spends_retry) ++status_.retry_count;
  }

  // An Unknown that is over may happen again.
  void ForgetOldUnknown() {
    if (seen_.pod_group != nullptr && seen_.pod_group->status.phase != "Unknown") record_.unknown_answered.clear();
  }

  // A new version; what is left of older ones goes, what has ended only when it is not retained.
  void KillAll(Retain retain) {
    killing_ = true;
    ++status_.version;
    const std::string command = record_.last_command;
    const std::int32_t keep_from = retain == Retain::kNone && !LastRetry(job_) ? status_.version : record_.keep_from;
    record_ = Record{};
    record_.version = status_.version;
    record_.keep_from = keep_from;
    record_.last_command = command;
    if (seen_.pod_group != nullptr) record_.killed_pod_group = seen_.pod_group->metadata.uid;
  }

  // False when the action has nothing to act on and nothing to say: RestartPartition of a partition without pods.
  bool KillTarget() {
    bool any = false;
    for (TaskPods& task : roster_.tasks) {
      Indices restarting;
      for (std::size_t i = 0; i < task.slots.size(); ++i) {
        const auto index = static_cast<std::int32_t>(i);
        if (InTarget(task, index)) {
          targets_.insert(task.PodName(index));
          const Slot& slot = task.slots[i];
          if (slot.pod == nullptr || slot.foreign) continue;
          any = true;
        } else if (!IsRestarting(task, index)) {
          continue;
        }
        restarting.Append(index);
      }
      if (restarting.empty()) record_.restarting.erase(task.spec->name); else record_.restarting[task.spec->name] = restarting;
    }
    absl::erase_if(record_.delayed, [&](const auto& entry) {
      return targets_.contains(entry.first.target) ||
             (entry.first.event == NameOf(verdict_.cause.event) && entry.first.action == NameOf(verdict_.action) &&
              entry.first.target == verdict_.cause.task);
    });
    if (!any && verdict_.action == Action::kRestartPartition) return false;
    killing_ = true;
    return true;
  }

  bool InTarget(const TaskPods& task, std::int32_t index) const {
    const Happening& cause = verdict_.cause;
    if (cause.task.empty() || task.spec->name != cause.task) return false;
    switch (ScopeOf(verdict_.action)) {
      case Scope::kTask: return true;
      case Scope::kPod: return index == cause.index;
      case Scope::kPartition: return cause.index >= 0 && Partition(task, index) == Partition(task, cause.index);
      case Scope::kJob: return false;
    }
    return false;
  }
  static std::int32_t Partition(const TaskPods& task, std::int32_t index) {
    const auto& policy = task.spec->partition_policy;
    return policy && policy->partition_size > 0 ? index / policy->partition_size : 0;
  }

  bool IsRestarting(const TaskPods& task, std::int32_t index) const {
    auto it = record_.restarting.find(task.spec->name);
    return it != record_.restarting.end() && it->second.Contains(index);
  }

  // --- The phase.

  void FindPhase() {
    const Outcome outcome = verdict_.transition.outcome;
    const bool decided = NamesPhase(outcome);
    // A decided phase says which pods go, before they are counted.
    if (decided) phase_ = NextPhase(outcome, old_phase_, job_.spec, status_.retry_count, {});
    counts_ = Count();
    if (decided) return;
    phase_ = NextPhase(outcome, old_phase_, job_.spec, status_.retry_count, counts_);
    if (!Finished(phase_) || !KeepsPods(old_phase_)) return;
    if (EndsByItself(old_phase_, phase_)) KillAll(Retain::kSoft);
    killing_ = true;
    counts_ = Count();
  }

  // The spec has a place for it, or not (`wanted`); either way it is ours.
  bool MustGo(const PodFacts& pod, bool wanted, bool restarting) const {
    if (pod.deleting) return false;
    if (!KeepsPods(phase_)) return !pod.ended();
    if (!wanted || restarting) return true;
    return pod.version < status_.version && (!pod.ended() || pod.version < record_.keep_from);
  }

  PodCounts Count() const {
    PodCounts counts;
    for (const TaskPods& task : roster_.tasks) {
      std::array<std::int32_t, 5> by_phase = {};
      for (std::size_t i = 0; i < task.slots.size(); ++i) {
        const Slot& slot = task.slots[i];
        if (slot.pod == nullptr || slot.foreign) continue;
        if (slot.pod->deleting || MustGo(*slot.pod, true, IsRestarting(task, static_cast<std::int32_t>(i)))) {
          ++counts.terminating;
        } else {
          ++by_phase[static_cast<std::size_t>(slot.pod->phase)];
        }
      }
      for (std::size_t p = 0; p < by_phase.size(); ++p) {
        if (by_phase[p] == 0) continue;
        counts.by_task[task.spec->name].phase[std::string(NameOf(static_cast<PodPhase>(p)))] = by_phase[p];
      }
      counts.pending += by_phase[static_cast<std::size_t>(PodPhase::kPending)];
      counts.running += by_phase[static_cast<std::size_t>(PodPhase::kRunning)];
      counts.succeeded += by_phase[static_cast<std::size_t>(PodPhase::kSucceeded)];
      counts.failed += by_phase[static_cast<std::size_t>(PodPhase::kFailed)];
      counts.unknown += by_phase[static_cast<std::size_t>(PodPhase::kUnknown)];
    }
    for (const UnwantedPod& extra : roster_.unwanted) {
      if (extra.pod->deleting || MustGo(*extra.pod, false, false)) ++counts.terminating;
    }
    return counts;
  }

  // --- The status.

  void Report() {
    EnterPhase(phase_, now_, status_);
    const bool ending = !KeepsPods(phase_) && phase_ != JobPhase::kAborting && phase_ != JobPhase::kAborted;
    if (ending && !KeepsPods(old_phase_)) KeepEndedCounts(job_.status, counts_);
    SetCounts(counts_, status_);
    if (KeepsPods(phase_)) {
      status_.min_available = job_.spec.min_available;
      status_.running_duration.clear();
      RecordPods();
    } else {
      record_.created.clear();
      record_.restarting.clear();
      record_.delayed.clear();
      const absl::Duration ran = status_.state.last_transition_time.at - job_.metadata.creation_timestamp.at;
      status_.running_duration = ran > absl::ZeroDuration() && ran < absl::InfiniteDuration() ? api::FormatGoDuration(ran) : "0s";
    }
    WriteRecord(record_, status_.controlled_resources);
    ReportPlugins();
    ReportClaims();
  }

  // Created: those that are there, for this version, and those whose loss is not answered yet. One that is being deleted counts only when it
  // was recorded before, or a pod that a scale-down removes would be missed when the scale goes up again.
  void RecordPods() {
    const IndicesByTask before = was_.version == status_.version ? was_.created : IndicesByTask{};
    record_.version = status_.version;
    record_.created.clear();
    for (const TaskPods& task : roster_.tasks) {
      auto recorded = before.find(task.spec->name);
      Indices created, restarting;
      for (std::size_t i = 0; i < task.slots.size(); ++i) {
        const auto index = static_cast<std::int32_t>(i);
        const Slot& slot = task.slots[i];
        const bool here = slot.pod != nullptr && !slot.foreign;
        if (IsRestarting(task, index) && (here || !seen_.CertainlyGone(task.PodName(index)))) {
          restarting.Append(index);
          continue;
        }
        if (!targets_.empty() && targets_.contains(task.PodName(index))) continue;
        const bool known = recorded != before.end() && recorded->second.Contains(index);
        const bool fresh = here && !slot.pod->deleting && !slot.pod->released && slot.pod->version >= status_.version &&
                           (released_.empty() || !released_.contains(task.PodName(index)));
        if (fresh || (known && (!here || slot.pod->version >= status_.version))) created.Append(index);
      }
      if (!created.empty()) record_.created[task.spec->name] = std::move(created);
      if (restarting.empty()) record_.restarting.erase(task.spec->name); else record_.restarting[task.spec->name] = std::move(restarting);
    }
  }

  void ReportPlugins() {
    for (const auto& [name, flags] : job_.spec.plugins) {
      if (name == "hcclrank") continue;  // makes nothing that would have to be taken down
      const std::string key = absl::StrCat(kPluginPrefix, name);
      if (KeepsPods(phase_)) status_.controlled_resources[key] = name; else status_.controlled_resources.erase(key);
    }
  }

  void ReportClaims() {
    for (std::size_t i = 0; i < job_.spec.volumes.size(); ++i) {
      const std::string claim = ClaimName(job_, i);
      status_.controlled_resources[absl::StrCat(kClaimPrefix, claim)] = claim;
    }
  }

  void WriteStatus() {
    absl::StatusOr<std::string> patch = StatusPatch(job_.status, status_);
    if (!patch.ok()) return Warn("JobStatusError", absl::StrCat("the status cannot be written: ", patch.status().message()));
    if (patch->empty()) return;
    Write write = Change(api::kJobs, job_.metadata, *std::move(patch));
    write.subresource = "status";
    plan_.stages.push_back({std::move(write)});
  }

  // --- Removing.

  void RemoveWhatMustGo() {
    for (const TaskPods& task : roster_.tasks) {
      for (std::size_t i = 0; i < task.slots.size(); ++i) {
        const Slot& slot = task.slots[i];
        const auto index = static_cast<std::int32_t>(i);
        if (slot.pod == nullptr || slot.foreign || !MustGo(*slot.pod, true, IsRestarting(task, index))) continue;
        Remove(api::kPods, task.PodName(index), slot.pod->uid);
      }
    }
    for (const UnwantedPod& extra : roster_.unwanted) {
      if (MustGo(*extra.pod, false, false)) Remove(api::kPods, *extra.name, extra.pod->uid);
    }
    if (seen_.pod_group != nullptr && !seen_.pod_group->metadata.deleting() && PodGroupMustGo()) {
      Remove(api::kPodGroups, seen_.pod_group->metadata.name, seen_.pod_group->metadata.uid);
    }
    for (const OwnedObject& object : seen_.objects) {
      if (!KeepsPods(phase_) && !object.deleting) Remove(*object.resource, object.name, object.uid);
    }
    for (const api::volcano::Command* command : verdict_.spent) {
      Remove(api::kCommands, command->metadata.name, command->metadata.uid);
    }
  }

  bool PodGroupMustGo() const {
    return !KeepsPods(phase_) || seen_.pod_group->metadata.uid == record_.killed_pod_group;
  }

  // --- Making.

  void MakeWhatIsMissing() {
    const absl::StatusOr<PluginEffects> plugins = EffectsOfPlugins(job_);
    if (!plugins.ok()) {
      return Warn("PluginError", absl::StrCat("the job waits: ", plugins.status().message()));
    }
    if (!ClaimsAreThere()) return;
    MakeObjects(*plugins);
    MakePodGroup();
    if (PodGroupReady()) MakePods(*plugins);
    NotePodGroupWaits();
  }

  void MakeObjects(const PluginEffects& plugins) {
    for (const WantedObject& wanted : plugins.objects) {
      auto is = std::find_if(seen_.objects.begin(), seen_.objects.end(), [&](const OwnedObject& object) {
        return object.resource == wanted.resource && object.name == wanted.name;
      });
      if (is == seen_.objects.end()) {
        Create(*wanted.resource, wanted.name, wanted.body);
      } else if (!is->deleting && is->data != wanted.data) {
        UpdateData(*is, wanted);
      }
    }
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
    api::ObjectMeta metadata;
    metadata.ns = job_.metadata.ns;
    metadata.name = is.name;
    metadata.uid = is.uid;
    metadata.resource_version = is.resource_version;
    Do(Change(*is.resource, metadata, std::move(body)));
  }

  void MakePodGroup() {
    static const PriorityClasses kNoClasses;
    const PriorityClasses& classes = seen_.priority_classes != nullptr ? *seen_.priority_classes : kNoClasses;
    absl::StatusOr<api::volcano::PodGroupSpec> wanted = WantedPodGroupSpec(job_.spec, classes, ClosedTasks(roster_));
    if (!wanted.ok()) return Warn("PodGroupError", absl::StrCat("the job has no PodGroup: ", wanted.status().message()));
    if (seen_.pod_group == nullptr) {
      return Create(api::kPodGroups, PodGroupName(job_), api::Encode(NewPodGroup(job_, *std::move(wanted))));
    }
    if (seen_.pod_group->metadata.deleting() || PodGroupMustGo()) return;
    absl::StatusOr<std::string> patch = PodGroupPatch(seen_.pod_group->spec, *wanted);
    if (patch.ok() && !patch->empty()) Do(Change(api::kPodGroups, seen_.pod_group->metadata, *std::move(patch)));
  }

  bool PodGroupReady() const {
    const api::volcano::PodGroup* group = seen_.pod_group;
    return group != nullptr && !group->metadata.deleting() && !PodGroupMustGo() && !group->status.phase.empty() &&
           group->status.phase != "Pending";
  }

  void MakePods(const PluginEffects& plugins) {
    bool said = false;
    for (const TaskPods& task : roster_.tasks) {
      std::optional<PodDocument> document;
      for (std::size_t i = 0; i < task.slots.size(); ++i) {
        const auto index = static_cast<std::int32_t>(i);
        if (task.slots[i].pod != nullptr || !MayMake(task, index)) continue;
        if (!document) {
          if (!GateOpen(roster_, task)) break;
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
    if (verdict_.held.empty() && seen_.pods_current) return true;
    const std::string name = task.PodName(index);
    if (verdict_.held.contains(name)) return false;
    auto recorded = record_.created.find(task.spec->name);
    const bool known = IsRestarting(task, index) || (recorded != record_.created.end() && recorded->second.Contains(index));
    if (!known || seen_.CertainlyGone(name)) return true;
    plan_.look_again = std::min(plan_.look_again, now_ + absl::Seconds(1));
    return false;
  }

  PodContext Context() const {
    const bool forwarding = seen_.queue != nullptr && !seen_.queue->spec.extend_clusters.empty() &&
                            seen_.queue->spec.extend_clusters.json != "[]" && seen_.queue->spec.extend_clusters.json != "null";
    return {status_.version, status_.retry_count, forwarding};
  }

  // --- Volumes.

  // A generated claim's name belongs into the spec, as Volcano writes it, so that either finds the claim again. It is a plan of its own:
  // spec and status are one object.
  bool NameGeneratedClaims() {
    if (!KeepsPods(old_phase_)) return false;
    bool any = false;
    api::volcano::JobSpec spec = job_.spec;
    for (std::size_t i = 0; i < spec.volumes.size(); ++i) {
      if (!spec.volumes[i].volume_claim_name.empty() || spec.volumes[i].volume_claim.empty()) continue;
      spec.volumes[i].volume_claim_name = ClaimName(job_, i);
      any = true;
    }
    if (!any) return false;
    std::string body;
    api::JsonWriter json(body);
    json.BeginObject().Key("spec").BeginObject().Key("volumes").BeginArray();
    for (const api::volcano::VolumeSpec& volume : spec.volumes) json.Raw(api::Encode(volume));
    json.EndArray().EndObject().EndObject();
    plan_.stages.push_back({Change(api::kJobs, job_.metadata, std::move(body))});
    return true;
  }

  bool ClaimsAreThere() {
    bool all = true;
    for (std::size_t i = 0; i < job_.spec.volumes.size(); ++i) {
      const api::volcano::VolumeSpec& volume = job_.spec.volumes[i];
      const std::string claim = ClaimName(job_, i);
      if (seen_.claims != nullptr && seen_.claims->contains(claim)) continue;
      if (!volume.volume_claim.empty()) {
        std::string body;
        api::JsonWriter(body).BeginObject().Field("apiVersion", "v1").Field("kind", "PersistentVolumeClaim")
            .RawField("metadata", OwnedMetadata(job_, claim)).RawField("spec", volume.volume_claim.json).EndObject();
        Create(api::kPersistentVolumeClaims, claim, std::move(body));
        continue;
      }
      Warn("PVCError", absl::StrCat("pvc ", claim, " is not found, the job will be in the Pending state until the PVC is created"));
      all = false;
    }
    return all;
  }

  // --- The plan.

  // The gang waits: its latest condition that holds is not that it was placed.
  void NotePodGroupWaits() {
    if (seen_.pod_group == nullptr || PodGroupMustGo()) return;
    const api::volcano::PodGroupCondition* latest = nullptr;
    for (const api::volcano::PodGroupCondition& condition : seen_.pod_group->status.conditions) {
      if (condition.status != "True") continue;
      if (latest == nullptr || condition.last_transition_time.at >= latest->last_transition_time.at) latest = &condition;
    }
    if (latest == nullptr || latest->type == "Scheduled") return;
    Warn("PodGroupPending", absl::StrCat("PodGroup ", job_.metadata.ns, ":", job_.metadata.name, " ",
                                         absl::AsciiStrToLower(latest->type), ", reason: ", latest->message));
  }

  void FinishPlan() {
    if (!writes_.empty()) plan_.stages.push_back(std::move(writes_));
    for (EventNote& note : verdict_.notes) {
      note.regarding = Regarding();
      plan_.events.push_back(std::move(note));
    }
  }

  void Warn(std::string reason, std::string message) {
    plan_.events.push_back({EventNote::Type::kWarning, std::move(reason), std::move(message), Regarding()});
  }
  api::ObjectReference Regarding() const {
    return {api::kJobs.ApiVersion(), std::string(api::kJobs.kind), job_.metadata.ns, job_.metadata.name,
            job_.metadata.uid, job_.metadata.resource_version, {}};
  }

  static Write Change(const api::Resource& resource, const api::ObjectMeta& metadata, std::string body) {
    Write write;
    write.verb = Verb::kMergePatch;
    write.resource = &resource;
    write.ns = metadata.ns;
    write.name = metadata.name;
    write.body = std::move(body);
    write.uid = metadata.uid;
    write.resource_version = metadata.resource_version;
    return write;
  }
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
  Roster roster_;
  Record was_;  // as it was written, without the pods that were released since
  Record record_;
  JobStatus status_;
  const JobPhase old_phase_;
  JobPhase phase_;
  Verdict verdict_;
  absl::btree_set<std::string> released_;  // names
  absl::btree_set<std::string> targets_;  // names of the pods that a targeted restart is about
  bool killing_ = false;                  // pods go for a reason this round; none is made
  PodCounts counts_;
  std::vector<Write> writes_;
  Plan plan_;
};

Plan Refuse(const Job& job, std::int64_t pods) {
  Plan plan;
  plan.events.push_back({EventNote::Type::kWarning, "FailedCreate",
                         absl::StrCat("the job asks for ", pods, " pods; the most for one job is ", kMaxPodsPerJob),
                         {api::kJobs.ApiVersion(), std::string(api::kJobs.kind), job.metadata.ns, job.metadata.name,
                          job.metadata.uid, job.metadata.resource_version, {}}});
  return plan;
}

}  // namespace

Plan ReconcileJob(const JobView& seen, absl::Time now) {
  if (seen.job->metadata.deleting()) return {};  // its objects follow it by their owner references
  if (const std::int64_t pods = TotalReplicas(seen.job->spec); pods > kMaxPodsPerJob) return Refuse(*seen.job, pods);
  return Decision(seen, now).Run();
}

}  // namespace gangway::lifecycle
