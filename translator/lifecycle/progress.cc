#include "translator/lifecycle/progress.h"

#include <array>
#include <utility>

#include "api/json.h"
#include "base/strings.h"

namespace gangway::paddle_lifecycle {
namespace {

constexpr std::array<std::string_view, 12> kPhases{"",           "Pending",    "Starting", "Running",
                                                   "Scaling",    "Restarting", "Aborting", "Aborted",
                                                   "Completing", "Completed",  "Failed",   "Terminating"};

// What a condition says for good; the text of Translated is about what was found, the others' about how long it takes.
template <class Condition>
bool SameCondition(const Condition& a, const Condition& b) {
  return a.type == b.type && a.status == b.status && a.reason == b.reason &&
         (a.type != "Translated" || a.message == b.message);
}

template <class Conditions>
bool SameConditions(const Conditions& a, const Conditions& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!SameCondition(a[i], b[i])) return false;
  }
  return true;
}

bool OnlyDetails(const api::paddle::PaddleJobStatus& a, const api::paddle::PaddleJobStatus& b) {
  return a.phase == b.phase && a.mode == b.mode && a.queue == b.queue && a.elastic == b.elastic &&
         a.restarts == b.restarts && a.start_time == b.start_time && a.completion_time == b.completion_time &&
         a.observed_generation == b.observed_generation && SameConditions(a.conditions, b.conditions);
}

bool OnlyDetails(const api::paddle::kubeflow::JobStatus& a, const api::paddle::kubeflow::JobStatus& b) {
  return a.start_time == b.start_time && a.completion_time == b.completion_time &&
         SameConditions(a.conditions, b.conditions);
}

template <class Status>
StatusChange Difference(const Status& from, const Status& to) {
  StatusChange change;
  const std::string was = api::Encode(from), is = api::Encode(to);
  if (was == is) return change;  // as almost always
  const absl::StatusOr<std::string> diff = api::MergePatchDiff(was, is);
  if (!diff.ok()) return change;  // both are objects that we encoded
  api::JsonWriter(change.patch).BeginObject().RawField("status", *diff).EndObject();
  change.details_only = OnlyDetails(from, to);
  return change;
}

}  // namespace

std::string_view PhaseName(Phase phase) { return kPhases[static_cast<std::size_t>(phase)]; }

Phase ParsePhase(std::string_view text) {
  for (std::size_t i = 1; i < kPhases.size(); ++i) {
    if (kPhases[i] == text) return static_cast<Phase>(i);
  }
  return Phase::kNone;
}

api::Time SecondOf(absl::Time time) { return api::Time{absl::FromUnixSeconds(absl::ToUnixSeconds(time))}; }

Progress ReadProgress(const PaddleJobView& seen) {
  return seen.job != nullptr ? ReadPaddleStatus(seen.job->status) : ReadKubeflowStatus(seen.kubeflow_job->status);
}

StatusChange ChangeOfStatus(const PaddleJobView& seen, const Progress& to, absl::Time now) {
  if (seen.job != nullptr)
    return Difference(seen.job->status, PaddleStatusOf(seen.job->status, to, seen.job->metadata, now));
  return Difference(seen.kubeflow_job->status,
                    KubeflowStatusOf(seen.kubeflow_job->status, to, seen.kubeflow_job->metadata, now));
}

}  // namespace gangway::paddle_lifecycle
