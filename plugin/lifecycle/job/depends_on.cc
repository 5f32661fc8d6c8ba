#include "plugin/lifecycle/job/depends_on.h"

#include <algorithm>

namespace gangway::lifecycle {
namespace {

bool Stays(const Slot& slot) { return slot.pod != nullptr && !slot.foreign && !slot.leaving; }

bool Ready(const TaskPods& task) {
  if (!task.spec->min_available) return true;
  std::int32_t ready = 0;
  for (const Slot& slot : task.slots) {
    if (!Stays(slot)) continue;
    if (slot.pod->phase == PodPhase::kSucceeded || (slot.pod->phase == PodPhase::kRunning && slot.pod->ready)) ++ready;
  }
  return ready >= *task.spec->min_available;
}

// A name that is no task of the Job holds nobody up; admission refuses it.
bool Ready(const Roster& roster, const std::string& name) {
  for (const TaskPods& task : roster.tasks) {
    if (task.spec->name == name) return Ready(task);
  }
  return true;
}

}  // namespace

bool GateOpen(const Roster& roster, const TaskPods& task) {
  if (!task.spec->depends_on) return true;
  const std::vector<std::string>& names = task.spec->depends_on->name;
  const auto ready = [&](const std::string& name) { return Ready(roster, name); };
  if (names.size() > 1 && task.spec->depends_on->iteration == "any")
    return std::any_of(names.begin(), names.end(), ready);
  return std::all_of(names.begin(), names.end(), ready);
}

absl::btree_map<std::string, std::int32_t> ClosedTasks(const Roster& roster) {
  absl::btree_map<std::string, std::int32_t> closed;
  for (const TaskPods& task : roster.tasks) {
    if (!GateOpen(roster, task))
      closed[task.spec->name] = static_cast<std::int32_t>(std::count_if(task.slots.begin(), task.slots.end(), Stays));
  }
  return closed;
}

}  // namespace gangway::lifecycle
