#include "plugin/lifecycle/job/ttl.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/resource.h"
#include "kube/plan/writes.h"
#include "plugin/lifecycle/words.h"

namespace gangway::lifecycle {
namespace {

using api::volcano::Job;

std::string NameOf(const Job& job) { return absl::StrCat(job.metadata.ns, "/", job.metadata.name); }

kube::Write Deletion(const Job& job) {
  kube::Write write = kube::DeletionOf(api::kJobs, job.metadata);
  write.resource_version = job.metadata.resource_version;
  write.propagation = kube::Propagation::kForeground;
  return write;
}

}  // namespace

bool NeedsCleanUp(const Job& job) {
  return !job.metadata.deleting() && job.spec.ttl_seconds_after_finished.has_value() &&
         Finished(ParsePhase(job.status.state.phase));
}

absl::StatusOr<absl::Time> ExpiryOf(const Job& job) {
  if (!NeedsCleanUp(job))
    return absl::FailedPreconditionError(absl::StrCat("job ", NameOf(job), " should not be cleaned up"));
  const api::Time finished = job.status.state.last_transition_time;
  if (!finished.set())
    return absl::NotFoundError(absl::StrCat("unable to find the time when the Job ", NameOf(job), " finished"));
  return finished.at + absl::Seconds(*job.spec.ttl_seconds_after_finished);
}

void AddCleanUp(const Job& job, absl::Time now, kube::Plan& plan) {
  if (!NeedsCleanUp(job)) return;
  const absl::StatusOr<absl::Time> expiry = ExpiryOf(job);
  if (!expiry.ok()) {
    plan.events.push_back(
        {kube::EventNote::Type::kWarning, "TTLUnknown",
         absl::StrCat(expiry.status().message(),
                      ": it stays until it is deleted by hand, or status.state.lastTransitionTime is set"),
         kube::ReferenceTo(api::kJobs, job.metadata)});
    return;
  }
  if (now >= *expiry && plan.stages.empty()) {
    plan.stages.push_back({Deletion(job)});
  } else {
    plan.look_again = std::min(plan.look_again, *expiry);
  }
}

}  // namespace gangway::lifecycle
