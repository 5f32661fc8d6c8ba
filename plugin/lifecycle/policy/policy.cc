#include "plugin/lifecycle/policy/policy.h"

#include <algorithm>

#include "api/duration.h"

namespace gangway::lifecycle {
namespace {

using api::volcano::LifecyclePolicy;

// Admission has read it once already; what does not read counts as none.
absl::Duration TimeoutOf(const LifecyclePolicy& policy) {
  return api::ParseGoDuration(policy.timeout).value_or(absl::ZeroDuration());
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

std::optional<PolicyRef> FirstMatch(const std::vector<LifecyclePolicy>& policies, int task,
                                    const Happening& happening) {
  for (std::size_t i = 0; i < policies.size(); ++i) {
    const LifecyclePolicy& policy = policies[i];
    // Code 0 would match nearly everything; admission forbids it.
    const bool code = policy.exit_code && *policy.exit_code != 0 && *policy.exit_code == happening.exit_code;
    if (code || MatchesEvent(policy, happening.event)) return PolicyRef{&policy, task, static_cast<int>(i)};
  }
  return std::nullopt;
}

}  // namespace

std::optional<PolicyRef> FindPolicy(const api::volcano::Job& job, const Happening& happening) {
  if (happening.action || happening.event == Event::kOutOfSync || happening.event == Event::kCommandIssued ||
      happening.event == Event::kPodRunning) {
    return std::nullopt;
  }
  if (!happening.job_uid.empty() && happening.job_uid != job.metadata.uid) return std::nullopt;
  if (happening.version < job.status.version) return std::nullopt;
  if (!happening.task.empty()) {
    for (std::size_t t = 0; t < job.spec.tasks.size(); ++t) {
      if (job.spec.tasks[t].name != happening.task) continue;
      if (auto found = FirstMatch(job.spec.tasks[t].policies, static_cast<int>(t), happening)) return found;
      break;
    }
  }
  return FirstMatch(job.spec.policies, -1, happening);
}

Resolution Resolve(const api::volcano::Job& job, const Happening& happening) {
  if (happening.action) return {*happening.action, absl::ZeroDuration()};
  const std::optional<PolicyRef> found = FindPolicy(job, happening);
  if (!found) return {};
  return {ParseAction(found->policy->action), TimeoutOf(*found->policy)};
}

bool HasTarget(const api::volcano::Job& job, Action action, const Happening& cause) {
  if (ScopeOf(action) != Scope::kPartition) return true;
  return cause.index >= 0 && std::ranges::any_of(job.spec.tasks, [&](const api::volcano::TaskSpec& task) {
           return task.name == cause.task && task.partition_policy.has_value();
         });
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
