// The gang scheduler as a component: watches pods, nodes, PodGroups, queues, priority classes, claims and volumes with
// their storage classes, namespaces, disruption budgets and HyperNodes, keeps the table, decides, and writes bindings,
// what claims need before them, PodGroup status, conditions and events, deletions of pods that are released or evicted,
// and the queues that every cluster has when they are missing.
//
// Nothing is remembered across a restart: everything is rebuilt from what the API server has. A gang found half-bound
// is completed when the rest fits, else released after `release_after`. Used on its loop; destroying it is a crash.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/time/time.h"
#include "kube/runtime/component.h"
#include "plugin/gang/policy.h"
#include "plugin/model/cluster.h"
#include "plugin/scheduler/live_policy.h"

namespace gangway::scheduler {

struct Options {
  std::string name = "volcano";  // spec.schedulerName of the pods we place; component of our events
  gang::Policy policy;
  std::shared_ptr<LivePolicy> live_policy;  // instead of `policy`, where that may change; null: it does not
  // How long something waits before its reason is written, so that what resolves itself makes no noise.
  absl::Duration explain_after = absl::Milliseconds(500);
  // The same for pods that are missing and claims that are not bound: controllers may be at work on them behind a busy
  // API server.
  absl::Duration missing_after = absl::Seconds(3);
  // How often the numbers of a reason are brought up to date while its kind stays; where more than a hundred gangs wait
  // less often, those of ten a second.
  absl::Duration refresh_after = absl::Seconds(10);
  // How long part of a gang may stay bound while the rest finds no node.
  absl::Duration release_after = absl::Seconds(30);
  // After a PodGroup came, nothing is placed beyond minima for so long, so that those of gangs made together with it
  // come first; while more come the pause goes on, up to four times as long.
  absl::Duration surplus_pause = absl::Milliseconds(500);
  // After a binding was refused, the gang is left alone for this long.
  absl::Duration bind_retry = absl::Seconds(5);
  // The least time between two rounds; grows with the number of gangs that wait.
  absl::Duration round_interval = absl::Milliseconds(2);
  // The least time between two rounds that may evict pods.
  absl::Duration eviction_interval = absl::Milliseconds(50);
  // How long a queue's status may lag behind what its pods hold.
  absl::Duration queue_status_after = absl::Seconds(1);
  // The same for the numbers of running and ended pods in a PodGroup's status, where they are all that is new.
  absl::Duration group_counts_after = absl::Seconds(1);
  // Processor time that the thread of the loop has used: rounds are the rarer the more of it they take. Not set: they
  // cost nothing.
  std::function<absl::Duration()> thread_time = nullptr;
  std::size_t max_dumped_gangs = 1000;
  int audit_every = 0;  // see model::Cluster
};

class Scheduler : public kube::Component {
 public:
  // Of the namespaces that the informers are for, pods and PodGroups are scheduled and written. Pods everywhere take
  // room on nodes and are watched. Dumped are also the gangs that wait, by name, with their reasons.
  static std::unique_ptr<Scheduler> Make(kube::Informers& informers, kube::ComponentOptions component, Options options);

  virtual const model::Cluster& cluster() const = 0;

 protected:
  using Component::Component;
};

}  // namespace gangway::scheduler
