// Other ways to schedule gangs, for comparison. All fill the fullest node that has room, unless they say otherwise.
#pragma once

#include <memory>
#include <optional>

#include "tests/day/day.h"

namespace gangway::day {

// Whole gangs, urgent ones first, then who came first. `passing`: who does not fit is passed by those that do; else all
// wait behind it.
std::unique_ptr<Scheduler> FirstComeFirstServed(const Workload& workload, bool passing);

// A pod at a time, as Kubernetes' scheduler without anything for gangs: pods of higher priority first, then who came
// first; pods that do not fit are passed. A gang holds what it has until all of it has nodes; when that takes longer
// than `gives_back` since its first pod had one, it gives all back and goes to the end of the line; absent: never.
std::unique_ptr<Scheduler> TaskByTask(const Workload& workload, std::optional<Seconds> gives_back);

// Volcano's sessions, a second apart, with the actions of its default configuration (enqueue, allocate, backfill) and
// the plugins priority, gang, overcommit (1.2), drf and proportion, for jobs all of whose pods are their minimum.
// `packs`: binpack counts GPUs above all else; else as its chart has it, where nodeorder's leastrequested and binpack's
// cpu and memory weigh each other up and of the nodes with room any is taken.
//
// volcano: actions/enqueue, actions/allocate, plugins/overcommit, plugins/proportion
std::unique_ptr<Scheduler> VolcanoSessions(const Workload& workload, bool packs);

}  // namespace gangway::day
