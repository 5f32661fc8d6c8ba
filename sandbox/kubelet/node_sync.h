// What becomes of a node whose kubelet falls silent: Ready turns Unknown, then the unreachable taint, then its pods are
// asked to go (Kubernetes: node lifecycle controller). Pure.
//
// A simulated node falls silent by the annotation sandbox.gangway.io/lost: "true" and is back when that is gone. Its
// pods stay Terminating until then or until the Node object is deleted, as on a real cluster.
#pragma once

#include <optional>

#include "absl/time/time.h"
#include "api/core/node.h"
#include "kube/plan/plan.h"
#include "sandbox/kubelet/hosted_pod.h"

namespace gangway::sandbox {

inline constexpr absl::string_view kLostAnnotation = "sandbox.gangway.io/lost";

struct NodeTimes {
  absl::Duration grace = absl::Seconds(40);  // from the last heartbeat to Ready=Unknown
  absl::Duration eviction =
      absl::Seconds(300);  // from the taint to the deletion of pods that do not say (tolerationSeconds)
};

struct NodeMemory {
  std::optional<absl::Time> lost;  // since when
};

bool IsLost(const api::core::Node& node);

// The node's condition first, its taints in the next pass.
kube::Plan SyncNode(const api::core::Node& node, const NodeTimes& times, NodeMemory& memory, absl::Time now);

// When a pod of an unreachable node is to be deleted; `tainted`: since when it has the taint. InfiniteFuture: it
// tolerates it.
absl::Time EvictionTime(const HostedPod& pod, absl::Time tainted, const NodeTimes& times);

}  // namespace gangway::sandbox
