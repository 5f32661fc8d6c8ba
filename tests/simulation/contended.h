// More work than room: what users do to a small cluster, drawn from tables. Each job alone fits the cluster and ends, so all of them do.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "sandbox/kubelet/node_shape.h"
#include "tests/simulation/life.h"

namespace gangway::testutil {

struct UserStep {
  absl::Duration at;
  UserRequest request;
};

struct Contention {
  std::vector<sandbox::SimulatedNode> nodes;
  std::vector<UserStep> steps;  // by time; some come too late, and are refused
  std::size_t jobs = 0;         // that are made
};

Contention DrawContention(std::uint64_t seed);

}  // namespace gangway::testutil
