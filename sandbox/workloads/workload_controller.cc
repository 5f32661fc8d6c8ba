#include "sandbox/workloads/workload_controller.h"

#include <utility>

#include "api/resource.h"
#include "base/strings.h"
#include "sandbox/kubelet/free_of_charge.h"

namespace gangway::sandbox {
namespace {

using api::NamespacedName;

// Enqueues the controller of an object, when it is of that kind.
void EnqueueOwner(const api::ObjectMeta& of, const api::Resource& kind, kube::Driver& driver) {
  const api::OwnerReference* const owner = of.Controller();
  if (owner != nullptr && owner->kind == View(kind.kind)) driver.Enqueue({of.ns, owner->name});
}

template <class T>
std::vector<std::shared_ptr<const T>> OwnedBy(const api::ObjectMeta& owner, const kube::Informer<T>& all) {
  std::vector<std::shared_ptr<const T>> out;
  all.ForEach([&](const NamespacedName& key, const std::shared_ptr<const T>& each) {
    const api::OwnerReference* const reference = key.ns == owner.ns ? each->metadata.Controller() : nullptr;
    if (reference != nullptr && reference->uid == owner.uid) out.push_back(each);
  });
  return out;
}

}  // namespace

WorkloadController::WorkloadController(Loop& loop, kube::Client& client)
    : deployments_(loop, client, api::kDeployments, {}),
      sets_(loop, client, api::kReplicaSets, {}),
      pods_(loop, client, api::kPods, {}),
      recorder_(loop, client, EventsFreeOfCharge("deployment-controller")),
      set_driver_(loop, client, recorder_, WritesFreeOfCharge("replica-set"),
                  [this](const NamespacedName& key, absl::Time) { return DecideSet(key); }),
      deployment_driver_(loop, client, recorder_, WritesFreeOfCharge("deployment"),
                         [this](const NamespacedName& key, absl::Time now) { return DecideDeployment(key, now); }) {}

void WorkloadController::Start() {
  for (kube::Driver* driver : {&set_driver_, &deployment_driver_}) {
    driver->Hold();
    driver->SetOnReply([this](const kube::Write& write, const kube::Response& response) {
      deployments_.ObserveReply(write, response);
      sets_.ObserveReply(write, response);
      pods_.ObserveReply(write, response);
    });
  }
  deployments_.Start([this](const NamespacedName& key, const auto&, const auto&) { deployment_driver_.Enqueue(key); },
                     [this] { OnSynced(); });
  sets_.Start(
      [this](const NamespacedName& key, const auto& before, const auto& after) {
        set_driver_.Enqueue(key);
        for (const auto& set : {before, after})
          if (set != nullptr) EnqueueOwner(set->metadata, api::kDeployments, deployment_driver_);
      },
      [this] { OnSynced(); });
  pods_.Start(
      [this](const NamespacedName&, const auto& before, const auto& after) {
        for (const auto& pod : {before, after})
          if (pod != nullptr) EnqueueOwner(pod->metadata, api::kReplicaSets, set_driver_);
      },
      [this] { OnSynced(); });
}

void WorkloadController::OnSynced() {
  if (!deployments_.synced() || !sets_.synced() || !pods_.synced()) return;
  set_driver_.Release();
  deployment_driver_.Release();
}

kube::Plan WorkloadController::DecideSet(const NamespacedName& key) {
  const auto set = sets_.Get(key);
  return set == nullptr ? kube::Plan() : SyncReplicaSet(*set, OwnedBy(set->metadata, pods_));
}

kube::Plan WorkloadController::DecideDeployment(const NamespacedName& key, absl::Time now) {
  const auto deployment = deployments_.Get(key);
  return deployment == nullptr ? kube::Plan() : SyncDeployment(*deployment, OwnedBy(deployment->metadata, sets_), now);
}

}  // namespace gangway::sandbox
