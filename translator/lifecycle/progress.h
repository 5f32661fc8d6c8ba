// How far a PaddleJob has come, in words that both dialects share; each writes them into a status of its own
// (paddle_status.cc, kubeflow_status.cc; docs/paddlejob-lifecycle.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "api/meta.h"
#include "translator/lifecycle/paddle_job_view.h"
#include "translator/lifecycle/wanted.h"

namespace gangway::paddle_lifecycle {

enum class Phase : std::uint8_t {
  kNone,
  kPending,
  kStarting,
  kRunning,
  kScaling,
  kRestarting,
  kAborting,
  kAborted,
  kCompleting,
  kCompleted,
  kFailed,
  kTerminating
};
std::string_view PhaseName(Phase phase);  // kNone: ""
Phase ParsePhase(std::string_view text);  // unknown: kNone
constexpr bool Ended(Phase phase) { return phase == Phase::kCompleted || phase == Phase::kFailed; }

// One condition; without a status there is none.
struct Told {
  std::string status, reason, message;
  bool set() const { return !status.empty(); }
  friend bool operator==(const Told&, const Told&) = default;
};

// Reasons of the condition Translated. True: the Job was made. Unknown: it goes, and another takes its place, or the
// job ended without one. False: the PaddleJob cannot become a Job as it stands.
inline constexpr std::string_view kJobCreated = "JobCreated", kRecreating = "Recreating",
                                  kDeadlineExceeded = "DeadlineExceeded", kInvalid = "Invalid", kWaiting = "Waiting";

struct RoleProgress {
  std::string task, role;
  std::int32_t replicas = 0;  // wanted
  std::int32_t pending = 0, starting = 0, running = 0, failed = 0, succeeded = 0, unknown = 0;
  std::vector<api::ObjectReference> refs;  // by index
  std::int32_t pods() const { return pending + starting + running + failed + succeeded + unknown; }
};

struct Progress {
  Phase phase = Phase::kNone;
  std::string mode;
  std::string queue;
  std::string elastic;  // "", "NONE", "DOING", "DONE", "ERROR"
  std::string message;
  std::vector<RoleProgress> roles;
  std::int32_t restarts = 0;
  api::Time start, completion;
  std::int64_t generation = 0;  // of the spec
  Told translated, scheduled;
  bool suspended = false;  // by spec.runPolicy.suspend

  // The job has come to its end, and its Job is not made anew. One that failed because it could not be translated has
  // not.
  bool final() const { return Ended(phase) && translated.set() && translated.status != "False"; }
  bool recreating() const { return std::string_view(translated.reason) == kRecreating; }
};

// What the stored status says. Its roles have names and counts; refs and replicas are not read.
Progress ReadProgress(const PaddleJobView& seen);

struct StatusChange {
  std::string patch;          // for the status subresource; "" when the stored status says the same
  bool details_only = false;  // counts, and texts about waiting: they may wait a little themselves
};
StatusChange ChangeOfStatus(const PaddleJobView& seen, const Progress& to, absl::Time now);

// In whole seconds, as the API server keeps them.
api::Time SecondOf(absl::Time time);

// The dialects.
Progress ReadPaddleStatus(const api::paddle::PaddleJobStatus& from);
api::paddle::PaddleJobStatus PaddleStatusOf(const api::paddle::PaddleJobStatus& was, const Progress& progress,
                                            const api::ObjectMeta& metadata, absl::Time now);
Progress ReadKubeflowStatus(const api::paddle::kubeflow::JobStatus& from);
api::paddle::kubeflow::JobStatus KubeflowStatusOf(const api::paddle::kubeflow::JobStatus& was, const Progress& progress,
                                                  const api::ObjectMeta& metadata, absl::Time now);

}  // namespace gangway::paddle_lifecycle
