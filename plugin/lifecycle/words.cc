#include "plugin/lifecycle/words.h"

#include <array>
#include <cstddef>

namespace gangway::lifecycle {
namespace {

constexpr std::array<absl::string_view, kJobPhases> kPhaseNames = {
    "Pending",    "Running",   "Restarting",  "Aborting",   "Aborted",
    "Completing", "Completed", "Terminating", "Terminated", "Failed"};
constexpr std::array<absl::string_view, kEvents> kEventNames = {
    "",           "*",       "PodPending", "PodRunning",    "PodFailed", "PodEvicted", "TaskCompleted",
    "TaskFailed", "Unknown", "OutOfSync",  "CommandIssued", "JobUpdated"};
constexpr std::array<absl::string_view, kActions> kActionNames = {"SyncJob",
                                                                  "AbortJob",
                                                                  "RestartJob",
                                                                  "RestartTask",
                                                                  "RestartPod",
                                                                  "RestartPartition",
                                                                  "TerminateJob",
                                                                  "CompleteJob",
                                                                  "ResumeJob",
                                                                  "EnqueueJob",
                                                                  ""};

template <class Enum, std::size_t N>
Enum Find(const std::array<absl::string_view, N>& names, absl::string_view text, Enum otherwise) {
  for (std::size_t i = 0; i < N; ++i) {
    if (!names[i].empty() && names[i] == text) return static_cast<Enum>(i);
  }
  return otherwise;
}

}  // namespace

JobPhase ParsePhase(absl::string_view text) { return Find(kPhaseNames, text, JobPhase::kPending); }
Event ParseEvent(absl::string_view text) { return Find(kEventNames, text, Event::kNone); }
Action ParseAction(absl::string_view text) { return Find(kActionNames, text, Action::kOther); }
absl::string_view NameOf(JobPhase phase) { return kPhaseNames[static_cast<std::size_t>(phase)]; }
absl::string_view NameOf(Event event) { return kEventNames[static_cast<std::size_t>(event)]; }
absl::string_view NameOf(Action action) { return kActionNames[static_cast<std::size_t>(action)]; }

Scope ScopeOf(Action action) {
  switch (action) {
    case Action::kRestartTask:
      return Scope::kTask;
    case Action::kRestartPod:
      return Scope::kPod;
    case Action::kRestartPartition:
      return Scope::kPartition;
    case Action::kSyncJob:
    case Action::kAbortJob:
    case Action::kRestartJob:
    case Action::kTerminateJob:
    case Action::kCompleteJob:
    case Action::kResumeJob:
    case Action::kEnqueueJob:
    case Action::kOther:
      return Scope::kJob;
  }
  return Scope::kJob;
}

}  // namespace gangway::lifecycle
