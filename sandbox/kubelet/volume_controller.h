// The persistent volume controller of the simulated cluster: claims come to be Bound, to volumes that are there or to
// new ones of the sandbox's provisioner, and volumes follow their claims. What pods ask for as ephemeral volumes are
// claims that are made with them.
#pragma once

#include "absl/container/btree_set.h"
#include "kube/runtime/component.h"
#include "sandbox/kubelet/claim_sync.h"
#include "sandbox/kubelet/hosted_pod.h"

namespace gangway::sandbox {

class VolumeController final : public kube::Component {
 public:
  explicit VolumeController(kube::Informers& informers);

 private:
  kube::Plan DecideClaim(const api::NamespacedName& key);
  kube::Plan DecideVolume(const api::NamespacedName& key);
  kube::Plan DecidePod(const api::NamespacedName& key);
  void OnClaim(const api::NamespacedName& key, const Claim* before, const Claim* after);
  void OnVolume(const api::NamespacedName& key, const Volume* after);
  void OnPod(const api::NamespacedName& key, const HostedPod* after);
  void EnqueueUnbound();
  void EnqueueWhoseEphemeral(const api::NamespacedName& claim);
  void Wake() override;

  absl::btree_set<api::NamespacedName> ephemeral_;  // pods that ask for such volumes
  kube::Informer<Claim>& claims_;
  kube::Informer<Volume>& volumes_;
  kube::Informer<StorageClass>& classes_;
  kube::Informer<HostedPod>& pods_;
  kube::Driver &claim_driver_, &volume_driver_, &pod_driver_;
};

}  // namespace gangway::sandbox
