#include "sandbox/process/probe_state.h"

#include <algorithm>

namespace gangway::sandbox {

using Answer = HandlerResult::Answer;

absl::string_view NameOf(HandlerUse use) {
  switch (use) {
    case HandlerUse::kStartup:
      return "Startup";
    case HandlerUse::kLiveness:
      return "Liveness";
    case HandlerUse::kReadiness:
      return "Readiness";
    case HandlerUse::kPostStart:
      return "PostStart";
    case HandlerUse::kPreStop:
      return "PreStop";
  }
  return "";
}

const HostedProbe* ProbeFor(const HostedContainer& container, HandlerUse use) {
  const auto found = [](const std::optional<HostedProbe>& probe) { return probe ? &*probe : nullptr; };
  switch (use) {
    case HandlerUse::kStartup:
      return found(container.startup_probe);
    case HandlerUse::kLiveness:
      return found(container.liveness_probe);
    case HandlerUse::kReadiness:
      return found(container.readiness_probe);
    case HandlerUse::kPostStart:
    case HandlerUse::kPreStop:
      return nullptr;
  }
  return nullptr;
}

HostedHandler HandlerFor(const HostedContainer& container, HandlerUse use) {
  if (const HostedProbe* const probe = ProbeFor(container, use); probe != nullptr) return probe->handler();
  const HostedLifecycle lifecycle = container.lifecycle.value_or(HostedLifecycle());
  if (use == HandlerUse::kPostStart) return lifecycle.post_start.value_or(HostedHandler());
  if (use == HandlerUse::kPreStop) return lifecycle.pre_stop.value_or(HostedHandler());
  return {};
}

absl::Time NextProbe(const HostedProbe& probe, const ProbeState& state, absl::Time since) {
  if (state.under_way || state.settled) return absl::InfiniteFuture();
  const absl::Time first = since + absl::Seconds(probe.initial_delay_seconds);
  return state.asked ? std::max(first, *state.asked + absl::Seconds(probe.period_seconds)) : first;
}

void TakeAnswer(const HostedProbe& probe, const HandlerResult& result, ProbeState& state) {
  state.under_way = false;
  if (result.answer == Answer::kUnknown) return;
  const bool success = result.answer == Answer::kSuccess;
  state.in_row = state.last == success ? state.in_row + 1 : 1;
  state.last = success;
  if (state.in_row < (success ? probe.success_threshold : probe.failure_threshold)) return;
  state.verdict = success;
  state.settled = success ? result.use == HandlerUse::kStartup : result.use != HandlerUse::kReadiness;
}

}  // namespace gangway::sandbox
