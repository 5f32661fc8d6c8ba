// Many requests at once against a real API server, and waiting for what they bring about.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "kube/client/client.h"
#include "kube/client/http_client.h"
#include "tests/e2e/control_plane.h"
#include "tests/testing/loop_thread.h"

namespace gangway::bench {

class Load {
 public:
  explicit Load(const testutil::ControlPlane& plane);
  ~Load();

  // Sends them all, 64 under way at a time; from the first sent to the last answered. A refusal ends the program.
  absl::Duration Send(std::vector<kube::Request> requests);

  // Counts the pods that are bound from now on; nodes are told by the API server's own selection, so that watching costs it little.
  class BoundPods {
   public:
    BoundPods(Load& load, std::string ns);
    ~BoundPods();
    // When the first and when the `count`-th was seen. InfiniteFuture when it does not come to that.
    absl::Time first();
    absl::Time WaitFor(int count, absl::Duration patience);

   private:
    Load& load_;
    std::vector<absl::Time> seen_;  // on the loop
    testutil::Inbox<bool> ended_;
    Owner owner_;
    std::unique_ptr<kube::Watch> watch_;
  };

 private:
  testutil::LoopThread loop_;
  std::unique_ptr<kube::HttpClient> client_;
};

kube::Request Post(std::string path, std::string body);

// Objects as the recorded measurements of Volcano had them: gangs of `size` pods of one CPU, a PodGroup each.
std::vector<kube::Request> Nodes(int count);
std::vector<kube::Request> PodGroups(const std::string& ns, int gangs, int size);
std::vector<kube::Request> Pods(const std::string& ns, int gangs, int size, const std::string& scheduler = "volcano");
// Pod i is bound to node i % nodes.
std::vector<kube::Request> Bindings(const std::string& ns, int gangs, int size, int nodes);

}  // namespace gangway::bench
