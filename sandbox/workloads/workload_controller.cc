#include "sandbox/workloads/workload_controller.h"

#include <memory>
#include <vector>

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

WorkloadController::WorkloadController(kube::Informers& informers)
    : Component(informers, FreeOfCharge("deployment-controller")),
      deployments_(Watch<Workload>(
          api::kDeployments, {},
          [this](const NamespacedName& key, const auto&, const auto&) { deployment_driver_.Enqueue(key); })),
      sets_(Watch<Workload>(api::kReplicaSets, {},
                            [this](const NamespacedName& key, const auto& before, const auto& after) {
                              OnSet(key, before.get(), after.get());
                            })),
      pods_(Watch<HostedPod>(
          api::kPods, {},
          [this](const NamespacedName&, const auto& before, const auto& after) { OnPod(before.get(), after.get()); })),
      set_driver_(Drive("replica-set", [this](const NamespacedName& key, absl::Time) { return DecideSet(key); })),
      deployment_driver_(Drive(
          "deployment", [this](const NamespacedName& key, absl::Time now) { return DecideDeployment(key, now); })) {}

void WorkloadController::Wake() {
  deployments_.ForEach([this](const NamespacedName& key, const auto&) { deployment_driver_.Enqueue(key); });
  sets_.ForEach([this](const NamespacedName& key, const auto&) { set_driver_.Enqueue(key); });
}

void WorkloadController::OnSet(const NamespacedName& key, const Workload* before, const Workload* after) {
  set_driver_.Enqueue(key);
  for (const Workload* const set : {before, after}) {
    if (set != nullptr) EnqueueOwner(set->metadata, api::kDeployments, deployment_driver_);
  }
}

void WorkloadController::OnPod(const HostedPod* before, const HostedPod* after) {
  for (const HostedPod* const pod : {before, after}) {
    if (pod != nullptr) EnqueueOwner(pod->metadata, api::kReplicaSets, set_driver_);
  }
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
