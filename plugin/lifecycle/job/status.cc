#include "plugin/lifecycle/job/status.h"

#include <algorithm>
#include <tuple>

#include "api/json.h"
#include "base/status_macros.h"
#include "base/strings.h"

namespace gangway::lifecycle {
namespace {

using api::volcano::JobCondition;
using api::volcano::JobStatus;

bool SameCondition(const JobCondition& a, const JobCondition& b) {
  return a.status == b.status && a.last_transition_time == b.last_transition_time;
}

auto Counts(const JobStatus& s) {
  return std::tie(s.pending, s.running, s.succeeded, s.failed, s.terminating, s.unknown, s.task_status_count);
}

bool SameButForCounts(const JobStatus& a, const JobStatus& b) {
  return a.min_available == b.min_available && a.version == b.version && a.retry_count == b.retry_count &&
         a.state.phase == b.state.phase && a.state.reason == b.state.reason && a.state.message == b.state.message &&
         a.state.last_transition_time == b.state.last_transition_time && a.running_duration == b.running_duration &&
         a.controlled_resources == b.controlled_resources &&
         std::equal(a.conditions.begin(), a.conditions.end(), b.conditions.begin(), b.conditions.end(), SameCondition);
}

}  // namespace

void EnterPhase(JobPhase phase, absl::Time now, JobStatus& status) {
  const std::string name(NameOf(phase));
  if (status.state.phase == name) return;
  const api::Time at{absl::FromUnixSeconds(absl::ToUnixSeconds(now))};
  status.state.phase = name;
  status.state.last_transition_time = at;
  std::erase_if(status.conditions, [&](const JobCondition& condition) { return condition.status == name; });
  status.conditions.push_back({name, at});
}

void SetCounts(const PodCounts& counts, JobStatus& status) {
  status.pending = counts.pending;
  status.running = counts.running;
  status.succeeded = counts.succeeded;
  status.failed = counts.failed;
  status.terminating = counts.terminating;
  status.unknown = counts.unknown;
  status.task_status_count = counts.by_task;
}

void KeepEndedCounts(const JobStatus& status, PodCounts& counts) {
  counts.succeeded = std::max(counts.succeeded, status.succeeded);
  counts.failed = std::max(counts.failed, status.failed);
  for (const auto& [task, state] : status.task_status_count) {
    for (const char* phase : {"Succeeded", "Failed"}) {
      auto was = state.phase.find(phase);
      if (was == state.phase.end()) continue;
      std::int32_t& is = counts.by_task[task].phase[phase];
      is = std::max(is, was->second);
    }
  }
}

bool OnlyCountsDiffer(const JobStatus& from, const JobStatus& to) {
  return SameButForCounts(from, to) && Counts(from) != Counts(to);
}

absl::Duration PatienceWithCounts(const JobStatus& status, absl::Time now) {
  return std::clamp((now - status.state.last_transition_time.at) / 4, absl::Seconds(1), absl::Seconds(10));
}

absl::StatusOr<std::string> StatusPatch(const JobStatus& from, const JobStatus& to) {
  if (SameButForCounts(from, to) && Counts(from) == Counts(to)) return std::string();
  GW_ASSIGN_OR_RETURN(const std::string diff, api::MergePatchDiff(api::Encode(from), api::Encode(to)));
  std::string out;
  api::JsonWriter(out).BeginObject().RawField("status", diff).EndObject();
  return out;
}

}  // namespace gangway::lifecycle
