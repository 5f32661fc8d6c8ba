#include "plugin/lifecycle/job/job_outcome.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/duration.h"
#include "api/volcano/job_plugins.h"
#include "api/volcano/release.h"
#include "base/hash.h"
#include "plugin/lifecycle/job/last_failure.h"
#include "plugin/lifecycle/job/pod.h"
#include "plugin/lifecycle/job/status.h"

namespace gangway::lifecycle {
namespace {

using api::volcano::Job;

constexpr char kPluginPrefix[] = "plugin-";
constexpr char kClaimPrefix[] = "volume-pvc-";

// Told in order: judge what happened, let it change the status, count the pods as they will be, see what phase that
// makes.
class OutcomeSteps {
 public:
  OutcomeSteps(const JobView& seen, absl::Time now)
      : seen_(seen),
        job_(*seen.job),
        now_(now),
        was_(ReadRecord(job_.status.controlled_resources)),
        old_phase_(ParsePhase(job_.status.state.phase)) {
    out_.roster = MakeRoster(seen);
    BelieveRecord(was_, job_.status.version, out_.roster);
    out_.record = was_;
    out_.status = job_.status;
    out_.phase = old_phase_;
  }

  JobOutcome Run() && {
    ForgetReleased();
    out_.verdict = Judge(seen_, out_.roster, was_, old_phase_, now_);
    Answer();
    FindPhase();
    MarkLeaving();
    Report();
    return std::move(out_);
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
          const JobPod* is = FindPod(pod.name);
          if (is == nullptr ? !answered : is->uid == pod.uid) released_.insert(std::move(pod.name));
        }
        out_.record.release_answered = hash;
      }
    }
    if (seen_.released_leaving != nullptr) {
      for (const std::string& name : *seen_.released_leaving) {
        if (FindPod(name) == nullptr) released_.insert(name);
      }
    }
    if (released_.empty()) return;
    for (const TaskPods& task : out_.roster.tasks) {
      auto before = was_.created.find(task.spec->name);
      if (before == was_.created.end()) continue;
      Indices left;
      const auto places = static_cast<std::int32_t>(task.slots.size());
      for (std::int32_t index = 0; index < places; ++index) {
        if (before->second.Contains(index) && !released_.contains(task.PodName(index))) left.Append(index);
      }
      before->second = std::move(left);
    }
  }

  const JobPod* FindPod(const std::string& name) const {
    if (seen_.pods == nullptr) return nullptr;
    auto it = seen_.pods->find(name);
    return it == seen_.pods->end() ? nullptr : &it->second;
  }

  // --- What the answer changes in the status.

  void Answer() {
    out_.record.delayed = out_.verdict.delayed;
    if (out_.verdict.command != nullptr) out_.record.last_command = out_.verdict.command->metadata.uid;
    ForgetOldUnknown();
    if (out_.verdict.cause.event == Event::kUnknown) out_.record.unknown_answered = seen_.pod_group->metadata.uid;
    if (out_.verdict.action == Action::kSyncJob) return;
    Transition& transition = out_.verdict.transition;
    if (transition.primitive == Primitive::kKillTarget) {
      if (!KillTarget()) transition = TransitionOf(old_phase_, Action::kSyncJob);
    } else if (transition.primitive == Primitive::kKill) {
      KillAll(transition.retain);
    }
    if (transition.spends_retry) ++out_.status.retry_count;
    if (out_.killing) Remember(out_.verdict.cause, out_.verdict.action);
  }

  // For whoever asks why, when the pod is gone.
  void Remember(const Happening& cause, Action action) {
    const std::optional<LastFailure> failure = MakeLastFailure(job_, cause, action, now_);
    if (!failure.has_value()) return;
    std::string text = EncodeLastFailure(*failure);
    if (!text.empty()) out_.status.controlled_resources[kLastFailureKey] = std::move(text);
  }

  // The Job fails without a policy's doing: the pod that failed first.
  void RememberFirstFailure() {
    Happening first;
    absl::Time at = absl::InfiniteFuture();
    for (const TaskPods& task : out_.roster.tasks) {
      for (std::size_t i = 0; i < task.slots.size(); ++i) {
        const Slot& slot = task.slots[i];
        if (slot.pod == nullptr || slot.foreign || !slot.pod->failed_first || slot.pod->failure == nullptr) continue;
        if (first.event != Event::kNone && slot.pod->failure->at >= at) continue;
        at = slot.pod->failure->at;
        first.event = Event::kPodFailed;
        first.task = task.spec->name;
        first.index = static_cast<std::int32_t>(i);
        first.pod = task.PodName(first.index);
        first.exit_code = slot.pod->exit_code;
        first.failure = slot.pod->failure;
      }
    }
    Remember(first, Action::kSyncJob);
  }

  // An Unknown that is over may happen again.
  void ForgetOldUnknown() {
    if (seen_.pod_group != nullptr && seen_.pod_group->status.phase != "Unknown") out_.record.unknown_answered.clear();
  }

  // A new version; what is left of older ones goes, what has ended only when it is not retained.
  void KillAll(Retain retain) {
    out_.killing = true;
    ++out_.status.version;
    const std::string command = out_.record.last_command;
    const std::int32_t keep_from =
        retain == Retain::kNone && !LastRetry(job_) ? out_.status.version : out_.record.keep_from;
    out_.record = Record{};
    out_.record.version = out_.status.version;
    out_.record.keep_from = keep_from;
    out_.record.last_command = command;
    if (seen_.pod_group != nullptr) out_.record.killed_pod_group = seen_.pod_group->metadata.uid;
    if (retain == Retain::kSucceeded) ReplaceFailed();
  }

  // Like a targeted restart of what has failed.
  void ReplaceFailed() {
    for (const TaskPods& task : out_.roster.tasks) {
      Indices failed;
      for (std::size_t i = 0; i < task.slots.size(); ++i) {
        const Slot& slot = task.slots[i];
        if (slot.pod != nullptr && !slot.foreign && slot.pod->phase == PodPhase::kFailed)
          failed.Append(static_cast<std::int32_t>(i));
      }
      if (!failed.empty()) out_.record.restarting[task.spec->name] = std::move(failed);
    }
  }

  // False when the action has nothing to act on and nothing to say: RestartPartition of a partition without pods.
  bool KillTarget() {
    bool any = false;
    for (TaskPods& task : out_.roster.tasks) {
      Indices restarting;
      for (std::size_t i = 0; i < task.slots.size(); ++i) {
        const auto index = static_cast<std::int32_t>(i);
        if (InTarget(task, index)) {
          targets_.insert(task.PodName(index));
          const Slot& slot = task.slots[i];
          if (slot.pod == nullptr || slot.foreign) continue;
          any = true;
        } else if (!out_.IsRestarting(task, index)) {
          continue;
        }
        restarting.Append(index);
      }
      if (restarting.empty())
        out_.record.restarting.erase(task.spec->name);
      else
        out_.record.restarting[task.spec->name] = restarting;
    }
    absl::erase_if(out_.record.delayed, [&](const auto& entry) {
      return targets_.contains(entry.first.target) ||
             (entry.first.event == NameOf(out_.verdict.cause.event) &&
              entry.first.action == NameOf(out_.verdict.action) && entry.first.target == out_.verdict.cause.task);
    });
    if (!any && out_.verdict.action == Action::kRestartPartition) return false;
    out_.killing = true;
    return true;
  }

  bool InTarget(const TaskPods& task, std::int32_t index) const {
    const Happening& cause = out_.verdict.cause;
    if (cause.task.empty() || task.spec->name != cause.task) return false;
    switch (ScopeOf(out_.verdict.action)) {
      case Scope::kTask:
        return true;
      case Scope::kPod:
        return index == cause.index;
      case Scope::kPartition:
        return cause.index >= 0 && Partition(task, index) == Partition(task, cause.index);
      case Scope::kJob:
        return false;
    }
    return false;
  }
  static std::int32_t Partition(const TaskPods& task, std::int32_t index) {
    const auto& policy = task.spec->partition_policy;
    return policy && policy->partition_size > 0 ? index / policy->partition_size : 0;
  }

  // --- The phase.

  void FindPhase() {
    const Outcome outcome = out_.verdict.transition.outcome;
    const bool decided = NamesPhase(outcome);
    // A decided phase says which pods go, before they are counted.
    if (decided) out_.phase = NextPhase(outcome, old_phase_, job_.spec, out_.status.retry_count, {});
    counts_ = Count();
    if (decided || job_.status.state.phase.empty())
      return;  // a Job is Pending first, also one that needs no pod to run
    out_.phase = NextPhase(outcome, old_phase_, job_.spec, out_.status.retry_count, counts_);
    if (!Finished(out_.phase) || !KeepsPods(old_phase_)) return;
    if (out_.phase == JobPhase::kFailed && EndsByItself(old_phase_, out_.phase)) RememberFirstFailure();
    if (EndsByItself(old_phase_, out_.phase)) KillAll(Retain::kSoft);
    out_.killing = true;
    counts_ = Count();
  }

  PodCounts Count() const {
    PodCounts counts;
    const bool waits = !out_.MayHavePods(seen_.pod_group);
    for (const TaskPods& task : out_.roster.tasks) {
      std::array<std::int32_t, 5> by_phase = {};
      for (std::size_t i = 0; i < task.slots.size(); ++i) {
        const Slot& slot = task.slots[i];
        const auto index = static_cast<std::int32_t>(i);
        if (slot.pod == nullptr && waits && (seen_.pods_current || seen_.CertainlyGone(task.PodName(index))))
          ++counts.not_made;
        if (slot.pod == nullptr || slot.foreign) continue;
        if (slot.pod->deleting || out_.MustGo(*slot.pod, true, out_.IsRestarting(task, index))) {
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
    for (const UnwantedPod& extra : out_.roster.unwanted) {
      if (extra.pod->deleting || out_.MustGo(*extra.pod, false, false)) {
        ++counts.terminating;
      } else {  // it has ended, and the Job was killed before it got smaller
        counts.succeeded += extra.pod->phase == PodPhase::kSucceeded ? 1 : 0;
        counts.failed += extra.pod->phase == PodPhase::kFailed ? 1 : 0;
        ++counts.by_task[extra.pod->task].phase[std::string(NameOf(extra.pod->phase))];
      }
    }
    return counts;
  }

  void MarkLeaving() {
    for (TaskPods& task : out_.roster.tasks) {
      for (std::size_t i = 0; i < task.slots.size(); ++i) {
        Slot& slot = task.slots[i];
        if (slot.pod == nullptr || slot.foreign) continue;
        slot.leaving =
            slot.pod->deleting || out_.MustGo(*slot.pod, true, out_.IsRestarting(task, static_cast<std::int32_t>(i)));
      }
    }
  }

  // --- The status.

  void Report() {
    EnterPhase(out_.phase, now_, out_.status);
    const bool ending = !KeepsPods(out_.phase) && out_.phase != JobPhase::kAborting && out_.phase != JobPhase::kAborted;
    if (ending && !KeepsPods(old_phase_)) KeepEndedCounts(job_.status, counts_);
    SetCounts(counts_, out_.status);
    if (KeepsPods(old_phase_) && out_.verdict.transition.primitive == Primitive::kSync)
      out_.status.min_available = job_.spec.min_available;
    if (KeepsPods(out_.phase)) {
      out_.status.running_duration.clear();
      RecordPods();
    } else {
      out_.record.created.clear();
      out_.record.restarting.clear();
      out_.record.delayed.clear();
      const absl::Duration ran = out_.status.state.last_transition_time.at - job_.metadata.creation_timestamp.at;
      out_.status.running_duration =
          ran > absl::ZeroDuration() && ran < absl::InfiniteDuration() ? api::FormatGoDuration(ran) : "0s";
    }
    WriteRecord(out_.record, out_.status.controlled_resources);
    ReportPlugins();
    ReportClaims();
  }

  // Created: those that are there, for this version, and those whose loss is not answered yet. One that is being
  // deleted counts only when it was recorded before, or a pod that a scale-down removes would be missed when the scale
  // goes up again.
  void RecordPods() {
    const IndicesByTask before = was_.version == out_.status.version ? was_.created : IndicesByTask{};
    out_.record.version = out_.status.version;
    out_.record.created.clear();
    for (const TaskPods& task : out_.roster.tasks) {
      auto recorded = before.find(task.spec->name);
      Indices created, restarting;
      for (std::size_t i = 0; i < task.slots.size(); ++i) {
        const auto index = static_cast<std::int32_t>(i);
        const Slot& slot = task.slots[i];
        const bool here = slot.pod != nullptr && !slot.foreign;
        if (out_.IsRestarting(task, index) && (here || !seen_.CertainlyGone(task.PodName(index)))) {
          restarting.Append(index);
          continue;
        }
        if (!targets_.empty() && targets_.contains(task.PodName(index))) continue;
        if (here && slot.pod->out_of_sync) continue;
        const bool known = recorded != before.end() && recorded->second.Contains(index);
        const bool fresh = here && !slot.pod->deleting && !slot.pod->released &&
                           slot.pod->version >= out_.status.version &&
                           (released_.empty() || !released_.contains(task.PodName(index)));
        if (fresh || (known && (!here || slot.pod->version >= out_.status.version))) created.Append(index);
      }
      if (!created.empty()) out_.record.created[task.spec->name] = std::move(created);
      if (restarting.empty())
        out_.record.restarting.erase(task.spec->name);
      else
        out_.record.restarting[task.spec->name] = std::move(restarting);
    }
  }

  void ReportPlugins() {
    for (const auto& [name, flags] : job_.spec.plugins) {
      if (const api::volcano::JobPlugin* const plugin = api::volcano::FindJobPlugin(name);
          plugin != nullptr && !plugin->leaves_objects)
        continue;
      const std::string key = absl::StrCat(kPluginPrefix, name);
      // Nobody watches Secrets: the key of ssh says that there may be one, until it is seen to be gone.
      const bool keep = KeepsPods(out_.phase) || (name == "ssh" && HasSecret());
      if (keep)
        out_.status.controlled_resources[key] = name;
      else
        out_.status.controlled_resources.erase(key);
    }
  }

  bool HasSecret() const {
    return std::any_of(seen_.objects.begin(), seen_.objects.end(),
                       [](const OwnedObject& object) { return object.resource == &api::kSecrets; });
  }

  void ReportClaims() {
    for (std::size_t i = 0; i < job_.spec.volumes.size(); ++i) {
      const std::string claim = ClaimName(job_, i);
      out_.status.controlled_resources[absl::StrCat(kClaimPrefix, claim)] = claim;
    }
  }

  const JobView& seen_;
  const Job& job_;
  const absl::Time now_;
  Record was_;  // as it was written, without the pods that were released since
  const JobPhase old_phase_;
  absl::btree_set<std::string> released_;  // names
  absl::btree_set<std::string> targets_;   // names of the pods that a targeted restart is about
  PodCounts counts_;
  JobOutcome out_;
};

}  // namespace

bool JobOutcome::MustGo(const JobPod& pod, bool wanted, bool restarting) const {
  if (pod.deleting) return false;
  if (!KeepsPods(phase)) return !pod.ended() || pod.version < record.keep_from;
  if (!wanted || restarting || pod.out_of_sync) return true;
  return pod.version < status.version && (!pod.ended() || pod.version < record.keep_from);
}

bool JobOutcome::IsRestarting(const TaskPods& task, std::int32_t index) const {
  auto it = record.restarting.find(task.spec->name);
  return it != record.restarting.end() && it->second.Contains(index);
}

bool JobOutcome::PodGroupMustGo(const api::volcano::PodGroup& group) const {
  return !KeepsPods(phase) || group.metadata.uid == record.killed_pod_group;
}

bool JobOutcome::MayHavePods(const api::volcano::PodGroup* group) const {
  return group != nullptr && !group->metadata.deleting() && !PodGroupMustGo(*group) && !group->status.phase.empty() &&
         group->status.phase != "Pending";
}

JobOutcome FindOutcome(const JobView& seen, absl::Time now) { return OutcomeSteps(seen, now).Run(); }

}  // namespace gangway::lifecycle
