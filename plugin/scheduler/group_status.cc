#include "plugin/scheduler/group_status.h"

#include <algorithm>
#include <vector>

#include "api/field_table.h"
#include "api/json.h"
#include "api/volcano/release.h"
#include "plugin/gang/minimum.h"

namespace gangway::scheduler {

using api::volcano::PodGroupCondition;
using api::volcano::PodGroupStatus;
using model::Gang;
using model::TaskStatus;

namespace {

int Live(const Gang& gang) {
  return gang.Count(TaskStatus::kBound) + gang.Count(TaskStatus::kRunning) + gang.Count(TaskStatus::kReleasing);
}

bool WasWhole(const std::string& phase) { return phase == "Running" || phase == "Unknown" || phase == "Completed"; }

std::string PhaseOf(const StatusInput& in) {
  const Gang& gang = in.gang;
  const std::string& phase = in.now_written.phase;
  const bool not_ready = gang.ready() < gang.min_member;
  const bool whole =
      gang.scheduled() >= gang.min_member && (WasWhole(phase) || gang::HasMinimum(in.cluster, gang, gang::IsScheduled));
  const std::string let_in = gang.admitted ? "Inqueue" : "Pending";
  if (gang.tasks.empty()) {
    // volcano: a minimum of nothing is complete at once.
    if (phase == "Completed" || (gang.min_member <= 0 && gang.admitted)) return "Completed";
    if (phase.empty() && !gang.admitted && !in.told) return phase;
    return WasWhole(phase) ? "Pending" : let_in;
  }
  const bool without_failed = gang.scheduled() - gang.Count(TaskStatus::kFailed) >= gang.min_member;
  if (gang.Count(TaskStatus::kRunning) > 0 && not_ready && in.told && WasWhole(phase) && !without_failed)
    return "Unknown";
  if (whole) return Live(gang) == 0 && gang.Count(TaskStatus::kBinding) == 0 ? "Completed" : "Running";
  if (WasWhole(phase)) {
    if (phase == "Completed" && gang.Count(TaskStatus::kPending) == 0 && Live(gang) == 0) return phase;
    if (gang.Count(TaskStatus::kBinding) > 0 || gang.Count(TaskStatus::kRunning) > 0) return phase;
    return "Pending";
  }
  if (phase.empty() && !gang.admitted && !in.told) return phase;
  return let_in;
}

bool Rivals(const std::string& a, const std::string& b) {
  return (a == "Scheduled" && b == "Unschedulable") || (a == "Unschedulable" && b == "Scheduled");
}

// Both stay True beside each other and the newest transition says which holds: one that holds again makes a transition.
void SetCondition(PodGroupStatus& status, PodGroupCondition condition) {
  auto it = std::find_if(status.conditions.begin(), status.conditions.end(),
                         [&](const PodGroupCondition& other) { return other.type == condition.type; });
  if (it == status.conditions.end()) {
    status.conditions.push_back(std::move(condition));
    return;
  }
  const bool overtaken =
      std::any_of(status.conditions.begin(), status.conditions.end(), [&](const PodGroupCondition& other) {
        return Rivals(other.type, it->type) && other.last_transition_time.at > it->last_transition_time.at;
      });
  if (it->status == condition.status && !overtaken) {
    if (it->reason == condition.reason && it->message == condition.message) return;
    // Each release is one more, and counts from its own time.
    if (absl::string_view(condition.type) != api::volcano::kGangReleased)
      condition.last_transition_time = it->last_transition_time;
  }
  *it = std::move(condition);
}

PodGroupCondition NewCondition(const StatusInput& in, absl::string_view type, absl::string_view reason,
                               std::string message) {
  PodGroupCondition condition;
  condition.type = std::string(type);
  condition.status = "True";
  condition.reason = std::string(reason);
  condition.message = std::move(message);
  condition.transition_id = in.transition_id;
  condition.last_transition_time.at = in.now;
  return condition;
}

bool SayTheSame(const PodGroupCondition& a, const PodGroupCondition& b) {
  return a.type == b.type && a.status == b.status && a.reason == b.reason && a.message == b.message &&
         a.last_transition_time.at == b.last_transition_time.at;
}

bool SameConditions(const PodGroupStatus& a, const PodGroupStatus& b) {
  return std::equal(a.conditions.begin(), a.conditions.end(), b.conditions.begin(), b.conditions.end(),
                    [](const auto& x, const auto& y) { return SayTheSame(x, y); });
}

bool SameCounts(const PodGroupStatus& a, const PodGroupStatus& b) {
  return a.running == b.running && a.succeeded == b.succeeded && a.failed == b.failed;
}

}  // namespace

PodGroupStatus WantedStatus(const StatusInput& in) {
  PodGroupStatus status = in.now_written;
  status.phase = PhaseOf(in);
  status.running = in.gang.Count(TaskStatus::kRunning);
  status.succeeded = in.gang.Count(TaskStatus::kSucceeded);
  status.failed = in.gang.Count(TaskStatus::kFailed);
  if (in.told) SetCondition(status, NewCondition(in, "Unschedulable", kUnschedulableReason, in.reason_text));
  // Told with the phase that follows from it, when the bindings have arrived: one write.
  const bool settled = in.gang.Count(TaskStatus::kBinding) == 0;
  if (settled && in.gang.ready() > 0 && gang::HasMinimum(in.cluster, in.gang)) {
    SetCondition(status, NewCondition(in, "Scheduled", kScheduledReason, ""));
  }
  if (!in.release_message.empty()) {
    SetCondition(status, NewCondition(in, api::volcano::kGangReleased, in.release_reason, in.release_message));
  }
  if (!in.part_bound_message.empty())
    SetCondition(status, NewCondition(in, kGangPartBound, "PodsStay", in.part_bound_message));
  return status;
}

bool OnlyCountsDiffer(const PodGroupStatus& before, const PodGroupStatus& after) {
  return before.phase == after.phase && SameConditions(before, after) && !SameCounts(before, after);
}

std::string StatusPatch(const PodGroupStatus& before, const PodGroupStatus& after) {
  const bool same_conditions = SameConditions(before, after);
  if (before.phase == after.phase && same_conditions && SameCounts(before, after)) return "";
  std::string patch;
  api::JsonWriter json(patch);
  json.BeginObject().Key("status").BeginObject();
  if (before.phase != after.phase) json.Field("phase", after.phase);
  std::string conditions;
  api::EncodeTo(api::TypeOf<std::vector<PodGroupCondition>>(), &after.conditions, conditions);
  if (!same_conditions) json.RawField("conditions", conditions);
  const auto count = [&](absl::string_view key, int was, int is) {
    if (was == is) return;
    if (is == 0) {
      json.Key(key).Null();
    } else {
      json.Field(key, is);
    }
  };
  count("running", before.running, after.running);
  count("succeeded", before.succeeded, after.succeeded);
  count("failed", before.failed, after.failed);
  json.EndObject().EndObject();
  patch.shrink_to_fit();  // it may wait for long, and a thousand beside it
  return patch;
}

}  // namespace gangway::scheduler
