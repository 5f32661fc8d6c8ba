// The namespaces that the containers of a pod share, and the network that pods meet in.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "sandbox/process/host/container_child.h"
#include "sandbox/process/host/links.h"
#include "sandbox/process/orders.h"

namespace gangway::sandbox {

// Of one process with one thread, which has a network namespace of its own unless `shared_network`.
class PodNetwork {
 public:
  explicit PodNetwork(bool shared_network) : shared_network_(shared_network) {}
  ~PodNetwork();
  PodNetwork(const PodNetwork&) = delete;
  PodNetwork& operator=(const PodNetwork&) = delete;

  // The bridge. Once, first.
  absl::Status Begin();
  // The caller closes the file descriptors; the network of the pod is gone with the last.
  absl::StatusOr<SharedSpaces> MakePod(const PodOrder& pod);
  // Listens at an address that all pods reach; the file descriptor is the caller's. After Begin, not where the network
  // is the machine's.
  absl::StatusOr<int> Listen(const std::string& ip, int port);
  // The network that this process is in; -1: the machine's, which is never left.
  int home() const { return home_.network; }

 private:
  absl::Status EnterNewPod(const PodOrder& pod, bool own_network, SharedSpaces& spaces);

  const bool shared_network_;
  SharedSpaces home_;
  int last_pair_ = 0;
};

void CloseSpaces(SharedSpaces& spaces);

}  // namespace gangway::sandbox
