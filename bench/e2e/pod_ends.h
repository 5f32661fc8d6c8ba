// Does of a kubelet's work what evictions wait for: a pod that is told to go is gone as soon as that is seen.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "api/core/pod.h"
#include "base/loop.h"
#include "kube/client/http_client.h"
#include "kube/runtime/informer.h"
#include "tests/e2e/control_plane.h"
#include "tests/testing/loop_thread.h"

namespace gangway::bench {

class PodEnds {
 public:
  explicit PodEnds(const testutil::ControlPlane& plane);
  ~PodEnds();

  // How many pods that had a node were told to go so far, and when the `count`-th was seen to be, of so many (Await).
  int count();
  absl::Time WaitFor(int count, absl::Duration patience);
  // The same of those that are gone.
  absl::Time WaitForGone(int count, absl::Duration patience);

 private:
  testutil::LoopThread loop_;
  std::unique_ptr<kube::HttpClient> client_;
  // All on the loop.
  std::set<std::string> uids_;
  std::vector<absl::Time> seen_, gone_;
  std::unique_ptr<kube::Informer<api::core::Pod>> pods_;
  std::unique_ptr<Owner> owner_;
};

}  // namespace gangway::bench
