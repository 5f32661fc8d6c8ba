// The controllers of Volcano's objects, as one component: Jobs, CronJobs, JobFlows, Queues, and PodGroups for pods that no Job made.
//
// Everything is decided by plugin/lifecycle; here stand the caches, their indices, and the drivers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/loop.h"
#include "base/metrics.h"
#include "kube/client/client.h"
#include "plugin/controller/admission_facts.h"
#include "plugin/controller/ssh_keys.h"

namespace gangway::controller {

struct ControllersOptions {
  std::string scheduler_name = "volcano";  // of pods without a group that get one
  bool inherit_owner_annotations = true;   // PodGroups of such pods take annotations from the pods' owners
  double qps = 0;                          // writes a second, for each of the controllers; 0: no limit
  int burst = 100;
  std::vector<std::string> namespaces;     // only these are watched, read and written; empty: all. Queues have none.
  bool jobs = true, cron_jobs = true, job_flows = true, queues = true, pod_groups = true;  // which controllers run; each needs caches of its own
  // Told of every queue and namespace, also when neither jobs nor queues are kept; null: nobody asks.
  std::shared_ptr<AdmissionFacts> admission_facts;
  // Its caches fill and nothing is decided until Lead().
  bool standby = false;
  // Who makes keys for the job plugin ssh: this, which must outlive the component; or so many threads; or, with neither, the loop, which
  // they hold up (simulated loops know no threads).
  SshKeys* ssh_keys = nullptr;
  int ssh_key_threads = 0;
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

}  // namespace gangway::controller
