#include "sandbox/kubelet/volume_controller.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "api/cluster_resources.h"
#include "sandbox/kubelet/free_of_charge.h"

namespace gangway::sandbox {

using api::NamespacedName;

VolumeController::VolumeController(kube::Informers& informers)
    : Component(informers, FreeOfCharge("persistentvolume-controller")),
      claims_(Watch<Claim>(api::kPersistentVolumeClaims, {},
                           [this](const NamespacedName& key, const auto& before, const auto& after) {
                             OnClaim(key, before.get(), after.get());
                           })),
      volumes_(Watch<Volume>(
          api::kPersistentVolumes, {},
          [this](const NamespacedName& key, const auto&, const auto& after) { OnVolume(key, after.get()); })),
      classes_(Watch<StorageClass>(api::kStorageClasses, {},
                                   [this](const auto&, const auto&, const auto&) { EnqueueUnbound(); })),
      pods_(Watch<HostedPod>(
          api::kPods, {},
          [this](const NamespacedName& key, const auto&, const auto& after) { OnPod(key, after.get()); })),
      claim_driver_(Drive("claim", [this](const NamespacedName& key, absl::Time) { return DecideClaim(key); })),
      volume_driver_(Drive("volume", [this](const NamespacedName& key, absl::Time) { return DecideVolume(key); })),
      pod_driver_(Drive("ephemeral-volume", [this](const NamespacedName& key, absl::Time) { return DecidePod(key); })) {
}

void VolumeController::Wake() {
  claims_.ForEach([this](const NamespacedName& key, const auto&) { claim_driver_.Enqueue(key); });
  volumes_.ForEach([this](const NamespacedName& key, const auto&) { volume_driver_.Enqueue(key); });
  for (const NamespacedName& pod : ephemeral_) pod_driver_.Enqueue(pod);
}

void VolumeController::OnClaim(const NamespacedName& key, const Claim* before, const Claim* after) {
  after != nullptr ? claim_driver_.Enqueue(key) : EnqueueWhoseEphemeral(key);
  for (const Claim* const claim : {before, after}) {
    if (claim != nullptr && !claim->spec.volume_name.empty()) volume_driver_.Enqueue({"", claim->spec.volume_name});
  }
}

void VolumeController::OnVolume(const NamespacedName& key, const Volume* after) {
  volume_driver_.Enqueue(key);
  if (after != nullptr && after->spec.claim) claim_driver_.Enqueue({after->spec.claim->ns, after->spec.claim->name});
  if (after == nullptr || !after->spec.claim) EnqueueUnbound();
}

void VolumeController::OnPod(const NamespacedName& key, const HostedPod* after) {
  const bool asks = after != nullptr && std::any_of(after->spec.volumes.begin(), after->spec.volumes.end(),
                                                    [](const auto& volume) { return !volume.ephemeral.empty(); });
  if (!asks) {
    ephemeral_.erase(key);
    return;
  }
  ephemeral_.insert(key);
  pod_driver_.Enqueue(key);
}

// Those that any volume or class may matter to, and those whose volume has gone.
void VolumeController::EnqueueUnbound() {
  claims_.ForEach([this](const NamespacedName& key, const auto& claim) {
    if (!claim->bound() || volumes_.Get({"", claim->spec.volume_name}) == nullptr) claim_driver_.Enqueue(key);
  });
}

// The pods that a claim of this name may belong to: it has gone, and is made anew for one that needs it.
void VolumeController::EnqueueWhoseEphemeral(const NamespacedName& claim) {
  for (const NamespacedName& pod : ephemeral_) {
    if (pod.ns == claim.ns && absl::StartsWith(claim.name, pod.name)) pod_driver_.Enqueue(pod);
  }
}

kube::Plan VolumeController::DecideClaim(const NamespacedName& key) {
  const auto claim = claims_.Get(key);
  if (claim == nullptr) return {};
  ClaimView view{*claim};
  const auto storage_class = classes_.Get({"", claim->spec.storage_class_name.value_or("")});
  view.storage_class = storage_class.get();
  volumes_.ForEach([&](const NamespacedName&, const auto& volume) { view.volumes.push_back(volume.get()); });
  return SyncClaim(view);
}

kube::Plan VolumeController::DecidePod(const NamespacedName& key) {
  const auto pod = pods_.Get(key);
  if (pod == nullptr) return {};
  return MakeEphemeralClaims(*pod, [&](const std::string& claim) { return claims_.Get({key.ns, claim}) != nullptr; });
}

kube::Plan VolumeController::DecideVolume(const NamespacedName& key) {
  const auto volume = volumes_.Get(key);
  if (volume == nullptr) return {};
  const auto claim = volume->spec.claim ? claims_.Get({volume->spec.claim->ns, volume->spec.claim->name}) : nullptr;
  return SyncVolume(*volume, claim.get());
}

}  // namespace gangway::sandbox
