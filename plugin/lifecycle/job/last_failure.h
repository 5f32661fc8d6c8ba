// What the last failure of a Job was and what was done about it, as it stands in the Job's status.controlledResources
// for whoever asks later, when the pod is long gone:
//
//   gangway.io/last-failure
//   {"event":"PodFailed","pod":"ctr-trainer-1","container":"trainer","exitCode":137,"reason":"OOMKilled",...}
//
// It is written with the status that explains the kill, replaced by the next failure, and goes with the Job.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "api/meta.h"
#include "api/volcano/job.h"
#include "plugin/lifecycle/job/record.h"
#include "plugin/lifecycle/pod_failure.h"
#include "plugin/lifecycle/policy/policy.h"

namespace gangway::lifecycle {

inline constexpr char kLastFailureKey[] = "gangway.io/last-failure";

struct LastFailure {
  static constexpr std::size_t kMaxBytes = 1024;  // as JSON

  std::string event;   // "PodFailed"
  std::string action;  // "RestartJob"; "" when the Job ended by itself
  std::string policy;  // "spec.tasks[1].policies[0]", "spec.policies[0]"; "" for none
  std::string task, pod;
  std::string container, reason, message;  // as in PodFailure
  std::int32_t exit_code = 0;
  std::int32_t version = 0;  // of the Job when it happened
  api::Time at;              // when the pod failed; when nobody says, when it was answered
  friend bool operator==(const LastFailure&, const LastFailure&) = default;

  static constexpr std::string_view kName = "LastFailure";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(
        api::MakeField<&LastFailure::event>("event", ""), api::MakeField<&LastFailure::action>("action", ""),
        api::MakeField<&LastFailure::policy>("policy", ""), api::MakeField<&LastFailure::task>("task", ""),
        api::MakeField<&LastFailure::pod>("pod", ""), api::MakeField<&LastFailure::container>("container", ""),
        api::MakeField<&LastFailure::exit_code>("exitCode", ""), api::MakeField<&LastFailure::reason>("reason", ""),
        api::MakeField<&LastFailure::version>("version", ""), api::MakeField<&LastFailure::at>("at", ""),
        api::MakeField<&LastFailure::message>("message", ""));
  }
};

// The failure that asks for `action`; nullopt when the cause is none (a completed task, a command). Pure.
std::optional<LastFailure> MakeLastFailure(const api::volcano::Job& job, const Happening& cause, Action action,
                                           absl::Time now);

// At most kMaxBytes; the message gives way first.
std::string EncodeLastFailure(LastFailure failure);
// nullopt when there is none, or it does not read.
std::optional<LastFailure> ReadLastFailure(const ControlledResources& from);

}  // namespace gangway::lifecycle
