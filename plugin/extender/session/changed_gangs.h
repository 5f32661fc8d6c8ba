// Which gangs a plan judges otherwise than the one before: what there is to say of it.
#pragma once

#include <vector>

#include "plugin/extender/session/session_plan.h"

namespace gangway::extender {

// By job; of `before` null, and of gangs that it does not know, those that are kept out or wait.
std::vector<const PlannedGang*> ChangedGangs(const SessionPlan* before, const SessionPlan& plan);
// A line for each, at most so many.
inline constexpr std::size_t kMaxToldGangs = 100;
void LogChanges(const SessionPlan* before, const SessionPlan& plan);

}  // namespace gangway::extender
