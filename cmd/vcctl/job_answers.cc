#include "cmd/vcctl/job_answers.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <tuple>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace gangway::cmd {
namespace {

using api::core::ContainerState;
using api::core::ContainerStatus;
using api::core::Pod;
using api::volcano::Job;
using api::volcano::PodGroup;
using api::volcano::PodGroupCondition;

struct Failure {
  absl::Time at = absl::InfiniteFuture();  // unknown comes last
  std::string text;
};

std::string Ending(const ContainerStatus& container, const ContainerState& state) {
  const std::string& reason = state.terminated->reason;
  const std::string message(absl::StripAsciiWhitespace(state.terminated->message));
  return absl::StrCat("container ", container.name, " ended with exit code ", state.terminated->exit_code,
                      reason.empty() ? "" : absl::StrCat(" (", reason, ")"), message.empty() ? "" : absl::StrCat(": ", message));
}

std::optional<Failure> FailureOf(const Pod& pod) {
  std::optional<Failure> first;
  const auto consider = [&](absl::Time at, const std::string& text) {
    if (!first.has_value() || at < first->at) first = Failure{at, absl::StrCat("pod ", pod.metadata.name, ": ", text)};
  };
  for (const auto* containers : {&pod.status.init_container_statuses, &pod.status.container_statuses}) {
    for (const ContainerStatus& container : *containers) {
      for (const ContainerState* state : {&container.last_state, &container.state}) {
        if (!state->terminated.has_value() || state->terminated->exit_code == 0) continue;
        const api::Time& end = state->terminated->finished_at;
        consider(end.set() ? end.at : absl::InfiniteFuture(), Ending(container, *state));
      }
    }
  }
  if (first.has_value() || pod.status.phase != "Failed") return first;
  consider(absl::InfiniteFuture(), absl::StrCat(pod.status.reason.empty() ? "Failed" : pod.status.reason,
                                                pod.status.message.empty() ? "" : absl::StrCat(": ", pod.status.message)));
  return first;
}

// What the last event says that restarted anything.
std::string LastRestart(absl::Span<const JobEvent> events) {
  for (auto event = events.rbegin(); event != events.rend(); ++event) {
    if (event->reason == "ExecuteAction" && absl::StrContains(event->message, "action Restart")) {
      return std::string(absl::StripAsciiWhitespace(event->message));
    }
  }
  return "";
}

const PodGroupCondition* Unschedulable(const PodGroup& group) {
  for (const PodGroupCondition& condition : group.status.conditions) {
    if (condition.type == "Unschedulable" && condition.status == "True") return &condition;
  }
  return nullptr;
}

std::string Restarts(const Job& job) {
  const int used = job.status.retry_count, most = job.spec.max_retry;
  return absl::StrCat(used, " of maxRetry ", most, ", ", used < most ? absl::StrCat(most - used, " left") : std::string("none left"));
}

}  // namespace

std::string FirstFailure(absl::Span<const Pod> pods) {
  std::optional<Failure> first;
  for (const Pod& pod : pods) {
    std::optional<Failure> failure = FailureOf(pod);
    if (!failure.has_value()) continue;
    if (!first.has_value() || std::tie(failure->at, failure->text) < std::tie(first->at, first->text)) first = std::move(failure);
  }
  return first.has_value() ? first->text : "";
}

std::string WhyItWaits(const Job& job, const PodGroup* group) {
  const std::string& phase = job.status.state.phase;
  if (phase.empty()) return "no controller has seen it yet: is gangway controller (or Volcano's) running?";
  if (phase != "Pending") return "";
  if (group == nullptr) return "it has no PodGroup yet; its events say why";
  if (const PodGroupCondition* condition = Unschedulable(*group); condition != nullptr && group->status.phase != "Running") return condition->message;
  if (group->status.phase.empty() || group->status.phase == "Pending") {
    return absl::StrCat("queue ", group->spec.queue.empty() ? "default" : group->spec.queue, " has not let it in yet");
  }
  return group->status.phase == "Inqueue" ? "it is let in and not placed yet" : "its pods are placed and start";
}

std::string JobAnswersText(const Job& job, absl::Span<const Pod> pods, const PodGroup* group, absl::Span<const JobEvent> events) {
  std::string out = absl::StrCat("Restarts:\t", Restarts(job), "\n");
  std::string failure = FirstFailure(pods);
  if (failure.empty() && job.status.retry_count > 0) failure = LastRestart(events);
  if (!failure.empty()) absl::StrAppend(&out, "Failure:\t", failure, "\n");
  if (const std::string waits = WhyItWaits(job, group); !waits.empty()) absl::StrAppend(&out, "Waits:\t", waits, "\n");
  return out;
}

}  // namespace gangway::cmd
