#include "plugin/gang/later_going.h"

#include <algorithm>

#include "plugin/gang/lost_member.h"
#include "plugin/gang/minimum.h"
#include "plugin/gang/preemptor.h"

namespace gangway::gang {

std::optional<absl::Time> LaterGoing::From(model::GangId id, absl::Time from) const {
  const model::Gang& gang = cluster_.gang(id);
  if (IsInGrace(cluster_, tree_, policy_, gang, now_)) from = std::max(from, GraceEnds(cluster_, tree_, policy_, gang));
  const absl::Duration min_runtime = MinRuntimeOf(cluster_, tree_, gang.queue);
  bool some = false;
  for (const model::TaskId task_id : gang.tasks) {
    const model::Task& task = cluster_.task(task_id);
    if (IsBoundOrDone(task) && task.holds_room() && !task.evicted) from = std::max(from, MayGoFrom(task, min_runtime));
    if (!victims_.CanGo(task)) continue;
    some = true;
    if (!victims_.IsEvictable(task) || (asks_for_nothing_ && !AsksForNothing(cluster_.shape(task.shape).request)))
      return std::nullopt;
  }
  return some && from > now_ && from != absl::InfiniteFuture() ? std::optional(from) : std::nullopt;
}

Bundle LaterGoing::WholeOf(model::GangId id) const {
  Bundle whole{id, true, {}, {}, 0};
  for (const model::TaskId task : cluster_.gang(id).tasks) {
    if (!victims_.CanGo(cluster_.task(task))) continue;
    whole.tasks.push_back(task);
    whole.amounts.Add(cluster_.shape(cluster_.task(task).shape).request);
  }
  return whole;
}

}  // namespace gangway::gang
