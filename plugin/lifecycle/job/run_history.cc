#include "plugin/lifecycle/job/run_history.h"

#include <algorithm>
#include <utility>

#include "api/field_table.h"
#include "base/hash.h"
#include "plugin/lifecycle/words.h"

namespace gangway::lifecycle {

using api::volcano::Job;

std::optional<absl::Duration> HowLongItRan(const Job& job) {
  if (ParsePhase(job.status.state.phase) != JobPhase::kCompleted || !job.status.state.last_transition_time.set())
    return std::nullopt;
  const auto ran = std::find_if(job.status.conditions.begin(), job.status.conditions.end(), [](const auto& condition) {
    return condition.status == NameOf(JobPhase::kRunning) && condition.last_transition_time.set();
  });
  if (ran == job.status.conditions.end()) return std::nullopt;
  // Both times are cut to seconds.
  const absl::Duration took = job.status.state.last_transition_time.at - ran->last_transition_time.at;
  if (took < absl::ZeroDuration()) return std::nullopt;
  return took + absl::Seconds(1);
}

RunHistory::Work RunHistory::WorkOf(const Job& job) { return {job.metadata.ns, StableHash(api::Encode(job.spec))}; }

void RunHistory::Put(const api::NamespacedName& key, const Job* job) {
  const auto known = runs_.find(key);
  if (known != runs_.end()) {
    // What has Completed stays as it is.
    if (job != nullptr && job->metadata.uid == known->second.uid) return;
    const auto same = by_work_.find(known->second.work);
    same->second.erase({known->second.ended, key.name});
    if (same->second.empty()) by_work_.erase(same);
    runs_.erase(known);
  }
  const std::optional<absl::Duration> took = job == nullptr ? std::nullopt : HowLongItRan(*job);
  if (!took.has_value()) return;
  Run run{WorkOf(*job), job->metadata.uid, job->status.state.last_transition_time.at, *took};
  by_work_[run.work].emplace(run.ended, key.name);
  runs_.emplace(key, std::move(run));
}

api::volcano::PastRuns RunHistory::Before(const Job& job) const {
  api::volcano::PastRuns past;
  if (by_work_.empty()) return past;
  const auto same = by_work_.find(WorkOf(job));
  if (same == by_work_.end()) return past;
  for (auto it = same->second.rbegin(); it != same->second.rend() && past.runs < static_cast<int>(kCounts); ++it) {
    const Run& run = runs_.at({job.metadata.ns, std::get<1>(*it)});
    if (run.uid == job.metadata.uid) continue;
    ++past.runs;
    past.longest = std::max(past.longest, run.took);
  }
  return past;
}

}  // namespace gangway::lifecycle
