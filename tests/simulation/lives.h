// The lives that faults are tried on: each policy, action, command and kind of object at least once.
#pragma once

#include <vector>

#include "tests/simulation/life.h"

namespace gangway::testutil {

std::vector<Life> AllLives();
// Of PaddleJobs: what their controller writes goes wrong.
std::vector<Life> PaddleLives();

}  // namespace gangway::testutil
