// The persistent volume controller of the simulated cluster: claims come to be Bound, to volumes that are there or to new ones of the
// sandbox's provisioner, and volumes follow their claims.
#pragma once

#include "base/loop.h"
#include "kube/client/client.h"
#include "kube/runtime/informer.h"
#include "kube/runtime/driver.h"
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
  void EnqueueUnbound();
  void OnSynced();

  kube::Informer<Claim> claims_;
  kube::Informer<Volume> volumes_;
  kube::Informer<StorageClass> classes_;
  kube::Recorder recorder_;
  kube::Driver claim_driver_, volume_driver_;
};

}  // namespace gangway::sandbox
