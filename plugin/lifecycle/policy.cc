#include "plugin/lifecycle/policy.h"

#include "api/duration.h"

namespace gangway::lifecycle {
namespace {

using api::volcano::LifecyclePolicy;

// Admission has read it once already; what does not read counts as none.
absl::Duration TimeoutOf(const LifecyclePolicy& policy) {
  if (policy.timeout.empty()) return absl::ZeroDuration();
  const absl::StatusOr<absl::Duration> timeout = api::ParseGoDuration(policy.timeout);
  return timeout.ok() && *timeout > absl::ZeroDuration() ? *timeout : absl::ZeroDuration();
}

bool Names(const LifecyclePolicy& policy, absl::string_view event) {
  if (!policy.event.empty() && (policy.event == event || policy.event == "*")) return true;
  for (const std::string& name : policy.events) {
    if (name == event || name == "*") return true;
  }
  return false;
}

bool MatchesEvent(const LifecyclePolicy& policy, Event event) {
  if (event == Event::kNone || !Names(policy, NameOf(event))) return false;
  return event != Event::kPodPending || !policy.timeout.empty();
}

const LifecyclePolicy* FirstMatch(const std::vector<LifecyclePolicy>& policies, const Happening& happening) {
  for (const LifecyclePolicy& policy : policies) {
    if (MatchesEvent(policy, happening.event)) return &policy;
    // Code 0 would match nearly everything; admission forbids it.
    if (policy.exit_code && *policy.exit_code != 0 && *policy.exit_code == happening.exit_code) return &policy;
  }
  return nullptr;
}

const LifecyclePolicy* FindPolicy(const api::volcano::Job& job, const Happening& happening) {
  if (!happening.task.empty()) {
    for (const api::volcano::TaskSpec& task : job.spec.tasks) {
      if (task.name != happening.task) continue;
      if (const LifecyclePolicy* policy = FirstMatch(task.policies, happening)) return policy;
      break;
    }
  }
  return FirstMatch(job.spec.policies, happening);
}

}  // namespace

Resolution Resolve(const api::volcano::Job& job, const Happening& happening) {
  if (happening.action) return {*happening.action, absl::ZeroDuration()};
  if (happening.event == Event::kOutOfSync || happening.event == Event::kCommandIssued ||
      happening.event == Event::kPodRunning) {
    return {};
  }
  if (!happening.job_uid.empty() && happening.job_uid != job.metadata.uid) return {};
  if (happening.version < job.status.version) return {};
  const LifecyclePolicy* policy = FindPolicy(job, happening);
  if (policy == nullptr) return {};
  return {ParseAction(policy->action), TimeoutOf(*policy)};
}

EventSet::EventSet(const api::volcano::Job& job) {
  Add(job.spec.policies);
  for (const api::volcano::TaskSpec& task : job.spec.tasks) Add(task.policies);
}

void EventSet::Add(const std::vector<LifecyclePolicy>& policies) {
  for (const LifecyclePolicy& policy : policies) {
    for (int e = 1; e < kEvents; ++e) {
      if (MatchesEvent(policy, static_cast<Event>(e))) bits_ |= 1u << e;
    }
    if (policy.exit_code) bits_ |= 1u << static_cast<int>(Event::kPodFailed);
  }
}

}  // namespace gangway::lifecycle
