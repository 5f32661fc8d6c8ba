#include "sandbox/kubelet/volume_controller.h"

#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "api/cluster_resources.h"
#include "sandbox/kubelet/free_of_charge.h"

namespace gangway::sandbox {

using api::NamespacedName;

VolumeController::VolumeController(Loop& loop, kube::Client& client)
    : claims_(loop, client, api::kPersistentVolumeClaims, {}),
      volumes_(loop, client, api::kPersistentVolumes, {}),
      classes_(loop, client, api::kStorageClasses, {}),
      pods_(loop, client, api::kPods, {.keep_objects = false}),
      recorder_(loop, client, EventsFreeOfCharge("persistentvolume-controller")),
      claim_driver_(loop, client, recorder_, WritesFreeOfCharge("claim"),
                    [this](const NamespacedName& key, absl::Time) { return DecideClaim(key); }),
      volume_driver_(loop, client, recorder_, WritesFreeOfCharge("volume"),
                     [this](const NamespacedName& key, absl::Time) { return DecideVolume(key); }),
      pod_driver_(loop, client, recorder_, WritesFreeOfCharge("ephemeral-volume"),
                  [this](const NamespacedName& key, absl::Time) { return DecidePod(key); }) {}

void VolumeController::Start() {
  for (kube::Driver* driver : {&claim_driver_, &volume_driver_, &pod_driver_}) {
    driver->Hold();
    driver->SetOnReply([this](const kube::Write& write, const kube::Response& response) {
      claims_.ObserveReply(write, response);
      volumes_.ObserveReply(write, response);
    });
  }
  claims_.Start(
      [this](const NamespacedName& key, const auto& before, const auto& after) {
        after != nullptr ? claim_driver_.Enqueue(key) : EnqueueWhoseEphemeral(key);
        for (const auto& claim : {before, after}) {
          if (claim != nullptr && !claim->spec.volume_name.empty())
            volume_driver_.Enqueue({"", claim->spec.volume_name});
        }
      },
      [this] { OnSynced(); });
  volumes_.Start(
      [this](const NamespacedName& key, const auto&, const auto& after) {
        volume_driver_.Enqueue(key);
        if (after != nullptr && after->spec.claim)
          claim_driver_.Enqueue({after->spec.claim->ns, after->spec.claim->name});
        if (after == nullptr || !after->spec.claim) EnqueueUnbound();
      },
      [this] { OnSynced(); });
  classes_.Start([this](const auto&, const auto&, const auto&) { EnqueueUnbound(); }, [this] { OnSynced(); });
  pods_.Start(
      [this](const NamespacedName& key, const auto&, const auto& after) {
        const bool asks = after != nullptr && absl::StrContains(after->spec.volumes.json, "\"ephemeral\"");
        if (!asks) {
          ephemeral_.erase(key);
          return;
        }
        ephemeral_[key] = after;
        pod_driver_.Enqueue(key);
      },
      [this] { OnSynced(); });
}

void VolumeController::OnSynced() {
  if (!claims_.synced() || !volumes_.synced() || !classes_.synced() || !pods_.synced()) return;
  claim_driver_.Release();
  pod_driver_.Release();
  volume_driver_.Release();
}

// Those that any volume or class may matter to, and those whose volume has gone.
void VolumeController::EnqueueUnbound() {
  claims_.ForEach([this](const NamespacedName& key, const auto& claim) {
    if (!claim->bound() || volumes_.Get({"", claim->spec.volume_name}) == nullptr) claim_driver_.Enqueue(key);
  });
}

// The pods that a claim of this name may belong to: it has gone, and is made anew for one that needs it.
void VolumeController::EnqueueWhoseEphemeral(const NamespacedName& claim) {
  for (const auto& [pod, object] : ephemeral_) {
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
  const auto pod = ephemeral_.find(key);
  if (pod == ephemeral_.end()) return {};
  return MakeEphemeralClaims(*pod->second,
                             [&](const std::string& claim) { return claims_.Get({key.ns, claim}) != nullptr; });
}

kube::Plan VolumeController::DecideVolume(const NamespacedName& key) {
  const auto volume = volumes_.Get(key);
  if (volume == nullptr) return {};
  const auto claim = volume->spec.claim ? claims_.Get({volume->spec.claim->ns, volume->spec.claim->name}) : nullptr;
  return SyncVolume(*volume, claim.get());
}

}  // namespace gangway::sandbox
