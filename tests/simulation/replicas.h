// Two processes of one kind, of which one at a time should lead, and which are stopped now and then: the one that leads finds, when it
// goes on, that the other does.
#pragma once

#include <memory>

#include "absl/time/time.h"
#include "base/loop.h"
#include "sandbox/cluster/cluster.h"

namespace gangway::testutil {

struct ReplicaOptions {
  sandbox::Component component = sandbox::Component::kControllers;  // or kScheduler
  // As in a cluster: a lease says who leads, and no write leaves a process whose lease may have ended (kube/client/write_fence.h). Without,
  // both believe that they lead, always.
  bool fenced = true;
  // Each is stopped once in every `period` on average, for at most `longest`, until `calm` has passed.
  absl::Duration period = absl::Seconds(20), longest = absl::Seconds(40), calm = absl::Minutes(3);
};

// Chance comes from the loop. Kept until the end.
std::shared_ptr<void> MakeReplicas(Loop& loop, sandbox::Cluster& cluster, ReplicaOptions options);

}  // namespace gangway::testutil
