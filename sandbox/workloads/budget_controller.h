// The controller of PodDisruptionBudgets of the embedded cluster. Pods are not looked at before there is a budget.
#pragma once

#include <optional>

#include "base/loop.h"
#include "kube/client/client.h"
#include "kube/runtime/driver.h"
#include "kube/runtime/informer.h"
#include "kube/runtime/recorder.h"
#include "sandbox/workloads/sync_budget.h"

namespace gangway::sandbox {

// Used on its loop.
class BudgetController {
 public:
  BudgetController(Loop& loop, kube::Client& client);
  BudgetController(const BudgetController&) = delete;
  BudgetController& operator=(const BudgetController&) = delete;

  void Start();

 private:
  // Everything that a budget depends on.
  void Look();
  void Release();
  void EnqueueAll();
  void EnqueueThoseOf(const api::core::Pod& pod);
  // What the Deployment or the ReplicaSet that controls the pod asks for.
  std::optional<Scale> ScaleOf(const api::core::Pod& pod) const;
  kube::Plan Decide(const api::NamespacedName& key, absl::Time now);

  kube::Informer<Budget> budgets_;
  kube::Informer<Workload> deployments_, sets_;
  kube::Informer<api::core::Pod> pods_;
  kube::Recorder recorder_;
  kube::Driver driver_;
  bool looks_ = false;
};

}  // namespace gangway::sandbox
