// Components that are wrong on purpose, to show that the checkers catch them.
#pragma once

#include <memory>

#include "base/loop.h"
#include "sandbox/cluster/cluster.h"

namespace gangway::testutil {

// Admits every gang and binds pods one by one. `looks_at_room` false: to any node, full or not; true: where a pod fits, whether
// or not the rest of its gang does.
std::shared_ptr<void> MakeNaiveScheduler(Loop& loop, sandbox::Cluster& cluster, bool looks_at_room);

// The real controllers, whose deletions of pods never reach the API server though they are told so.
std::shared_ptr<void> MakeControllersThatCannotDelete(Loop& loop, sandbox::Cluster& cluster);

}  // namespace gangway::testutil
