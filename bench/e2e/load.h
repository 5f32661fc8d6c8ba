// Many requests at once against a real API server, and waiting for what they bring about.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "api/core/pod.h"
#include "kube/client/client.h"
#include "kube/client/http_client.h"
#include "kube/runtime/informer.h"
#include "tests/e2e/control_plane.h"
#include "tests/testing/loop_thread.h"

namespace gangway::bench {

// The `count`-th of the times that `loop` writes. Where it does not come to so many in time, what is missing is
// printed, and the program ends: a figure of a part would be none.
absl::Time Await(testutil::LoopThread& loop, const std::vector<absl::Time>& times, int count, absl::Duration patience);

class Load {
 public:
  explicit Load(const testutil::ControlPlane& plane);
  ~Load();

  // Sends them all, 64 under way at a time; from the first sent to the last answered. A refusal ends the program; what
  // is to be deleted may be gone.
  absl::Duration Send(std::vector<kube::Request> requests);
  // The same; when each was answered.
  std::vector<absl::Time> SendAndNote(std::vector<kube::Request> requests);

  // Counts the pods of a namespace that are there, or only those that are bound. The API server selects them, so that
  // watching costs it little.
  class SeenPods {
   public:
    enum class Which { kAll, kBound };
    SeenPods(Load& load, std::string ns, Which which = Which::kBound);
    ~SeenPods();
    // When the first and when the `count`-th was seen, of so many (Await).
    absl::Time first();
    absl::Time WaitFor(int count, absl::Duration patience);
    // Between two that were seen one after the other.
    absl::Duration LongestGap();
    std::map<std::string, absl::Time> SeenAt();

   private:
    Load& load_;
    // All on the loop. A cache goes on where an API server under load breaks off a watch.
    std::map<std::string, absl::Time> seen_at_;
    std::vector<absl::Time> seen_;
    std::unique_ptr<kube::Informer<api::core::Pod>> pods_;
  };

 private:
  testutil::LoopThread loop_;
  std::unique_ptr<kube::HttpClient> client_;
};

kube::Request Post(std::string path, std::string body);

// Objects as the recorded measurements of Volcano had them: gangs of `size` pods of one CPU (of the 16 of a node), a
// PodGroup each.
std::vector<kube::Request> Nodes(int count);
std::vector<kube::Request> PodGroups(const std::string& ns, int gangs, int size);
std::vector<kube::Request> Pods(const std::string& ns, int gangs, int size, const std::string& scheduler = "volcano",
                                int cpus = 1);
std::string PodName(int gang, int i);
// Racks of nodes (tier 1), rows of racks (2) and one hall of all rows (3).
std::vector<kube::Request> HyperNodes(int nodes, int of_rack, int of_row);
// Jobs of `size` pods of one CPU, as users write them, with what Volcano's webhook adds.
std::vector<kube::Request> Jobs(const std::string& ns, int count, int size = 1);
// Pod i is bound to node i % nodes.
std::vector<kube::Request> Bindings(const std::string& ns, int gangs, int size, int nodes);

}  // namespace gangway::bench
