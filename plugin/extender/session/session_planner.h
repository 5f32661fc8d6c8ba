// The sessions of one scheduler, one after the other: the cluster as they tell it, and the plan.
//
// Most sessions say what the one before has said, and that gangs are where the plan had them. Then the plan is kept: it
// is made anew when anything else is other than before, when its time is up, and when it was not carried out. What has
// waited for longer may be decided otherwise, so that no plan is kept for long.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "plugin/extender/session/decode_session.h"
#include "plugin/extender/session/retold_cluster.h"
#include "plugin/extender/session/session_plan.h"
#include "plugin/gang/fit.h"
#include "plugin/model/cluster.h"

namespace gangway::extender {

// Used by one thread at a time.
class SessionPlanner {
 public:
  static constexpr absl::Duration kKeptFor = absl::Seconds(15);

  struct Planned {
    std::shared_ptr<const SessionPlan> plan;
    bool kept = false;  // it is the one before
  };
  // `hyper_nodes`: all, which no session tells. After an error (of DecodeSession) the next session begins with nothing
  // but the plan before.
  absl::StatusOr<Planned> Plan(absl::string_view body, const SessionLimits& limits,
                               const std::vector<model::HyperNodeFacts>& hyper_nodes, const SessionPlanOptions& options,
                               absl::Time now);
  // The next session begins with nothing but the plan before.
  void Forget() { kept_.reset(); }
  // The last one; null: none.
  const std::shared_ptr<const SessionPlan>& last() const { return plan_; }

 private:
  struct Kept {
    model::Cluster cluster;
    RetoldCluster retold{cluster};
    gang::Scratch scratch;
    SessionPlanOptions options;
    std::size_t first_bytes = 0;  // of names, when it was told first
  };
  bool StillHolds(const SessionPlanOptions& options, absl::Time now) const;

  std::unique_ptr<Kept> kept_;  // null: nothing is known of the cluster
  std::shared_ptr<const SessionPlan> plan_;
};

}  // namespace gangway::extender
