// The body of onSessionOpen as a Cluster: {"Jobs","Nodes","Queues",...}, Volcano's own structs as Go writes them.
// volcano: pkg/scheduler/plugins/extender, OnSessionOpenRequest
//
// Each pod stands in it four or five times and is read once: from its job's Tasks, or, of a job that is not listed,
// from its node's. What else is not needed is stepped over. Keys are found as encoding/json finds them; unknown ones
// are ignored, of those that stand twice the last counts, null is nothing.
//
// Claims and their volumes, labels of namespaces, budgets and HyperNodes are in no session. Pure.
#pragma once

#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "plugin/extender/session/retold_cluster.h"
#include "plugin/model/cluster.h"

namespace gangway::extender {

// Of one session; beyond: ResourceExhausted.
struct SessionLimits {
  std::size_t max_jobs = 100'000, max_nodes = 50'000, max_queues = 10'000, max_tasks = 1'000'000, max_quotas = 100'000;
};

// Between Begin and End. InvalidArgument begins with the path of what is wrong, `Jobs["ads/ctr"].Tasks["0b1f"].Status:
// 3 is no task status`; the cluster holds then what came before it.
absl::Status DecodeSession(absl::string_view body, const SessionLimits& limits, RetoldCluster& cluster);
// Into a fresh cluster.
absl::Status DecodeSession(absl::string_view body, const SessionLimits& limits, model::Cluster& cluster);

}  // namespace gangway::extender
