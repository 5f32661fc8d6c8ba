#include "sandbox/kubelet/container_log.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace gangway::sandbox {
namespace {

using Container = HostedContainer;
using api::core::ContainerState;
using api::core::ContainerStatus;
using Pod = HostedPod;

bool Named(const std::vector<Container>& containers, absl::string_view name) {
  return std::any_of(containers.begin(), containers.end(), [&](const Container& c) { return c.name == name; });
}

const ContainerStatus* Find(const std::vector<ContainerStatus>& statuses, absl::string_view name) {
  const auto it =
      std::find_if(statuses.begin(), statuses.end(), [&](const ContainerStatus& s) { return s.name == name; });
  return it == statuses.end() ? nullptr : &*it;
}

// pkg/kubelet: validateContainerLogStatus
absl::Status NotStarted(const Pod& pod, absl::string_view container, const ContainerStatus* status) {
  const std::string why =
      status != nullptr && status->state.waiting ? absl::StrCat(": ", status->state.waiting->reason) : " - no logs yet";
  return absl::InvalidArgumentError(
      absl::StrCat("container \"", container, "\" in pod \"", pod.metadata.name, "\" is waiting to start", why));
}

}  // namespace

std::int64_t ContainerLog::Steps(absl::Time until) const {
  if (lines.every <= absl::ZeroDuration() || until <= started) return 0;
  absl::Duration rest;
  const std::int64_t steps = absl::IDivDuration(until - started, lines.every, &rest);
  return rest == absl::ZeroDuration() ? steps - 1 : steps;
}

std::int64_t ContainerLog::AllSteps() const { return Steps(std::min(*ended, ends)); }

std::int64_t ContainerLog::Count(absl::Time now) const {
  if (written != nullptr) return written->count();
  if (now < started) return 0;
  if (ended.has_value() && now >= *ended) return AllSteps() + 2;
  return 1 + Steps(std::min(now + absl::Nanoseconds(1), ends));
}

std::int64_t ContainerLog::FirstKept(absl::Time now) const {
  return written != nullptr ? written->first_kept() : std::max<std::int64_t>(0, Count(now) - kKept);
}

absl::Time ContainerLog::TimeOf(std::int64_t index) const {
  if (written != nullptr) return index < written->count() ? written->line(index).at : absl::InfiniteFuture();
  if (index == 0) return started;
  if (ended.has_value() && index > AllSteps()) return index == AllSteps() + 1 ? *ended : absl::InfiniteFuture();
  const absl::Time at = started + index * lines.every;
  return lines.every <= absl::ZeroDuration() || at >= ends ? absl::InfiniteFuture() : at;
}

LogLine ContainerLog::Line(std::int64_t index) const {
  if (written != nullptr) return written->line(index);
  const absl::Time at = TimeOf(index);
  if (index == 0) {
    return {at, absl::StrCat(subject, ": simulated container started on ", node,
                             restarts > 0 ? absl::StrCat(", restart ", restarts) : "")};
  }
  if (ended.has_value() && index == AllSteps() + 1)
    return {at, absl::StrCat(subject, ": ended with exit code ", exit_code)};
  return {at, absl::StrCat(subject, ": ", lines.text, " ", index)};
}

absl::StatusOr<ContainerLog> LogOf(const Pod& pod, const PodMemory* memory, absl::string_view container, bool previous,
                                   LogLines lines, const std::optional<RunOutcome>& outcome) {
  const bool main = Named(pod.spec.containers, container);
  if (!main && !Named(pod.spec.init_containers, container)) {
    return absl::NotFoundError(absl::StrCat("container ", container, " is not in pod ", pod.metadata.name));
  }
  const ContainerStatus* status =
      Find(main ? pod.status.container_statuses : pod.status.init_container_statuses, container);
  const bool between = status != nullptr && status->state.waiting && status->last_state.terminated;
  const ContainerState* state = status == nullptr     ? nullptr
                                : previous || between ? &status->last_state
                                                      : &status->state;
  if (previous && (state == nullptr || !state->terminated)) {
    return absl::InvalidArgumentError(
        absl::StrCat("previous terminated container \"", container, "\" in pod \"", pod.metadata.name, "\" not found"));
  }
  if (state == nullptr || (!state->running && !state->terminated)) return NotStarted(pod, container, status);
  ContainerLog log;
  log.subject = absl::StrCat(pod.metadata.name, "/", container);
  log.node = pod.spec.node_name;
  // Between two runs the count is still that of the run that ended.
  log.restarts = status->restart_count - (previous && !between ? 1 : 0);
  log.started = state->running ? state->running->started_at.at : state->terminated->started_at.at;
  if (state->terminated) {
    log.ended = state->terminated->finished_at.at;
    log.exit_code = state->terminated->exit_code;
  }
  // Its memory is of the run it knows: the one whose start, in whole seconds, is the status's.
  const auto exact = [](absl::Time& shown, const std::optional<absl::Time>& known) {
    if (known.has_value() && absl::FromUnixSeconds(absl::ToUnixSeconds(*known)) == shown) shown = *known;
  };
  if (main && memory != nullptr && !previous) {
    exact(log.started, memory->started);
    if (log.ended.has_value()) exact(*log.ended, memory->ended);
  }
  if (log.ended.has_value()) log.ended = std::max(*log.ended, log.started);
  if (main) {
    log.lines = std::move(lines);
  } else {
    log.lines.every = absl::ZeroDuration();
  }
  if (main && outcome.has_value()) log.ends = log.started + outcome->after;
  return log;
}

}  // namespace gangway::sandbox
