// The status of kubeflow.org (kubeflow/training-operator 1.9: pkg/controller.v1/paddlepaddle): conditions, the newest
// last, which is what `kubectl get` shows. Ours, Translated and Scheduled, stand before those of the training operator.
#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "translator/lifecycle/progress.h"

namespace gangway::paddle_lifecycle {
namespace {

using api::paddle::kubeflow::JobCondition;
using api::paddle::kubeflow::JobStatus;
using api::paddle::kubeflow::ReplicaStatus;

// This status has no place of its own for restarts: they stand behind the text of Translated.
constexpr absl::string_view kRestartsOpen = "[restarts ";

std::string WithRestarts(absl::string_view message, std::int32_t restarts) {
  return restarts == 0 ? std::string(message)
                       : absl::StrCat(message, message.empty() ? "" : " ", kRestartsOpen, restarts, "]");
}

std::int32_t TakeRestarts(std::string& message) {
  absl::string_view text = message;
  const std::size_t open = text.rfind(kRestartsOpen);
  std::int32_t restarts = 0;
  if (open == absl::string_view::npos || !absl::ConsumeSuffix(&text, "]")) return 0;
  if (!absl::SimpleAtoi(text.substr(open + kRestartsOpen.size()), &restarts)) return 0;
  message.resize(open > 0 ? open - 1 : 0);
  return restarts;
}

const JobCondition* Find(const JobStatus& status, std::string_view type) {
  const auto it = std::ranges::find(status.conditions, type, &JobCondition::type);
  return it == status.conditions.end() ? nullptr : &*it;
}
bool Holds(const JobStatus& status, std::string_view type) {
  const JobCondition* condition = Find(status, type);
  return condition != nullptr && condition->status == "True";
}
bool Says(const JobCondition& condition, const Told& told) {
  return condition.status == told.status && condition.reason == told.reason && condition.message == told.message;
}
Told ReadCondition(const JobStatus& from, std::string_view type) {
  const JobCondition* condition = Find(from, type);
  return condition == nullptr ? Told() : Told{condition->status, condition->reason, condition->message};
}

Phase ReadPhase(const JobStatus& from) {
  if (Holds(from, "Succeeded")) return Phase::kCompleted;
  if (Holds(from, "Failed")) return Phase::kFailed;
  if (Holds(from, "Suspended")) return Phase::kAborted;
  if (Holds(from, "Restarting")) return Phase::kRestarting;
  if (Holds(from, "Running")) return Phase::kRunning;
  return Holds(from, "Created") ? Phase::kPending : Phase::kNone;
}

class ConditionWriter {
 public:
  ConditionWriter(const Progress& progress, const api::ObjectMeta& metadata, absl::Time now, JobStatus& status)
      : progress_(progress), job_(absl::StrCat("PaddleJob ", metadata.name)), now_(SecondOf(now)), status_(status) {}

  void WriteConditions() {
    Told translated = progress_.translated;
    if (translated.set()) translated.message = WithRestarts(translated.message, progress_.restarts);
    WriteOurs("Scheduled", progress_.scheduled);
    WriteOurs("Translated", translated);
    if (Find(status_, "Created") == nullptr)
      Tell("Created", {"True", "PaddleJobCreated", absl::StrCat(job_, " is created.")});
    if (progress_.phase != Phase::kFailed) Drop("Failed");
    WriteSuspension();
    WritePhase();
  }

 private:
  void WriteSuspension() {
    if (progress_.suspended) {
      const Told told{"True", "PaddleJobSuspended", absl::StrCat(job_, " is suspended.")};
      Deny("Running", {"False", told.reason, told.message});
      Tell("Suspended", told);
    } else if (progress_.phase == Phase::kAborted) {
      Deny("Running", {"False", "JobAborted", "its Job was aborted"});
      Tell("Suspended", {"True", "JobAborted", "its Job was aborted; the command ResumeJob lets it go on"});
    } else {
      Deny("Suspended", {"False", "PaddleJobResumed", absl::StrCat(job_, " is resumed.")});
    }
  }

  void WritePhase() {
    switch (progress_.phase) {
      case Phase::kRunning:
        Drop("Restarting");
        Tell("Running", {"True", "PaddleJobRunning", absl::StrCat(job_, " is running.")});
        return;
      case Phase::kRestarting:
        Drop("Running");
        return TellWhy("Restarting", "PaddleJobRestarting", "is restarting");
      case Phase::kCompleted:
        Drop("Restarting");
        Deny("Running", {"False", "PaddleJobRunning", absl::StrCat(job_, " has ended.")});
        return Tell("Succeeded", {"True", "PaddleJobSucceeded", absl::StrCat(job_, " is successfully completed.")});
      case Phase::kFailed:
        Drop("Restarting");
        Deny("Running", {"False", "PaddleJobRunning", absl::StrCat(job_, " has ended.")});
        return TellWhy("Failed", progress_.final() ? "PaddleJobFailed" : "PaddleJobFailedValidation", "has failed");
      case Phase::kNone:
      case Phase::kPending:
      case Phase::kStarting:
      case Phase::kScaling:
      case Phase::kAborting:
      case Phase::kAborted:
      case Phase::kCompleting:
      case Phase::kTerminating:
        return;  // the training operator has no word for these
    }
  }

  // This status keeps a message nowhere else: what was told stays while there is nothing new.
  void TellWhy(std::string_view type, std::string_view reason, absl::string_view what) {
    const JobCondition* is = Find(status_, type);
    if (progress_.message.empty() && is != nullptr && is->status == "True" && is->reason == reason) return;
    Tell(type, {"True", std::string(reason),
                progress_.message.empty() ? absl::StrCat(job_, " ", what, ".")
                                          : absl::StrCat(job_, " ", what, ": ", progress_.message)});
  }

  void Set(JobCondition& condition, std::string_view type, const Told& told) {
    if (condition.status != told.status) condition.last_transition_time = now_;
    condition.last_update_time = now_;
    condition.type = std::string(type);
    condition.status = told.status;
    condition.reason = told.reason;
    condition.message = told.message;
  }

  void Tell(std::string_view type, const Told& told) {
    JobCondition condition;
    if (const JobCondition* is = Find(status_, type)) {
      if (Says(*is, told)) return;
      condition = *is;
      Drop(type);
    }
    Set(condition, type, told);
    status_.conditions.push_back(std::move(condition));
  }
  // What holds no longer stays where it stands.
  void Deny(std::string_view type, const Told& told) {
    for (JobCondition& condition : status_.conditions) {
      if (condition.type == type && condition.status == "True") Set(condition, type, told);
    }
  }
  void WriteOurs(std::string_view type, const Told& told) {
    const JobCondition* is = Find(status_, type);
    if (is != nullptr && told.set() && Says(*is, told) && &status_.conditions.front() == is) return;
    JobCondition condition = is != nullptr ? *is : JobCondition();
    Drop(type);
    if (!told.set()) return;
    if (!Says(condition, told)) Set(condition, type, told);
    status_.conditions.insert(status_.conditions.begin(), std::move(condition));
  }
  void Drop(std::string_view type) {
    std::erase_if(status_.conditions, [&](const JobCondition& condition) { return condition.type == type; });
  }

  const Progress& progress_;
  const std::string job_;
  const api::Time now_;
  JobStatus& status_;
};

}  // namespace

Progress ReadKubeflowStatus(const JobStatus& from) {
  Progress progress;
  progress.phase = ReadPhase(from);
  progress.translated = ReadCondition(from, "Translated");
  progress.scheduled = ReadCondition(from, "Scheduled");
  progress.restarts = TakeRestarts(progress.translated.message);
  progress.start = from.start_time;
  progress.completion = from.completion_time;
  const JobCondition* suspended = Find(from, "Suspended");
  progress.suspended = suspended != nullptr && suspended->status == "True" && suspended->reason == "PaddleJobSuspended";
  for (const auto& [role, counts] : from.replica_statuses) {
    RoleProgress& is = progress.roles.emplace_back();
    is.role = role;
    is.running = counts.active;
    is.succeeded = counts.succeeded;
    is.failed = counts.failed;
  }
  return progress;
}

JobStatus KubeflowStatusOf(const JobStatus& was, const Progress& progress, const api::ObjectMeta& metadata,
                           absl::Time now) {
  JobStatus status = was;
  ConditionWriter(progress, metadata, now, status).WriteConditions();
  status.replica_statuses.clear();
  for (const RoleProgress& role : progress.roles) {
    ReplicaStatus& counts = status.replica_statuses[role.role];
    counts.active = role.running + role.starting;
    counts.succeeded = role.succeeded;
    counts.failed = role.failed;
    counts.selector = absl::StrCat("volcano.sh/job-name=", metadata.name, ",volcano.sh/task-spec=", role.task);
  }
  status.start_time = progress.start;
  status.completion_time = progress.completion;
  return status;
}

}  // namespace gangway::paddle_lifecycle
