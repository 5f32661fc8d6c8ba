#include "plugin/scheduler/group_kinds.h"

#include <algorithm>
#include <vector>

#include "api/field_table.h"
#include "api/json.h"
#include "api/volcano/release.h"
#include "plugin/gang/minimum.h"
#include "plugin/ingest/ingest.h"
#include "plugin/scheduler/group_status.h"

namespace gangway::scheduler {

using api::core::Condition;
using api::core::CoschedulingPodGroup;
using api::core::KubernetesPodGroup;
using model::Cluster;
using model::Gang;
using model::TaskStatus;
using VolcanoPodGroup = api::volcano::PodGroup;

namespace {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

template <class T>
const T* FindByType(const std::vector<T>& conditions, absl::string_view type) {
  const auto it =
      std::find_if(conditions.begin(), conditions.end(), [&](const T& condition) { return condition.type == type; });
  return it == conditions.end() ? nullptr : &*it;
}

bool HasStarted(const KubernetesPodGroup& group) {
  const Condition* const scheduled = FindByType(group.status.conditions, ingest::kPodGroupScheduled);
  return scheduled != nullptr && scheduled->status == "True";
}

StatusChange ChangeOfVolcanos(const VolcanoPodGroup& group, const StatusInput& input) {
  const api::volcano::PodGroupStatus &before = group.status, after = WantedStatus(input);
  StatusChange change;
  change.patch = StatusPatch(before, after);
  change.starts = after.phase == "Running" && before.phase != "Running" && before.phase != "Unknown";
  change.lets_in = after.phase != before.phase && after.phase == "Inqueue";
  change.only_counts = OnlyCountsDiffer(before, after);
  return change;
}

// ---- Kubernetes' own

class Conditions {
 public:
  Conditions(const KubernetesPodGroup& group, absl::Time now)
      : conditions_(group.status.conditions), generation_(group.metadata.generation), now_(now) {}

  // The time is that of the last change of the status, as everywhere in Kubernetes; of a release its own.
  void Set(absl::string_view type, bool holds, absl::string_view reason, const std::string& message) {
    Condition condition{std::string(type), holds ? "True" : "False", std::string(reason), message, generation_, {now_}};
    auto it = std::find_if(conditions_.begin(), conditions_.end(),
                           [&](const Condition& other) { return other.type == type; });
    if (it == conditions_.end()) it = conditions_.emplace(conditions_.end());
    if (it->status == condition.status && it->reason == condition.reason && it->message == condition.message) return;
    if (it->status == condition.status && type != api::volcano::kGangReleased)
      condition.last_transition_time = it->last_transition_time;
    *it = std::move(condition);
    changed_ = true;
  }

  std::string Patch() const {
    std::string patch;
    if (!changed_) return patch;
    api::JsonWriter json(patch);
    json.BeginObject().Key("status").BeginObject().Key("conditions").BeginArray();
    for (const Condition& condition : conditions_) {
      json.BeginObject().Field("type", condition.type).Field("status", condition.status);
      if (condition.observed_generation != 0) json.Field("observedGeneration", condition.observed_generation);
      json.Field("lastTransitionTime", api::FormatTime(condition.last_transition_time.at))
          .Field("reason", condition.reason);
      json.Field("message", condition.message).EndObject();
    }
    json.EndArray().EndObject().EndObject();
    return patch;
  }

 private:
  std::vector<Condition> conditions_;
  const std::int64_t generation_;
  const absl::Time now_;
  bool changed_ = false;
};

StatusChange ChangeOfKubernetes(const KubernetesPodGroup& group, const Cluster& cluster, const Gang& gang,
                                const GroupTexts& texts, absl::Time now) {
  StatusChange change;
  Conditions conditions(group, now);
  const bool settled = gang.Count(TaskStatus::kBinding) == 0 && gang.ready() > 0;
  const bool started = HasStarted(group);
  change.starts = !started && settled && gang::HasMinimum(cluster, gang);
  if (change.starts) {
    conditions.Set(ingest::kPodGroupScheduled, true, "Scheduled", "");
  } else if (!started && !texts.reason.empty()) {
    conditions.Set(ingest::kPodGroupScheduled, false, "Unschedulable", texts.reason);
  }
  if (!texts.released.empty()) conditions.Set(api::volcano::kGangReleased, true, texts.released_reason, texts.released);
  if (!texts.part_bound.empty()) conditions.Set(kGangPartBound, true, "PodsStay", texts.part_bound);
  change.patch = conditions.Patch();
  return change;
}

// ---- coscheduling's

StatusChange ChangeOfCoscheduling(const CoschedulingPodGroup& group, const Gang& gang) {
  StatusChange change;
  const api::core::CoschedulingPodGroupStatus& before = group.status;
  if (before.phase == "Finished" || before.phase == "Failed") return change;  // for good
  const int running = gang.Count(TaskStatus::kRunning), succeeded = gang.Count(TaskStatus::kSucceeded),
            failed = gang.Count(TaskStatus::kFailed);
  std::string phase = running + succeeded >= gang.min_member ? "Running" : "Scheduling";
  if (static_cast<int>(gang.tasks.size()) < gang.min_member) {
    phase = "Pending";
  } else if (succeeded >= gang.min_member) {
    phase = "Finished";
  } else if (failed > 0 && failed + running + succeeded >= gang.min_member) {
    phase = "Failed";
  }
  change.starts = phase == "Running" && before.phase != phase;
  if (phase == before.phase && running == before.running && succeeded == before.succeeded && failed == before.failed)
    return change;
  api::JsonWriter json(change.patch);
  json.BeginObject().Key("status").BeginObject().Field("phase", phase);
  json.Field("running", running).Field("succeeded", succeeded).Field("failed", failed).EndObject().EndObject();
  return change;
}

}  // namespace

const api::ObjectMeta& MetadataOf(const GroupRef& group) {
  return std::visit([](const auto* one) -> const api::ObjectMeta& { return one->metadata; }, group);
}

StatusChange ChangeOf(const GroupRef& group, const Cluster& cluster, const Gang& gang, const GroupTexts& texts,
                      const std::string& transition_id, absl::Time now) {
  return std::visit(
      Overloaded{[&](const VolcanoPodGroup* one) {
                   return ChangeOfVolcanos(
                       *one, {cluster, gang, one->status, !texts.reason.empty(), texts.reason, texts.released,
                              texts.part_bound, transition_id, now, texts.released_reason});
                 },
                 [&](const KubernetesPodGroup* one) { return ChangeOfKubernetes(*one, cluster, gang, texts, now); },
                 [&](const CoschedulingPodGroup* one) { return ChangeOfCoscheduling(*one, gang); }},
      group);
}

bool HasPlaceForReason(const GroupRef& group) {
  return std::visit(Overloaded{[](const VolcanoPodGroup*) { return true; },
                               [](const KubernetesPodGroup* one) { return !HasStarted(*one); },
                               [](const CoschedulingPodGroup*) { return false; }},
                    group);
}

bool SaysReason(const GroupRef& group, absl::string_view text) {
  const auto says = [&](const auto* condition) { return condition != nullptr && condition->message == text; };
  return std::visit(
      Overloaded{[&](const VolcanoPodGroup* one) { return says(FindByType(one->status.conditions, "Unschedulable")); },
                 [&](const KubernetesPodGroup* one) {
                   return says(FindByType(one->status.conditions, ingest::kPodGroupScheduled));
                 },
                 [](const CoschedulingPodGroup*) { return false; }},
      group);
}

bool SaysPartBound(const GroupRef& group) {
  return std::visit(
      Overloaded{[](const CoschedulingPodGroup*) { return true; },
                 [](const auto* one) { return FindByType(one->status.conditions, kGangPartBound) != nullptr; }},
      group);
}

}  // namespace gangway::scheduler
