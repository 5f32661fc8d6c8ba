// The controller of PaddleJobs in both dialects, as one component.
//
// A dialect is kept while its CRD is there; one that is missing is looked for again now and then. Everything is decided by
// translator/lifecycle; here stand the caches, their index, and a driver for each dialect.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/loop.h"
#include "base/metrics.h"
#include "kube/client/client.h"
#include "translator/convert/options.h"

namespace gangway::paddle_controller {

struct PaddleControllersOptions {
  convert::TranslateOptions translate;   // for whom Jobs are written; `kept`, `group`, `namespace_queue` and `sidecars` are not looked at
  double qps = 0;                        // writes a second, for each of the dialects; 0: no limit
  int burst = 100;
  std::vector<std::string> namespaces;   // only these are watched, read and written; empty: all. Queues have none.
  bool standby = false;                  // its caches fill and nothing is decided until Lead()
  Metrics* metrics = nullptr;            // may be null; must outlive the component
};

// Used on its loop. Destroyed = crashed: what was under way is found again by the next one.
class PaddleControllers {
 public:
  PaddleControllers(Loop& loop, kube::Client& client, PaddleControllersOptions options);
  ~PaddleControllers();
  PaddleControllers(const PaddleControllers&) = delete;
  PaddleControllers& operator=(const PaddleControllers&) = delete;

  void Start();
  // Ends the standby.
  void Lead();
  // Decides nothing more; what was decided is still carried out. For good.
  void Stop();
  // After Stop(): whether everything that was decided is written, or refused.
  bool stopped() const;

  // Whether every cache has its first list.
  bool synced() const;
  // What keeps a cache from being up to date, in one line for a user; "" when nothing does.
  std::string problem() const;
  // Events not written yet.
  std::size_t events_waiting() const;
  // JSON: sizes of the caches, what is queued and under way.
  std::string Dump() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gangway::paddle_controller
