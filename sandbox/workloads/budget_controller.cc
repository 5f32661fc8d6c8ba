#include "sandbox/workloads/budget_controller.h"

#include <memory>
#include <utility>
#include <vector>

#include "api/resource.h"
#include "base/strings.h"
#include "sandbox/kubelet/free_of_charge.h"

namespace gangway::sandbox {

using api::NamespacedName;

BudgetController::BudgetController(Loop& loop, kube::Client& client)
    : budgets_(loop, client, api::kPodDisruptionBudgets, {}),
      deployments_(loop, client, api::kDeployments, {}),
      sets_(loop, client, api::kReplicaSets, {}),
      pods_(loop, client, api::kPods, {}),
      recorder_(loop, client, EventsFreeOfCharge("controllermanager")),
      driver_(loop, client, recorder_, WritesFreeOfCharge("disruption"),
              [this](const NamespacedName& key, absl::Time now) { return Decide(key, now); }) {}

void BudgetController::Start() {
  driver_.Hold();
  driver_.SetOnReply(
      [this](const kube::Write& write, const kube::Response& response) { budgets_.ObserveReply(write, response); });
  budgets_.Start(
      [this](const NamespacedName& key, const auto&, const auto&) {
        driver_.Enqueue(key);
        if (!std::exchange(looks_, true)) Look();
      },
      [this] { Release(); });
}

void BudgetController::Look() {
  for (kube::Informer<Workload>* const workloads : {&deployments_, &sets_}) {
    workloads->Start([this](const NamespacedName&, const auto&, const auto&) { EnqueueAll(); }, [this] { Release(); });
  }
  pods_.Start(
      [this](const NamespacedName&, const auto& before, const auto& after) {
        for (const auto& pod : {before, after}) {
          if (pod != nullptr) EnqueueThoseOf(*pod);
        }
      },
      [this] { Release(); });
}

void BudgetController::Release() {
  if (budgets_.synced() && deployments_.synced() && sets_.synced() && pods_.synced()) driver_.Release();
}

void BudgetController::EnqueueAll() {
  budgets_.ForEach([this](const NamespacedName& key, const auto&) { driver_.Enqueue(key); });
}

void BudgetController::EnqueueThoseOf(const api::core::Pod& pod) {
  budgets_.ForEach([&](const NamespacedName& key, const std::shared_ptr<const Budget>& budget) {
    if (IsAbout(*budget, pod)) driver_.Enqueue(key);
  });
}

std::optional<Scale> BudgetController::ScaleOf(const api::core::Pod& pod) const {
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
  std::vector<std::shared_ptr<const api::core::Pod>> pods;
  pods_.ForEach([&](const NamespacedName&, const std::shared_ptr<const api::core::Pod>& pod) {
    if (IsAbout(*budget, *pod)) pods.push_back(pod);
  });
  return SyncBudget(*budget, pods, [this](const api::core::Pod& pod) { return ScaleOf(pod); }, now);
}

}  // namespace gangway::sandbox
