// The cluster by our own watch of an API server, and the plan of it: what mode light answers by. Nothing is written.
//
// It reads what the scheduler reads and through the same feed, but for claims and their volumes. Used on its loop.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/time/time.h"
#include "api/volcano/scheduling.h"
#include "kube/runtime/component.h"
#include "plugin/extender/session/session_plan.h"
#include "plugin/gang/fit.h"
#include "plugin/model/cluster.h"
#include "plugin/scheduler/feed.h"

namespace gangway::extender {

struct LiveClusterOptions {
  std::string scheduler_name = "volcano";  // spec.schedulerName of the pods that the scheduler which asks places
  SessionPlanOptions plan;
};

class LiveCluster final : public kube::Component {
 public:
  LiveCluster(kube::Informers& informers, LiveClusterOptions options);

  // Of what has been seen up to a tenth of a second ago; made anew when that changed, or time has. Null: not everything
  // is listed yet.
  std::shared_ptr<const SessionPlan> Plan();
  // Nothing keeps it from seeing what is new.
  bool up_to_date() const { return synced() && problem().empty(); }
  void SetPolicy(gang::Policy policy);
  const model::Cluster& cluster() const { return cluster_; }

 private:
  template <class T>
  kube::Informer<T>& WatchFor(const api::Resource& resource, const kube::Selection& selection);
  void Wake() override {}

  LiveClusterOptions options_;
  model::Cluster cluster_;
  scheduler::Feed feed_;
  kube::Informer<api::volcano::PodGroup>& groups_;
  gang::Scratch scratch_;
  std::shared_ptr<const SessionPlan> plan_;
  absl::Time planned_ = absl::InfinitePast();
  bool stale_ = true;  // something was seen since
};

}  // namespace gangway::extender
