// What a kubelet asks of whoever runs its pods' containers. Two there are: containers that are only played
// (simulated_runtime.h), and processes of this machine (sandbox/process).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/meta.h"
#include "kube/plan/plan.h"
#include "kube/runtime/informers.h"
#include "sandbox/kubelet/container_log.h"
#include "sandbox/kubelet/container_stream.h"
#include "sandbox/kubelet/hosted_pod.h"
#include "sandbox/kubelet/pod_sync.h"

namespace gangway::sandbox {

// Used on the kubelets' loop.
class PodRuntime {
 public:
  virtual ~PodRuntime() = default;

  // What the IDs of its containers begin with: "simulated".
  virtual absl::string_view name() const = 0;
  // Brings the pod's containers nearer to what the pod says now, and answers what is to be written of them. Called
  // again at the plan's look_again, and whenever the pod, what it needs, or its containers have changed.
  virtual kube::Plan Sync(const PodView& view, absl::Time now) = 0;
  // A pod that has a node, as it is now.
  virtual void See(const HostedPod& pod) = 0;
  // It is gone: nothing of it is needed any more.
  virtual void Forget(const HostedPod& pod) = 0;
  // The log of a container, as LogOf has it.
  virtual absl::StatusOr<ContainerLog> Log(const HostedPod& pod, absl::string_view container, bool previous) const = 0;
  // Whether a stream to a container, or with "" to the network of its pod, can be had: InvalidArgument when it does not
  // run, Unimplemented when it is only played.
  virtual absl::Status CheckStream(const HostedPod& pod, absl::string_view container) const = 0;
  // The same errors. What goes wrong later is told by the stream.
  virtual absl::StatusOr<std::unique_ptr<ContainerStream>> Exec(const HostedPod& pod, const ExecOrder& order,
                                                                StreamEvents events) = 0;
  virtual absl::StatusOr<std::unique_ptr<ContainerStream>> Dial(const HostedPod& pod, int port,
                                                                StreamEvents events) = 0;
};

// Called, on the loop, when something happened to the containers of a pod: `changed`, or they only wrote something.
using OnContainers = std::function<void(const api::NamespacedName& pod, const std::string& uid, bool changed)>;
// Made before the informers start, which it may share.
using MakePodRuntime = std::function<std::unique_ptr<PodRuntime>(kube::Informers&, OnContainers)>;

}  // namespace gangway::sandbox
