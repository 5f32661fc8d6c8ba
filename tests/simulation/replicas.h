// Two processes of one kind, of which one at a time should lead, and which are stopped now and then: the one that leads
// finds, when it goes on, that the other does.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/time/time.h"
#include "base/loop.h"
#include "sandbox/cluster/cluster.h"

namespace gangway::testutil {

// What is wrong with them on purpose.
enum class Leak {
  kNone,
  kPastTheFence,  // they lead by the lease, but writes go around the fence
  kGoesOn,        // and a process that has lost its lease does not end
};

struct ReplicaOptions {
  sandbox::Component component = sandbox::Component::kControllers;  // or kScheduler
  // As in a cluster: a lease says who leads, and no write leaves a process whose lease may have ended
  // (kube/client/write_fence.h). Without, both believe that they lead, always.
  bool fenced = true;
  Leak leak = Leak::kNone;
  // Each is stopped once in every `period` on average, for at most `longest`, until `calm` has passed.
  absl::Duration period = absl::Seconds(20), longest = absl::Seconds(40), calm = absl::Minutes(3);
  // When one is stopped, and for how long.
  std::function<void(absl::Duration)> on_pause = nullptr;
  // Of each of them; empty: none. `ahead` is how far its clock is off.
  std::function<sandbox::Faults(int replica)> faults = nullptr;
  std::function<absl::Duration(int replica)> ahead = nullptr;
};

class Replicas {
 public:
  virtual ~Replicas() = default;
  // False when it is not running, or is stopped already. Where the machine is `suspended`, its timers count no time
  // meanwhile.
  virtual bool Pause(int replica, absl::Duration time, bool suspended) = 0;
};

// What a replica calls itself in the lease begins with this.
std::string IdentityOf(int replica);

// Chance comes from the loop. Kept until the end.
std::shared_ptr<Replicas> MakeReplicas(Loop& loop, sandbox::Cluster& cluster, ReplicaOptions options);

}  // namespace gangway::testutil
