// Volcano's words for jobs: phases, events, actions, and the keys that pods carry (Volcano: apis bus/v1alpha1,
// batch/v1alpha1).
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/strings/string_view.h"

namespace gangway::lifecycle {

enum class JobPhase : std::uint8_t {
  kPending,
  kRunning,
  kRestarting,
  kAborting,
  kAborted,
  kCompleting,
  kCompleted,
  kTerminating,
  kTerminated,
  kFailed
};
inline constexpr int kJobPhases = 10;

enum class Event : std::uint8_t {
  kNone,
  kAny,
  kPodPending,
  kPodRunning,
  kPodFailed,
  kPodEvicted,
  kTaskCompleted,
  kTaskFailed,
  kUnknown,
  kOutOfSync,
  kCommandIssued,
  kJobUpdated
};
inline constexpr int kEvents = 12;

enum class Action : std::uint8_t {
  kSyncJob,
  kAbortJob,
  kRestartJob,
  kRestartTask,
  kRestartPod,
  kRestartPartition,
  kTerminateJob,
  kCompleteJob,
  kResumeJob,
  kEnqueueJob,
  kOther
};
inline constexpr int kActions = 11;

// What an action is about; a delayed action is cancelled by an executed one of its class and target.
enum class Scope : std::uint8_t { kJob, kTask, kPod, kPartition };

// An empty or unknown text is Pending, as in Volcano.
JobPhase ParsePhase(absl::string_view text);
Event ParseEvent(absl::string_view text);    // unknown: kNone
Action ParseAction(absl::string_view text);  // unknown: kOther
absl::string_view NameOf(JobPhase phase);
absl::string_view NameOf(Event event);
absl::string_view NameOf(Action action);
Scope ScopeOf(Action action);

// Completed, Failed, Terminated: nothing leaves these.
constexpr bool Finished(JobPhase phase) {
  return phase == JobPhase::kCompleted || phase == JobPhase::kFailed || phase == JobPhase::kTerminated;
}
// Pending, Running, Restarting: pods are wanted. In every other phase those that have not ended are removed.
constexpr bool KeepsPods(JobPhase phase) {
  return phase == JobPhase::kPending || phase == JobPhase::kRunning || phase == JobPhase::kRestarting;
}

inline constexpr absl::string_view kTaskIndexKey = "volcano.sh/task-index";
inline constexpr absl::string_view kTaskSpecKey = "volcano.sh/task-spec";
inline constexpr absl::string_view kJobNameKey = "volcano.sh/job-name";
inline constexpr absl::string_view kJobNamespaceKey = "volcano.sh/job-namespace";
inline constexpr absl::string_view kJobVersionKey = "volcano.sh/job-version";
inline constexpr absl::string_view kJobRetryCountKey = "volcano.sh/job-retry-count";
inline constexpr absl::string_view kQueueNameKey = "volcano.sh/queue-name";
inline constexpr absl::string_view kTemplateUidKey = "volcano.sh/template-uid";
inline constexpr absl::string_view kPartitionIdKey = "volcano.sh/partition-id";
inline constexpr absl::string_view kNumaPolicyKey = "volcano.sh/numa-topology-policy";
inline constexpr absl::string_view kPreemptableKey = "volcano.sh/preemptable";
inline constexpr absl::string_view kCooldownTimeKey = "volcano.sh/cooldown-time";
inline constexpr absl::string_view kMovableKey = "gangway.io/movable";
inline constexpr absl::string_view kExpectedRuntimeKey = "gangway.io/expected-runtime";
inline constexpr absl::string_view kRevocableZoneKey = "volcano.sh/revocable-zone";
inline constexpr absl::string_view kJdbMinAvailableKey = "volcano.sh/jdb-min-available";
inline constexpr absl::string_view kJdbMaxUnavailableKey = "volcano.sh/jdb-max-unavailable";
inline constexpr absl::string_view kJobForwardingKey = "volcano.sh/job-forwarding";
inline constexpr absl::string_view kOutOfSyncKey = "volcano.sh/controller-out-of-sync";
inline constexpr absl::string_view kGroupNameKey = "scheduling.k8s.io/group-name";

}  // namespace gangway::lifecycle
