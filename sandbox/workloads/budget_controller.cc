#include "sandbox/workloads/budget_controller.h"

#include <memory>
#include <vector>

#include "api/resource.h"
#include "base/strings.h"
#include "sandbox/kubelet/free_of_charge.h"

namespace gangway::sandbox {

using api::NamespacedName;

BudgetController::BudgetController(kube::Informers& informers)
    : Component(informers, FreeOfCharge("controllermanager")),
      budgets_(Watch<Budget>(api::kPodDisruptionBudgets, {},
                             [this](const NamespacedName& key, const auto&, const auto&) { driver_.Enqueue(key); })),
      deployments_(
          Watch<Workload>(api::kDeployments, {}, [this](const auto&, const auto&, const auto&) { EnqueueAll(); })),
      sets_(Watch<Workload>(api::kReplicaSets, {}, [this](const auto&, const auto&, const auto&) { EnqueueAll(); })),
      pods_(Watch<HostedPod>(
          api::kPods, {},
          [this](const NamespacedName&, const auto& before, const auto& after) { OnPod(before.get(), after.get()); })),
      driver_(Drive("disruption", [this](const NamespacedName& key, absl::Time now) { return Decide(key, now); })) {}

void BudgetController::OnPod(const HostedPod* before, const HostedPod* after) {
  for (const HostedPod* const pod : {before, after}) {
    if (pod != nullptr) EnqueueThoseOf(*pod);
  }
}

void BudgetController::EnqueueAll() {
  budgets_.ForEach([this](const NamespacedName& key, const auto&) { driver_.Enqueue(key); });
}

void BudgetController::EnqueueThoseOf(const HostedPod& pod) {
  budgets_.ForEach([&](const NamespacedName& key, const std::shared_ptr<const Budget>& budget) {
    if (IsAbout(*budget, pod)) driver_.Enqueue(key);
  });
}

std::optional<Scale> BudgetController::ScaleOf(const HostedPod& pod) const {
  const api::OwnerReference* const of_pod = pod.metadata.Controller();
  if (of_pod == nullptr || of_pod->kind != View(api::kReplicaSets.kind)) return std::nullopt;
  const auto set = sets_.Get({pod.metadata.ns, of_pod->name});
  if (set == nullptr || set->metadata.uid != of_pod->uid) return std::nullopt;
  const api::OwnerReference* const of_set = set->metadata.Controller();
  if (of_set == nullptr) return Scale{set->metadata.uid, set->wanted()};
  const auto deployment = deployments_.Get({pod.metadata.ns, of_set->name});
  if (deployment == nullptr || deployment->metadata.uid != of_set->uid) return std::nullopt;
  return Scale{deployment->metadata.uid, deployment->wanted()};
}

kube::Plan BudgetController::Decide(const NamespacedName& key, absl::Time now) {
  const auto budget = budgets_.Get(key);
  if (budget == nullptr) return kube::Plan();
  std::vector<std::shared_ptr<const HostedPod>> pods;
  pods_.ForEach([&](const NamespacedName&, const std::shared_ptr<const HostedPod>& pod) {
    if (IsAbout(*budget, *pod)) pods.push_back(pod);
  });
  return SyncBudget(*budget, pods, [this](const HostedPod& pod) { return ScaleOf(pod); }, now);
}

}  // namespace gangway::sandbox
