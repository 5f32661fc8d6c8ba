// A policy that may change while the scheduler runs. Used on the scheduler's loop.
#pragma once

#include "base/live.h"
#include "plugin/gang/policy.h"

namespace gangway::scheduler {

using LivePolicy = Live<gang::Policy>;

}  // namespace gangway::scheduler
