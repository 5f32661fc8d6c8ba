#include "plugin/lifecycle/policy/decide.h"

#include "absl/strings/str_cat.h"
#include "api/duration.h"
#include "api/volcano/restarts.h"
#include "plugin/lifecycle/pod_failure.h"

namespace gangway::lifecycle {
namespace {

constexpr std::size_t kMaxLine = 200;  // of a pod's last line, in an event

std::string PodText(const Happening& cause) {
  if (!cause.pod.empty()) return absl::StrCat("pod ", cause.pod);
  return cause.task.empty() ? std::string("a pod") : absl::StrCat("a pod of task ", cause.task);
}

// " (OOMKilled): last line of what it left behind". The exit code of a pod is its first container's; another may have
// failed.
std::string How(const Happening& cause) {
  if (cause.failure == nullptr) return "";
  const bool another = !cause.failure->container.empty() && cause.failure->exit_code != cause.exit_code;
  const std::string line = TailOf(LastLine(cause.failure->message), kMaxLine);
  return absl::StrCat(another ? absl::StrCat(": ", Describe(*cause.failure)) : ReasonText(cause.failure->reason),
                      line.empty() ? "" : ": ", line);
}

std::string Why(const Happening& cause) {
  switch (cause.event) {
    case Event::kPodFailed:
      return absl::StrCat(PodText(cause), " failed with exit code ", cause.exit_code, How(cause));
    case Event::kPodEvicted:
      return absl::StrCat(PodText(cause), " was deleted", How(cause));
    case Event::kPodPending:
      return absl::StrCat(PodText(cause), " is still pending");
    case Event::kTaskCompleted:
      return absl::StrCat("all pods of task ", cause.task, " succeeded");
    case Event::kTaskFailed:
      return absl::StrCat("the containers of task ", cause.task, " restarted too often", How(cause));
    case Event::kUnknown:
      return "a part of its running gang is lost";
    case Event::kCommandIssued:
      return "by command";
    case Event::kNone:
    case Event::kAny:
    case Event::kPodRunning:
    case Event::kOutOfSync:
    case Event::kJobUpdated:
      break;
  }
  return "by policy";
}

// A plain look at the pods.
void Sync(const api::volcano::Job& job, JobPhase was, const PodCounts& counts, Answer& answer) {
  answer.action = Action::kSyncJob;
  answer.phase = NextPhase(TransitionOf(was, Action::kSyncJob).outcome, was, job.spec, answer.retry_count, counts);
  if (EndsByItself(was, answer.phase)) ++answer.version;
}

std::string NothingAsked(const Happening& happening) {
  if (happening.event == Event::kNone) return "the job's pods are looked at";
  return absl::StrCat("no policy answers ", NameOf(happening.event), happening.task.empty() ? "" : " of task ",
                      happening.task);
}

}  // namespace

std::string Explain(const api::volcano::Job& job, const Happening& cause, const Transition& transition) {
  std::string text = Why(cause);
  if (!transition.spends_retry) return text;
  return absl::StrCat(text, "; ", api::volcano::RetryText(job.status.retry_count + 1, job.spec.max_retry));
}

Answer Decide(const api::volcano::Job& job, const Happening& happening, absl::Duration held, const PodCounts& counts) {
  const JobPhase phase = ParsePhase(job.status.state.phase);
  Answer answer;
  answer.version = job.status.version;
  answer.retry_count = job.status.retry_count;
  answer.policy = FindPolicy(job, happening);
  const Resolution resolution = Resolve(job, happening);
  answer.asked = resolution.action;
  const Transition transition = TransitionOf(phase, resolution.action);
  if (!happening.action && !answer.policy) {
    Sync(job, phase, counts, answer);
    answer.reason = NothingAsked(happening);
  } else if (RestartsAreSpent(phase, job)) {
    Sync(job, phase, counts, answer);
    answer.reason =
        absl::StrCat(NameOf(resolution.action), " has no effect: no restart is left of maxRetry ", job.spec.max_retry);
  } else if (!HasEffect(phase, resolution.action) || (!happening.action && !KeepsPods(phase))) {
    Sync(job, phase, counts, answer);
    answer.reason = absl::StrCat(NameOf(resolution.action), " has no effect: the job is ", NameOf(phase));
  } else if (held < resolution.delay) {
    Sync(job, phase, counts, answer);
    answer.delay = resolution.delay - held;
    answer.reason = absl::StrCat(NameOf(resolution.action), " follows in ", api::FormatGoDuration(answer.delay),
                                 " unless it ends before: ", Why(happening));
  } else {
    answer.action = resolution.action;
    answer.reason = Explain(job, happening, transition);
    if (transition.primitive == Primitive::kKill) ++answer.version;
    if (transition.spends_retry) ++answer.retry_count;
    answer.phase = NextPhase(transition.outcome, phase, job.spec, answer.retry_count, counts);
  }
  return answer;
}

}  // namespace gangway::lifecycle
