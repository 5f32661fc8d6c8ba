// Tasks that wait for others (Volcano: pkg/controllers/job/job_controller_actions.go, waitDependsOnTaskMeetCondition).
#pragma once

#include <cstdint>
#include <string>

#include "absl/container/btree_map.h"
#include "plugin/lifecycle/job/roster.h"

namespace gangway::lifecycle {

// Whether the task's pods may be made now: all that it depends on is ready, or, with iteration "any" and several names,
// one of them. A dependency is ready when minAvailable of its pods have succeeded or run with every container ready,
// and stay: what a restart takes away opens no gate.
bool GateOpen(const Roster& roster, const TaskPods& task);

// The tasks whose gate is closed, with how many pods each has all the same, made when it was open: more it may not have
// now.
absl::btree_map<std::string, std::int32_t> ClosedTasks(const Roster& roster);

}  // namespace gangway::lifecycle
