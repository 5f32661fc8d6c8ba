// The controllers of Volcano's objects, as one component: Jobs, Queues, and PodGroups for pods that no Job made.
//
// Everything is decided by plugin/lifecycle; here stand the caches, their indices, and the drivers.
#pragma once

#include <memory>
#include <string>

#include "base/loop.h"
#include "base/metrics.h"
#include "kube/client/client.h"

namespace gangway::controller {

struct ControllersOptions {
  std::string scheduler_name = "volcano";  // of pods without a group that get one
  double qps = 0;                          // writes a second, for each of the controllers; 0: no limit
  int burst = 100;
  Metrics* metrics = nullptr;              // may be null; must outlive the component
};

// Used on its loop. Destroyed = crashed: what was under way is found again by the next one.
class Controllers {
 public:
  Controllers(Loop& loop, kube::Client& client, ControllersOptions options);
  ~Controllers();
  Controllers(const Controllers&) = delete;
  Controllers& operator=(const Controllers&) = delete;

  void Start();
  // Whether every cache has its first list.
  bool synced() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gangway::controller
