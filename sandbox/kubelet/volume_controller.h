// The persistent volume controller of the simulated cluster: claims come to be Bound, to volumes that are there or to
// new ones of the sandbox's provisioner, and volumes follow their claims. What pods ask for as ephemeral volumes are
// claims that are made with them.
#pragma once

#include <memory>

#include "absl/container/flat_hash_map.h"
#include "base/loop.h"
#include "kube/client/client.h"
#include "kube/runtime/driver.h"
#include "kube/runtime/informer.h"
#include "kube/runtime/recorder.h"
#include "sandbox/kubelet/claim_sync.h"

namespace gangway::sandbox {

// Used on its loop.
class VolumeController {
 public:
  VolumeController(Loop& loop, kube::Client& client);
  VolumeController(const VolumeController&) = delete;
  VolumeController& operator=(const VolumeController&) = delete;

  void Start();

 private:
  kube::Plan DecideClaim(const api::NamespacedName& key);
  kube::Plan DecideVolume(const api::NamespacedName& key);
  kube::Plan DecidePod(const api::NamespacedName& key);
  void EnqueueUnbound();
  void EnqueueWhoseEphemeral(const api::NamespacedName& claim);
  void OnSynced();

  kube::Informer<Claim> claims_;
  kube::Informer<Volume> volumes_;
  kube::Informer<StorageClass> classes_;
  kube::Informer<api::core::Pod> pods_;
  kube::Recorder recorder_;
  absl::flat_hash_map<api::NamespacedName, std::shared_ptr<const api::core::Pod>>
      ephemeral_;  // pods that ask for such volumes
  kube::Driver claim_driver_, volume_driver_, pod_driver_;
};

}  // namespace gangway::sandbox
