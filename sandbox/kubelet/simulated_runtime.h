// Containers that are only played: they start, write and end as Behaviour says.
#pragma once

#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "sandbox/kubelet/behaviour.h"
#include "sandbox/kubelet/pod_runtime.h"

namespace gangway::sandbox {

class SimulatedRuntime final : public PodRuntime {
 public:
  SimulatedRuntime(Behaviour behaviour, const KubeletTimes& times) : behaviour_(std::move(behaviour)), times_(times) {}

  absl::string_view name() const override { return kSimulated; }
  kube::Plan Sync(const PodView& view, absl::Time now) override;
  void See(const HostedPod&) override {}
  void Forget(const HostedPod& pod) override { memory_.erase(pod.metadata.uid); }
  absl::StatusOr<ContainerLog> Log(const HostedPod& pod, absl::string_view container, bool previous) const override;
  absl::Status CheckStream(const HostedPod& pod, absl::string_view container) const override;
  absl::StatusOr<std::unique_ptr<ContainerStream>> Exec(const HostedPod& pod, const ExecOrder& order,
                                                        StreamEvents events) override;
  absl::StatusOr<std::unique_ptr<ContainerStream>> Dial(const HostedPod& pod, int port, StreamEvents events) override;

 private:
  const Behaviour behaviour_;
  const KubeletTimes times_;
  absl::flat_hash_map<std::string, PodMemory> memory_;  // by UID
};

}  // namespace gangway::sandbox
