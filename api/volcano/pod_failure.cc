#include "api/volcano/pod_failure.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "api/volcano/release.h"

namespace gangway::api::volcano {
namespace {

using core::ContainerState;
using core::ContainerStatus;
using core::Pod;
using core::PodCondition;

absl::Time At(const api::Time& time) { return time.set() ? time.at : absl::InfiniteFuture(); }

// The API server gives a pod that has ended no grace; one that was running when its deletion was asked for has some.
bool StoppedByDeletion(const Pod& pod) {
  return pod.metadata.deleting() && pod.metadata.deletion_grace_period_seconds.value_or(0) != 0;
}

std::optional<PodFailure> OfPod(const Pod& pod) {
  PodFailure failure;
  if (pod.status.phase == "Failed" || pod.metadata.deleting()) {
    failure.reason = pod.status.reason;
    failure.message = TailOf(pod.status.message, PodFailure::kMaxMessage);
    for (const PodCondition& condition : pod.status.conditions) {
      if (condition.type != "DisruptionTarget" || condition.status != "True" || IsRelease(condition.reason)) continue;
      failure.at = At(condition.last_transition_time);
      if (!failure.reason.empty()) break;
      failure.reason = condition.reason;
      failure.message = TailOf(condition.message, PodFailure::kMaxMessage);
    }
  }
  return failure.reason.empty() ? std::nullopt : std::optional<PodFailure>(std::move(failure));
}

std::optional<PodFailure> OfContainers(const Pod& pod) {
  std::optional<PodFailure> first;
  const auto consider = [&](const ContainerStatus& container, const ContainerState& state, bool run_again) {
    if (!state.terminated.has_value() || state.terminated->exit_code == 0) return;
    const absl::Time at = At(state.terminated->finished_at);
    if (first.has_value() && at >= first->at) return;
    first = PodFailure{container.name,
                       run_again,
                       state.terminated->exit_code,
                       state.terminated->reason,
                       TailOf(state.terminated->message, PodFailure::kMaxMessage),
                       at};
  };
  for (const auto* containers : {&pod.status.init_container_statuses, &pod.status.container_statuses}) {
    for (const ContainerStatus& container : *containers) {
      // Between two runs the log is still that of the one that ended.
      consider(container, container.last_state, !container.state.waiting.has_value());
      consider(container, container.state, false);
    }
  }
  return first;
}

}  // namespace

std::optional<PodFailure> FailureOf(const Pod& pod) {
  std::optional<PodFailure> failure = OfPod(pod);
  if (failure.has_value() || StoppedByDeletion(pod)) return failure;
  failure = OfContainers(pod);
  if (failure.has_value() || pod.status.phase != "Failed") return failure;
  failure.emplace();
  failure->reason = "Failed";
  failure->message = TailOf(pod.status.message, PodFailure::kMaxMessage);
  return failure;
}

std::string ReasonText(absl::string_view reason) {
  return reason.empty() || reason == "Error" ? std::string() : absl::StrCat(" (", reason, ")");
}

std::string Describe(const PodFailure& failure) {
  if (failure.container.empty()) return failure.reason;
  return absl::StrCat("container ", failure.container, " ended with exit code ", failure.exit_code,
                      ReasonText(failure.reason));
}

std::string TailOf(absl::string_view text, std::size_t most) {
  text = absl::StripAsciiWhitespace(text);
  if (text.size() <= most) return std::string(text);
  std::size_t from = text.size() - most;
  const std::size_t line = text.find('\n', from - 1);
  if (line != absl::string_view::npos) return std::string(text.substr(line + 1));
  while (from < text.size() && (static_cast<unsigned char>(text[from]) & 0xC0u) == 0x80u) ++from;
  return std::string(text.substr(from));
}

absl::string_view LastLine(absl::string_view text) {
  text = absl::StripAsciiWhitespace(text);
  const std::size_t line = text.rfind('\n');
  return line == absl::string_view::npos ? text : text.substr(line + 1);
}

}  // namespace gangway::api::volcano
