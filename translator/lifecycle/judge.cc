#include "translator/lifecycle/judge.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/volcano/restarts.h"
#include "base/counted.h"
#include "translator/convert/mode.h"

namespace gangway::paddle_lifecycle {
namespace {

using api::volcano::Job;
using api::volcano::PodFailure;
using api::volcano::PodGroupCondition;
using api::volcano::TaskSpec;

constexpr std::size_t kMaxMessage = 1024;
constexpr std::size_t kMaxRefs = 1000;  // of a role: an API server takes objects of 1.5 MB

std::int32_t& Counter(PodStage stage, RoleProgress& role) {
  switch (stage) {
    case PodStage::kPending:
      return role.pending;
    case PodStage::kStarting:
      return role.starting;
    case PodStage::kRunning:
      return role.running;
    case PodStage::kFailed:
      return role.failed;
    case PodStage::kSucceeded:
      return role.succeeded;
    case PodStage::kUnknown:
      break;
  }
  return role.unknown;
}

std::int32_t ReplicasOf(const Job* job, const WantedRole& role) {
  const std::int32_t asked = std::max(role.replicas, 0);  // whatever stands in a spec that is refused
  if (job == nullptr) return asked;
  const auto task = std::ranges::find(job->spec.tasks, role.task, &TaskSpec::name);
  return task == job->spec.tasks.end() ? asked : task->replicas;
}

template <class Count>
bool Any(const std::vector<RoleProgress>& roles, Count count) {
  return std::ranges::any_of(roles, [&](const RoleProgress& role) { return role.*count > 0; });
}

bool OffSize(const std::vector<RoleProgress>& roles) {
  return std::ranges::any_of(roles, [](const RoleProgress& role) {
    return role.pods() != role.replicas || role.running + role.succeeded != role.replicas;
  });
}

// "wd-worker-1 exit 1", "wd-worker-1 exit 137 (OOMKilled)", "wd-worker-1 Evicted"; the end of what it left behind.
std::string Describe(const NamedPod& of) {
  const PodFailure& failure = *of.pod->failure;
  std::string text = failure.container.empty() ? absl::StrCat(*of.name, " ", failure.reason)
                                               : absl::StrCat(*of.name, " exit ", failure.exit_code,
                                                              api::volcano::ReasonText(failure.reason));
  const absl::string_view last = api::volcano::LastLine(failure.message);
  if (!last.empty()) absl::StrAppend(&text, ": ", last);
  return text;
}

// Of those that count now: the one that failed first.
const NamedPod* FirstFailure(const std::vector<NamedPod>& pods, bool ended_only) {
  const NamedPod* first = nullptr;
  for (const NamedPod& of : pods) {
    if (of.pod->failure == nullptr || (ended_only && of.pod->stage != PodStage::kFailed)) continue;
    if (first == nullptr || of.pod->failure->at < first->pod->failure->at) first = &of;
  }
  return first;
}

const PodGroupCondition* LatestOf(const api::volcano::PodGroup& group) {
  const PodGroupCondition* latest = nullptr;
  for (const PodGroupCondition& condition : group.status.conditions) {
    if (condition.status != "True" || (condition.type != "Unschedulable" && condition.type != "Scheduled")) continue;
    if (latest == nullptr || condition.last_transition_time.at >= latest->last_transition_time.at) latest = &condition;
  }
  return latest;
}

// Its queue has let it in, or what the PodGroup itself waits for cannot be made.
bool PodsAreDue(const Job& job, const api::volcano::PodGroup* group) {
  const std::string& phase = job.status.state.phase;
  if (!phase.empty() && phase != "Pending" && phase != "Running") return false;
  return group == nullptr || (!group->status.phase.empty() && group->status.phase != "Pending");
}

bool PodsAreMissing(const Job& job, const PodTable* pods) {
  std::int64_t wanted = 0, there = 0;
  for (const TaskSpec& task : job.spec.tasks) wanted += std::max(task.replicas, 0);
  if (pods != nullptr)
    there = std::ranges::count_if(*pods, [&](const auto& entry) { return entry.second.owner_uid == job.metadata.uid; });
  return there < wanted;
}

std::string WaitingText(const NamedPod& of) {
  return of.pod->restarts > 0
             ? absl::StrCat(*of.name, " ", of.pod->waiting, " (restarted ", Counted(of.pod->restarts, "time"), ")")
             : absl::StrCat(*of.name, " ", of.pod->waiting);
}

std::string OfPods(const std::vector<NamedPod>& pods) {
  for (const NamedPod& of : pods) {
    if (of.pod->stage == PodStage::kUnknown) return absl::StrCat(*of.name, ": node lost");
  }
  return {};
}

std::string OfContainers(const std::vector<NamedPod>& pods) {
  for (const NamedPod& of : pods) {
    if (!of.pod->deleting && !of.pod->waiting.empty()) return WaitingText(of);
  }
  if (const NamedPod* failed = FirstFailure(pods, true)) return Describe(*failed);
  for (const NamedPod& of : pods) {
    if (of.pod->stage == PodStage::kStarting && of.pod->failure != nullptr) {
      return absl::StrCat(Describe(of), " (restarted ", Counted(of.pod->restarts, "time"), ")");
    }
  }
  return {};
}

}  // namespace

bool IsActive(const Job& job) {
  const std::string& phase = job.status.state.phase;
  return phase.empty() || phase == "Pending" || phase == "Running" || phase == "Restarting";
}
bool IsFinal(const Job& job) {
  const std::string& phase = job.status.state.phase;
  return phase == "Completed" || phase == "Failed" || phase == "Terminated";
}
bool IsAborted(const Job& job) { return job.status.state.phase == "Aborting" || job.status.state.phase == "Aborted"; }
bool IsLastRun(const Job& job) { return std::int64_t{job.status.retry_count} + 1 >= job.spec.max_retry; }

std::int32_t RestartsOf(const Job& job) { return api::volcano::RestartsOf(job.status.retry_count, job.spec.max_retry); }

std::string ModeOf(const Job& job, bool elastic) {
  std::int32_t servers = 0, workers = 0;
  for (const TaskSpec& task : job.spec.tasks) {
    if (task.name == "ps") servers = task.replicas;
    if (task.name == "worker") workers = task.replicas;
  }
  const convert::Mode mode = servers > 0              ? convert::Mode::kServers
                             : workers > 1 || elastic ? convert::Mode::kCollective
                                                      : convert::Mode::kSingle;
  return std::string(convert::ModeName(mode));
}

bool HasBegun(const Job& job, const PodTable* pods) {
  if (job.status.retry_count > 0) return true;
  return std::ranges::any_of(PodsOf(job, pods), [](const NamedPod& of) { return of.pod->begun; });
}

std::optional<absl::Time> DeadlineOf(const Wanted& wanted, const Progress& progress) {
  if (!wanted.deadline_seconds.has_value() || !progress.start.set()) return std::nullopt;
  return progress.start.at + absl::Seconds(*wanted.deadline_seconds);
}

bool EndedByDeadline(const Job& job, std::optional<absl::Time> deadline) {
  const std::string& phase = job.status.state.phase;
  return deadline.has_value() && (phase == "Terminating" || phase == "Terminated") &&
         job.status.state.last_transition_time.at >= *deadline;
}

bool OperatorAtWork(const PaddleJobView& seen, const Wanted& wanted) {
  const auto theirs = [&](const auto& entry) {
    return entry.second.of_operator && entry.second.owner_uid == wanted.metadata->uid;
  };
  if (seen.pods != nullptr && std::ranges::any_of(*seen.pods, theirs)) return true;
  const api::OwnerReference* owner =
      seen.same_named_group != nullptr ? seen.same_named_group->metadata.Controller() : nullptr;
  return owner != nullptr && owner->uid == wanted.metadata->uid;
}

std::vector<NamedPod> PodsOf(const Job& job, const PodTable* pods) {
  std::vector<NamedPod> out;
  if (pods == nullptr) return out;
  for (const auto& [name, pod] : *pods) {
    if (!pod.of_operator && pod.owner_uid == job.metadata.uid) out.push_back({&name, &pod});
  }
  const auto place = [](const NamedPod& of) { return std::tie(of.pod->task, of.pod->index, *of.name); };
  std::ranges::sort(out, [&](const NamedPod& a, const NamedPod& b) { return place(a) < place(b); });
  return out;
}

std::vector<RoleProgress> CountPods(const Wanted& wanted, const Job* job, const PodTable* pods) {
  std::vector<RoleProgress> roles;
  for (const WantedRole& role : wanted.roles) {
    RoleProgress& progress = roles.emplace_back();
    progress.task = role.task;
    progress.role = role.role;
    progress.replicas = ReplicasOf(job, role);
  }
  if (job == nullptr) return roles;
  for (const NamedPod& of : PodsOf(*job, pods)) {
    const auto role = std::ranges::find(roles, of.pod->task, &RoleProgress::task);
    if (role == roles.end()) continue;
    ++Counter(of.pod->stage, *role);
    if (role->refs.size() < kMaxRefs)
      role->refs.push_back({"v1", "Pod", job->metadata.ns, *of.name, of.pod->uid, "", ""});
  }
  return roles;
}

void KeepEnded(const std::vector<RoleProgress>& stored, std::vector<RoleProgress>& roles) {
  for (const RoleProgress& was : stored) {
    const auto role = std::ranges::find(roles, was.role, &RoleProgress::role);
    if (role == roles.end()) continue;
    role->succeeded = std::max(role->succeeded, was.succeeded);
    role->failed = std::max(role->failed, was.failed);
  }
}

bool AllRun(const std::vector<RoleProgress>& roles) {
  return Any(roles, &RoleProgress::running) &&
         std::ranges::all_of(roles, [](const RoleProgress& role) { return role.running >= role.replicas; });
}

Phase PhaseOf(const Job& job, const std::vector<RoleProgress>& roles, bool elastic, bool ran, Phase stored) {
  const std::string& of_job = job.status.state.phase;
  if (of_job == "Completed") return Phase::kCompleted;
  if (of_job == "Failed" || of_job == "Terminated" || of_job == "Terminating") return Phase::kFailed;
  if (of_job == "Aborting") return Phase::kAborting;
  if (of_job == "Aborted") return Phase::kAborted;
  if (of_job == "Completing") return Phase::kCompleting;
  if (of_job == "Restarting") return Phase::kRestarting;
  if (elastic && ran && OffSize(roles)) return Phase::kScaling;
  const bool lost = Any(roles, &RoleProgress::unknown);
  if (lost && (stored == Phase::kPending || stored == Phase::kStarting || stored == Phase::kRunning)) return stored;
  if (Any(roles, &RoleProgress::starting)) return Phase::kStarting;
  const bool begun = Any(roles, &RoleProgress::running) || Any(roles, &RoleProgress::succeeded) ||
                     Any(roles, &RoleProgress::failed) || lost;
  if (!begun) return Phase::kPending;
  // While a job starts, one pod that still waits is no step back; nor is a Job that has not counted yet.
  const bool waits = Any(roles, &RoleProgress::pending);
  if (stored == Phase::kStarting && (waits || of_job != "Running")) return Phase::kStarting;
  if (stored == Phase::kRunning && !waits) return Phase::kRunning;
  return waits || of_job != "Running" ? Phase::kPending : Phase::kRunning;
}

Told ScheduledOf(const PaddleJobView& seen, const Job& job) {
  const api::volcano::PodGroup* group = seen.pod_group;
  if (!seen.job_warning.message.empty() && PodsAreDue(job, group) && PodsAreMissing(job, seen.pods)) {
    return {"False", seen.job_warning.reason, api::volcano::TailOf(seen.job_warning.message, kMaxMessage)};
  }
  if (group == nullptr) return {};
  if (group->status.phase == "Running") return {"True", "Scheduled", "all pods that start together have a node"};
  if (const PodGroupCondition* latest = LatestOf(*group)) {
    if (latest->type == "Scheduled") return {"True", "Scheduled", "all pods that start together have a node"};
    return {"False", latest->reason.empty() ? "Unschedulable" : latest->reason,
            api::volcano::TailOf(latest->message, kMaxMessage)};
  }
  if (!seen.group_event.empty()) return {"False", "Unschedulable", api::volcano::TailOf(seen.group_event, kMaxMessage)};
  return {};
}

std::string MessageOf(const PaddleJobView& seen, const Job& job, Phase phase, const Told& scheduled) {
  const std::vector<NamedPod> pods = PodsOf(job, seen.pods);
  if (phase == Phase::kCompleted || phase == Phase::kCompleting) return {};
  if (phase == Phase::kFailed || phase == Phase::kRestarting) {
    const NamedPod* failed = FirstFailure(pods, true);
    if (failed == nullptr) failed = FirstFailure(pods, false);
    if (failed != nullptr) return Describe(*failed);
    return job.status.state.message;
  }
  if (std::string text = OfPods(pods); !text.empty()) return text;
  if (scheduled.status == "False" && phase != Phase::kRunning) return scheduled.message;
  return OfContainers(pods);
}

std::vector<NamedPod> FailedPods(const Job& job, const PodTable* pods) {
  std::vector<NamedPod> failed = PodsOf(job, pods);
  std::erase_if(failed, [](const NamedPod& of) { return of.pod->stage != PodStage::kFailed; });
  return failed;
}

std::vector<RoleProgress> CountsOf(const Job& job, const std::vector<RoleProgress>& roles) {
  std::vector<RoleProgress> counts;
  for (const RoleProgress& role : roles) {
    const auto task = job.status.task_status_count.find(role.task);
    if (task == job.status.task_status_count.end()) continue;
    const auto count = [&](const char* phase) {
      const auto it = task->second.phase.find(phase);
      return it == task->second.phase.end() ? 0 : it->second;
    };
    RoleProgress& is = counts.emplace_back();
    is.role = role.role;
    is.succeeded = count("Succeeded");
    is.failed = count("Failed");
  }
  return counts;
}

api::Time EarliestStart(const Job& job, const PodTable* pods) {
  absl::Time earliest = absl::InfiniteFuture();
  for (const NamedPod& of : PodsOf(job, pods)) earliest = std::min(earliest, of.pod->started);
  if (earliest != absl::InfiniteFuture()) return SecondOf(earliest);
  for (const api::volcano::JobCondition& condition : job.status.conditions) {
    if (condition.status == "Running") return condition.last_transition_time;
  }
  return {};
}

}  // namespace gangway::paddle_lifecycle
