// The controller of PodDisruptionBudgets of the embedded cluster.
#pragma once

#include <optional>

#include "kube/runtime/component.h"
#include "sandbox/kubelet/hosted_pod.h"
#include "sandbox/workloads/sync_budget.h"

namespace gangway::sandbox {

class BudgetController final : public kube::Component {
 public:
  explicit BudgetController(kube::Informers& informers);

 private:
  void EnqueueAll();
  void EnqueueThoseOf(const HostedPod& pod);
  void OnPod(const HostedPod* before, const HostedPod* after);
  // What the Deployment or the ReplicaSet that controls the pod asks for.
  std::optional<Scale> ScaleOf(const HostedPod& pod) const;
  kube::Plan Decide(const api::NamespacedName& key, absl::Time now);
  void Wake() override { EnqueueAll(); }

  kube::Informer<Budget>& budgets_;
  kube::Informer<Workload>&deployments_, &sets_;
  kube::Informer<HostedPod>& pods_;
  kube::Driver& driver_;
};

}  // namespace gangway::sandbox
