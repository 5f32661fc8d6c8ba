#include "plugin/scheduler/release.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/counted.h"
#include "plugin/gang/minimum.h"

namespace gangway::scheduler {

using model::Cluster;
using model::Gang;
using model::Task;
using model::TaskStatus;

bool IsHalfBound(const Cluster& cluster, const Gang& gang) {
  const int bound = gang.Count(TaskStatus::kBound) + gang.Count(TaskStatus::kRunning);
  return !gang.was_whole && bound > 0 && !gang::HasMinimum(cluster, gang, gang::IsBoundOrDone);
}

std::optional<Leftovers> FindLeftovers(const Cluster& cluster, model::GangId id) {
  const Gang& gang = cluster.gang(id);
  if (!IsHalfBound(cluster, gang) || gang.Count(TaskStatus::kBinding) > 0) return std::nullopt;
  Leftovers leftovers;
  for (const model::TaskId task_id : gang.tasks) {
    const Task& task = cluster.task(task_id);
    if (task.status == TaskStatus::kRunning) {
      ++leftovers.running;
    } else if (task.status == TaskStatus::kBound && task.controlled && task.ours) {
      leftovers.released.push_back(task_id);
    } else if (task.status == TaskStatus::kBound) {
      leftovers.staying.push_back(task.name);
    }
  }
  std::sort(leftovers.released.begin(), leftovers.released.end(),
            [&](model::TaskId a, model::TaskId b) { return cluster.task(a).name < cluster.task(b).name; });
  std::sort(leftovers.staying.begin(), leftovers.staying.end());
  return leftovers;
}

std::string ReleaseSentence(const Gang& gang, const Leftovers& leftovers, absl::Duration release_after,
                            absl::string_view waits) {
  std::string text;
  if (!leftovers.released.empty())
    text = absl::StrCat("released ", leftovers.released.size(), " of ", gang.min_member, " tasks: ");
  absl::StrAppend(&text, "the gang did not become whole within ", absl::FormatDuration(release_after));
  if (!waits.empty()) absl::StrAppend(&text, ", it ", waits);
  if (leftovers.running > 0) {
    absl::StrAppend(&text, "; ", leftovers.running,
                    leftovers.running == 1 ? " task runs and stays" : " tasks run and stay");
  }
  if (!leftovers.staying.empty()) {
    const std::size_t count = leftovers.staying.size();
    absl::StrAppend(&text, "; ", Counted(count, "pod"), " without a controller ",
                    count == 1 ? "stays: " : "stay: ", absl::StrJoin(leftovers.staying, ", "));
  }
  return text;
}

}  // namespace gangway::scheduler
