// The controllers of Deployments and ReplicaSets of the embedded cluster.
#pragma once

#include "kube/runtime/component.h"
#include "sandbox/kubelet/hosted_pod.h"
#include "sandbox/workloads/sync_workloads.h"

namespace gangway::sandbox {

class WorkloadController final : public kube::Component {
 public:
  explicit WorkloadController(kube::Informers& informers);

 private:
  kube::Plan DecideSet(const api::NamespacedName& key);
  kube::Plan DecideDeployment(const api::NamespacedName& key, absl::Time now);
  void OnSet(const api::NamespacedName& key, const Workload* before, const Workload* after);
  void OnPod(const HostedPod* before, const HostedPod* after);
  void Wake() override;

  kube::Informer<Workload>&deployments_, &sets_;
  kube::Informer<HostedPod>& pods_;
  kube::Driver &set_driver_, &deployment_driver_;
};

}  // namespace gangway::sandbox
