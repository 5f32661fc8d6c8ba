// A snapshot as the scheduler's facts, with the pods that its Jobs' controllers have not made yet. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cmd/snapshot/file/snapshot.h"
#include "plugin/explain/cluster_facts.h"
#include "plugin/lifecycle/job/pod_group.h"
#include "plugin/lifecycle/job/run_history.h"
#include "plugin/simulate/simulate.h"

namespace gangway::cmd {

struct SnapshotCluster {
  explain::ClusterFacts facts;
  std::vector<simulate::Arrival> without_group;  // Jobs that have no PodGroup yet
  lifecycle::PriorityClasses classes;
  lifecycle::RunHistory history;
  std::map<std::string, std::string> job_of;  // by "namespace/podgroup"
  std::size_t jobs = 0;
};

// InvalidArgument: an object does not decode, with its name.
absl::StatusOr<SnapshotCluster> ClusterOf(const snapshot::Snapshot& snapshot, absl::string_view scheduler_name);

}  // namespace gangway::cmd
