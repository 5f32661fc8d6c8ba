#include "plugin/lifecycle/job/job_pod.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "api/volcano/controlling_job.h"
#include "api/volcano/release.h"
#include "base/strings.h"
#include "plugin/lifecycle/words.h"

namespace gangway::lifecycle {
namespace {

PodPhase ParsePodPhase(const std::string& phase) {
  if (phase.empty() || phase == "Pending") return PodPhase::kPending;
  if (phase == "Running") return PodPhase::kRunning;
  if (phase == "Succeeded") return PodPhase::kSucceeded;
  if (phase == "Failed") return PodPhase::kFailed;
  return PodPhase::kUnknown;
}

const std::string* FindAnnotation(const api::core::Pod& pod, absl::string_view key) {
  auto it = pod.metadata.annotations.find(std::string(key));
  return it == pod.metadata.annotations.end() ? nullptr : &it->second;
}

// The API server gives a pod that has ended no grace; one that was running when its deletion was asked for has some.
bool FailedFirst(const api::core::Pod& pod) {
  if (pod.status.phase != "Failed") return false;
  return !pod.metadata.deleting() || pod.metadata.deletion_grace_period_seconds.value_or(0) == 0;
}

// Design 6.6; api/volcano/release.h.
bool Released(const api::core::Pod& pod) {
  return std::any_of(pod.status.conditions.begin(), pod.status.conditions.end(),
                     [](const api::core::PodCondition& condition) {
                       return condition.type == "DisruptionTarget" && condition.status == "True" &&
                              api::volcano::IsRelease(condition.reason);
                     });
}

}  // namespace

absl::string_view NameOf(PodPhase phase) {
  switch (phase) {
    case PodPhase::kPending:
      return "Pending";
    case PodPhase::kRunning:
      return "Running";
    case PodPhase::kSucceeded:
      return "Succeeded";
    case PodPhase::kFailed:
      return "Failed";
    case PodPhase::kUnknown:
      return "Unknown";
  }
  return "Unknown";
}

std::string JobOf(const api::core::Pod& pod) {
  const api::OwnerReference* const owner = api::volcano::ControllingJob(pod.metadata);
  return owner == nullptr ? std::string() : owner->name;
}

JobPod JobPodOf(const api::core::Pod& pod) {
  JobPod facts;
  facts.uid = pod.metadata.uid;
  if (const api::OwnerReference* owner = pod.metadata.Controller()) facts.job_uid = owner->uid;
  if (const std::string* task = FindAnnotation(pod, kTaskSpecKey)) facts.task = *task;
  if (const std::string* version = FindAnnotation(pod, kJobVersionKey)) {
    if (!absl::SimpleAtoi(*version, &facts.version) || facts.version < 0) facts.version = -1;
  }
  facts.phase = ParsePodPhase(pod.status.phase);
  facts.deleting = pod.metadata.deleting();
  facts.failed_first = FailedFirst(pod);
  facts.released = Released(pod);
  facts.out_of_sync = FindAnnotation(pod, kOutOfSyncKey) != nullptr;
  facts.reason = pod.status.reason;
  facts.ready = !pod.status.container_statuses.empty();
  for (const api::core::ContainerStatus& status : pod.status.container_statuses) {
    facts.ready = facts.ready && status.ready;
    facts.restarts += status.restart_count;
    if (status.state.terminated) facts.finished = std::max(facts.finished, status.state.terminated->finished_at.at);
  }
  for (const api::core::ContainerStatus& status : pod.status.init_container_statuses)
    facts.restarts += status.restart_count;
  if (!pod.status.container_statuses.empty()) {
    const auto& terminated = pod.status.container_statuses.front().state.terminated;
    if (terminated) facts.exit_code = terminated->exit_code;
  }
  if (std::optional<PodFailure> failure = FailureOf(pod))
    facts.failure = std::make_shared<const PodFailure>(*std::move(failure));
  return facts;
}

}  // namespace gangway::lifecycle
