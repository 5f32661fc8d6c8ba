// Tasks that wait for others (spec: volcano-job 4.4).
#pragma once

#include <string>

#include "absl/container/btree_set.h"
#include "plugin/lifecycle/roster.h"

namespace gangway::lifecycle {

// Whether the task's pods may be made now: all that it depends on is ready, or, with iteration "any" and several names, one of them.
// A dependency is ready when minAvailable of its pods have succeeded or run with every container ready.
bool GateOpen(const Roster& roster, const TaskPods& task);

// The names of tasks whose gate is closed and that have no pods.
absl::btree_set<std::string> ClosedTasks(const Roster& roster);

}  // namespace gangway::lifecycle
