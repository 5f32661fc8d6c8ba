// Tells on each queue what it deserves while it holds or asks for more: Volcano's status has no field for it, so it
// stands in an annotation (api/volcano/queue_notes.h).
//
// In: the cluster, and the time. Out: what to write. Used on the scheduler's loop.
#pragma once

#include <map>
#include <string>

#include "absl/time/time.h"
#include "api/volcano/scheduling.h"
#include "kube/plan/plan.h"
#include "plugin/gang/policy.h"
#include "plugin/model/cluster.h"

namespace gangway::scheduler {

class QueueDeserved {
 public:
  // Reckons anew what each of them deserves; before anything else is asked of it.
  void Reckon(const model::Cluster& cluster, gang::Sharing sharing);
  // Begins anew: somebody else may have told since.
  void Forget();
  void Gone(const std::string& name) { planned_.erase(name); }
  // Its annotation says something else than it should.
  bool Lags(const api::volcano::Queue& queue) const;
  // The annotation, at most once a minute; where it is not time yet, when to look again.
  kube::Plan PlanFor(const api::volcano::Queue& queue, absl::Time now);

 private:
  std::string Wanted(const std::string& name) const;

  std::map<std::string, std::string> wanted_;  // by queue; none: nothing is to be said
  std::map<std::string, absl::Time> planned_;  // when it was last
};

}  // namespace gangway::scheduler
