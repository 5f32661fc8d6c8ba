// More work than room: what users do to a small cluster, drawn from tables. Each job alone fits the cluster and ends,
// so all of them do.
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

// What is done about one job, pod or node: left out as a whole when a history is shrunk.
struct Doing {
  std::string text;             // "1.2s user: job-3, ..."
  std::vector<UserStep> steps;  // some come too late, and are refused
  bool makes_job = false;
};

struct Contention {
  std::vector<sandbox::SimulatedNode> nodes;
  std::vector<UserRequest> before;  // queues, priority classes, HyperNodes, storage
  std::vector<Doing> doings;
  std::vector<std::string> finish;  // of pods that do not say it themselves (sandbox/kubelet/behaviour.h)
};

// `placed`: most jobs ask where their pods lie: near and apart, spread, by volumes, in HyperNodes; these change, too.
// `still`: neither nodes nor HyperNodes do.
Contention DrawContention(std::uint64_t seed, bool placed, bool still);
// Queues that are promised something and compete for the rest, priorities, and jobs that come in waves, some of which
// may not be evicted, or not at once.
Contention DrawRanked(std::uint64_t seed);
// Room must be gathered: what is free lies in pieces, so that gangs are moved where they may be, and a stream of small
// jobs comes past large ones that wait for many pods to end. `many`: more come for whom others are moved, and do not
// stay for long.
Contention DrawPieces(std::uint64_t seed, bool many);

// Users delete pods of gangs that run, while others wait for the room, and while no node takes anybody.
Contention DrawLosing(std::uint64_t seed);
// The same jobs come again, and take longer, or not as long, while nodes are kept for a large one.
Contention DrawRepeating(std::uint64_t seed);

}  // namespace gangway::testutil
