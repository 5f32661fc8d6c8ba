// What a kubelet would do about one pod now: Pending -> ContainerCreating -> Running -> Succeeded or Failed, restarts
// with back-off, init containers, readiness, waiting for volumes and for the sources of the environment, and the end of
// a pod that is being deleted. The containers of a pod start together. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "kube/plan/plan.h"
#include "sandbox/kubelet/behaviour.h"
#include "sandbox/kubelet/hosted_pod.h"
#include "sandbox/kubelet/pod_sources.h"

namespace gangway::sandbox {

struct KubeletTimes {
  absl::Duration start = absl::Milliseconds(100);  // ContainerCreating
  absl::Duration stop = absl::Milliseconds(100);   // from the deletion to the containers' end, at most the grace period
  absl::Duration init = absl::Milliseconds(100);   // an init container's life
  // CrashLoopBackOff: doubles from the first to the second with each restart (kubelet: 10 s and 5 min).
  absl::Duration restart_backoff = absl::Seconds(10);
  absl::Duration max_restart_backoff = absl::Minutes(5);
  // A pod whose node is not there is removed after this long, as the pod garbage collector of Kubernetes does (40 s
  // there).
  absl::Duration orphan = absl::Seconds(5);
};

// What the pod's status cannot say: Kubernetes writes times in whole seconds. A kubelet that starts anew has none of it
// and goes by the status.
struct PodMemory {
  std::optional<absl::Time> created;      // when ContainerCreating or the running init container began
  std::optional<absl::Time> started;      // when the containers started last
  std::optional<absl::Time> ended;        // when they ended last
  std::optional<absl::Time> deleting;     // when the deletion was first seen
  std::optional<absl::Time> orphaned;     // when the node was first missed
  int forgiven = 0;                       // restarts before a run that was long (client-go: flowcontrol.Backoff)
  bool held = false;                      // something of its volumes is missing
  absl::flat_hash_set<std::string> told;  // what was said to be missing
  // Events that go with a status that is being written: they are told anew when somebody else's write came first.
  std::vector<kube::EventNote> unconfirmed;
  std::string written;
};

inline constexpr absl::string_view kSimulated = "simulated";  // what the IDs of simulated containers begin with

enum class NodeState { kAlive, kLost, kAbsent };  // kLost: nothing is heard of its kubelet

struct PodView {
  const HostedPod& pod;
  NodeState node = NodeState::kAlive;
  std::optional<RunOutcome> outcome;  // of simulated containers: Behaviour::For(pod)
  std::string pod_ip, host_ip;        // to be given to the pod when it starts
  MissingSources missing = {};        // of what its containers need of other objects
  // Those objects, and what the node has for pods; a simulated container has no use for them.
  const SourceLookup* sources = nullptr;
  const api::ResourceList* allocatable = nullptr;
};

// `memory` is updated with what happens now; it speaks of this pod's UID alone.
kube::Plan SyncPod(const PodView& view, const KubeletTimes& times, PodMemory& memory, absl::Time now);

}  // namespace gangway::sandbox
