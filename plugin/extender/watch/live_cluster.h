// The cluster by our own watch of an API server, and the plan of it: what mode light answers by. Nothing is written.
//
// It reads what the scheduler reads and through the same feed, but for claims and their volumes. Used on its loop; the
// plan is made elsewhere, and what the watch shows meanwhile is taken in when it is made.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"
#include "api/volcano/scheduling.h"
#include "base/loop.h"
#include "kube/runtime/component.h"
#include "plugin/extender/session/session_plan.h"
#include "plugin/gang/fit.h"
#include "plugin/model/cluster.h"
#include "plugin/scheduler/feed.h"

namespace gangway::extender {

struct LiveClusterOptions {
  std::string scheduler_name = "volcano";  // spec.schedulerName of the pods that the scheduler which asks places
  SessionPlanOptions plan;
  // For so long who asks waits for a plan that is being made, counted from when that began.
  absl::Duration budget = absl::Milliseconds(700);
  // Runs what it is given once, on any thread; one plan is made at a time. What it was given runs before the cluster's
  // end, or never.
  std::function<void(absl::AnyInvocable<void()> work)> run = [](absl::AnyInvocable<void()> work) { work(); };
};

class LiveCluster final : public kube::Component {
 public:
  LiveCluster(kube::Informers& informers, LiveClusterOptions options);

  // For so long a plan answers for one that is late.
  static constexpr absl::Duration kLastFor = absl::Seconds(15);

  // `then` is called once, on the loop: at once with the plan of what has been seen up to a tenth of a second ago, else
  // when it is made, anew when something changed or time has passed. `late`: making it takes longer than the budget;
  // then `plan` is the last one. `plan` null: not everything is listed yet, or there is none that is recent enough.
  using Then = absl::AnyInvocable<void(std::shared_ptr<const SessionPlan> plan, bool late)>;
  void Ask(Then then);
  // The one that was made last; null: none.
  const std::shared_ptr<const SessionPlan>& last() const { return plan_; }
  // Nothing keeps it from seeing what is new.
  bool up_to_date() const { return synced() && problem().empty(); }
  void SetPolicy(gang::Policy policy);
  // While no plan is being made.
  const model::Cluster& cluster() const { return cluster_; }

 private:
  template <class T>
  kube::Informer<T>& WatchFor(const api::Resource& resource, const kube::Selection& selection);
  void Wake() override {}
  void Begin(absl::Time now);
  void Made(std::shared_ptr<const SessionPlan> plan);
  void BeLate();

  LiveClusterOptions options_;
  model::Cluster cluster_;  // whoever makes a plan has it meanwhile
  scheduler::Feed feed_;
  kube::Informer<api::volcano::PodGroup>& groups_;
  gang::Scratch scratch_;  // as the cluster
  std::shared_ptr<const SessionPlan> plan_;
  absl::Time planned_ = absl::InfinitePast();  // when the last one was begun
  bool stale_ = true;                          // something was seen since
  bool planning_ = false, late_ = false;
  std::vector<std::function<void()>> shown_;  // by the watch while a plan is being made
  std::vector<Then> waiting_;
  Loop::TimerId budget_ends_ = 0;
};

}  // namespace gangway::extender
