#include "plugin/scheduler/release.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace gangway::scheduler {

using model::Cluster;
using model::Gang;
using model::GangPhase;
using model::Task;
using model::TaskStatus;

std::optional<Leftovers> FindLeftovers(const Cluster& cluster, model::GangId id) {
  const Gang& gang = cluster.gang(id);
  switch (gang.phase) {
    case GangPhase::kRunning:
    case GangPhase::kUnknown:
    case GangPhase::kCompleted:
      return std::nullopt;
    case GangPhase::kNone:
    case GangPhase::kPending:
    case GangPhase::kInqueue:
      break;
  }
  const int bound = gang.Count(TaskStatus::kBound) + gang.Count(TaskStatus::kRunning);
  if (bound == 0 || gang.ready() >= gang.min_member || gang.Count(TaskStatus::kBinding) > 0) return std::nullopt;
  Leftovers leftovers;
  for (const model::TaskId task_id : gang.tasks) {
    const Task& task = cluster.task(task_id);
    if (task.status != TaskStatus::kBound && task.status != TaskStatus::kRunning) continue;
    leftovers.latest_binding = std::max(leftovers.latest_binding, task.bound_at);
    if (task.controlled && task.ours) {
      leftovers.released.push_back(task_id);
    } else {
      leftovers.staying.push_back(task.name);
    }
  }
  std::sort(leftovers.released.begin(), leftovers.released.end(),
            [&](model::TaskId a, model::TaskId b) { return cluster.task(a).name < cluster.task(b).name; });
  std::sort(leftovers.staying.begin(), leftovers.staying.end());
  return leftovers;
}

std::string ReleaseSentence(const Gang& gang, const Leftovers& leftovers, absl::Duration release_after) {
  std::string text;
  const int missing = gang.min_member - gang.ready();
  const std::string why = absl::StrCat("the other ", missing, " found no node within ", absl::FormatDuration(release_after));
  if (!leftovers.released.empty()) {
    text = absl::StrCat("released ", leftovers.released.size(), " of ", gang.min_member, " tasks: ", why);
  }
  if (!leftovers.staying.empty()) {
    const std::size_t count = leftovers.staying.size();
    absl::StrAppend(&text, text.empty() ? absl::StrCat(why, "; ") : "; ", count, count == 1 ? " pod" : " pods",
                    " without a controller ", count == 1 ? "stays: " : "stay: ", absl::StrJoin(leftovers.staying, ", "));
  }
  return text;
}

}  // namespace gangway::scheduler
